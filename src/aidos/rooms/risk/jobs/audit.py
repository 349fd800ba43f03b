"""The job for operators: how many people are exposed to which topic, without any person in the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.core.guarantee import statement
from aidos.errors import ParameterError
from aidos.jobs.answer import Release, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section
from aidos.jobs.options import Paged
from aidos.rooms.risk.jobs.options import InRanking
from aidos.rooms.risk.overview import FEWEST_OF_A_STEP, Overview, RiskOverview

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Page
    from aidos.rooms.risk.local import QuantileTable

__all__ = ["AuditCommunity", "CommunityAudit"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CommunityAudit(Release):
    """Numbers of people by topic, measure and risk, each about many."""

    value: Overview
    quantiles: QuantileTable | None = None
    """What people can compare their own numbers with at home, where it was asked for."""
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """Every number."""
        return {**asdict(self.value), "guarantee": statement(self.guarantee)}

    def table(self) -> pa.Table:
        """A row for each topic, measure and bounds of risk."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [
                {"topic": spread.topic, "measure": spread.measure, **asdict(each)}
                for spread in self.value.spreads
                for each in spread.bins
            ]
        )

    def blocks(self) -> Sequence[Block]:
        """The numbers that are told."""
        from aidos.report.page import DataTable
        from aidos.rooms.risk.auditpage import SPREAD_COLUMNS, spread_rows

        title = f"at least {self.value.people:,} people"
        return (DataTable(caption=title, columns=SPREAD_COLUMNS, rows=tuple(spread_rows(self.value))),)

    def remarks(self) -> Sequence[str]:
        """What is promised."""
        return (statement(self.guarantee),)

    def page(self) -> Page:
        """The operator's page."""
        from aidos.rooms.risk.auditpage import risk_audit_page

        return risk_audit_page(self, self.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCommunity(InRanking, Paged):
    """Tell the operator how many people are exposed to which topic.

    Nobody is named. What concerns fewer than so many people is left out, and
    counts are rounded.

    For example:
        aidos risk audit --in ranks
        aidos risk audit --in ranks --least 50 -o audit.html
        aidos risk audit --in ranks --quantiles community.json
    """

    overview: Annotated[RiskOverview, Section("What is told")] = field(default_factory=RiskOverview)
    quantiles: Path | None = None
    """Write a table with which people can compare their own numbers at home: `aidos risk local --quantiles`."""

    def __post_init__(self) -> None:
        if self.quantiles is not None and self.overview.least < FEWEST_OF_A_STEP:
            raise ParameterError(
                f"--least must be at least {FEWEST_OF_A_STEP} with --quantiles, got {self.overview.least}",
                hint="the table leaves the house, where everybody can compare it: "
                "ask for the overview alone, or raise it",
            )

    def run(self, desk: Desk) -> CommunityAudit:
        """Count, and write what is asked for."""
        from aidos.rooms.risk.local import RiskQuantiles

        state = self.ranking().state()
        found = self.overview.count(state)
        table = None
        if self.quantiles is not None:
            table = RiskQuantiles(least=self.overview.least).make(state)
            table.write(self.quantiles)
        audit = CommunityAudit(
            value=found,
            guarantee=self.overview.promise,
            mechanism=self.overview,
            quantiles=table,
            asked=desk.asked,
        )
        if self.output is not None:
            save_page(audit.page(), self.output)
        return audit
