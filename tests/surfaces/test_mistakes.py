"""What people do wrong in Python is told as an error of aidos that says what to do, in words of Python."""

import pickle
import traceback
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import aidos
from aidos.core.ranking import Ranking
from aidos.errors import AidosError, InputError, ParameterError, Problem
from aidos.jobs.desk import Desk

RANKINGS = pd.DataFrame(
    {
        "query_id": [f"q{each // 6}" for each in range(12)],
        "object_id": [f"s{each % 6}" for each in range(12)],
        "score": [6.0 - each % 6 for each in range(12)],
    }
)
LOG = pd.DataFrame({"client_id": ["a", "b"], "user_query": ["fern", "moss"], "timestamp": pd.Timestamp("2024-01-01")})


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("directory").mkdir()
        Path("empty.tsv").touch()
        RANKINGS.to_csv("rankings.csv", index=False)
        Path("diary.txt").write_text("guitar chords and guitar lessons\n")
        aidos.ask("shield profile build", "diary.txt", output="profile.json")
        aidos.rehearse(queries=60, output="rehearsed")
        yield place


def closed_relation():
    connection = duckdb.connect()
    relation = connection.sql("select 'q' query_id, 's' object_id, 1.0 score")
    connection.close()
    return relation


def shield():
    return aidos.shield("profile.json")


def audit():
    return aidos.audit("rehearsed/before.jsonl", method="inference")


MISTAKES = {
    "a directory as a log": (lambda: aidos.read("directory"), "is a directory", "directory/*"),
    "a directory as rankings": (lambda: aidos.rerank("directory"), "is a directory", "directory/*"),
    "a directory as a profile": (lambda: aidos.shield("directory"), "is no profile", "shield profile build"),
    "a directory as a ledger": (lambda: aidos.Ledger("directory").left(), "is no file", "ledger open"),
    "a directory to write to": (lambda: aidos.rerank(RANKINGS).save("directory"), "format", ".jsonl"),
    "no such file": (lambda: aidos.read("nothing.tsv"), "no such file", "check the name"),
    "a pattern of nothing": (lambda: aidos.read("*.nothing"), "no such file", "check the name"),
    "an empty file": (lambda: aidos.read("empty.tsv"), "is empty", "export it again"),
    "no files": (lambda: aidos.rerank([]), "no file was named", "help(aidos.rerank)"),
    "no data": (lambda: aidos.rerank(None), "data cannot be a NoneType", "give a path"),
    "a number as data": (lambda: aidos.read(7), "data cannot be a int", "give a path"),
    "an array": (lambda: aidos.rerank(RANKINGS.to_numpy()), "data cannot be a ndarray", "give a path"),
    "a list of tables": (lambda: aidos.rerank([RANKINGS, RANKINGS]), "data cannot be a list", "give a path"),
    "a column of pandas": (lambda: aidos.rerank(RANKINGS["score"]), "one column", "the whole table"),
    "a column of Polars": (lambda: aidos.rerank(pl.Series([1.0])), "one column", "the whole table"),
    "an empty table": (lambda: aidos.rerank(RANKINGS.head(0)), "has no rows", "export it again"),
    "a table without columns": (lambda: aidos.rerank(pd.DataFrame()), "no column holds", "query_id"),
    "missing columns": (lambda: aidos.read(pd.DataFrame({"a": [1]})), "no column holds", 'column=["client_id=NAME"]'),
    "the same column twice": (lambda: aidos.rerank(pd.concat([RANKINGS] * 2, axis=1)), "cannot be read", "one type"),
    "scores that are texts": (lambda: aidos.rerank(RANKINGS.assign(score="high")), "score", "convert it"),
    "scores that are NaN": (lambda: aidos.rerank(RANKINGS.assign(score=np.nan)), "missing or not a number", "finite"),
    "ids that are lists": (lambda: aidos.rerank(RANKINGS.assign(object_id=[["x"]] * 12)), "object_id", "convert it"),
    "ids of two kinds": (lambda: aidos.rerank(RANKINGS.assign(object_id=[1, "a"] * 6)), "cannot be read", "one type"),
    "ids that are missing": (lambda: aidos.rerank(RANKINGS.assign(object_id=None)), "missing or blank", "skip_bad"),
    "times that are none": (lambda: aidos.read(LOG.assign(timestamp="soon")), "does not hold a time", "skip_bad_rows="),
    "a closed relation": (lambda: aidos.rerank(closed_relation()), "DuckDB", "open"),
    "a connection": (lambda: aidos.rerank(duckdb.connect()), "data cannot be", "DuckDB"),
    "a log that was closed": (lambda: closed_log().to_pandas(), "was closed", "read the files again"),
    "NaN as a parameter": (lambda: aidos.rerank(RANKINGS, quality_floor=np.nan), "must be finite", "takes"),
    "a text as a number": (lambda: aidos.rerank(RANKINGS, quality_floor="0.8"), "must be a number", "give a number"),
    "a text as a list": (lambda: aidos.read(LOG, column="a=b"), "must be a list", "column=['a=b']"),
    "a list as a text": (lambda: aidos.rerank(RANKINGS, attention=["dcg"]), "must be a text", "give a text"),
    "a list as a choice": (lambda: aidos.sample(["log"]), "must be one of", "takes"),
    "one as True": (lambda: aidos.read(LOG, skip_bad_rows=1), "must be True or False", "give True or False"),
    "a column that is said wrongly": (lambda: aidos.read(LOG, column=["a"]), "column takes OURS", 'column=["client_id'),
    "a name that is misspelt": (lambda: aidos.rerank(RANKINGS, qualty_floor=1), "no parameter", "did you mean"),
    "a study nobody made": (lambda: aidos.study("mediatr"), "knows no 'mediatr'", "did you mean mediator"),
    "no study": (aidos.study, "needs the name", "there are mediator"),
    "no job": (aidos.ask, "needs the name", "there are check"),
    "a desk that is none": (lambda: aidos.rerank(RANKINGS, desk="fast"), "desk cannot be a str", "Desk"),
    "threads in words": (lambda: aidos.read(LOG, desk=Desk(threads="two")), "threads must be", "whole number"),
    "memory in words": (lambda: aidos.read(LOG, desk=Desk(memory="lots")), "memory must be", "4GB"),
    "no engine": (lambda: aidos.read_files(None, ["empty.tsv"]), "engine cannot be", "aidos.EmbeddedEngine()"),
    "an engine outside its with": (
        lambda: aidos.read_files(aidos.EmbeddedEngine(), ["rankings.csv"]),
        "not open",
        "inside a with",
    ),
    "one name where a list is meant": (
        lambda: aidos.read_files(aidos.EmbeddedEngine(), "log.tsv"),
        "must be a list of names",
        "['log.tsv']",
    ),
    "a budget in words": (lambda: aidos.MemoryLedger(epsilon="1", delta=0), "epsilon must be a number", ""),
    "a budget below zero": (lambda: aidos.MemoryLedger(epsilon=-1, delta=0), "0 < epsilon", "for example"),
    "ids of a ranking that are lists": (lambda: Ranking((["a"], ["b"])), "must be texts", "their ids"),
    "a name to save that is none": (lambda: aidos.rerank(RANKINGS).save(3), "must be a path", "the name of a file"),
    "a query that is no text": (lambda: shield().explain(3), "query must be a text", "give a text"),
    "a text as topics": (lambda: shield().edit(sensitive="guitar"), "must be a list", "sensitive=['guitar']"),
    "a weight in words": (lambda: shield().edit(sensitive={"guitar": "much"}), "sensitive takes TOPIC", "see: "),
    "a search that was not kept": (lambda: audit().evidence(99999), "query must be from", "aidos audit evidence"),
    "a search by its words": (lambda: audit().evidence("debt"), "query must be from", "aidos audit evidence"),
    "an audit that is none": (lambda: audit().compare(3), "must be a path", "the name"),
}


