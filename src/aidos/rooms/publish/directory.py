"""A release as a value, and as a directory that can be handed over: tables, manifest, a page, a letter to the reader.

The directory appears whole or not at all: everything is written beside it under another name, which takes its place by
one rename. The rehearsal before the charge does everything but look at data. The mechanism runs on a table with the
same columns and no rows, and an invented release of three rows is written to the very place where the real one will
stand. Whatever does not depend on rows (a missing package, an unreadable list, a column that is not there, a directory
that cannot be written) fails there and costs nothing.

What can still fail after the charge is the disk. The release is in memory then, and is written to another place, which
the error names. It is never computed a second time on one charge.
"""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aidos import __version__
from aidos.core.guarantee import statement
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.files import check_new, directory_when_done, partial_directory, spoken_errors, write_text
from aidos.errors import AidosError, EngineError
from aidos.jobs.answer import Release, as_path
from aidos.jobs.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.core.table import Table
    from aidos.jobs.release import Released
    from aidos.report.page import Block, Page
    from aidos.rooms.publish.catalogue import Built
    from aidos.rooms.publish.histogram import Histogram
    from aidos.rooms.publish.manifest import Stated
    from aidos.rooms.publish.outlook import Outlook

__all__ = [
    "PublishedLog",
    "check_room",
    "new_directory",
    "rehearse",
    "write_files",
    "write_histogram",
    "write_or_rescue",
]

