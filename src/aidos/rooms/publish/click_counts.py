"""How many people clicked each result of a query that was released already (Korolova et al. 2009).

Which queries may be looked at comes from an earlier release, and which results from a *public* list for each query:
what the search service shows to anybody who asks. Every pair of the list gets a noisy count, those that nobody clicked
too, so that neither the presence nor the absence of a pair tells anything, and no threshold is needed.

Why it holds. The pairs are fixed without looking at the clicks. Bounding leaves each person at most m of them, chosen
from her own clicks on the list. Adding or removing one person changes m counts by one, and discrete Laplace noise of
scale m/epsilon changes the chance of any output by at most e^epsilon: pure differential privacy. Replacing one person
changes 2m counts, and the scale is 2m/epsilon. The release of the queries costs its own budget beside this one.

What it does not promise: anything if the list was made from the same clicks; counts that are never negative (rounding
them up to 0 is harmless for privacy, but adds a bias to sums).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from aidos.account.thresholds import noise_scale
from aidos.core.checks import check_parameters
from aidos.core.guarantee import Neighbours, PureDP
from aidos.core.limits import ITEMS
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import ParameterError
from aidos.rooms.publish.counts import bounded, counted_items, draw_salt
from aidos.rooms.publish.histogram import Histogram, Swaying
from aidos.rooms.publish.items import KINDS, PERSON

__all__ = ["ClickCounts", "ClickData"]

COLUMNS = KINDS["clicks"].columns


@dataclass(frozen=True, slots=True)
class ClickData:
    """Clicks, and the public list of what may have been clicked; both in one engine."""

    clicks: Table
    """Contributions of clicks: person, user_query, object_id."""
    results: Table
    """Public: released queries (user_query) with results that anybody is shown (object_id)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickCounts(Swaying):
    """Publish noisy click counts for every result on a public list (for queries that were released before)."""

    items_per_person: Annotated[int, Ge(1), ITEMS] = 10
    """Clicks kept of each person before counting."""
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
    """What the promise compares; replace-one takes twice the noise."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.neighbours not in tuple(Neighbours):
            raise ParameterError(
                f"ClickCounts: neighbours must be one of {', '.join(Neighbours)}, got {self.neighbours!r}"
            )

    def guarantee(self, facts: PublicFacts) -> PureDP:  # noqa: ARG002  # the number of people plays no part
        """Epsilon, with no delta."""
        self._law()
        return PureDP(epsilon=self.epsilon, neighbours=Neighbours(self.neighbours))

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """The noise; there is no threshold."""
        return {"scale": self._law().scale}

    def run(self, data: ClickData, noise: Noise) -> Histogram:
        """Publish a noisy count for every pair on the list."""
        law = self._law()
        listed = data.results.select(_listed(data.results))
        same = ", ".join(COLUMNS)
        known = data.clicks.select(f"select c.* from {{table}} c join {listed.name} l using ({same})")
        kept = bounded(known, self.items_per_person, draw_salt(noise))
        with_zeros = listed.select(f"select l.*, k.{PERSON} from {{table}} l left join {kept.name} k using ({same})")
        with counted_items(with_zeros, COLUMNS, f"count({PERSON})", noise) as counted:
            noisy = counted.numbers + law.sample(noise, len(counted.numbers))
            return counted.with_counts(np.ones(len(noisy), dtype=np.bool_), noisy)

    def _law(self) -> DiscreteLaplace:
        changes = 2 if self.neighbours == Neighbours.REPLACE_ONE else 1
        return DiscreteLaplace(noise_scale(changes * self.items_per_person, self.epsilon))


def _listed(results: Table) -> str:
    if missing := [name for name in COLUMNS if name not in results.columns]:
        raise ParameterError(f"the public list of results has no column {', '.join(missing)}")
    texts = ", ".join(f"cast({quote_name(name)} as varchar) as {quote_name(name)}" for name in COLUMNS)
    present = " and ".join(f"{quote_name(name)} is not null" for name in COLUMNS)
    return f"select distinct {texts} from {{table}} where {present}"
