"""Items of any table, not only of search logs: baskets, diagnoses, votes.

The mechanisms do not care what an item is. All they need is who has it; the guarantee is the mechanism's own, for one
person of the column that the caller names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, KAnonymity, NoGuarantee, QualityFloor, Unit
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.publish.count_gaussian import CountGaussian
from aidos.publish.histogram import Histogram
from aidos.publish.items import set_contributions, table_contributions
from aidos.publish.multi import HistogramMechanism

__all__ = ["TableRelease"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRelease:
    """Publish the items (or sets of items) that many people of a table have."""

    mechanism: HistogramMechanism = CountGaussian()  # noqa: RUF009  # frozen
    """How they are published."""
    person: str = "person"
    """The column that says whose row it is."""
    columns: tuple[str, ...] = ("item",)
    """The columns that make one item."""
    largest_set: Annotated[int, Ge(1)] = 1
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

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Noise and thresholds."""
        return self.mechanism.calibration(facts)

    def run(self, data: Table, noise: Noise) -> dict[str, Histogram]:
        """Publish the items of a table."""
        if self.largest_set > 1:
            items = set_contributions(data, self.person, self.columns[0], self.largest_set)
        else:
            items = table_contributions(data, self.person, self.columns)
        return {"items": self.mechanism.run(items, noise)}
