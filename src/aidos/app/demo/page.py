"""The demo's page: all chapters in one file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from aidos.app.demo.chapter import Workplace
from aidos.engine.files import write_text
from aidos.report.page import Chapter, Page, render

__all__ = ["write_page"]


def write_page(place: Workplace, chapters: Sequence[Chapter]) -> Path:
    """Write the page; give its path."""
    world = place.world
    page = Page(
        title="aidos on the sample world",
        lead="Privacy and fairness for search systems: what each part of aidos does, shown on data about nobody.",
        chapters=tuple(chapters),
        colophon=f"Made by aidos {version('aidos')} from synthetic data: size {world.size}, seed {world.seed}.",
    )
    path = place.directory / "index.html"
    write_text(path, render(page))
    return path
