"""What files are and what is wrong with them, as an answer: the same on the command line and from Python."""

import json

import pandas as pd
import pytest

import aidos
from aidos.jobs.answer import Finding
from aidos.surfaces.cli import run

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROW = "17\tfern care\t2006-03-01 10:00:00\t\t\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(HEADER + ROW + ROW)
    return path


def test_the_command_and_the_verb_tell_the_same(log, capsys):
    assert run(["check", str(log), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    answer = aidos.check(log)
    assert json.loads(answer.to_json()) == told
    assert isinstance(answer, Finding)
    assert (answer.exit_code, answer.problems, answer.files[0].people) == (0, (), 1)
    assert repr(answer) == "<CheckedFiles: files=1, rows=2, problems=0>"


def test_problems_are_told_and_not_raised(log, capsys):
    log.write_text(HEADER + ROW + "not a row\n")
    answer = aidos.check(log)
    assert [problem.kind for problem in answer.problems] == ["ragged-rows"]
    assert answer.exit_code == 2
    assert "What is wrong" in answer._repr_html_()
    assert run(["check", str(log)]) == 2
    assert "   --skip-bad-rows\n" in capsys.readouterr().out
    assert aidos.check(log, skip_bad_rows=True).problems == ()


def test_a_row_for_each_file(log, tmp_path):
    (tmp_path / "more.tsv").write_text(HEADER + ROW + "not a row\n")
    table = aidos.check([log, tmp_path / "more.tsv"]).to_pandas()
    assert list(table["format"]) == ["aol", "aol"]
    assert list(table["problems"]) == [0, 1]


def test_a_table_is_called_so_and_counts_rows(log):
    table = pd.DataFrame({"client_id": ["a", None], "timestamp": ["2006-03-01"] * 2, "user_query": ["fern", "care"]})
    answer = aidos.check(table)
    assert answer.files[0].file == "the table"
    (problem,) = answer.problems
    assert (problem.kind, str(problem)[:17], problem.lines) == ("missing-person", "the table, row 2:", (2,))


def test_columns_without_a_use_are_named_with_what_they_may_be(tmp_path, capsys):
    path = tmp_path / "shop.csv"
    rows = [f"v{n % 7},2024-03-01 10:00:{n:02},tent {n},SKU-{n % 5}" for n in range(40)]
    path.write_text("visitor_id,event_time,search_term,sku\n" + "\n".join(rows) + "\n")
    assert run(["check", str(path)]) == 0
    assert "\nnot used: sku\n  sku could be object_id: --column object_id=sku\n" in capsys.readouterr().out
