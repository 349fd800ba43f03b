"""What the fairness commands have in common: how they show results and split lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.console import Common, remark_if_slow, show, show_json, tell
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.errors import Problem
    from aidos.report.fairpage import FairnessStory

__all__ = ["numbers_of", "prepare_solver", "show_table", "tell_facts", "tell_left_out", "words_of", "write_page"]


def prepare_solver(common: Common) -> None:
    """Have the solver ready, and say so when that takes its time."""
    with remark_if_slow("compiling the solver; the next run will find it ready", quiet=common.quiet):
        from aidos.fairness.solver import warm_up

        warm_up()


def write_page(path: Path, story: FairnessStory) -> None:
    """The page of a story; what names real subjects is for its owner's eyes."""
    from aidos.engine.files import write_text
    from aidos.report.fairpage import fairness_page
    from aidos.report.page import render

    write_text(path, render(fairness_page(story)), private=story.source is not None)


def tell_left_out(problems: Sequence[Problem], common: Common) -> int:
    """Say which rankings were left out, and why; give their number."""
    for problem in problems:
        noun = "ranking" if problem.count == 1 else "rankings"
        tell(f"left out {problem.count:,} {noun}: {problem}", quiet=common.quiet)
    return sum(problem.count for problem in problems)


def tell_facts(facts: Mapping[str, object], common: Common) -> int:
    """Facts with their names; counts of nothing are left out for people."""
    from aidos.report.terminal import facts_table

    if common.json:
        show_json(facts)
    else:
        told = {name: value for name, value in facts.items() if isinstance(value, float) or value not in (0, "")}
        lines = [(name.replace("_", " "), _cell(value)) for name, value in told.items()]
        show(facts_table(lines))
    return 0


def show_table(columns: Sequence[str], rows: Sequence[tuple[object, ...]], title: str) -> None:
    """Rows under columns."""
    from aidos.report.terminal import rows_table

    show(rows_table(list(columns), [tuple(map(_cell, row)) for row in rows], title=title))


def words_of(text: str) -> list[str]:
    """What stands between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def numbers_of(option: str, text: str) -> list[float]:
    """Numbers between commas."""
    try:
        numbers = [float(word) for word in words_of(text)]
    except ValueError as error:
        raise ParameterError(f"{option} takes numbers with commas between, got {text!r}") from error
    if not numbers:
        raise ParameterError(f"{option} is empty")
    return numbers


def _cell(value: object) -> str | int:
    match value:
        case None:
            return "\u2013"
        case int() | str():
            return value
        case float():
            return f"{value:.4g}" if abs(value) < 10 else f"{value:,.1f}"
        case _:
            return str(value)
