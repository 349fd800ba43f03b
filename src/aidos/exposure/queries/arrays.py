"""Arrays of an exposure directory: written whole, for the owner alone, and mapped when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.engine.files import replace_when_done
from aidos.errors import InputError
from aidos.exposure.queries.manifest import AGAIN, make_directory

__all__ = ["load_arrays", "parquet_writer", "save_arrays"]


def save_arrays(directory: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write each array to a file of its name; who has mapped an older one keeps it."""
    make_directory(directory)
    for name, array in arrays.items():
        with replace_when_done(directory / f"{name}.npy", private=True) as partial, partial.open("wb") as file:
            np.save(file, array, allow_pickle=False)


def load_arrays(directory: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Map arrays; writing to them changes memory only."""
    found = {}
    for name in names:
        path = directory / f"{name}.npy"
        try:
            # Copy on write: compiled code takes it for an ordinary array, and the file stays as it is.
            found[name] = np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
        except FileNotFoundError as error:
            raise InputError(
                f"{directory.parent} is damaged: {directory.name}/{path.name} is missing", hint=AGAIN
            ) from error
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{path} is damaged: it cannot be mapped", hint=AGAIN) from error
    return found


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema, **options: Any) -> Iterator[pq.ParquetWriter]:
    """A Parquet file that is whole or not there, for the owner alone."""
    with replace_when_done(path, private=True) as partial, pq.ParquetWriter(partial, schema, **options) as writer:
        yield writer
