"""Judgements in every format, their agreement, and files that are not what they should be."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.errors import InputError
from aidos.model.annotations import fleiss_kappa
from aidos.studies.exposure.judged import read_judgements

ROWS = [
    ("ann", "Sad  song", "j1", 1, ""),
    ("ann", "sad song", "j2", 0, ""),
    ("ann", "sad song", "j3", 1, ""),
    ("ann", "guitar", "j1", 0, "p1"),
    ("ann", "guitar", "j2", 0, "p1"),
    ("ann", "guitar", "j3", 0, "p1"),
    ("7", "guitar", "j1", 1, ""),
    ("7", "guitar", "j2", 1, ""),
]
NAMES = ("author_id", "query", "judge", "relevance", "post_id")


def write(path, rows=ROWS, names=NAMES):
    if path.name.endswith(".parquet"):
        pq.write_table(pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}), path)
        return path
    if ".jsonl" in path.name:
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    else:
        between = "\t" if path.name.endswith(".tsv") else ","
        text = "".join(between.join(map(str, row)) + "\n" for row in (names, *rows))
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["j.csv", "j.tsv", "j.jsonl", "j.parquet", "j.jsonl.gz", "j.csv.gz"])
def test_every_format_says_the_same(tmp_path, name):
    found = read_judgements(str(write(tmp_path / name)))
    assert found.author_ids == ("ann", "ann", "7")
    assert found.queries == ("sad song", "guitar", "guitar")
    assert found.post_ids == ("", "p1", "")
    assert found.means == pytest.approx([2 / 3, 0, 1])
    assert found.judged.tolist() == [3, 3, 2]
    assert found.grades == pytest.approx([2, 0, 3])
    assert found.kappa == pytest.approx(fleiss_kappa([[1, 2], [3, 0], [0, 2]]))
    assert found.judges == 3


def test_numbers_as_ids_are_texts(tmp_path):
    table = pa.table({"author_id": [7], "query": ["a"], "judge": [1], "relevance": [0.5]})
    pq.write_table(table, tmp_path / "j.parquet")
    found = read_judgements(str(tmp_path / "j.parquet"))
    assert found.author_ids == ("7",)
    assert np.isnan(found.kappa)
    assert found.usual == 1


def test_several_files_by_pattern(tmp_path):
    write(tmp_path / "one.csv", ROWS[:3])
    write(tmp_path / "two.csv", ROWS[3:])
    assert len(read_judgements(str(tmp_path / "*.csv"))) == 3


def refused(path):
    with pytest.raises(InputError) as caught:
        read_judgements(str(path))
    return caught.value


@pytest.mark.parametrize("name", ["j.csv", "j.jsonl", "j.parquet"])
def test_all_problems_at_once_with_line_and_column_and_no_cell(tmp_path, name):
    rows = [
        ("secretary", "hidden words", "j1", "0", ""),
        ("", "hidden words", "j1", "0", ""),
        ("secretary", "hidden words", "j1", "1", ""),
        ("secretary", "hidden words", "j2", "maybe", ""),
        ("secretary", "hidden words", "j3", "-1", ""),
    ]
    error = refused(write(tmp_path / name, rows))
    first = 1 if name != "j.csv" else 2
    told = {(problem.kind, problem.column): problem.lines for problem in error.problems}
    assert told == {
        ("empty-cell", "author_id"): (first + 1,),
        ("repeated-judgement", "judge"): (first + 2,),
        ("bad-number", "relevance"): (first + 3, first + 4),
    }
    words = " ".join([str(error), error.hint, *map(str, error.problems)])
    assert "secretary" not in words
    assert "hidden" not in words
    assert "maybe" not in words


def test_lines_that_cannot_be_read_are_told(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"author_id": "a", "query": "q", "judge": "j", "relevance": 1}\nnot json\n\xff\xfe\n')
    assert [(problem.kind, problem.lines) for problem in refused(path).problems] == [
        ("bad-json", (2,)),
        ("invalid-utf8", (3,)),
    ]
    path = tmp_path / "j.csv"
    path.write_text("author_id,query,judge,relevance\na,q,j\n")
    assert refused(path).problems[0].kind == "ragged-rows"


def test_files_that_are_no_judgements(tmp_path):
    assert refused(tmp_path / "absent.csv").problems[0].kind == "missing-file"
    (tmp_path / "empty.csv").write_text("")
    assert refused(tmp_path / "empty.csv").problems[0].kind == "empty-file"
    assert refused(write(tmp_path / "names.csv", [])).problems[0].kind == "header-only"
    missing = refused(write(tmp_path / "less.csv", [("a", "q")], ("author_id", "query")))
    assert [problem.column for problem in missing.problems] == ["judge", "relevance"]
    assert "author_id, query" in missing.hint
    (tmp_path / "half.parquet").write_bytes(write(tmp_path / "j.parquet").read_bytes()[:200])
    assert refused(tmp_path / "half.parquet").problems[0].kind == "unreadable-file"
