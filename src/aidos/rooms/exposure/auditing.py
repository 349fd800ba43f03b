"""The operator's job: which kinds of query expose most members, by the lexicon of sensitive topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee, statement
from aidos.core.limits import CROWD, FEWEST, SHOWN
from aidos.jobs.answer import Finding, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.options import Paged
from aidos.rooms.exposure.computing import InExposure

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Page
    from aidos.rooms.exposure.queries.audit import Audit

__all__ = ["AuditCommunity", "CommunityAudit"]

GROUPS = {
    "topic": "by the topic of the query",
    "match": "by how much of the query the post holds",
    "held by": "by how many posts hold the whole query",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CommunityAudit(Finding):
    """Counts by kind of query, each about many members; a threshold and no proof, so it is no release."""

    about: str = "the members of a community, many in each number"
    value: Audit
    asked: str = ""

    @property
    def promised(self) -> str:
        """What is promised: nothing."""
        return statement(
            NoGuarantee(
                f"every number is about at least {self.value.least} members and rounded, but whoever adds members or "
                "compares two audits may learn more"
            )
        )

    def facts(self) -> Mapping[str, object]:
        """Every number."""
        return {**asdict(self.value), "guarantee": self.promised}

    def table(self) -> pa.Table:
        """A row for each kind of query."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(kind) for kind in self.value.kinds])

    def blocks(self) -> Sequence[Block]:
        """A table for each way to part queries, and words of sensitive topics."""
        from aidos.report.page import DataTable
        from aidos.rooms.exposure.pages import KIND_COLUMNS, WORD_COLUMNS, kind_rows

        tables = [
            DataTable(caption=title, columns=KIND_COLUMNS, rows=kind_rows(self.value, group))
            for group, title in GROUPS.items()
        ]
        return (*tables, DataTable(caption="words of sensitive topics", columns=WORD_COLUMNS, rows=self.value.words))

    def remarks(self) -> Sequence[str]:
        """What is promised."""
        return (self.promised,)

    def page(self) -> Page:
        """The operator's page."""
        from aidos.rooms.exposure.pages import audit_page

        return audit_page(self, promised=self.promised, asked=self.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCommunity(InExposure, Paged):
    """Tell the operator which kinds of query expose most members, and most sensitively.

    No member, post or query is named. What concerns fewer than so many
    members is left out, and counts are rounded.

    For example:
        aidos expose audit --in exposure
        aidos expose audit --in exposure --least 50 -o audit.html
    """

    least: Annotated[int, FEWEST, CROWD] = 20
    """Fewest members that a number may be about."""
    words: Annotated[int, Ge(0), SHOWN] = 20
    """How many words of sensitive topics are listed."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> CommunityAudit:
        """Count over everybody, by the topics of the default taxonomy."""
        from aidos.rooms.exposure.critical.senses import CommunitySenses
        from aidos.rooms.exposure.queries.audit import count_exposures
        from aidos.rooms.exposure.queries.store import walk

        store = self.store(desk)
        total = store.facts.exposures
        told = {"least": self.least, "words": self.words}
        found = count_exposures(
            walk(store.state), CommunitySenses.of(store), total=total, progress=desk.progress, **told
        )
        audit = CommunityAudit(value=found, asked=desk.asked)
        if self.output is not None:
            save_page(audit.page(), self.output)
        return audit
