"""The data of a release: a search log of any known format, or any table with a column of persons.

Both are read by the same rules: what holds for a whole file is declared or stands in its line of names, so that one
person's rows change nobody else's (docs/theory/reader.md). The order of rows does not matter to a release, and columns
that it does not need are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from aidos.app.reading import HowToRead
from aidos.app.recipe import Recipe
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_text
from aidos.errors import InputError
from aidos.ingest.reading import read_files
from aidos.ingest.sources import find_sources
from aidos.rooms.publish.click_counts import ClickCounts
from aidos.rooms.publish.items import KINDS
from aidos.rooms.publish.multi import LogRelease
from aidos.rooms.publish.pool import PoolRelease
from aidos.rooms.publish.tables import TableRelease
from aidos.rooms.publish.wholelog import WholeLog

__all__ = ["read_for_release"]

OF_QUERIES = frozenset({"queries", "keywords"})
"""Kinds of items that are made of queries alone."""


def read_for_release(engine: EmbeddedEngine, files: Sequence[str], recipe: Recipe, how: HowToRead) -> EmbeddedTable:
    """The table that a recipe is about; queries of logs are normalised."""
    if not recipe.person:
        options = how.options(normalise="all")
        built = recipe.build()  # mechanisms of whole logs need all columns
        enough = isinstance(built, LogRelease) and OF_QUERIES.issuperset(built.kinds)
        wanted = frozenset({"user_query"}) if enough else frozenset()
        release = replace(options, for_release=True, wanted=wanted, needed=_needed(built))
        return read_files(engine, files, release).table
    sources = find_sources(files)[0]
    if sources and all(source.is_parquet for source in sources):
        return _parquet(engine, [str(source.path) for source in sources])
    columns = tuple(dict.fromkeys((recipe.person, *recipe.columns)))
    return read_files(engine, files, replace(how.options(), for_release=True, table=columns)).table


def _needed(built: LogRelease | TableRelease | WholeLog) -> frozenset[str]:
    """The columns that a release is made of: where none is mapped, it would be empty, and its charge spent."""
    match built:
        case LogRelease(kinds=kinds):
            return frozenset(column for kind in kinds for column in KINDS[kind].needs)
        case WholeLog(mechanism=ClickCounts()):
            return frozenset(KINDS["clicks"].needs)
        case WholeLog(mechanism=PoolRelease() as pool) if pool.counts_clicks:
            return frozenset(KINDS["clicks"].needs)
        case _:
            return frozenset()


def _parquet(engine: EmbeddedEngine, paths: Sequence[str]) -> EmbeddedTable:
    listed = ", ".join(quote_text(path) for path in paths)
    try:
        return engine.view(f"select * from read_parquet([{listed}])")
    except duckdb.Error as error:  # its message may quote cells
        raise InputError(
            f"{', '.join(paths)}: no table could be read", hint="aidos check tells what is wrong"
        ) from error
