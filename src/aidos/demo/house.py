"""The demo's last chapter: how the house is built."""

from __future__ import annotations

from importlib import import_module

from aidos.demo.chapter import Outcome, Workplace
from aidos.report.page import Chapter, DataTable, Prose

__all__ = ["house_chapter"]

FLOORS = (
    "errors",
    "core",
    "engine",
    "ingest",
    "model",
    "account",
    "report",
    "service",
    "jobs",
    "world",
    "rooms.data",
    "rooms.publish",
    "rooms.shield",
    "rooms.audit",
    "rooms.exposure",
    "rooms.risk",
    "rooms.fairness",
    "studies",
    "demo",
    "surfaces",
)


def house_chapter(place: Workplace) -> Outcome:  # noqa: ARG001  # every chapter is called alike
    """The floors, from the ground up, each in its own words."""
    floors = tuple((f"aidos.{floor}", _first_sentence(floor)) for floor in FLOORS)
    chapter = Chapter(
        title="The shape of the house",
        blocks=(
            Prose(
                "Data come in at the bottom and leave at the top. A floor uses only the floors below it, and the check "
                "`make architecture` fails when one reaches up."
            ),
            DataTable(caption="The floors, from the ground up", columns=("package", "what it holds"), rows=floors),
        ),
    )
    return Outcome(chapter, "the house", f"{len(floors)} floors")


def _first_sentence(floor: str) -> str:
    """What the package says of itself."""
    return (import_module(f"aidos.{floor}").__doc__ or "").partition("\n")[0]
