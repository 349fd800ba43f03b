"""What a chapter of the demo gets and gives back, and the page that holds all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aidos import __version__
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine
from aidos.engine.files import write_text
from aidos.errors import install_command
from aidos.report.page import Chapter, Code, DataTable, Page, Prose, render
from aidos.world.size import World

__all__ = ["ChapterMaker", "Outcome", "Workplace", "left_out_chapter", "write_page"]


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a chapter works: the world is made once, files of one chapter are there for the next."""

    directory: Path
    world: World
    engine: EmbeddedEngine
    progress: Progress


@dataclass(frozen=True, slots=True)
class Outcome:
    """A chapter for the page, and its line in the terminal."""

    chapter: Chapter
    step: str
    result: str


ChapterMaker = Callable[[Workplace], Outcome]


def write_page(place: Workplace, chapters: Sequence[Chapter]) -> Path:
    """Write the page; give its path."""
    world = place.world
    page = Page(
        title="aidos on the sample world",
        lead="Privacy and fairness for search systems: what each part of aidos does, shown on data about nobody.",
        chapters=tuple(chapters),
        colophon=f"Made by aidos {__version__} from synthetic data: size {world.size}, seed {world.seed}.",
    )
    path = place.directory / "index.html"
    write_text(path, render(page))
    return path


def left_out_chapter(left_out: Mapping[str, Sequence[str]]) -> Chapter:
    """The last chapter where packages are missing: what is not shown, and how to see it."""
    extras = sorted({extra for each in left_out.values() for extra in each})
    return Chapter(
        title="What is left out",
        blocks=(
            Prose("Some rooms need packages that are not installed here. One command brings them all."),
            DataTable(
                caption="Rooms that are not shown",
                columns=("room", "extras it needs"),
                rows=tuple((name, ", ".join(each)) for name, each in left_out.items()),
            ),
            Code(text=install_command(",".join(extras)), language="command"),
        ),
    )
