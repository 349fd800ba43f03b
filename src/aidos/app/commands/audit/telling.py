"""What the commands of the audit room tell in the terminal: topics and numbers, never a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.console import show

if TYPE_CHECKING:
    from aidos.app.audit.marking import Marking
    from aidos.report.values import Value
    from aidos.rooms.audit.findings import AuditFinding

__all__ = ["marking_words", "next_words", "show_finding"]

SHOWN = 12
"""Topics that are listed where more were found."""
SHOWN_BESIDE = 3
"""Topics that are no more than chance, shown beside those found."""


def show_finding(finding: AuditFinding, *, topics: Sequence[str]) -> None:
    """The verdict, the numbers behind it, and the topics with their intervals."""
    from rich.text import Text

    from aidos.report.terminal import facts_table, rows_table
    from aidos.report.values import show as plain
    from aidos.rooms.audit.wording import TOPIC_COLUMNS, exchanged_words, shown_topics, topic_rows, verdict_words

    show(Text(plain(verdict_words(finding)), style="bold"))
    show("")
    show(facts_table(_facts(finding)))
    show("")
    most = min(len(finding.found) + SHOWN_BESIDE, SHOWN)
    shown = shown_topics(finding, most)
    title = f"topics, with intervals of {finding.confidence:.0%}"
    if len(shown) < len(topics):
        title += f"; the first {len(shown)} of {len(topics):,}"
    show(rows_table(TOPIC_COLUMNS, topic_rows(shown), title=title))
    if words := exchanged_words(finding):
        show(Text(words))
    show("")


def marking_words(marked: Marking) -> Iterator[str]:
    """What became of the profile."""
    from aidos.rooms.audit.wording import listed

    if marked.marked:
        yield f"marked as sensitive in the profile: {listed(marked.marked)}"
    if marked.already:
        yield f"marked already, itself or above: {listed(marked.already)}"
    if marked.harmless:
        yield f"not sensitive by the taxonomy, and not marked (--mark all marks them): {listed(marked.harmless)}"
    if not (marked.marked or marked.already or marked.harmless):
        yield "nothing was marked: no topic was found to be lifted"


def next_words(finding: AuditFinding, output: Path | None, *, marked: bool) -> Iterator[str]:
    """What to do next."""
    if not finding.detected:
        from aidos.rooms.audit.wording import power_words

        words = power_words(finding)
        yield words[:1].lower() + words[1:].rstrip(".")
        return
    if output is None:
        yield "next: -o DIR keeps the finding, with searches as evidence"
    elif not marked:
        yield "next: --mark-sensitive PROFILE hands sensitive topics over to the shield; then audit again"
    else:
        yield f"next: shield your searches, collect again, learn with --same-topics {output}, and aidos audit compare"


def _facts(finding: AuditFinding) -> list[tuple[str, Value]]:
    verb = "has" if finding.changed == 1 else "have"
    told: list[tuple[str, Value]] = [
        ("searches", f"{finding.queries:,}, of which {finding.changed:,} {verb} lists that differ"),
        (
            "verdict",
            f"{'' if finding.detected else 'not '}detected at level {finding.level:g}, p = {finding.p_value:.2g}",
        ),
        ("compared with", "a second list without account" if finding.controlled else "lists shaken at random"),
    ]
    if finding.detected:
        rate = finding.rate
        told.append(("personalised", f"{rate.value:.0%} of searches ({rate.low:.0%} to {rate.high:.0%})"))
    told.append(("topics", f"{len(finding.topics):,}, {finding.space.source}"))
    return told
