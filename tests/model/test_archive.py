"""Archives of words and arrays that are not what they say."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from aidos.errors import InputError
from aidos.model.archive import read_archive, write_archive

KIND = {"kind": "a test", "version": 1}
HELD = {"matrix": (np.float32, 2)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    matrix = np.ones((2, 3), dtype=np.float32)
    write_archive(tmp_path / "a.npz", **KIND, facts={}, words=["one", "two"], arrays={"matrix": matrix})
    return tmp_path / "a.npz"


def rewrite(path: Path, **arrays: np.ndarray) -> None:
    with np.load(path) as held:
        kept = {**held, **arrays}
    np.savez_compressed(path, **kept)


@pytest.mark.parametrize(
    "arrays",
    [
        {"matrix": np.ones((2, 3))},
        {"matrix": np.ones(6, dtype=np.float32)},
        {"matrix": np.array(["x"])},
        {"ends": np.array([6, 3])},
        {"ends": np.array([3, 1 << 40])},
        {"ends": np.array([3.0, 6.0])},
        {"words": np.array([255] * 6, dtype=np.uint8)},
        {"about": np.frombuffer(b"[" * 5000, dtype=np.uint8)},
    ],
)
def test_what_does_not_fit_is_refused_with_right_checksums(path: Path, arrays: dict[str, np.ndarray]) -> None:
    assert read_archive(path, **KIND, arrays=HELD)[1] == ("one", "two")
    rewrite(path, **arrays)
    with pytest.raises(InputError, match="or is damaged"):
        read_archive(path, **KIND, arrays=HELD)


def test_a_flipped_bit_is_told(path: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        member = packed.getinfo("matrix.npy")
    content = bytearray(path.read_bytes())
    content[member.header_offset + 30 + len("matrix.npy") + 20 + member.compress_size // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(InputError, match="or is damaged"):
        read_archive(path, **KIND, arrays=HELD)


def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(path: Path) -> None:
    rewrite(path, matrix=np.zeros((1 << 13, 1 << 12), dtype=np.float32))
    with pytest.raises(InputError, match="times its size"):
        read_archive(path, **KIND, arrays=HELD)
