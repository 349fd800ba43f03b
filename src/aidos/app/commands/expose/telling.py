"""What the exposure commands have in common: how they open a directory and show what it holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, show, show_json, tell

if TYPE_CHECKING:
    from aidos.rooms.exposure.queries.estimate import Estimate
    from aidos.rooms.exposure.queries.manifest import Facts
    from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = ["Where", "open_store", "tell_facts", "tell_size"]

LARGE = 10**9
"""Bytes that are worth a word."""
NAMES = ("posts", "members", "words", "queries", "exposures")


@Parameter(name="*", group="Where to look")
@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The directory that is asked."""

    directory: Annotated[Path, Parameter(name=["--in"])]
    """The directory that `aidos expose compute` wrote."""


def open_store(where: Where, common: Common) -> ExposureStore:
    """The directory, with a remark when it has grown old."""
    from aidos.rooms.exposure.queries.store import ExposureStore

    store = ExposureStore.open(where.directory)
    if hint := store.drift.hint:
        tell(hint, quiet=common.quiet)
    return store


def tell_size(expected: Estimate, common: Common) -> None:
    """How much will be written, where that is much."""
    from aidos.rooms.exposure.queries.estimate import in_words

    if expected.bytes >= LARGE:
        temporary = f", {in_words(expected.spill)} of it temporarily" if expected.spill else ""
        tell(
            f"about {expected.queries:,} queries will be ranked and {in_words(expected.bytes)} written{temporary}",
            quiet=common.quiet,
        )


def tell_facts(directory: Path, facts: Facts, common: Common, *, estimated: int | None = None) -> int:
    """What a directory holds, and how much it was estimated to take while it was made."""
    from aidos.report.terminal import facts_table

    settings = asdict(facts.settings)
    counts = {name: getattr(facts, name) for name in NAMES}
    also = {"cut_posts": facts.cut_posts, "estimated_bytes": estimated}
    if common.json:
        show_json({"directory": str(directory), "settings": settings, **counts, **also})
    else:
        told = [(name.replace("_", " "), value) for name, value in {**settings, **counts}.items()]
        show(facts_table([("directory", str(directory)), *told]))
    return 0
