"""Checksums and arrays of state directories."""

from pathlib import Path

import numpy as np
import pytest

from aidos.engine import sealed
from aidos.engine.sealed import Spec, StoredFile, check_arrays, check_files, map_array, stored_entries
from aidos.errors import InputError

SIZES = {"rows": 4, "values": 9, "words": 3}


def longs(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


GOOD = [
    (Spec(kind=np.int64, shape=("rows",)), longs(1, -2, 3, 1 << 62)),
    (Spec(kind=np.int64, shape=("rows",), offsets="values"), longs(0, 0, 4, 4, 9)),
    (Spec(kind=np.int64, shape=("words",), below="words", distinct=True), longs(2, 0, 1)),
    (Spec(kind=np.int64, below="words", least=-1), longs()),
    (Spec(kind=np.float64, shape=("rows", "words")), np.full((4, 3), -np.inf)),
    (Spec(kind=np.bool_, shape=("words",)), np.array([True, False, True])),
]
BAD = [
    (Spec(kind=np.int64, shape=("rows",)), longs(1, 2, 3)),
    (Spec(kind=np.int64, shape=("rows",)), longs(1, 2, 3, 4).astype(">i8")),
    (Spec(kind=np.int64, shape=("rows",)), longs(1, 2, 3, 4).astype(np.int32)),
    (Spec(kind=np.int64, shape=("rows",)), np.arange(8)[::2]),
    (Spec(kind=np.int64, shape=("rows",)), longs(1, 2, 3, 4).reshape(2, 2)),
    (Spec(kind=np.int64, shape=("rows",), offsets="values"), longs(0, 5, 4, 4, 9)),
    (Spec(kind=np.int64, shape=("rows",), offsets="values"), longs(1, 2, 4, 4, 9)),
    (Spec(kind=np.int64, shape=("rows",), offsets="values"), longs(0, 2, 4, 4, 10)),
    (Spec(kind=np.int64, shape=("rows",), offsets="values"), longs(0, 1 << 62, -(1 << 63), 4, 9)),
    (Spec(kind=np.int64, offsets="values"), longs()),
    (Spec(kind=np.int64, shape=("words",), below="words", distinct=True), longs(2, 0, 2)),
    (Spec(kind=np.int64, below="words"), longs(-1)),
    (Spec(kind=np.int64, below="words"), longs(3)),
    (Spec(kind=np.int64, least=1), longs(0)),
    (Spec(kind=np.float64), np.array([np.nan])),
    (Spec(kind=np.bool_), np.array([2], dtype=np.uint8).view(np.bool_)),
]


@pytest.mark.parametrize(("spec", "array"), GOOD)
def test_arrays_as_they_must_be_pass(spec: Spec, array: np.ndarray) -> None:
    check_arrays(Path("d"), {"a": array}, {"a": spec}, SIZES, again="")


@pytest.mark.parametrize("piece", [1, 2, 1 << 22])
@pytest.mark.parametrize(("spec", "array"), BAD)
def test_others_are_refused_however_they_are_cut(
    spec: Spec, array: np.ndarray, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed, "PIECE", piece)
    with pytest.raises(InputError, match="the array a "):
        check_arrays(Path("d"), {"a": array}, {"a": spec}, SIZES, again="")


def test_a_missing_array_is_told() -> None:
    with pytest.raises(InputError, match="the array a is missing"):
        check_arrays(Path("d"), {}, {"a": Spec(kind=np.int64)}, SIZES, again="")


def test_files_are_compared_with_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abcdef")
    entry = StoredFile.of(tmp_path, "a")
    check_files(tmp_path, [entry], again="")
    for content in (b"abcdeg", b"abcde", b""):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(InputError, match="is damaged"):
            check_files(tmp_path, [entry], again="")
    for name in ("../a", str(tmp_path / "a"), "b"):
        with pytest.raises(InputError, match="is missing"):
            StoredFile(file=name, bytes=0, crc32=0).check(tmp_path, again="")


@pytest.mark.parametrize("said", [{"a": {"file": "a"}}, {"a": {"file": 1, "bytes": 1, "crc32": 1}}, {"a": 3}])
def test_entries_that_are_none_are_refused(said: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        stored_entries(said)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i8',", b"x" * 200])
def test_what_is_no_array_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(InputError, match="no array that can be mapped"):
        map_array(tmp_path / "a.npy", again="")
