"""Verbs of Python: the same question and the same answer as on the command line, with data as people have them."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import aidos
from aidos.errors import AidosError, ParameterError
from aidos.jobs.asking import parameters_of
from aidos.surfaces.cli import run
from aidos.surfaces.registry import VERBS
from aidos.surfaces.verbs import ANY, job_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rankings(tmp_path):
    table = pd.DataFrame(
        {
            "query_id": [f"q{each // 6}" for each in range(60)],
            "object_id": [f"s{each % 6}" for each in range(60)],
            "score": [6.0 - each % 6 for each in range(60)],
        }
    )
    table.to_csv(tmp_path / "rankings.csv", index=False)
    return table


def test_a_verb_and_its_command_give_the_same_answer(rankings, tmp_path, capsys):
    file, output = tmp_path / "rankings.csv", tmp_path / "served.parquet"
    assert run(["fair", "rerank", str(file), "-o", str(output), "--quality-floor", "0.7", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    for data in (rankings, file, str(file), [file]):
        answer = aidos.rerank(data, quality_floor=0.7)
        assert json.loads(answer.to_json()) == told | {"output": ""}
        assert answer.to_pandas().equals(pd.read_parquet(output))


def test_a_verb_and_its_command_refuse_the_same_question(rankings, tmp_path, capsys):
    assert run(["fair", "rerank", str(tmp_path / "rankings.csv"), "-o", "x.csv", "--quality-floor", "1.5"]) == 2
    assert "--quality-floor must be at most 1, got 1.5" in capsys.readouterr().err
    with pytest.raises(ParameterError, match=r"quality_floor must be at most 1, got 1\.5"):
        aidos.rerank(rankings, quality_floor=1.5)


def test_the_answer_saves_what_was_not_written(rankings, tmp_path):
    answer = aidos.rerank(rankings)
    answer.save(tmp_path / "served.jsonl")
    answer.save(tmp_path / "page.html")
    again = aidos.rerank(rankings, output=str(tmp_path / "streamed.jsonl"))
    assert (tmp_path / "served.jsonl").read_text() == (tmp_path / "streamed.jsonl").read_text()
    with pytest.raises(AidosError, match=r"were written to"):
        again.to_pandas()


@pytest.mark.parametrize(
    ("wrong", "words", "hint"),
    [
        (lambda data: aidos.rerank(data, quality_flor=1), "no parameter quality_flor", "did you mean quality_floor?"),
        (lambda data: aidos.rerank(), "takes rankings", "help(aidos.rerank)"),
        (lambda data: aidos.rerank(data, data), "takes rankings", "help(aidos.rerank)"),
        (lambda data: aidos.rerank(data, rankings=data), "takes rankings", "help(aidos.rerank)"),
        (lambda data: aidos.rerank(pd.DataFrame({"a": [1]})), "no column holds", "the file has a"),
        (lambda data: aidos.rerank(7), "data cannot be a int", "a path"),
        (lambda data: aidos.rerank("nothing.csv"), "there is no such file", "check the name"),
        (lambda data: aidos.rerank(data.drop(columns="score")), "the table", "score"),
        (lambda data: aidos.rerank(data, column="score=points"), "column must be a list", "column=['score=points']"),
        (lambda data: aidos.rerank(data, quality_floor="high"), "quality_floor must be a number", "give a number"),
        (lambda data: aidos.sample("weather"), "part must be one of log, posts", ""),
        (lambda data: aidos.sample("log", size="huge"), "size must be one of tiny", ""),
        (lambda data: aidos.simulate(rankings=2.5), "rankings must be a whole number", "give a whole number"),
    ],
)
def test_mistakes_are_told_with_what_to_do(rankings, wrong, words, hint):
    with pytest.raises(AidosError) as caught:
        wrong(rankings)
    assert words in caught.value.message
    assert hint in caught.value.hint


def test_a_sample_loads_saves_and_is_data_for_other_verbs(tmp_path, capsys):
    made = aidos.sample("log", size="40")
    made.save(tmp_path / "saved.tsv")
    assert run(["sample", "log", "--size", "40", "-o", str(tmp_path / "log.tsv"), "--quiet"]) == 0
    assert (tmp_path / "saved.tsv").read_bytes() == (tmp_path / "log.tsv").read_bytes()
    assert len(made.to_pandas()) == made.facts()["rows"]
    mixed = aidos.mediate(made, accounts=5, seed=1)
    mixed.save(tmp_path / "mixed")
    words = ["mediate", "assign", str(tmp_path / "log.tsv"), "--accounts", "5", "--seed", "1", "--json"]
    assert run([*words, "-o", str(tmp_path / "again")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert mixed.to_pandas().columns.tolist() == ["account_id", "user_query"]
    assert json.loads(mixed.to_json()).keys() == told.keys()
    assert {path.name for path in (tmp_path / "mixed").iterdir()} == {"MANIFEST.json", "accounts.parquet"}


def test_verbs_are_listed_and_importing_aidos_loads_none_of_them():
    assert set(VERBS) <= set(aidos.__all__) <= set(dir(aidos))
    code = "import sys, aidos; print(sorted(name for name in sys.modules if name.startswith('aidos')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['aidos']"


@pytest.mark.parametrize("verb", [verb for verb, words in VERBS.items() if not words.endswith(ANY)])
def test_no_two_parameters_of_a_verb_share_a_name(verb):
    names = [each.name for each in parameters_of(job_of(verb))]
    assert len(names) == len(set(names))
    assert getattr(aidos, verb).__doc__ == job_of(verb).__doc__


def test_the_types_that_editors_show_are_those_of_the_jobs():
    told = subprocess.run([sys.executable, ROOT / "tools" / "stubs.py", "--check"], check=False)
    assert told.returncode == 0, "run: python tools/stubs.py"


def test_any_job_is_asked_by_the_words_of_its_command(tmp_path):
    (tmp_path / "diary.txt").write_text("guitar chords and guitar lessons\n")
    aidos.ask("shield profile build", [tmp_path / "diary.txt"], output=tmp_path / "profile.json")
    assert aidos.shield(tmp_path / "profile.json").explain("guitar").facts()
    with pytest.raises(AidosError) as caught:
        aidos.ask("shield profil build")
    assert "did you mean shield profile build?" in caught.value.hint


def test_options_are_told_as_parameters_whatever_is_wrong(tmp_path):
    aidos.sample("posts", size="40", output=tmp_path / "posts.parquet")
    with pytest.raises(AidosError) as caught:
        aidos.risk(tmp_path / "posts.parquet", topics=["depression"])
    assert "i_am_the_operator=True" in caught.value.hint
    with pytest.raises(AidosError) as caught:
        aidos.publish(tmp_path / "log.tsv", epsilon=-1, delta=7)
    assert caught.value.message == "epsilon must be greater than 0, got -1; delta must be less than 1, got 7"


def test_the_root_lists_what_it_offers_and_nothing_else():
    offered = {name for name in dir(aidos) if not name.startswith("__")}
    assert offered == set(aidos.__all__)
