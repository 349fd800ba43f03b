"""Rankings to be served: every format can be read again, and a file is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import EngineError, InputError, ParameterError
from aidos.ingest.rankings.reading import read_rankings
from aidos.ingest.rankings.rows import RankingRows
from aidos.ingest.rankings.writing import RankedRows, RankingWriter

TABLES = [".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.zst"]
WITH_SCORES = [".jsonl", ".jsonl.gz", ".jsonl.zst", *TABLES]
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8).filter(
    str.strip
)
plain_names = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8)
labels = st.one_of(st.just(""), names)


def ranked(name: str = "r", ids: Sequence[str] = ("b", "a", "c"), **more: object) -> RankedRows:
    number = len(ids)
    return RankedRows(
        ranking_id=name,
        object_ids=tuple(ids),
        scores=more.pop("scores", np.linspace(1, 2, number)),
        original_positions=np.arange(number, 0, -1),
        attention=np.array([1.0]),
        **more,
    )


@st.composite
def rankings(draw: st.DrawFn, ids: st.SearchStrategy[str]) -> RankedRows:
    objects = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    number = len(objects)
    scores = draw(st.lists(st.floats(0, 1e300), min_size=number, max_size=number).filter(any))
    texts = st.lists(labels, min_size=number, max_size=number).filter(any)
    return RankedRows(
        ranking_id=draw(ids),
        query_id=draw(labels),
        searcher_id=draw(labels),
        system=draw(labels),
        object_ids=objects,
        scores=np.array(scores) / number,
        original_positions=np.array(draw(st.permutations(range(1, number + 1)))),
        attention=np.array([0.75, 0.25][:number]),
        quality=draw(st.floats(0, 1)),
        groups=draw(st.one_of(st.just([]), texts)),
        actors=draw(st.one_of(st.just([]), texts)),
    )


def write_all(path: Path, served: Sequence[RankedRows]) -> None:
    with RankingWriter(path) as writer:
        for ranking in served:
            writer.write(ranking)


def blank(text: str) -> str:
    """What a format keeps of a cell of white space alone depends on the format; nobody is called so."""
    return text if text.strip() else ""


def check_same(read: RankingRows, written: RankedRows) -> None:
    assert read.ranking_id == written.ranking_id
    for name in ("query_id", "searcher_id", "system"):
        assert blank(getattr(read, name)) == blank(getattr(written, name))
    assert read.object_ids == tuple(written.object_ids)
    np.testing.assert_array_equal(read.scores, written.scores)
    np.testing.assert_array_equal(read.positions, np.arange(1, len(written) + 1))
    for name in ("groups", "actors"):
        assert [*map(blank, getattr(read, name))] == [*map(blank, getattr(written, name))] or (
            not getattr(read, name) and not any(map(str.strip, getattr(written, name)))
        )


@pytest.mark.parametrize("suffix", WITH_SCORES)
@settings(max_examples=25, deadline=None)
@given(served=st.lists(rankings(names), min_size=1, max_size=5, unique_by=lambda ranking: ranking.ranking_id))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, served: list[RankedRows]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"served{suffix}"
    usable = [ranking for ranking in served if ranking.scores.any()]
    write_all(path, usable or [ranked()])
    for read, written in zip(read_rankings([str(path)]), usable or [ranked()], strict=True):
        check_same(read, written)


@pytest.mark.parametrize("suffix", [".run", ".trec", ".run.gz"])
@settings(max_examples=25, deadline=None)
@given(served=st.lists(rankings(plain_names), min_size=1, max_size=5, unique_by=lambda ranking: ranking.ranking_id))
def test_a_run_keeps_the_order_and_its_scores_fall(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, served: list[RankedRows]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"served{suffix}"
    write_all(path, served)
    for read, written in zip(read_rankings([str(path)]), served, strict=True):
        assert (read.ranking_id, read.system) == (written.ranking_id, "aidos")
        assert read.object_ids == tuple(written.object_ids)
        assert (np.diff(read.scores.astype(np.float32)) < 0).all()
        assert read.positions is not None
        assert read.positions.tolist() == list(range(1, len(written) + 1))


def test_a_json_line_is_the_ranking_that_came_in_with_what_was_done_to_it(tmp_path: Path) -> None:
    write_all(tmp_path / "o.jsonl", [ranked(query_id="q", quality=0.5, groups=("x", "", "y"))])
    (line,) = (tmp_path / "o.jsonl").read_text().splitlines()
    first, _, last = json.loads(line)["subjects"]
    assert {name: value for name, value in json.loads(line).items() if name != "subjects"} == {
        "ranking_id": "r",
        "query_id": "q",
        "quality": 0.5,
    }
    assert first == {
        "subject_id": "b",
        "relevance": 1.0,
        "position": 1,
        "original_position": 3,
        "attention": 1.0,
        "group": "x",
    }
    assert (last["attention"], last["position"], last["original_position"]) == (0.0, 3, 1)


def test_tables_hold_the_same_columns_and_rows_whatever_the_rankings_have(tmp_path: Path) -> None:
    served = [ranked("r1"), ranked("r2", searcher_id="ann", actors=("h", "h", "i"))]
    write_all(tmp_path / "o.parquet", served)
    write_all(tmp_path / "o.csv", served)
    table = pq.read_table(tmp_path / "o.parquet")
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert lines[0].split(",") == table.column_names
    assert table.column("original_position").to_pylist() == [3, 2, 1] * 2
    assert table.column("attention").to_pylist() == [1.0, 0.0, 0.0] * 2
    assert table.column("actor").to_pylist() == ["", "", "", "h", "h", "i"]
    assert lines[4] == "r2,,ann,,b,1,1.0,3,1.0,1.0,,h"


def test_many_rows_are_written_in_several_batches(tmp_path: Path) -> None:
    served = [ranked(f"r{i}", [f"d{j}" for j in range(30_000)]) for i in range(6)]
    write_all(tmp_path / "o.parquet", served)
    assert pq.ParquetFile(tmp_path / "o.parquet").num_row_groups > 1
    read = list(read_rankings([str(tmp_path / "o.parquet")]))
    assert [len(found) for found in read] == [30_000] * 6
    assert read[5].object_ids == served[5].object_ids


@pytest.mark.parametrize("suffix", [".jsonl", ".run", ".csv.gz", ".tsv.zst", ".parquet"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_leaves_the_file_that_was_there(tmp_path: Path, suffix: str, error: type[BaseException]) -> None:
    path = tmp_path / f"o{suffix}"
    path.write_text("before")
    with pytest.raises(error), RankingWriter(path) as writer:
        for number in range(100):
            writer.write(ranked(f"r{number}"))
        raise error
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    write_all(path, [ranked()])
    assert len(list(read_rankings([str(path)]))) == 1


def test_nothing_has_the_final_name_before_the_end(tmp_path: Path) -> None:
    with RankingWriter(tmp_path / "o.jsonl") as writer:
        writer.write(ranked())
        assert not (tmp_path / "o.jsonl").exists()
    assert (tmp_path / "o.jsonl").exists()


@pytest.mark.parametrize("name", ["o", "o.txt", "o.gz", "o.parquet.gz", "o.xlsx"])
def test_names_that_do_not_say_the_format_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match="in which format"):
        RankingWriter(tmp_path / name)


def test_places_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="does not exist"), RankingWriter(tmp_path / "no" / "o.csv"):
        pass
    with pytest.raises(EngineError, match="disk is full"), RankingWriter(tmp_path / "o.csv") as writer:
        writer.write(ranked())
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("suffix", "ids"),
    [(".run", ["a b"]), (".run", [""]), (".csv", ["a\0"]), (".tsv", ["\ud800"]), (".jsonl", ["\ud800"])],
)
def test_ids_that_a_format_cannot_hold_are_refused(tmp_path: Path, suffix: str, ids: list[str]) -> None:
    with pytest.raises(InputError), RankingWriter(tmp_path / f"o{suffix}") as writer:
        writer.write(ranked(ids=ids))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [{"scores": np.ones(2)}, {"groups": ("x",)}, {"actors": ("x", "y")}, {"ids": ()}])
def test_rows_that_do_not_fit_together_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        ranked(**wrong)
