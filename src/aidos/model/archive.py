"""One file of words, arrays and facts: what a trained model is, with nothing in it that could run.

It is a NumPy archive without pickled objects. Words are their bytes in UTF-8 and where each ends, facts are a short
JSON text, and a kind and a format number say what may be read. Every part has a checksum, as zip files have them, and a
part that unpacks to far more than it is is refused. The same content gives the same bytes, with one version of the
compressor.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.engine.files import replace_when_done
from aidos.engine.sealed import UNREADABLE
from aidos.engine.unpacking import DENSEST, SUSPECT, TooDenseError
from aidos.errors import InputError

__all__ = ["read_archive", "write_archive"]

REMEDY = "check the name, or make it again"
DAMAGED = (*UNREADABLE, KeyError, AttributeError, RuntimeError, zipfile.BadZipFile, zlib.error)


def write_archive(  # noqa: PLR0913 (what it is, and what is in it)
    path: Path,
    *,
    kind: str,
    version: int,
    facts: Mapping[str, object],
    words: Sequence[str],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write the file, whole or not at all; only its owner may read it until its owner says otherwise."""
    pieces = [word.encode("utf-8") for word in words]
    said = json.dumps({"kind": kind, "format": version, **facts}, ensure_ascii=False, sort_keys=True)
    held: dict[str, Any] = {
        "about": np.frombuffer(said.encode("utf-8"), dtype=np.uint8),
        "words": np.frombuffer(b"".join(pieces), dtype=np.uint8),
        "ends": np.cumsum([len(piece) for piece in pieces], dtype=np.int64),
        **arrays,
    }
    with replace_when_done(path, private=True) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **held)


def read_archive(
    path: Path, *, kind: str, version: int, arrays: Mapping[str, tuple[type[np.generic], int]]
) -> tuple[dict[str, Any], tuple[str, ...], dict[str, NDArray[Any]]]:
    """Facts, words and the arrays that are asked for, each of its kind and with so many dimensions."""
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint=f"name a file that holds {kind}")
    try:
        with zipfile.ZipFile(path) as packed:
            _refuse_bombs(path, packed)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            facts = parse_json(held["about"].tobytes())
            is_kind, found = facts["kind"] == kind, int(facts["format"])
            if is_kind and found == version:
                read = {name: held[name] for name in arrays}
                if any((each.dtype, each.ndim) != arrays[name] for name, each in read.items()):
                    raise ValueError("other arrays")
                return facts, _words(held["words"].tobytes(), held["ends"]), read
    except DAMAGED as error:
        raise InputError(f"{path} does not hold {kind}, or is damaged", hint=REMEDY) from error
    if is_kind:
        raise InputError(
            f"{path} has format {found}, this version of aidos reads {version}", hint="make it again with this version"
        )
    raise InputError(f"{path} does not hold {kind}", hint="check the name")


def _words(store: bytes, ends: NDArray[Any]) -> tuple[str, ...]:
    bounds = [0, *ends.tolist()]
    if ends.dtype != np.int64 or bounds != sorted(bounds) or bounds[-1] != len(store):
        raise ValueError("words that do not end where they should")
    return tuple(store[begin:end].decode("utf-8") for begin, end in pairwise(bounds))


def _refuse_bombs(path: Path, packed: zipfile.ZipFile) -> None:
    for member in packed.infolist():
        if member.file_size > max(SUSPECT, DENSEST * member.compress_size):
            raise TooDenseError(str(path))
