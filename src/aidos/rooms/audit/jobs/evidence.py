"""The job that shows searches of an audit: both lists side by side, and which topic moved what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import ROWS
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block
    from aidos.report.values import Value
    from aidos.rooms.audit.findings import AuditFinding, WatchedQuery

__all__ = ["ShowEvidence", "ShownEvidence", "show_evidence"]

COLUMNS = ("with account", "without", "result", "what happened")
NAMED = 3
"""Topics that are named of a search."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ShownEvidence(Finding):
    """Searches that speak for the profile, the clearest first, or one of them with its lists."""

    about: str = "one account and its searches"
    value: AuditFinding
    query: int | None = None
    """Counted from 1; None for all."""

    @property
    def searches(self) -> tuple[WatchedQuery, ...]:
        """Those that are shown."""
        kept = self.value.evidence
        return kept if self.query is None else kept[self.query - 1 : self.query]

    def facts(self) -> Mapping[str, object]:
        """Every search with its results."""
        return {"evidence": [asdict(each) for each in self.searches]}

    def table(self) -> pa.Table:
        """A row for each result of each search."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [
                {
                    "query": search.query,
                    "personalised_rank": each.personalised_rank,
                    "vanilla_rank": each.vanilla_rank,
                    "title": each.title,
                    "address": each.address,
                    "topic": None if each.reason is None else each.reason.topic.name,
                }
                for search in self.searches
                for each in search.results
            ]
        )

    def blocks(self) -> Sequence[Block]:
        """The list of searches, or the lists of the one that was asked for."""
        from aidos.report.page import Card, DataTable

        if self.query is None:
            columns, rows = ("number", "search", "personalised", "topics"), tuple(map(_row, self.searches, count(1)))
            return (DataTable(caption="The clearest searches", columns=columns, rows=rows, titled=False),)
        search = self.searches[0]
        table = DataTable(caption="Both lists", columns=COLUMNS, rows=tuple(self._moves(search)), titled=False)
        return (Card(title=search.query), table)

    def remarks(self) -> Sequence[str]:
        """That nothing was detected, where nothing was."""
        chance = "the audit did not conclude that the service personalises by topic: these lists show nothing of that"
        return () if self.value.detected else (chance,)

    def _moves(self, search: WatchedQuery) -> Sequence[tuple[Value, ...]]:
        from aidos.rooms.audit.wording import move_words

        lifted = {each.topic.id for each in self.value.topics if each.is_lifted}
        return [
            (each.personalised_rank, each.vanilla_rank, each.title or each.address, move_words(each, lifted))
            for each in search.results
        ]

    def _values(self) -> dict[str, Any]:
        return {"searches": len(self.searches), "detected": self.value.detected}


def show_evidence(finding: AuditFinding, query: int | None = None) -> ShownEvidence:
    """The searches of an audit, or one of them; ParameterError where it was not kept."""
    kept = len(finding.evidence)
    if query is not None and not (isinstance(query, int) and 1 <= query <= kept):
        words = f"--query must be from 1 to {kept}, got {query}" if kept else "no search was kept"
        raise ParameterError(words, hint="see all that were kept: aidos audit evidence DIR")
    return ShownEvidence(value=finding, query=query)


def _row(search: WatchedQuery, number: int) -> tuple[Value, ...]:
    named = list(dict.fromkeys(one.reason.topic.name for one in search.results if one.reason is not None))
    return (number, search.query, f"{search.switch:.0%}", ", ".join(named[:NAMED]))


@dataclass(frozen=True, slots=True)
class ShowEvidence:
    """Show searches that speak for the profile: what moved where, because of which topic.

    Without a number it lists the searches that were kept, the clearest first.
    This shows searches: it is for the owner of the account.

    For example:
        aidos audit evidence audit
        aidos audit evidence audit --query 1
    """

    directory: Path
    """The directory of an audit, or its finding.json."""
    _: KW_ONLY
    query: Annotated[int | None, Ge(1), ROWS] = None
    """The number of a search, counted from 1: both its lists are shown."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> ShownEvidence:  # noqa: ARG002 (nothing is computed)
        """Look into what was kept."""
        from aidos.rooms.audit.findings import read_finding

        return show_evidence(read_finding(self.directory), self.query)
