from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from aidos.ingest.sources import BROKEN_STREAM, find_sources, open_bytes

Write = Callable[[str, bytes], str]


def test_patterns_give_files_in_order_and_names_as_written(write: Write, tmp_path: Path) -> None:
    paths = [write(name, b"x") for name in ("b.tsv", "a.tsv", "c.csv")]
    sources, problems = find_sources([str(tmp_path / "*.tsv"), paths[2]])
    assert [source.name for source in sources] == [paths[1], paths[0], paths[2]]
    assert problems == []


def test_a_file_whose_name_looks_like_a_pattern_is_itself(write: Write) -> None:
    path = write("log[1].tsv", b"x")
    sources, _ = find_sources([path])
    assert [source.name for source in sources] == [path]


@pytest.mark.parametrize("name", ["absent.tsv", "absent/*.tsv", "with\0nul", "n" * 300])
def test_what_is_not_there(name: str, tmp_path: Path) -> None:
    _, problems = find_sources([str(tmp_path / name)])
    assert [problem.kind for problem in problems] == ["missing-file"]


@pytest.mark.parametrize(
    ("pack", "suffix"),
    [(lambda data: data, ""), (gzip.compress, ".gz"), (zstandard.compress, ".zst"), (gzip.compress, ".misnamed")],
)
def test_compression_is_told_by_the_first_bytes(write: Write, pack: Callable[[bytes], bytes], suffix: str) -> None:
    content = b"line\n" * 100_000
    (source,), _ = find_sources([write(f"Log.TSV{suffix}", pack(content))])
    with open_bytes(source) as stream:
        assert stream.read() == content


def test_streams_of_several_parts_are_read_to_the_end(write: Write) -> None:
    for name, pack in (("a.gz", gzip.compress), ("a.zst", zstandard.compress)):
        (source,), _ = find_sources([write(name, pack(b"one\n") + pack(b"two\n") + pack(b""))])
        with open_bytes(source) as stream:
            assert list(stream) == [b"one\n", b"two\n"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_no_stream_can_be_cut_anywhere_without_notice(write: Write, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(bytes(range(256)) * 4)
    for cut in range(4, len(packed), 7):
        (source,), _ = find_sources([write("cut", packed[:cut])])
        with open_bytes(source) as stream, pytest.raises(BROKEN_STREAM):
            stream.read()


def test_the_plain_name_has_no_compression_suffix(write: Write) -> None:
    (source,), _ = find_sources([write("Posts.XML.gz", gzip.compress(b"x"))])
    assert source.plain_name == "posts.xml"