ROOM = 64 * 2**20
"""Bytes that must be free where a release is written. How large it will be depends on the data, so this is fixed."""
NOT_SAID = "How much was dropped is not told: those numbers come from the data and carry no noise."


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PublishedLog(Release):
    """The items that many people share, with noisy counts, and a promise to every person in the data."""

    value: Mapping[str, Histogram]
    """The tables, by kind of item."""
    recipe: Recipe
    public: PublicFacts
    entry: Mapping[str, object] | None = None
    """Where in a ledger it was charged."""
    expected: Sequence[Outlook] = ()
    """What was expected of it."""
    seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What each phase took, on the wall and of the processors; for the owner alone."""
    directory: Path | None = None
    """Where it was written."""

    @classmethod
    def of(cls, made: Released[dict[str, Histogram]], recipe: Recipe, public: PublicFacts) -> PublishedLog:
        """What came out of the one door."""
        return cls(
            value=made.value,
            guarantee=made.guarantee,
            mechanism=made.mechanism,
            noise_source=made.noise_source,
            recipe=recipe,
            public=public,
        )

    def facts(self) -> Mapping[str, object]:
        """Where it is, what it promises, and how much came out."""
        return {
            "directory": str(self.directory or ""),
            "statement": statement(self.guarantee),
            "rows": {kind: len(histogram) for kind, histogram in self.value.items()},
            "outlook": [one.facts() for one in self.expected],
            "seconds": self.seconds,
        }

    def _values(self) -> dict[str, Any]:
        """What one line tells."""
        return {kind: len(histogram) for kind, histogram in self.value.items()} | {"promise": statement(self.guarantee)}

    def table(self) -> pa.Table:
        """The items; of several kinds one below the other, with the kind in the first column."""
        import pyarrow as pa

        tables = {kind: histogram.table for kind, histogram in self.value.items()}
        if len(tables) == 1:
            return next(iter(tables.values()))
        named = [table.add_column(0, "items", pa.repeat(pa.scalar(kind), len(table))) for kind, table in tables.items()]
        return pa.concat_tables(named, promote_options="default")

    def blocks(self) -> Sequence[Block]:
        """How many items came out, and the promise."""
        from aidos.report.page import DataTable, Prose

        rows = tuple((kind, len(histogram)) for kind, histogram in self.value.items())
        table = DataTable(caption="The release", columns=("items", "released"), rows=rows, titled=False)
        return table, Prose(statement(self.guarantee))

    def remarks(self) -> Sequence[str]:
        """What to do with it."""
        nothing = [] if any(map(len, self.value.values())) else ["nothing passed the threshold: a valid, empty release"]
        return (*nothing, *([f"{self.directory}: open report.html, hand over the directory"] if self.directory else ()))

    def page(self) -> Page:
        """The page of the directory."""
        from aidos.rooms.publish.page import release_page

        return release_page(self, self.recipe.to_toml(), self._stated().calibration, self.public.vouched)

    def save(self, path: str | Path) -> None:
        """Write the directory, which must not exist; or the page (.html), the facts (.json), the table (.csv...)."""
        path = as_path(path)
        if path.suffix in {".html", ".json", ".parquet", ".csv"}:
            super().save(path)
        else:
            self.save_directory(path)

    def save_directory(self, target: Path) -> None:
        """Write the directory, whole or not at all."""
        with new_directory(target) as directory:
            self.fill(directory)

    def fill(self, directory: Path) -> None:
        """Write tables, page, letter and manifest into a directory."""
        from aidos.report.page import render
        from aidos.rooms.publish.page import letter_to_readers

        for kind, histogram in self.value.items():
            write_histogram(directory, kind, histogram.table)
        manifest = {
            "aidos": __version__,
            **self._stated().facts(),
            "noise": self.noise_source,
            "facts": {"people": self.public.people, "vouched": self.public.vouched},
            "ledger": self.entry,
            "recipe": self.recipe.to_toml(),
            "not_said": NOT_SAID,
        }
        letter = letter_to_readers(self, self.public.vouched)
        write_files(directory, manifest, page=render(self.page()), letter=letter)

    def _stated(self) -> Stated:
        from aidos.rooms.publish.manifest import stated_promise

        charged = self.entry is not None
        return stated_promise(self.recipe, self.public, noise_source=self.noise_source, charged=charged)


def check_room(target: Path) -> None:
    """Refuse a place where a release cannot be written, before data are read."""
    check_new(target)
    free = shutil.disk_usage(target.resolve().parent).free
    if free < ROOM:
        raise EngineError(
            f"the disk of {target} has less than {ROOM // 2**20} MB left", hint="make room, or choose another place"
        )


def rehearse(built: Built, recipe: Recipe, table: Table, target: Path | None, facts: PublicFacts) -> None:
    """Everything that a release does, without data: what cannot work fails here, before the charge."""
    from aidos.engine.scratch import scratch_directory
    from aidos.jobs.release import release

    if target is not None:
        check_room(target)
    nobody = table.select("select * from {table} limit 0")
    made = PublishedLog.of(release(built, nobody, ledger=None, noise=Noise(0), facts=facts), recipe, facts)
    invented = {
        kind: replace(histogram, table=_invented(histogram.table.schema)) for kind, histogram in made.value.items()
    }
    place = scratch_directory() if target is None else partial_directory(target)
    with spoken_errors(target or Path(tempfile.gettempdir())), place as directory:
        replace(made, value=invented).fill(directory)


def write_or_rescue(made: PublishedLog, target: Path) -> Path:
    """Write the directory; where that fails, beside it under another name, or among temporary files."""
    name = f"{target.name}.rescued-{secrets.token_hex(4)}"
    failures: list[AidosError] = []
    for place in (target, target.with_name(name), Path(tempfile.gettempdir()) / name):
        try:
            made.save_directory(place)
        except AidosError as error:
            failures.append(error)
        else:
            return place
    raise failures[0]


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """A directory beside ``target`` that takes its name when all went well, and is removed otherwise."""
    check_new(target)
    with directory_when_done(target) as partial:
        yield partial


def write_histogram(directory: Path, name: str, table: pa.Table) -> None:
    """One table as Parquet and as CSV; in the CSV, nothing acts on a spreadsheet or a terminal."""
    import pyarrow.parquet as pq

    from aidos.report.values import write_sheet

    pq.write_table(table, directory / f"{name}.parquet", compression="zstd")
    write_sheet(table, directory / f"{name}.csv")


def write_files(directory: Path, manifest: Mapping[str, object], *, page: str, letter: str) -> None:
    """The page, the letter, and last the manifest with the hashes of all files."""
    from aidos.rooms.publish.manifest import MANIFEST

    write_text(directory / "report.html", page)
    write_text(directory / "README.md", letter)
    files = {path.name: _described(path) for path in sorted(directory.iterdir()) if not path.name.startswith(".")}
    write_text(directory / MANIFEST, json.dumps({**manifest, "files": files}, indent=2, ensure_ascii=False) + "\n")


def _described(path: Path) -> dict[str, object]:
    import pyarrow.parquet as pq

    from aidos.rooms.publish.manifest import hash_file

    described: dict[str, object] = {"sha256": hash_file(path), "bytes": path.stat().st_size}
    if path.suffix == ".parquet":
        metadata = pq.read_metadata(path)
        described |= {"rows": metadata.num_rows, "columns": metadata.schema.names}
    return described


def _invented(schema: pa.Schema) -> pa.Table:
    """Three rows of a table, about nobody."""
    import pyarrow as pa

    integers, texts = [3, 2, 1], ["a", "b", "c"]
    columns = [
        pa.array(integers if pa.types.is_integer(field.type) else texts).cast(field.type)
        if pa.types.is_integer(field.type) or pa.types.is_string(field.type)
        else pa.nulls(len(texts), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
