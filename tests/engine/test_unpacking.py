"""Unpacking in bounded memory: sound data come out whole, damaged ones are noticed, bombs are refused."""

import gzip
import struct
import subprocess
import sys

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from aidos.engine.unpacking import BrokenStreamError, TooDenseError, open_unpacked

SKIPPED = struct.pack("<II", 0x184D2A50, 5) + b"12345"
"""A frame of zstd that carries nothing; pzstd writes such."""


def packed(kind, data):
    return (
        gzip.compress(data, mtime=0) if kind == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress(data)
    )


def unpacked(path, content, size=-1):
    path.write_bytes(content)
    with open_unpacked(path) as stream:
        return stream.read(size)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@given(parts=st.lists(st.binary(max_size=3000).map(lambda text: text * 50), min_size=1, max_size=4))
def test_what_was_packed_comes_out_in_one_or_several_parts(tmp_path_factory, kind, parts):
    path = tmp_path_factory.getbasetemp() / f"parts-{kind}"
    assert unpacked(path, b"".join(packed(kind, part) for part in parts)) == b"".join(parts)


def test_what_is_not_packed_comes_as_it_is(tmp_path):
    assert unpacked(tmp_path / "plain", b"id\tname\n") == b"id\tname\n"
    assert unpacked(tmp_path / "empty", b"") == b""


def test_padding_after_gzip_and_frames_without_content_are_passed_over(tmp_path):
    one, two = b"one" * 99, b"two"
    assert unpacked(tmp_path / "gz", packed("gzip", one) + b"\0" * 300_000 + packed("gzip", two)) == one + two
    assert unpacked(tmp_path / "zst", packed("zstd", one) + SKIPPED + packed("zstd", two) + SKIPPED) == one + two


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("cut", [1, 3, 8, 11])
def test_a_cut_is_noticed(tmp_path, kind, cut):
    whole = packed(kind, bytes(range(256)) * 4000)
    with pytest.raises(BrokenStreamError):
        unpacked(tmp_path / "cut", whole[:-cut])
    with pytest.raises(BrokenStreamError):
        unpacked(tmp_path / "second", whole + whole[:-cut])


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damage_and_rubbish_behind_are_noticed(tmp_path, kind):
    whole = packed(kind, bytes(range(256)) * 4000)
    with pytest.raises(BrokenStreamError):
        unpacked(tmp_path / "damage", whole[:20] + b"\xff\xff\xff\xff" + whole[24:])
    with pytest.raises(BrokenStreamError):
        unpacked(tmp_path / "rubbish", whole + b"rubbish")


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_data_that_are_too_dense_are_refused_and_small_ones_are_not(tmp_path, kind):
    assert len(unpacked(tmp_path / "small", packed(kind, b"\0" * (32 << 20)))) == 32 << 20
    with pytest.raises(TooDenseError, match="unpacks to more than 500 times its size") as caught:
        unpacked(tmp_path / "bomb", packed(kind, b"\0" * (80 << 20)))
    assert "unpack it yourself" in caught.value.hint


CHILD = """
import resource, sys
from pathlib import Path
from aidos.engine.unpacking import TooDenseError, open_unpacked
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    with open_unpacked(Path(sys.argv[1])) as stream:
        while stream.read1(1 << 20):
            pass
except TooDenseError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def bomb(kind, gigabytes):
    """Zeros, as many as one wants: a member or frame is repeated, so that making them is cheap."""
    part = packed(kind, b"\0" * (64 << 20))
    return part * (gigabytes * 16)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_bombs_take_little_memory(tmp_path, kind):
    (tmp_path / "bomb").write_bytes(bomb(kind, 4))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "bomb")], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) < 200_000  # kilobytes; Arrow itself has 60 MB


def test_a_single_frame_that_holds_everything_takes_little_memory(tmp_path):
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    zeros = b"\0" * (1 << 24)
    (tmp_path / "bomb").write_bytes(b"".join(packer.compress(zeros) for _ in range(64)) + packer.flush())
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "bomb")], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) < 200_000


def test_a_window_larger_than_the_default_is_refused(tmp_path):
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=30)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(BrokenStreamError):
        unpacked(tmp_path / "window", packer.compress(b"abc" * 1000) + packer.flush())
