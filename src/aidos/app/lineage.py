"""The files of a source as a ledger sees them: contents without their compression, and the people in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from aidos.account.lineage import DataSet
from aidos.app.console import Common, open_engine, tell
from aidos.app.reading import HowToRead
from aidos.app.recipe import Recipe
from aidos.app.tabledata import read_for_release
from aidos.errors import AidosError, InputError
from aidos.ingest.sources import BROKEN_STREAM, find_sources, open_bytes

__all__ = ["data_set", "data_with_people"]


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
def data_with_people(data: DataSet, person: str, how: HowToRead, common: Common) -> Iterator[DataSet]:
    """The same with the people in it, if they can be read; otherwise a remark says why not."""
    recipe = Recipe() if person == "client_id" else Recipe(person=person)
    with ExitStack() as held:
        try:
            engine = held.enter_context(open_engine(common))
            table = read_for_release(engine, [str(path) for path in data.paths], recipe, how)
            if person not in table.columns:
                raise InputError(f"there is no column {person}", hint="name it with --person or --column")
            column = '"' + person.replace('"', '""') + '"'
            people = table.select(f"select distinct {column} from {{table}} where {column} is not null")
            data = replace(data, table=held.enter_context(people.held()), person=person)
        except AidosError as error:
            tell(f"people were not compared with those of other ledgers: {error.message}", quiet=common.quiet)
        yield data
