"""Mechanisms that take a search log as it is, brought to the shape in which every release is written.

The pool release makes three tables at once, click counts go over a public list of results, and the k-anonymous
comparators give a log without names. Here each becomes named tables; the guarantee is the mechanism's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from aidos.account.composition import GaussianPart
from aidos.core.guarantee import Guarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.rooms.publish.anonymity import (
    AnonymousLog,
    AnonymousVisits,
    KKeywordAnonymity,
    KQueryAnonymity,
    KSessionAnonymity,
)
from aidos.rooms.publish.click_counts import ClickCounts, ClickData
from aidos.rooms.publish.histogram import PEOPLE, Histogram
from aidos.rooms.publish.items import KINDS, contributions
from aidos.rooms.publish.pool import PoolRelease, public_list
from aidos.rooms.publish.poolsteps import PoolTables

__all__ = ["WHOLE_LOG_MECHANISMS", "WholeLog", "WholeLogMechanism"]

WholeLogMechanism = PoolRelease | ClickCounts | KQueryAnonymity | KSessionAnonymity | KKeywordAnonymity
WHOLE_LOG_MECHANISMS = (PoolRelease, ClickCounts, KQueryAnonymity, KSessionAnonymity, KKeywordAnonymity)
"""Mechanisms that are not told which kinds of items to publish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeLog:
    """Publish what a mechanism makes of a whole search log."""

    mechanism: WholeLogMechanism
    results: Path | None = None
    """For click counts: the public list, with query, tab, result on each line."""

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, ClickCounts) and self.results is None:
            raise ParameterError(
                "click counts need a public list of results", hint="name its file: query, tab, result on each line"
            )

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """The mechanism's."""
        return self.mechanism.guarantee(facts)

    def gaussian_part(self) -> GaussianPart | None:
        """None: no noise of these is Gaussian."""
        return None

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Noise and thresholds, where there are any."""
        return self.mechanism.calibration(facts) if isinstance(self.mechanism, PoolRelease | ClickCounts) else {}

    def run(self, data: Table, noise: Noise) -> dict[str, Histogram]:
        """The tables, by name."""
        if isinstance(self.mechanism, ClickCounts):
            listed = public_list(data, self.results or (), KINDS["clicks"].columns)
            clicks = ClickData(contributions(data, KINDS["clicks"]), listed)
            return {"clicks": self.mechanism.run(clicks, noise)}
        match self.mechanism.run(data, noise):
            case PoolTables() as pooled:
                return {name: _occurrences(table) for name, table in pooled.tables().items()}
            case AnonymousLog(table=table) | AnonymousVisits(table=table):
                return {"visits": Histogram(tuple(table.columns), table.fetch(), has_counts=False)}
            case Histogram() as histogram:
                return {"keywords": histogram}


def _occurrences(table: pa.Table) -> Histogram:
    """Noisy counts of occurrences, not of people; they keep their name."""
    return Histogram(tuple(name for name in table.column_names if name != PEOPLE), table, has_counts=False)
