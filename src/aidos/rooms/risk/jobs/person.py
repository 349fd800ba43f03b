"""The job of one person: where she ranks, which posts put her there, and what a draft would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import SHOWN
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Private, Short
from aidos.rooms.risk.jobs.options import InRanking

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Page
    from aidos.rooms.risk.directory import RiskDirectory
    from aidos.rooms.risk.page import RiskStory
    from aidos.rooms.risk.state import RiskState

__all__ = ["PersonsRanks", "ShowPerson"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PersonsRanks(Finding):
    """One person's ranks, for herself."""

    about: str = "one person"
    value: RiskStory

    @property
    def warned(self) -> bool:
        """Whether she is above her threshold, or the draft takes her there."""
        story = self.value
        return any(rank.alert for rank in story.report.ranks) or any(effect.alert for effect in story.draft or ())

    @property
    def exit_code(self) -> int:
        """1 where she is to be warned."""
        return int(self.warned)

    def facts(self) -> Mapping[str, object]:
        """Every rank with its posts and history, and what the draft does."""
        from aidos.rooms.risk.story import person_values

        return person_values(self.value)

    def table(self) -> pa.Table:
        """A row for each topic and measure."""
        import pyarrow as pa

        from aidos.rooms.risk.story import person_values

        nested = ("posts", "history")
        ranks: list[dict[str, object]] = person_values(self.value)["ranks"]  # type: ignore[assignment]
        return pa.Table.from_pylist([{name: each[name] for name in each if name not in nested} for each in ranks])

    def blocks(self) -> Sequence[Block]:
        """Where she stands, what puts her there, and what the draft would do."""
        from aidos.report.page import DataTable, Prose
        from aidos.report.values import counted
        from aidos.rooms.risk import page as riskpage

        report, draft = self.value.report, self.value.draft
        among = counted(report.people, "person", "people")
        title = f"{counted(report.entries, 'entry', 'entries')}, ranked among {among}; the most exposed first:"
        standing = tuple(riskpage.standing_rows(report.ranks))
        blocks: list[Block] = [DataTable(caption=title, columns=riskpage.STANDING_COLUMNS, rows=standing)]
        if reasons := tuple(riskpage.reason_rows(report.ranks)):
            blocks.append(DataTable(caption="what puts you there", columns=riskpage.REASON_COLUMNS, rows=reasons))
        elif not any(rank.standing.has_evidence for rank in report.ranks):
            blocks.append(Prose("no evidence: nothing of yours is near these topics"))
        if draft:
            rows = tuple(riskpage.draft_rows(draft))
            blocks.append(DataTable(caption="what the draft would do", columns=riskpage.DRAFT_COLUMNS, rows=rows))
        elif draft is not None:
            blocks.append(Prose(riskpage.DRAFT_CHANGES_NOTHING.lower()))
        return blocks

    def remarks(self) -> Sequence[str]:
        """Whether she is warned, and how to take a rank."""
        warning = ("you are above your threshold, or the draft takes you there",) if self.warned else ()
        return (*warning, "a high rank does not say that you are afflicted: see --output for all of it")

    def page(self) -> Page:
        """Her page."""
        from aidos.rooms.risk.page import risk_page

        return risk_page(self)


@dataclass(frozen=True, slots=True)
class ShowPerson(InRanking):
    """Tell a person where she ranks, which posts put her there, and what a draft would do.

    What is shown is for her alone: a finding. The page is written so that
    only its owner can read it. With --alert the exit code is 1 when she is
    above that percentile for some topic, or the draft takes her there; what
    nothing of hers is near to is told as "no evidence" and never an alert.

    For example:
        aidos risk person ID --in ranks
        aidos risk person - --in ranks --topic depression -o page.html < id.txt
        aidos risk person ID --in ranks --alert 95 --draft - < draft.txt
    """

    person_id: Annotated[str, Private("name")]
    """The person, as the posts or the log name her, or - for a line of the standard input."""
    _: KW_ONLY
    topics: Annotated[tuple[str, ...], Named("--topic"), Private("names")] = ()
    """Only this topic; may be repeated."""
    measures: Annotated[tuple[str, ...], Named("--measure")] = ()
    """Only this measure; may be repeated."""
    top: Annotated[int, Ge(1), SHOWN] = 10
    """How many topics are shown by each measure, the most exposed first."""
    draft: Annotated[str | None, Private("text")] = None
    """A text before it is posted, or - for the standard input; nothing is kept of it."""
    alert: float | None = None
    """The percentile to be warned from, above 0 and below 100."""
    output: Annotated[Path | None, Short("-o")] = None
    """The person's page."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.alert is not None and not 0 < self.alert < 100:
            raise ParameterError(f"--alert takes a percentile above 0 and below 100, got {self.alert:g}")

    def run(self, desk: Desk) -> PersonsRanks:
        """Look her up among everybody as they are now."""
        directory = self.ranking()
        return self.told(directory, directory.state(), desk)

    def told(self, directory: RiskDirectory, state: RiskState, desk: Desk) -> PersonsRanks:
        """Look her up in a state that is at hand."""
        from aidos.rooms.risk.measures import find_measure
        from aidos.rooms.risk.story import Asking, look_up_person

        asking = Asking(
            topics=tuple(self.topics),
            measures=tuple(map(find_measure, self.measures)),
            top=self.top,
            alert=None if self.alert is None else self.alert / 100,
            draft=self.draft,
            command=desk.asked,
        )
        with desk.engine() as engine:
            found = look_up_person(directory, state, engine, self.person_id, asking)
        ranks = PersonsRanks(value=found.value, about=found.about)
        if self.output is not None:
            save_page(ranks.page(), self.output)
        return ranks
