"""`aidos demo`: every room on the sample world, and one page about it.

Where packages are missing it says at once what will be left out, and shows the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from aidos.errors import install_command
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.extras import missing, needs
from aidos.jobs.job import Short
from aidos.world.size import OnSample

if TYPE_CHECKING:
    from aidos.demo.chapter import ChapterMaker
    from aidos.report.page import Block

__all__ = ["CHAPTERS", "ShowDemo", "ShownDemo"]

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
COLUMNS = ("step", "result", "time")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ShownDemo(Finding):
    """What was shown, step by step, and the page to open."""

    about: str = "people who do not exist"
    file: Path
    steps: tuple[tuple[str, str, str], ...]

    def facts(self) -> Mapping[str, object]:
        """The page, and what came out of each step."""
        return {"page": str(self.file), "steps": [dict(zip(COLUMNS, step, strict=True)) for step in self.steps]}

    def blocks(self) -> Sequence[Block]:
        """The steps, and at the very end the path of the page, alone on its line."""
        from aidos.report.page import Code, DataTable, Prose

        return (
            DataTable(caption="aidos demo", columns=COLUMNS, rows=self.steps),
            Prose("open in a browser:"),
            Code(text=str(self.file), language="text"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDemo(OnSample):
    """Run every room on the sample world and write one HTML page about it.

    The page is one file without scripts or links to anywhere. The files it
    speaks of stand beside it. Rooms whose packages are not installed are left
    out.

    For example:
        aidos demo
        aidos demo --size tiny -o /tmp/demo
    """

    output: Annotated[Path, Short("-o")] = Path("demo")
    """The directory to write to; it is made if need be. Files of an earlier demo are replaced."""

    def run(self, desk: Desk) -> ShownDemo:
        """Make every chapter, then the page."""
        from aidos.demo.chapter import Workplace, left_out_chapter, write_page
        from aidos.engine.files import make_directories
        from aidos.world.size import World

        world = World(size=self.size, seed=self.seed)
        lacking = {name: missing(extra for line in lines for extra in needs(line)) for name, lines in CHAPTERS.items()}
        left_out = {name: extras for name, extras in lacking.items() if extras}
        _tell_what_is_missing(left_out, desk)
        make_directories(self.output)
        steps: list[tuple[str, str, str]] = []
        chapters = []
        with desk.engine() as engine:
            place = Workplace(self.output, world, engine, desk.progress)
            for name in CHAPTERS:
                if name not in left_out:
                    started = perf_counter()
                    made = _maker(name)(place)
                    chapters.append(made.chapter)
                    steps.append((made.step, made.result, f"{perf_counter() - started:.1f} s"))
        if left_out:
            chapters.append(left_out_chapter(left_out))
            steps += [(name, f"left out: needs {', '.join(extras)}", "") for name, extras in left_out.items()]
        return ShownDemo(file=write_page(place, chapters).resolve(), steps=tuple(steps))


def _tell_what_is_missing(left_out: Mapping[str, Sequence[str]], desk: Desk) -> None:
    """One remark before the work: what will not be shown, and the one command that brings it."""
    extras = {extra for each in left_out.values() for extra in each}.union(missing(["report"]))
    if not extras:
        return
    losses = [f"without {', '.join(left_out)}"] if left_out else []
    losses += ["with tables in place of charts"] if "report" in extras else []
    desk.remark(f"packages are missing: the demo runs {' and '.join(losses)}")
    desk.remark(f"to see all of it: {install_command(','.join(sorted(extras)))}")


def _maker(name: str) -> ChapterMaker:
    maker: ChapterMaker = getattr(import_module(f"aidos.demo.{name}"), f"{name}_chapter")
    return maker
