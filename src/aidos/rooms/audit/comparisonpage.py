"""The page about two audits of one account, such as before and after shielding: what changed, and what did not.

It is for the owner of the account and for nobody else: a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aidos.core.mechanism import Finding
from aidos.report.dots import Dot, DotRow, dots
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.report.values import Value
from aidos.rooms.audit.comparison import AuditComparison
from aidos.rooms.audit.findings import AuditFinding, Span, TopicFinding
from aidos.rooms.audit.wording import interval_words, listed, searches_words

__all__ = [
    "CHANGE_COLUMNS",
    "ComparisonStory",
    "TopicChange",
    "change_figure",
    "change_rows",
    "change_words",
    "comparison_page",
    "topic_changes",
]

CHANGE_COLUMNS = ("topic", "before", "after", "change", "interval of the change", "what happened")
TOPICS = 14
"""Topics that are drawn; the table behind the figure has all."""
ABOUT = (
    "Circles are the first audit, squares the second. A topic on the right is one whose results the service puts "
    "higher for this account; a topic near the line is treated as for anybody. Full marks are more than chance in "
    "their own audit. A change counts where its interval, wide enough for all topics together, does not hold 0."
)
LIMITS = (
    "A change of the service between the two audits looks the same as an effect of what you did. A weight that is no "
    "longer found may still be there, too small to be seen. What the service already knows it may keep: that it stops "
    "using a topic does not mean that it forgot it."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparisonStory:
    """Two audits with the same topics."""

    before: AuditFinding
    after: AuditFinding
    comparison: AuditComparison
    marked: tuple[str, ...] = ()
    """Ids of topics that were marked as sensitive between the two audits, where that is known."""
    notes: tuple[str, ...] = ()
    """What was done between the two, in sentences."""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """One topic in both audits."""

    before: TopicFinding
    after: TopicFinding
    change: Span
    changed: bool
    """Whether it changed by more than chance."""
    marked: bool

    @property
    def happened(self) -> str:
        """What happened to it, in a few words."""
        mark = ", marked" if self.marked else ""
        if not self.changed:
            return f"no change beyond chance{mark}"
        fell = abs(self.after.weight.value) < abs(self.before.weight.value)
        if fell and not self.after.found:
            return f"no longer found{mark}" if self.before.found else f"weaker{mark}"
        return ("weaker" if fell else "stronger") + mark


def topic_changes(story: ComparisonStory) -> tuple[TopicChange, ...]:
    """All topics, those that changed first, then those that were found, then by the size of the change."""
    first, second = ({each.topic.id: each for each in one.topics} for one in (story.before, story.after))
    compared = story.comparison
    changes = [
        TopicChange(
            before=first[topic],
            after=second[topic],
            change=Span(float(compared.difference[at]), float(compared.low[at]), float(compared.high[at])),
            changed=bool(compared.changed[at]),
            marked=topic in story.marked,
        )
        for at, topic in enumerate(each.id for each in compared.topics)
    ]
    return tuple(
        sorted(
            changes,
            key=lambda each: (not each.changed, not (each.before.found or each.after.found), -abs(each.change.value)),
        )
    )


def comparison_page(story: ComparisonStory) -> Page:
    """One page for two audits."""
    blocks: list[Block] = [_tiles(story), change_figure(story), Prose(ABOUT)]
    if story.notes:
        blocks.insert(0, Prose("\n\n".join(story.notes)))
    end: list[Block] = [Callout("caution", LIMITS)]
    if story.command:
        end.append(Code(text=story.command, language="command"))
    return Page(
        title="Before and after",
        lead=change_words(story),
        chapters=(
            Chapter(title="What changed", blocks=tuple(blocks)),
            Chapter(title="How far to trust this", blocks=tuple(end)),
        ),
        source=Finding(value=(story.before, story.after), about="one account and its searches"),
    )


def change_words(story: ComparisonStory) -> str:
    """What changed, in a sentence or two."""
    changes = topic_changes(story)
    gone = [each.before.topic.name for each in changes if each.before.found and each.changed and _is_weaker(each)]
    grown = [each.after.topic.name for each in changes if each.after.found and each.changed and not _is_weaker(each)]
    kept = [each.after.topic.name for each in changes if each.before.found and each.after.found and not each.changed]
    words = [_rates(story)]
    words += [f"It pulls less on {listed(gone)}."] if gone else []
    words += [f"It pulls more on {listed(grown)}."] if grown else []
    words += [f"It still goes by {listed(kept)}."] if kept else []
    if not (gone or grown):
        words.append("No topic changed by more than chance.")
    return " ".join(words)


def change_rows(changes: Sequence[TopicChange]) -> list[tuple[Value, ...]]:
    """Rows under CHANGE_COLUMNS."""
    return [
        (
            each.before.topic.name,
            f"{each.before.weight.value:+.2f}",
            f"{each.after.weight.value:+.2f}",
            f"{each.change.value:+.2f}",
            interval_words(each.change),
            each.happened,
        )
        for each in changes
    ]


def change_figure(story: ComparisonStory) -> Figure:
    """Two dots for each topic; the table has all of them."""
    changes = topic_changes(story)
    rows = [
        DotRow(
            name=each.before.topic.name + (" (marked)" if each.marked else ""),
            dots=(_dot(each.before), _dot(each.after)),
        )
        for each in sorted(changes[:TOPICS], key=lambda each: -each.before.weight.value)
    ]
    chart = dots(
        "Weights before and after",
        rows,
        sides=("lower for you", "higher for you"),
        series=("before", "after"),
        unit="weight of the topic",
    )
    number = sum(each.changed for each in changes)
    more = f" The {len(rows)} that changed or matter most are drawn." if len(rows) < len(changes) else ""
    table = DataTable(
        caption=f"All topics before and after, with intervals that hold {story.before.confidence:.0%} together",
        columns=CHANGE_COLUMNS,
        rows=tuple(change_rows(changes)),
        numeric=CHANGE_COLUMNS[1:5],
    )
    verb = "topic changed" if number == 1 else "topics changed"
    return Figure(chart=chart, caption=f"{number:,} {verb} by more than chance.{more}", table=table)


def _tiles(story: ComparisonStory) -> Facts:
    before, after = story.before, story.after
    return Facts(
        (
            ("personalised before", _share(before)),
            ("personalised after", _share(after)),
            ("topics found before", len(before.found)),
            ("topics found after", len(after.found)),
        )
    )


def _rates(story: ComparisonStory) -> str:
    before, after = story.before, story.after
    if before.detected and after.detected:
        return (
            f"The service changed results in {searches_words(before.rate.value)} before and in "
            f"{searches_words(after.rate.value)} after."
        )
    if before.detected:
        return "The service personalised before; afterwards no personalisation is detected."
    if after.detected:
        return "Before no personalisation was detected; afterwards the service personalises."
    return "Neither before nor after was personalisation detected."


def _share(finding: AuditFinding) -> str:
    return f"{finding.rate.value:.0%}" if finding.detected else "not detected"


def _is_weaker(change: TopicChange) -> bool:
    return abs(change.after.weight.value) < abs(change.before.weight.value)


def _dot(topic: TopicFinding) -> Dot:
    weight = topic.weight
    return Dot(value=weight.value, low=weight.low, high=weight.high, full=topic.found)
