"""Tables of subjects with rating columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.errors import InputError
from aidos.ingest.rankings.ratings import read_ratings

Write = Callable[[str, bytes], str]
TABLE = b"subject_id,name,review_rating,review_value,host\n1,secretword,99.0,10,h1\n2,x,,9,h2\n3,,80.5,,h1\n"


@pytest.fixture(params=["r.csv", "r.tsv", "r.parquet", "r.csv.gz"])
def path(request: pytest.FixtureRequest, write: Write, tmp_path: Path) -> str:
    if request.param == "r.parquet":
        columns = {
            "subject_id": [1, 2, 3],
            "name": ["secretword", "x", None],
            "review_rating": [99.0, None, 80.5],
            "review_value": pa.array([10, 9, None], pa.int8()),
            "host": ["h1", "h2", "h1"],
        }
        pq.write_table(pa.table(columns), tmp_path / "r.parquet")
        return str(tmp_path / "r.parquet")
    if request.param.endswith(".gz"):
        import gzip

        return write(request.param, gzip.compress(TABLE))
    return write(request.param, TABLE.replace(b",", b"\t") if request.param == "r.tsv" else TABLE)


def test_numeric_columns_are_ratings_and_blank_cells_are_none(path: str) -> None:
    table = read_ratings(path)
    assert (table.subject_ids, table.columns) == (("1", "2", "3"), ("review_rating", "review_value"))
    np.testing.assert_array_equal(table.ratings, [[99, 10], [np.nan, 9], [80.5, np.nan]])
    assert (table.groups, table.actors, len(table)) == ((), (), 3)


def test_columns_groups_and_actors_are_taken_as_named(path: str) -> None:
    table = read_ratings(path, columns=["review_value"], group_column="name", actor_column="host")
    assert (table.columns, table.ratings.shape) == (("review_value",), (3, 1))
    assert (table.groups, table.actors) == (("secretword", "x", ""), ("h1", "h2", "h1"))


def refused(path: str, **options: object) -> InputError:
    with pytest.raises(InputError) as caught:
        read_ratings(path, **options)
    assert "secretword" not in f"{caught.value} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize(
    ("cell", "words"), [(b"secretword", "not a number"), (b"-3", "negative"), (b"inf", "infinite"), (b"1_0", "not a")]
)
def test_bad_ratings_are_told_with_row_and_column(write: Write, cell: bytes, words: str) -> None:
    path = write("r.csv", b"subject_id,stars\na,1\nb," + cell + b"\nc,2\nd," + cell + b"\n")
    (problem,) = refused(path).problems
    assert (problem.kind, problem.column, problem.lines, problem.count) == ("bad-rating", "stars", (3, 5), 2)
    assert words in problem.sentence


def test_bad_ratings_of_a_parquet_file_are_told_by_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"subject_id": ["a", "b"], "stars": [1.0, -1.0]}), tmp_path / "r.parquet")
    (problem,) = refused(str(tmp_path / "r.parquet")).problems
    assert str(problem).endswith("row 2: stars is negative")


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (b"", ["empty-file"]),
        (b"\n", ["empty-file"]),
        (b"subject_id,stars\n", ["header-only"]),
        (b"subject_id,stars\na,1\na,2\n,3\n", ["unnamed-subject", "repeated-subject"]),
        (b"subject_id,stars\na,1,2\n", ["ragged-rows"]),
        (b"subject_id,stars\na,0\n", ["no-rating-above-zero"]),
        (b"subject_id,stars\na,secretword\n", ["no-ratings"]),
        (b"id,stars\na,1\n", ["absent-column"]),
        (b"secretword,1\nb,2\n", ["no-header"]),
        (b"subject_id,stars,stars\na,1,2\n", ["duplicate-columns"]),
    ],
)
def test_tables_that_cannot_be_used(write: Write, content: bytes, kinds: list[str]) -> None:
    error = refused(write("r.csv", content))
    assert [problem.kind for problem in error.problems] == kinds
    assert error.hint
    assert "--skip-bad" not in error.hint


def test_columns_that_are_asked_for_must_be_there_and_hold_numbers(path: str) -> None:
    assert refused(path, columns=["review_rating", "stars"]).problems[0].kind == "absent-column"
    assert refused(path, columns=["name"]).problems[0].kind in {"bad-rating", "bad-column"}
    assert refused(path, id_column="listing").problems[0].column == "listing"


def test_files_that_are_not_there_or_not_whole(write: Write, tmp_path: Path) -> None:
    assert refused(str(tmp_path / "no.csv")).problems[0].kind == "missing-file"
    assert refused(write("r.parquet", b"PAR1secretword")).problems[0].kind == "unreadable-file"
