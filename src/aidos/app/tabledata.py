"""The data of a release: a search log of any known format, or any table with a column of persons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from aidos.app.reading import HowToRead
from aidos.app.recipe import Recipe
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.errors import InputError
from aidos.ingest.reading import read_files

__all__ = ["read_for_release"]

READERS = {".parquet": "read_parquet({files})", ".csv": "read_csv({files}, all_varchar = true)"}


def read_for_release(engine: EmbeddedEngine, files: Sequence[str], recipe: Recipe, how: HowToRead) -> EmbeddedTable:
    """The table that a recipe is about; queries of logs are normalised."""
    if not recipe.person:
        return read_files(engine, files, how.options(normalise="all")).table
    kinds = {Path(file).suffix for file in files}
    if len(kinds) != 1 or not kinds <= READERS.keys():
        raise InputError("a table is one of Parquet or CSV", hint="other formats: aidos ingest them first")
    for file in files:
        if not Path(file).is_file():
            raise InputError(f"{file} is no file", hint="check the name")
    listed = ", ".join(quote_text(file) for file in files)
    try:
        return engine.view("select * from " + READERS[kinds.pop()].format(files=f"[{listed}]"))
    except duckdb.Error as error:  # its message may quote cells
        raise InputError(
            f"{', '.join(files)}: no table could be read", hint="aidos check tells what is wrong"
        ) from error
