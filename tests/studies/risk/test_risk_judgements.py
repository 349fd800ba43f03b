"""Judgements of profiles in every format, agreement, rules, and files that are not what they should be."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.errors import InputError
from aidos.model.annotations import fleiss_kappa
from aidos.studies.risk.profiles import ProfileJudgements

NAMES = ("author_id", "topic", "judge", "relevance")
ROWS = [
    ("ann", "debt", "j1", 1),
    ("ann", "debt", "j2", 1),
    ("ann", "debt", "j3", 0),
    ("bob", "debt", "j1", 0),
    ("bob", "debt", "j2", 1),
    ("bob", "hiv", "j1", 1),
    ("bob", "hiv", "j2", 1),
]


def write(path, rows=ROWS, names=NAMES):
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}), path)
        return str(path)
    if ".jsonl" in path.name:
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    else:
        between = "\t" if path.name.endswith(".tsv") else ","
        text = "".join(between.join(map(str, row)) + "\n" for row in (names, *rows))
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return str(path)


@pytest.mark.parametrize("name", ["j.csv", "j.tsv", "j.jsonl", "j.parquet", "j.jsonl.gz"])
@pytest.mark.parametrize("person", ["author_id", "client_id", "person"])
def test_every_format_says_the_same(tmp_path, name, person):
    found = ProfileJudgements.read(write(tmp_path / name, names=(person, *NAMES[1:])))
    assert found.people == ("ann", "bob")
    assert found.topics == ("debt", "hiv")
    assert found.grades == pytest.approx(np.array([[2 / 3, np.nan], [1 / 2, 1]]), nan_ok=True)
    assert found.sensitive.tolist() == [[True, False], [False, True]]
    assert found.kappa == pytest.approx(fleiss_kappa([[1, 2], [1, 1], [0, 2]]))
    assert found.judges == 3


def test_files_of_several_judges_are_read_together(tmp_path):
    for judge in ("j1", "j2", "j3"):
        write(tmp_path / f"{judge}.csv", [row for row in ROWS if row[2] == judge])
    assert ProfileJudgements.read(str(tmp_path / "*.csv")).grades[0, 0] == pytest.approx(2 / 3)


def test_rules_differ_where_grades_do(tmp_path):
    rows = [("ann", "debt", f"j{number}", grade) for number, grade in enumerate((0.2, 0.2, 0))]
    path = write(tmp_path / "j.csv", [*rows, ("bob", "debt", "j1", 2), ("bob", "debt", "j2", 0)])
    assert ProfileJudgements.read(path, rule="mean").sensitive.tolist() == [[False], [True]]
    assert ProfileJudgements.read(path, rule="majority").sensitive.tolist() == [[True], [False]]
    with pytest.raises(InputError, match="no rule"):
        ProfileJudgements.read(path, rule="all")


def test_people_who_are_not_there_are_counted(tmp_path):
    grades, sensitive, unknown = ProfileJudgements.read(write(tmp_path / "j.csv")).among(["zoe", "ann"])
    assert grades == pytest.approx(np.array([[np.nan, np.nan], [2 / 3, np.nan]]), nan_ok=True)
    assert sensitive.tolist() == [[False, False], [True, False]]
    assert unknown == 2


def test_one_judge_has_no_kappa(tmp_path):
    assert np.isnan(ProfileJudgements.read(write(tmp_path / "j.csv", ROWS[:1])).kappa)


@pytest.mark.parametrize("name", ["j.csv", "j.jsonl", "j.parquet"])
def test_all_that_is_wrong_is_told_by_line_and_column_and_never_quoted(tmp_path, name):
    rows = [*ROWS, ("secretname", "debt", "j1", "maybe"), ("", "debt", "j1", "1"), ("ann", "debt", "j1", "1")]
    with pytest.raises(InputError) as caught:
        ProfileJudgements.read(write(tmp_path / name, [(*row[:3], str(row[3])) for row in rows]))
    first = len(ROWS) + (2 if name.endswith("csv") else 1)
    assert {(problem.kind, problem.column, problem.lines) for problem in caught.value.problems} == {
        ("bad-number", "relevance", (first,)),
        ("empty-cell", "author_id", (first + 1,)),
        ("repeated-judgement", "judge", (first + 2,)),
    }
    told = str(caught.value) + "".join(map(str, caught.value.problems))
    assert "maybe" not in told
    assert "secretname" not in told
    assert name in told


def test_columns_that_are_missing_or_twice_are_named(tmp_path):
    with pytest.raises(InputError, match="relevance"):
        ProfileJudgements.read(write(tmp_path / "a.csv", [("ann", "debt", "j1")], NAMES[:3]))
    with pytest.raises(InputError, match="author_id"):
        ProfileJudgements.read(write(tmp_path / "b.csv", [("a", "b", *ROWS[0][1:])], ("person", *NAMES)))


def test_files_without_rows_or_broken_are_refused(tmp_path):
    with pytest.raises(InputError):
        ProfileJudgements.read(str(tmp_path / "none.csv"))
    (tmp_path / "empty.csv").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        ProfileJudgements.read(str(tmp_path / "empty.csv"))
    with pytest.raises(InputError, match="header"):
        ProfileJudgements.read(write(tmp_path / "head.csv", []))
    (tmp_path / "bad.jsonl").write_bytes(b'{"author_id": "a", "topic": \n')
    with pytest.raises(InputError, match=r"line 1|bad\.jsonl"):
        ProfileJudgements.read(str(tmp_path / "bad.jsonl"))
