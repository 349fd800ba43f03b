"""`aidos audit compare`: two audits of one account, such as before and after shielding."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, show, show_json, tell

if TYPE_CHECKING:
    from aidos.rooms.audit.comparisonpage import ComparisonStory

__all__ = ["compare", "show_comparison"]

SHOWN = 12
"""Topics that are listed."""


def compare(
    before: Path,
    after: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Compare two audits: which topics the service goes by more or less, by more than chance.

    Both need the same topics: learn the second with --same-topics. A change of
    the service itself looks the same as an effect of what you did.

    For example:
        aidos audit compare before after
        aidos audit compare before after -o page.html
        aidos audit compare before/finding.json after/finding.json --json

    Parameters
    ----------
    before
        The directory of the first audit, or its finding.json.
    after
        The directory of the second audit, or its finding.json.
    output
        A page about it, which only its owner can read.
    """
    from aidos.app.audit.comparing import comparison_facts, read_story

    common = common or Common()
    command = shlex.join(["aidos", "audit", "compare", str(before), str(after)])
    story = read_story(before, after, command=command)
    if output is not None:
        from aidos.engine.files import write_text
        from aidos.report.page import render
        from aidos.rooms.audit.comparisonpage import comparison_page

        write_text(output, render(comparison_page(story)), private=True)
    if common.json:
        show_json({**comparison_facts(story), "output": None if output is None else str(output)})
        return 0
    show_comparison(story)
    tell("a change of the service itself looks the same as an effect of what you did", quiet=common.quiet)
    if output is not None:
        show(str(output))
    return 0


def show_comparison(story: ComparisonStory) -> None:
    """What changed, and the topics that changed most."""
    from rich.text import Text

    from aidos.report.terminal import rows_table
    from aidos.report.values import show as plain
    from aidos.rooms.audit.comparisonpage import CHANGE_COLUMNS, change_rows, change_words, topic_changes

    changes = topic_changes(story)
    shown = changes[:SHOWN]
    title = "weights of topics" + (f"; {len(shown)} of {len(changes):,}" if len(shown) < len(changes) else "")
    show(Text(plain(change_words(story)), style="bold"))
    show("")
    show(rows_table(CHANGE_COLUMNS, change_rows(shown), title=title))
