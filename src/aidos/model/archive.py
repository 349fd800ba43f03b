"""One file of words, arrays and facts: what a trained model is, with nothing in it that could run.

It is a NumPy archive without pickled objects. Words are their bytes in UTF-8 and where each ends, facts are a short
JSON text, and a kind and a format number say what may be read. The same content gives the same bytes, with one version
of the compressor.
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

from aidos.engine.files import replace_when_done
from aidos.errors import InputError

__all__ = ["read_archive", "write_archive"]

REMEDY = "check the name, or make it again"
DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error, UnicodeDecodeError)


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
    path: Path, *, kind: str, version: int, arrays: Sequence[str]
) -> tuple[dict[str, Any], tuple[str, ...], dict[str, NDArray[Any]]]:
    """Facts, words and the arrays that are asked for."""
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint=f"name a file that holds {kind}")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            facts = json.loads(held["about"].tobytes().decode("utf-8"))
            is_kind, found = facts["kind"] == kind, int(facts["format"])
            if is_kind and found == version:
                ends = [0, *held["ends"].tolist()]
                store = held["words"].tobytes()
                words = tuple(store[begin:end].decode("utf-8") for begin, end in pairwise(ends))
                return facts, words, {name: held[name] for name in arrays}
    except DAMAGED as error:
        raise InputError(f"{path} does not hold {kind}, or is damaged", hint=REMEDY) from error
    if is_kind:
        raise InputError(
            f"{path} has format {found}, this version of aidos reads {version}", hint="make it again with this version"
        )
    raise InputError(f"{path} does not hold {kind}", hint="check the name")
