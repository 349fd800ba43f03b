"""The data of a release: a search log of any known format, or any table with a column of persons.

Both are read by the same rules: what holds for a whole file is declared or stands in its line of names, so that one
person's rows change nobody else's (docs/theory/reader.md). The order of rows does not matter to a release, and columns
that it does not need are not read. A ledger sees the same files as contents without their compression, and as the
people in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import duckdb

from aidos.account.lineage import DataSet
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable, quote_name, quote_text
from aidos.errors import AidosError, InputError
from aidos.ingest.options import HowToRead
from aidos.ingest.reading import read_files
from aidos.ingest.sources import BROKEN_STREAM, find_sources, open_bytes
from aidos.jobs.desk import Desk
from aidos.rooms.publish.catalogue import Built
from aidos.rooms.publish.click_counts import ClickCounts
from aidos.rooms.publish.items import KINDS
from aidos.rooms.publish.multi import LogRelease, WholeLog
from aidos.rooms.publish.pool import PoolRelease
from aidos.rooms.publish.tables import TableRelease

__all__ = ["data_set", "data_with_people", "read_for_release"]

OF_QUERIES = frozenset({"queries", "keywords"})
"""Kinds of items that are made of queries alone."""


def read_for_release(engine: EmbeddedEngine, files: Sequence[str], built: Built, how: HowToRead) -> EmbeddedTable:
    """The table that a release is about; queries of logs are normalised."""
    if not isinstance(built, TableRelease):
        # Mechanisms of whole logs need all columns.
        enough = isinstance(built, LogRelease) and OF_QUERIES.issuperset(built.kinds)
        wanted = frozenset({"user_query"}) if enough else frozenset()
        options = how.options(normalise="all", for_release=True, wanted=wanted, needed=_needed(built))
        return read_files(engine, files, options).table
    sources = find_sources(files)[0]
    if sources and all(source.is_parquet for source in sources):
        return _parquet(engine, [str(source.path) for source in sources])
    columns = tuple(dict.fromkeys((built.person, *built.columns)))
    return read_files(engine, files, how.options(for_release=True, table=columns)).table


def _needed(built: Built) -> frozenset[str]:
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


def data_set(files: Sequence[str], name: str = "") -> DataSet:
    """The files that names and patterns stand for."""
    sources, problems = find_sources(files)
    for problem in problems:
        reason = problem.sentence.removeprefix("cannot be read: ")
        raise InputError(f"{problem.file} cannot be read: {reason}", hint=problem.remedy)
    kinds = {source.path: source for source in sources}

    @contextmanager
    def opening(path: Path) -> Iterator[IO[bytes]]:
        try:
            with open_bytes(kinds[path]) as stream:
                yield stream
        except BROKEN_STREAM as error:
            raise InputError(
                f"{path} cannot be read: its compression is damaged", hint="fetch or compress the file again"
            ) from error

    return DataSet(tuple(kinds), name, opening)


@contextmanager
def data_with_people(data: DataSet, person: str, how: HowToRead, desk: Desk) -> Iterator[DataSet]:
    """The same with the people in it, if they can be read; otherwise a remark says why not."""
    wanted = LogRelease() if person == "client_id" else TableRelease(person=person, columns=())
    with ExitStack() as held:
        try:
            engine = held.enter_context(desk.engine())
            table = read_for_release(engine, [str(path) for path in data.paths], wanted, how)
            if person not in table.columns:
                raise InputError(f"there is no column {person}", hint="name it with --person or --column")
            column = quote_name(person)
            people = table.select(f"select distinct {column} from {{table}} where {column} is not null")
            data = replace(data, table=held.enter_context(people.held()), person=person)
        except AidosError as error:
            desk.remark(f"people were not compared with those of other ledgers: {error.message}")
        yield data
