"""The job that compares two audits of one account, such as before and after shielding: what changed, and what did not.

What comes back is for the owner of the account and for nobody else: a finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from aidos.jobs.answer import Finding, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Short

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.dots import Dot
    from aidos.report.page import Block, Figure, Page
    from aidos.report.values import Value
    from aidos.rooms.audit.comparison import AuditComparison, TopicChange
    from aidos.rooms.audit.findings import AuditFinding, TopicFinding

__all__ = ["CompareAudits", "ComparedAudits", "compare_findings"]

COLUMNS = ("topic", "before", "after", "change", "interval of the change", "what happened")
SHOWN = 12
"""Topics that a terminal lists."""
DRAWN = 14
"""Topics that are drawn; the table behind the figure has all."""
ABOUT = (
    "Circles are the first audit, squares the second. A topic on the right is one whose results the service puts "
    "higher for this account; a topic near the line is treated as most are. Full marks are more than chance in "
    "their own audit. A change counts where its interval, wide enough for all topics together, does not hold 0."
)
LIMITS = (
    "A change of the service between the two audits looks the same as an effect of what you did. A weight that is no "
    "longer found may still be there, too small to be seen. What the service already knows it may keep: that it stops "
    "using a topic does not mean that it forgot it."
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ComparedAudits(Finding):
    """Two audits with the same topics, and what changed from one to the other."""

    about: str = "one account and its searches"
    before: AuditFinding
    after: AuditFinding
    comparison: AuditComparison
    marked: tuple[str, ...] = ()
    """Ids of topics that were marked as sensitive between the two audits, where that is known."""
    notes: tuple[str, ...] = ()
    """What was done between the two, in sentences."""
    asked: str = ""
    output: Path | None = None
    """Where the page is."""

    @property
    def topics(self) -> tuple[TopicChange, ...]:
        """All topics, those that changed first, then those that were found, then by the size of the change."""
        from aidos.rooms.audit.comparison import topic_changes

        return topic_changes(self.before, self.after, self.comparison, self.marked)

    @property
    def summary(self) -> str:
        """What changed, in a sentence or two."""
        from aidos.rooms.audit.wording import listed

        changes = self.topics
        moved = [each for each in changes if each.changed]
        gone = [each.before.topic.name for each in moved if each.before.found and each.is_weaker]
        grown = [each.after.topic.name for each in moved if each.after.found and not each.is_weaker]
        still = [each for each in changes if not each.changed and each.before.found and each.after.found]
        kept = [each.after.topic.name for each in still]
        words = [self._rates()]
        words += [f"It pulls less on {listed(gone)}."] if gone else []
        words += [f"It pulls more on {listed(grown)}."] if grown else []
        words += [f"It still goes by {listed(kept)}."] if kept else []
        if not (gone or grown):
            words.append("No topic changed by more than chance.")
        return " ".join(words)

    def facts(self) -> Mapping[str, object]:
        """Topics and numbers."""
        compared = self.comparison
        return {
            "summary": self.summary,
            "detected": {"before": self.before.detected, "after": self.after.detected},
            "rate": {
                "before": asdict(self.before.rate),
                "after": asdict(self.after.rate),
                "difference": compared.rate_difference,
                "low": compared.rate.low,
                "high": compared.rate.high,
            },
            "topics": [
                {
                    "id": each.before.topic.id,
                    "name": each.before.topic.name,
                    "before": asdict(each.before.weight),
                    "after": asdict(each.after.weight),
                    "found": {"before": each.before.found, "after": each.after.found},
                    "change": asdict(each.change),
                    "changed": each.changed,
                    "marked": each.marked,
                }
                for each in self.topics
            ],
            "output": None if self.output is None else str(self.output),
        }

    def table(self) -> pa.Table:
        """A row for each topic."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [
                {
                    "topic": each.before.topic.name,
                    "before": each.before.weight.value,
                    "after": each.after.weight.value,
                    "change": each.change.value,
                    "low": each.change.low,
                    "high": each.change.high,
                    "changed": each.changed,
                    "marked": each.marked,
                }
                for each in self.topics
            ]
        )

    def blocks(self) -> Sequence[Block]:
        """What changed, the topics that changed most, and where the page is."""
        from aidos.report.page import Card, DataTable, Prose

        changes = self.topics
        shown = changes[:SHOWN]
        title = "weights of topics" + (f"; {len(shown)} of {len(changes):,}" if len(shown) < len(changes) else "")
        table = DataTable(caption=title, columns=COLUMNS, rows=tuple(map(_row, shown)))
        kept = () if self.output is None else (Prose(str(self.output)),)
        return (Card(title=self.summary), Prose(""), table, *kept)

    def remarks(self) -> Sequence[str]:
        """What a change may also come from."""
        return ("a change of the service itself looks the same as an effect of what you did",)

    def page(self) -> Page:
        """One page for two audits."""
        from aidos.report.page import Callout, Chapter, Code, Facts, Page, Prose

        before, after = self.before, self.after
        tiles = Facts(
            (
                ("personalised before", _share(before)),
                ("personalised after", _share(after)),
                ("topics found before", len(before.found)),
                ("topics found after", len(after.found)),
            )
        )
        blocks: list[Block] = [Prose("\n\n".join(self.notes))] if self.notes else []
        blocks += [tiles, self.figure(), Prose(ABOUT)]
        end: list[Block] = [Callout("caution", LIMITS)]
        if self.asked:
            end.append(Code(text=self.asked, language="command"))
        return Page(
            title="Before and after",
            lead=self.summary,
            chapters=(
                Chapter(title="What changed", blocks=tuple(blocks)),
                Chapter(title="How far to trust this", blocks=tuple(end)),
            ),
            source=self,
        )

    def figure(self) -> Figure:
        """Two dots for each topic; the table has all of them."""
        from aidos.report.dots import DotRow, dots
        from aidos.report.page import DataTable, Figure

        changes = self.topics
        rows = [
            DotRow(
                name=each.before.topic.name + (" (marked)" if each.marked else ""),
                dots=(_dot(each.before), _dot(each.after)),
            )
            for each in sorted(changes[:DRAWN], key=lambda each: -each.before.weight.value)
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
            caption=f"All topics before and after, with intervals that hold {self.before.confidence:.0%} together",
            columns=COLUMNS,
            rows=tuple(map(_row, changes)),
            numeric=COLUMNS[1:5],
        )
        verb = "topic changed" if number == 1 else "topics changed"
        return Figure(chart=chart, caption=f"{number:,} {verb} by more than chance.{more}", table=table)

    def _rates(self) -> str:
        from aidos.rooms.audit.headline import KINDS
        from aidos.rooms.audit.wording import searches_words

        before, after = self.before, self.after
        if before.detected and after.detected:
            return (
                f"The service changed results in {searches_words(before.rate.value)} before and in "
                f"{searches_words(after.rate.value)} after."
            )
        return f"Before: {KINDS[before.conclusion.kind]}. After: {KINDS[after.conclusion.kind]}."

    def _values(self) -> dict[str, Any]:
        return {"summary": self.summary}


