"""`aidos demo`: every room on the sample world, and one page about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json
from aidos.errors import MissingExtraError

if TYPE_CHECKING:
    from aidos.app.demo.chapter import ChapterMaker, Outcome, Workplace

__all__ = ["demo"]


def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    size: str = "small",
    seed: int = 7,
    common: Common | None = None,
) -> int:
    """Run every room on the sample world and write one HTML page about it.

    The page is one file without scripts or links to anywhere. The files it
    speaks of stand beside it.

    For example:
        aidos demo
        aidos demo --size tiny -o /tmp/demo

    Parameters
    ----------
    output
        The directory to write to; it is made if need be. Files of an earlier demo are replaced.
    size
        The size of the sample world: tiny, small, medium, or a number of people.
    seed
        Another seed is another world.
    """
    from aidos.app.demo.chapter import Workplace
    from aidos.app.demo.page import write_page
    from aidos.report.terminal import closing_table
    from aidos.world.size import World

    common = common or Common()
    world = World(size=size, seed=seed)
    output.mkdir(parents=True, exist_ok=True)
    steps: list[tuple[str, str, str]] = []
    chapters = []
    with open_engine(common) as engine:
        place = Workplace(output, world, engine, TerminalProgress(quiet=common.quiet))
        for make in _makers():
            started = perf_counter()
            made = _made(make, place)
            chapters.append(made.chapter)
            steps.append((made.step, made.result, f"{perf_counter() - started:.1f} s"))
    page = str(write_page(place, chapters).resolve())
    columns = ("step", "result", "time")
    if common.json:
        show_json({"page": page, "steps": [dict(zip(columns, step, strict=True)) for step in steps]})
    else:
        show(closing_table(columns, steps, title="aidos demo", file=page, file_label="open in a browser:"))
    return 0


def _makers() -> Iterator[ChapterMaker]:
    """The chapters in the order of the page."""
    from aidos.app.demo.audit import audit_chapter
    from aidos.app.demo.exposure import exposure_chapter
    from aidos.app.demo.fairness import fairness_chapter
    from aidos.app.demo.house import house_chapter
    from aidos.app.demo.ingest import ingest_chapter
    from aidos.app.demo.mediator import mediator_chapter
    from aidos.app.demo.publish import publish_chapter
    from aidos.app.demo.risk import risk_chapter
    from aidos.app.demo.shield import shield_chapter
    from aidos.app.demo.utility import utility_chapter
    from aidos.app.demo.world import world_chapter

    yield from (world_chapter, ingest_chapter, publish_chapter, utility_chapter, mediator_chapter, shield_chapter)
    yield from (audit_chapter, exposure_chapter, risk_chapter, fairness_chapter, house_chapter)


def _made(make: ChapterMaker, place: Workplace) -> Outcome:
    """A chapter; where packages for it are not installed, a chapter that says so."""
    from aidos.app.demo.chapter import Outcome
    from aidos.report.page import Callout, Chapter

    try:
        return make(place)
    except MissingExtraError as error:
        room = make.__module__.rpartition(".")[2]
        blocks = (Callout("caution", f"{error.message[0].upper()}{error.message[1:]}. {error.hint}"),)
        return Outcome(
            Chapter(title=room.capitalize(), blocks=blocks), room, f"left out: needs the extra {error.extra}"
        )
