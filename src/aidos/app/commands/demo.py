"""`aidos demo`: every room on the sample world, and one page about it.

Where packages are missing it says at once what will be left out, and shows the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.extras import missing, needs
from aidos.errors import install_command

if TYPE_CHECKING:
    from aidos.app.demo.chapter import ChapterMaker

__all__ = ["demo"]

CHAPTERS: Mapping[str, tuple[str, ...]] = {
    "world": (),
    "ingest": (),
    "publish": (),
    "utility": ("rank", "evaluate mechanisms"),
    "mediator": ("mediate",),
    "shield": ("shield explain",),
    "audit": ("audit rehearse",),
    "exposure": ("expose",),
    "risk": ("risk",),
    "fairness": ("fair simulate",),
    "house": (),
}
"""The chapters in the order of the page, by their modules, and the commands that need what each needs."""


def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    size: str = "small",
    seed: int = 7,
    common: Common | None = None,
) -> int:
    """Run every room on the sample world and write one HTML page about it.

    The page is one file without scripts or links to anywhere. The files it
    speaks of stand beside it. Rooms whose packages are not installed are left
    out.

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
    from aidos.app.demo.page import left_out_chapter, write_page
    from aidos.report.terminal import closing_table
    from aidos.world.size import World

    common = common or Common()
    world = World(size=size, seed=seed)
    lacking = {name: missing(extra for line in lines for extra in needs(line)) for name, lines in CHAPTERS.items()}
    left_out = {name: extras for name, extras in lacking.items() if extras}
    _tell_what_is_missing(left_out, quiet=common.quiet)
    output.mkdir(parents=True, exist_ok=True)
    steps: list[tuple[str, str, str]] = []
    chapters = []
    with open_engine(common) as engine:
        place = Workplace(output, world, engine, TerminalProgress(quiet=common.quiet))
        for name in CHAPTERS:
            if name not in left_out:
                started = perf_counter()
                made = _maker(name)(place)
                chapters.append(made.chapter)
                steps.append((made.step, made.result, f"{perf_counter() - started:.1f} s"))
    if left_out:
        chapters.append(left_out_chapter(left_out))
        steps += [(name, f"left out: needs {', '.join(extras)}", "") for name, extras in left_out.items()]
    page = str(write_page(place, chapters).resolve())
    columns = ("step", "result", "time")
    if common.json:
        show_json({"page": page, "steps": [dict(zip(columns, step, strict=True)) for step in steps]})
    else:
        show(closing_table(columns, steps, title="aidos demo", file=page, file_label="open in a browser:"))
    return 0


def _tell_what_is_missing(left_out: Mapping[str, Sequence[str]], *, quiet: bool) -> None:
    """One remark before the work: what will not be shown, and the one command that brings it."""
    extras = {extra for each in left_out.values() for extra in each}.union(missing(["report"]))
    if not extras:
        return
    losses = [f"without {', '.join(left_out)}"] if left_out else []
    losses += ["with tables in place of charts"] if "report" in extras else []
    tell(f"packages are missing: the demo runs {' and '.join(losses)}", quiet=quiet)
    tell(f"to see all of it: {install_command(','.join(sorted(extras)))}", quiet=quiet)


def _maker(name: str) -> ChapterMaker:
    maker: ChapterMaker = getattr(import_module(f"aidos.app.demo.{name}"), f"{name}_chapter")
    return maker
