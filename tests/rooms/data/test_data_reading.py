"""Files read into one value: it says what it is, lives without a `with`, and every verb takes it."""

import gc
import json

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import aidos
from aidos.core.records import SEARCH_LOG
from aidos.errors import AidosError, EngineError, InputError, ParameterError
from aidos.jobs.answer import Finding
from aidos.surfaces.cli import run

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROWS = "".join(f"{17 + n // 2}\tfern care\t2006-03-01 10:00:0{n}\t\t\n" for n in range(4))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(HEADER + ROWS)
    return path


def test_a_value_says_what_it_is(log):
    read = aidos.read(log)
    assert repr(read) == (
        "<DataRead: schema=search-log, rows=4, people=2, first=2006-03-01 10:00:00, last=2006-03-01 10:00:03>"
    )
    assert isinstance(read, Finding)
    assert (len(read), read.people, read.schema, read.problems) == (4, 2, "search-log", ())
    shown = read._repr_html_()
    assert "fern care" in shown
    assert "people" in shown


def test_it_is_a_table_in_the_columns_of_aidos(log):
    read = aidos.read(log)
    assert tuple(read.to_pandas().columns) == SEARCH_LOG.names()
    assert read.to_arrow().num_rows == 4
    assert read.lazy.rows("select count(distinct client_id) from {table}") == [(2,)]


def test_the_command_and_the_value_write_the_same_file(log, tmp_path, capsys):
    assert run(["ingest", str(log), "-o", str(tmp_path / "by-command.parquet"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    read = aidos.read(log)
    read.save(tmp_path / "by-value.parquet")
    by_command, by_value = (pq.read_table(tmp_path / f"by-{who}.parquet") for who in ("command", "value"))
    assert by_command.equals(by_value)
    assert by_command.schema.metadata == by_value.schema.metadata
    assert read.facts() == told | {"file": ""}


def test_what_was_written_is_read_from_its_file(log, tmp_path):
    read = aidos.read(log, output=str(tmp_path / "log.parquet"))
    assert (len(read), read.people, read.blocks()) == (4, None, ())
    with pytest.raises(InputError, match=r"was written to .*log\.parquet"):
        read.to_pandas()


@pytest.mark.parametrize(
    "made",
    [pd.DataFrame, duckdb.from_df, pa.Table.from_pandas],
)
def test_tables_are_read_like_files(log, made):
    frame = pd.read_csv(log, sep="\t")
    read = aidos.read(made(frame))
    assert read.to_pandas().equals(aidos.read(log).to_pandas())


def test_it_lasts_as_long_as_it_is_used_and_leaves_nothing(log):
    read = aidos.read(pd.read_csv(log, sep="\t"))
    private, (file,) = read.lazy.engine.scratch, read.files
    assert pq.read_metadata(file).num_rows == 4
    assert private.exists()
    del read
    gc.collect()
    assert not private.exists()
    with pytest.raises(FileNotFoundError):
        pq.read_metadata(file)
    with aidos.read(log) as read:
        assert len(read.to_arrow()) == 4
    with pytest.raises(EngineError, match="was closed"):
        read.to_arrow()


def test_verbs_take_it_and_read_it_in_the_same_way(tmp_path):
    path = tmp_path / "served.csv"
    path.write_text("query_id;object_id;points;position\n" + "".join(f"q;s{n};{9 - n};{n + 1}\n" for n in range(6)))
    read = aidos.read(path, column=["score=points"])
    assert read.schema == "run"
    assert aidos.rerank(read).facts() == aidos.rerank(path, column=["score=points"]).facts()
    assert aidos.check(read).files[0].rows == 6
    with pytest.raises(ParameterError, match="no parameter delimiter, by which the data were read"):
        aidos.rerank(aidos.read(path, column=["score=points"], delimiter=";"))


def test_rows_that_were_left_out_are_told(log):
    log.write_text(HEADER + ROWS + "not a row\n")
    with pytest.raises(InputError, match="columns were expected"):
        aidos.read(log)
    read = aidos.read(log, skip_bad_rows=True)
    assert [(problem.kind, problem.count) for problem in read.problems] == [("ragged-rows", 1)]
    assert "left_out=1" in repr(read)


def nobody(log):
    return pd.read_csv(log, sep="\t").assign(AnonID=[None, "a", "b", "c"])


@pytest.mark.parametrize(
    ("wrong", "words", "hint"),
    [
        (lambda log: aidos.read("nothing.tsv"), "there is no such file", "check the name"),
        (lambda log: aidos.read(log.parent), "is a directory", "name the files in it"),
        (
            lambda log: aidos.read(log, column="client_id=AnonID"),
            "column must be a list",
            "column=['client_id=AnonID']",
        ),
        (lambda log: aidos.read(log, session_gap=-1), "session_gap must be greater than 0", ""),
        (lambda log: aidos.read([]), "no file was named", "name a file"),
        (lambda log: aidos.read(pd.DataFrame({"a": [1]})), "the table", "say which one does"),
        (lambda log: aidos.read(pd.DataFrame({"user": [1]})), "the table", 'column=["timestamp=NAME"]'),
        (lambda log: aidos.read(nobody(log)), "the table, row 1", "skip_bad_rows=True"),
        (lambda log: aidos.read(3), "data cannot be a int", "a path"),
        (lambda log: aidos.read(log, format="excel"), "there is no format called excel", "choose from"),
    ],
)
def test_mistakes_are_told_with_what_to_do(log, wrong, words, hint):
    with pytest.raises(AidosError) as caught:
        wrong(log)
    assert words in caught.value.message
    assert hint in caught.value.hint