def compare_findings(before: AuditFinding, after: AuditFinding, **more: Any) -> ComparedAudits:
    """What changed from one to the other; InputError where they have other topics."""
    from aidos.rooms.audit.comparison import compare_audits

    return ComparedAudits(before=before, after=after, comparison=compare_audits(before, after), **more)


def _row(each: TopicChange) -> tuple[Value, ...]:
    from aidos.rooms.audit.wording import interval_words

    return (
        each.before.topic.name,
        f"{each.before.weight.value:+.2f}",
        f"{each.after.weight.value:+.2f}",
        f"{each.change.value:+.2f}",
        interval_words(each.change),
        each.happened,
    )


def _share(finding: AuditFinding) -> str:
    return f"{finding.rate.value:.0%}" if finding.detected else "not detected"


def _dot(topic: TopicFinding) -> Dot:
    from aidos.report.dots import Dot

    weight = topic.weight
    return Dot(value=weight.value, low=weight.low, high=weight.high, full=topic.found)


@dataclass(frozen=True, slots=True)
class CompareAudits:
    """Compare two audits: which topics the service goes by more or less, by more than chance.

    Both need the same topics: learn the second with --same-topics. A change of
    the service itself looks the same as an effect of what you did.

    For example:
        aidos audit compare before after
        aidos audit compare before after -o page.html
        aidos audit compare before/finding.json after/finding.json --json
    """

    before: Path
    """The directory of the first audit, or its finding.json."""
    after: Path
    """The directory of the second audit, or its finding.json."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o")] = None
    """A page about it, which only its owner can read."""

    def run(self, desk: Desk) -> ComparedAudits:
        """Read both and subtract."""
        from aidos.rooms.audit.findings import read_finding

        answer = compare_findings(
            read_finding(self.before), read_finding(self.after), asked=desk.asked, output=self.output
        )
        if self.output is not None:
            save_page(answer.page(), self.output)
        return answer