def closed_log():
    log = aidos.read(LOG)
    log.close()
    return log


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_what_to_do(home, mistake):
    make, message, hint = MISTAKES[mistake]
    with pytest.raises(AidosError) as caught:
        make()
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert str(caught.value) == caught.value.message
    assert "--" not in caught.value.message


def test_the_hint_stands_below_the_message_where_nobody_catches_it():
    with pytest.raises(AidosError) as caught:
        aidos.read("nothing.tsv")
    told = "".join(traceback.format_exception(caught.value))
    assert told.endswith(f"{caught.value.message}\nhint: {caught.value.hint}\n")
    assert pickle.loads(pickle.dumps(caught.value)).hint == caught.value.hint
    assert not AidosError("odd").__notes__


def test_all_problems_of_data_stand_below_the_message():
    one, two = (Problem(kind=kind, file="a", sentence=f"is {kind}", remedy="mend it") for kind in ("odd", "bad"))
    error = InputError("a: is odd (and 1 more problem)", hint="mend it", problems=[one, two])
    assert error.__notes__ == ["a: is odd\n  hint: mend it", "a: is bad\n  hint: mend it"]


def test_python_says_which_verb_was_meant():
    with pytest.raises(AttributeError) as caught:
        aidos.expsoure  # noqa: B018  # asking for it is the question
    assert (caught.value.name, caught.value.obj) == ("expsoure", aidos)


def test_numbers_of_numpy_and_columns_of_pandas_are_values():
    usual = aidos.simulate(rankings=3, subjects=8, shape="linear", bound=False).to_arrow().drop(["seconds"])
    numbers = {"rankings": np.int64(3), "subjects": np.int32(8), "bound": np.bool_(False)}
    assert aidos.simulate(shape=np.str_("linear"), **numbers).to_arrow().drop(["seconds"]) == usual
    half = aidos.rerank(RANKINGS, quality_floor=0.5).to_json()
    assert aidos.rerank(RANKINGS, quality_floor=np.float32(0.5)).to_json() == half
    named = pd.Series(["query_id=query"])
    table = RANKINGS.rename(columns={"query_id": "query"})
    for columns in (named, named.to_numpy()):
        assert aidos.rerank(table, column=columns).to_json() == aidos.rerank(RANKINGS).to_json()
    with pytest.raises(ParameterError, match="must be a list, each a text"):
        aidos.rerank(table, column=np.arange(2))


@pytest.mark.parametrize(
    "table",
    [
        pl.from_pandas(RANKINGS),
        pl.from_pandas(RANKINGS).lazy(),
        pl.from_pandas(RANKINGS).with_columns(pl.col("object_id").cast(pl.Categorical)),
        RANKINGS.astype({"object_id": "category"}),
        pa.Table.from_pandas(RANKINGS),
        pa.Table.from_pandas(RANKINGS).to_batches()[0],
        pa.Table.from_pandas(RANKINGS).to_reader(),
    ],
    ids=["polars", "lazy", "categories-polars", "categories-pandas", "arrow", "batch", "reader"],
)
def test_tables_of_every_kind_give_the_same_answer(table):
    answer = aidos.rerank(table)
    assert answer.to_json() == aidos.rerank(RANKINGS).to_json()
    assert answer.to_polars().to_pandas().equals(answer.to_pandas())
