"""A release on disk: rehearsed before anything is spent, and not lost when the disk gives up afterwards.

The rehearsal does everything but look at data. The mechanism runs on a table with the same columns and no rows, and an
invented release of three rows is written to the very place where the real one will stand. Whatever does not depend on
rows (a missing package, an unreadable list, a column that is not there, a directory that cannot be written) fails there
and costs nothing.

What can still fail after the charge is the disk. The release is in memory then, and is written to another place, which
the error names. It is never computed a second time on one charge.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from aidos import __version__
from aidos.app.manifest import stated_promise
from aidos.app.recipe import Recipe
from aidos.app.release import release
from aidos.app.releasedir import new_directory, write_files, write_histogram
from aidos.core.mechanism import PublicFacts, Release
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.files import check_new, partial_directory, spoken_errors
from aidos.errors import AidosError, EngineError
from aidos.report.page import render
from aidos.rooms.publish.histogram import Histogram
from aidos.rooms.publish.page import letter_to_readers, release_page

__all__ = ["ReleasedLog", "check_room", "rehearse", "write_or_rescue", "write_release"]

ReleasedLog = Release[dict[str, Histogram]]

ROOM = 64 * 2**20
"""Bytes that must be free where a release is written. How large it will be depends on the data, so this is fixed."""


def check_room(target: Path) -> None:
    """Refuse a place where a release cannot be written, before data are read."""
    check_new(target)
    free = shutil.disk_usage(target.resolve().parent).free
    if free < ROOM:
        raise EngineError(
            f"the disk of {target} has less than {ROOM // 2**20} MB left", hint="make room, or choose another place"
        )


def rehearse(recipe: Recipe, table: Table, target: Path, facts: PublicFacts) -> None:
    """Everything that a release does, without data: what cannot work fails here, before the charge."""
    check_room(target)
    nobody = table.select("select * from {table} limit 0")
    made: ReleasedLog = release(recipe.build(), nobody, ledger=None, noise=Noise(0), facts=facts)
    invented = {
        kind: replace(histogram, table=_invented(histogram.table.schema)) for kind, histogram in made.value.items()
    }
    with spoken_errors(target), partial_directory(target) as directory:
        write_release(replace(made, value=invented), recipe, directory, facts, None)


def _invented(schema: pa.Schema) -> pa.Table:
    """Three rows of a table, about nobody."""
    integers, texts = [3, 2, 1], ["a", "b", "c"]
    columns = [
        pa.array(integers if pa.types.is_integer(field.type) else texts).cast(field.type)
        if pa.types.is_integer(field.type) or pa.types.is_string(field.type)
        else pa.nulls(len(texts), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def write_or_rescue(
    made: ReleasedLog, recipe: Recipe, target: Path, facts: PublicFacts, entry: Mapping[str, object] | None
) -> Path:
    """Write the directory; where that fails, beside it under another name, or among temporary files."""
    name = f"{target.name}.rescued-{secrets.token_hex(4)}"
    places = (target, target.with_name(name), Path(tempfile.gettempdir()) / name)
    failures: list[AidosError] = []
    for place in places:
        try:
            with new_directory(place) as directory:
                write_release(made, recipe, directory, facts, entry)
        except AidosError as error:
            failures.append(error)
        else:
            return place
    raise failures[0]


def write_release(
    made: ReleasedLog, recipe: Recipe, directory: Path, facts: PublicFacts, entry: Mapping[str, object] | None
) -> None:
    """Fill a directory: tables, page, letter, manifest. ``entry`` says where in a ledger it was charged."""
    for kind, histogram in made.value.items():
        write_histogram(directory, kind, histogram.table)
    stated = stated_promise(recipe, facts, noise_source=made.noise_source, charged=entry is not None)
    manifest = {
        "aidos": __version__,
        **stated.facts(),
        "noise": made.noise_source,
        "facts": {"people": facts.people, "vouched": facts.vouched},
        "ledger": entry,
        "recipe": recipe.to_toml(),
        "not_said": "How much was dropped is not told: those numbers come from the data and carry no noise.",
    }
    page = release_page(made, recipe.to_toml(), stated.calibration, facts.vouched)
    write_files(directory, manifest, page=render(page), letter=letter_to_readers(made, facts.vouched))
