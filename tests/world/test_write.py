from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import zstandard

from aidos.errors import EngineError, ParameterError
from aidos.world import write
from aidos.world.size import World
from aidos.world.write import PARTS, write_sample

TINY = World("tiny")


@pytest.mark.parametrize("part", PARTS)
def test_the_same_world_gives_the_same_bytes(part: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "sample.parquet", tmp_path / "b" / "sample.parquet"
    for path in (first, second):
        path.parent.mkdir()
        assert write_sample(part, TINY, path) == pq.read_metadata(path).num_rows > 0
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("part", PARTS)
def test_another_seed_gives_other_rows(part: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write_sample(part, World(120, seed=1), first)
    write_sample(part, World(120, seed=2), second)
    assert first.read_bytes() != second.read_bytes()


@pytest.mark.parametrize("part", PARTS)
def test_text_formats_hold_what_parquet_holds(part: str, tmp_path: Path) -> None:
    world = World(60)
    rows = write_sample(part, world, tmp_path / "sample.parquet")
    wanted = pq.read_table(tmp_path / "sample.parquet").to_pylist()
    assert write_sample(part, world, tmp_path / "sample.ndjson") == rows
    lines = [json.loads(line) for line in (tmp_path / "sample.ndjson").read_text().splitlines()]
    assert [{k: str(v) for k, v in row.items() if k not in {"value", "score"}} for row in lines] == [
        {k: str(v) for k, v in row.items() if k not in {"value", "score"}} for row in wanted
    ]
    assert write_sample(part, world, tmp_path / "sample.csv") == rows
    table = pa_csv.read_csv(tmp_path / "sample.csv")
    assert table.num_rows == rows
    assert table.column_names == list(wanted[0])


def test_packed_text_is_the_same_text(tmp_path: Path) -> None:
    for suffix in ("", ".gz", ".zst"):
        write_sample("posts", TINY, tmp_path / f"posts.csv{suffix}")
    plain = (tmp_path / "posts.csv").read_bytes()
    assert gzip.decompress((tmp_path / "posts.csv.gz").read_bytes()) == plain
    with (tmp_path / "posts.csv.zst").open("rb") as packed:
        assert zstandard.ZstdDecompressor().stream_reader(packed).read() == plain


def test_the_log_as_tsv_is_an_aol_log(tmp_path: Path) -> None:
    rows = write_sample("log", TINY, tmp_path / "log.tsv")
    write_sample("log", TINY, tmp_path / "log.parquet")
    actions = pq.read_table(tmp_path / "log.parquet", columns=["query_id", "action"]).to_pylist()
    clicks = [row["query_id"] for row in actions if row["action"] == "click"]
    without = {row["query_id"] for row in actions} - set(clicks)
    header, *lines = (tmp_path / "log.tsv").read_text().splitlines()
    assert header == "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    assert rows == len(lines) == len(clicks) + len(without)
    cells = [line.split("\t") for line in lines]
    assert {len(row) for row in cells} == {5}
    assert sum(row[3] == row[4] == "" for row in cells) == len(without)
    assert [row[:1] + row[2:3] for row in cells] == sorted(row[:1] + row[2:3] for row in cells)


def test_every_file_says_that_it_is_synthetic_and_how_to_make_it_again(tmp_path: Path) -> None:
    world = World("tiny", seed=3, topics=30)
    write_sample("posts", world, tmp_path / "posts.parquet")
    write_sample("posts", world, tmp_path / "posts.csv")
    inside = (pq.read_metadata(tmp_path / "posts.parquet").metadata or {})[b"aidos.note"].decode()
    beside = (tmp_path / "posts.csv.note.txt").read_text()
    for note, name in ((inside, "posts.parquet"), (beside, "posts.csv")):
        assert note.startswith("Synthetic data")
        assert f"aidos sample posts --size tiny --seed 3 --topics 30 -o {name}" in note
    assert not (tmp_path / "posts.parquet.note.txt").exists()


@pytest.mark.parametrize("name", ["log.xlsx", "log", "log.parquet.gz", "log.txt"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as caught:
        write_sample("log", TINY, tmp_path / name)
    assert ".parquet" in caught.value.hint
    assert ".jsonl.zst" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ParameterError, match="log, posts, documents, results, rankings, truth"):
        write_sample("songs", TINY, Path("songs.csv"))


def test_an_error_half_way_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(world: World):  # type: ignore[no-untyped-def]
        yield from write.post_blocks(world)
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(write._MAKERS, "posts", broken)
    for name in ("posts.parquet", "posts.csv.gz"):
        with pytest.raises(EngineError, match="disk is full"):
            write_sample("posts", World(20), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("part", PARTS)
def test_a_world_of_one_person_can_be_written(part: str, tmp_path: Path) -> None:
    for seed in range(3):
        write_sample(part, World(1, seed=seed, topics=8), tmp_path / "one.parquet")
        assert pq.read_metadata(tmp_path / "one.parquet").num_columns > 4
