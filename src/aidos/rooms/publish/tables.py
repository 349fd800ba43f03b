"""Items of any table, not only of search logs: baskets, diagnoses, votes.

The mechanisms do not care what an item is. All they need is who has it; the guarantee is the mechanism's own, for one
person of the column that the caller names.

Sets of items multiply, so each person is cut to a public number of items before sets are made of them
(`aidos.rooms.publish.items.items_for_sets`), blindly and from that person's items alone. The mechanism then bounds the
sets as it bounds everything. A person with more items than that number is missing from some of her sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge, Le

from aidos.account.composition import GaussianPart
from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, KAnonymity, NoGuarantee, ProbabilisticDP, QualityFloor, Unit
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.rooms.publish.counts import bounded, draw_salt
from aidos.rooms.publish.histogram import Histogram
from aidos.rooms.publish.items import LARGEST_SET, items_for_sets, set_contributions, table_contributions
from aidos.rooms.publish.multi import GaussianMechanism, HistogramMechanism
from aidos.rooms.publish.steered import SteeredCounts
from aidos.rooms.publish.zealous import PUBLIC_ORDER

__all__ = ["TableRelease"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRelease:
    """Publish the items (or sets of items) that many people of a table have."""

    mechanism: HistogramMechanism = SteeredCounts()  # noqa: RUF009  # frozen
    """How they are published."""
    person: str = "person"
    """The column that says whose row it is."""
    columns: tuple[str, ...] = ("item",)
    """The columns that make one item."""
    largest_set: Annotated[int, Ge(1), Le(LARGEST_SET)] = 1
    """Publish sets of up to so many items of one person; 1 for single items."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.largest_set > 1 and len(self.columns) != 1:
            raise ParameterError("TableRelease: sets are made of items of one column")

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """The mechanism's, for the person of this table."""
        promise = self.mechanism.guarantee(facts)
        if isinstance(promise, NoGuarantee | QualityFloor | KAnonymity):
            return promise
        return replace(promise, unit=Unit("person", self.person))

    def gaussian_part(self) -> GaussianPart | None:
        """The mechanism's, where its noise is Gaussian."""
        return self.mechanism.gaussian_part() if isinstance(self.mechanism, GaussianMechanism) else None

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Noise and thresholds."""
        return self.mechanism.calibration(facts)

    def run(self, data: Table, noise: Noise) -> dict[str, Histogram]:
        """Publish the items of a table."""
        if self.largest_set == 1:
            return {"items": self.mechanism.run(self.single_items(data), noise)}
        is_probabilistic = isinstance(self.guarantee(PublicFacts()), ProbabilisticDP)
        salt = PUBLIC_ORDER if is_probabilistic else draw_salt(noise)
        with self.set_items(data, salt).held(label="bounding") as kept:
            return {"items": self.mechanism.run(set_contributions(kept, self.largest_set), noise)}

    def single_items(self, data: Table) -> Table:
        """The items of each person; nothing runs yet."""
        return table_contributions(data, self.person, self.columns)

    def set_items(self, data: Table, salt: bytes) -> Table:
        """The items of each person that sets are made of, a public number of them at most; nothing runs yet."""
        return bounded(self.single_items(data), items_for_sets(self.largest_set, self.mechanism.items_per_person), salt)
