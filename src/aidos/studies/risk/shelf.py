"""Finished parts of an experiment in a directory, so that what was cut off goes on where it stopped.

The directory is readable by its owner alone and belongs to one experiment on one set of data: its fingerprint stands in
a file, and a directory with another one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.engine.files import replace_when_done, write_text
from aidos.errors import InputError

__all__ = ["Shelf"]

MARK = "experiment.sha256"


class _Model(Protocol):
    """What can be saved to a file."""

    def save(self, path: str | Path) -> None:
        """Write it."""
        ...

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read it."""
        ...


Model = TypeVar("Model", bound=_Model)


class Shelf:
    """A directory of finished parts, or none: then everything is done anew."""

    def __init__(self, directory: Path | None, fingerprint: str) -> None:
        """Take a directory that is new, empty, or of the same experiment."""
        self._directory = directory
        if directory is None:
            return
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark = directory / MARK
        if mark.exists():
            if mark.read_text(encoding="utf-8").strip() != fingerprint:
                raise InputError(
                    f"{directory} belongs to another experiment or other data", hint="keep results in another directory"
                )
        elif any(directory.iterdir()):
            raise InputError(f"{directory} holds other files", hint="keep results in a directory of their own")
        else:
            write_text(mark, fingerprint + "\n", private=True)

    def table(self, name: str, make: Callable[[], pa.Table]) -> pa.Table:
        """The table of that name, made if it is not there."""
        if self._directory is None:
            return make()
        path = self._directory / f"{name}.parquet"
        if path.exists():
            try:
                return pq.read_table(path)
            except (OSError, pa.ArrowInvalid) as error:
                raise InputError(f"{path} cannot be read", hint="delete it: the part is then done again") from error
        made = make()
        with replace_when_done(path, private=True) as partial:
            pq.write_table(made, partial)
        return made

    def model(self, name: str, kind: type[Model], make: Callable[[], Model]) -> Model:
        """The model of that name, made if it is not there."""
        if self._directory is None:
            return make()
        path = self._directory / f"{name}.npz"
        if path.exists():
            return kind.load(path)
        made = make()
        made.save(path)
        return made
