"""Why pure differential privacy cannot publish the items of a search log (Götz et al. 2012, section 3.2).

An epsilon-DP algorithm that shows a very frequent item (at least tau + xi people) with probability c must show *every*
item of the domain with a probability that no log can make zero: turn the log into one where that item is very frequent,
one person after the other. Over a large domain these accidents outnumber all very frequent items that a log can hold,
so that publishing nothing has fewer errors.

The paper's corollary 1 divides by m the number of people that must change, as if one person could add several to an
item's count. Counts are of distinct people, so tau + xi people must change, and the chance shrinks by e^(-epsilon
(tau+xi)), not by e^(-2 epsilon (tau+xi)/m). Both are computed: `printed` reproduces the paper, `proven` is what holds
for counts of people. Neighbours: one person's history is replaced. The bounds say nothing about approximate or
probabilistic DP.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import Annotated

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD, ITEMS
from aidos.errors import ParameterError

__all__ = ["Bound", "Contributing", "Impossibility"]


@dataclass(frozen=True, slots=True)
class Bound:
    """What follows for every epsilon-DP algorithm that keeps very frequent items with the accuracy asked for."""

    chance_of_any_item: float
    """Each item of the domain is published with at least this probability, whatever the log."""
    wrong_items: float
    """Very infrequent items published, expected, at least."""
    domain_that_suffices: float
    """From this size of the domain on, publishing nothing is better."""


@dataclass(frozen=True, kw_only=True)
class Contributing:
    """How much one person contributes."""

    items_per_person: Annotated[int, Ge(1), ITEMS]
    """Most items that one person contributes (m)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossibility(Contributing):
    """The setting of the corollary."""

    people: Annotated[int, Ge(1), CROWD]
    """People in the log (U)."""
    epsilon: Annotated[float, Gt(0)]
    """Privacy loss of one person, at most."""
    threshold: Annotated[int, Ge(1), CROWD]
    """People who make an item very frequent (tau + xi)."""
    domain: Annotated[float, Ge(1)]
    """How many items there could be; 5.3e35 are the pairs of queries of three words out of 900,000."""
    accuracy: Annotated[float, Gt(0), Le(1)] = 0.01
    """Least probability with which a very frequent item is to be published (c)."""
    slack: Annotated[int, Ge(0), CROWD] = 0
    """Half the width of the band in which errors are not counted (xi)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.threshold < 2 * self.slack:
            raise ParameterError("the slack must be at most half of what makes an item very frequent")
        if self.people < self.threshold:
            raise ParameterError("no item can be very frequent: that takes more people than there are")

    @property
    def most_very_frequent_items(self) -> float:
        """Errors of publishing nothing, at most: each very frequent item takes that many of the U m contributions."""
        return self.people * self.items_per_person / self.threshold

    @property
    def printed(self) -> Bound:
        """Corollary 1 as printed."""
        return self._bound(2 * self.epsilon * self.threshold / self.items_per_person)

    @property
    def proven(self) -> Bound:
        """The same argument with counts of distinct people."""
        return self._bound(self.epsilon * self.threshold)

    def nothing_is_better(self) -> bool:
        """Whether an empty release has fewer errors than every such algorithm, by the proven bound."""
        return self.proven.wrong_items > self.most_very_frequent_items

    def _bound(self, exponent: float) -> Bound:
        contributions = self.people * self.items_per_person
        # An item that is not very infrequent has at least tau - xi people, and tau - xi = (tau + xi) - 2 xi.
        others = contributions / (self.threshold - 2 * self.slack + 1)
        chance = self.accuracy * exp(-exponent)
        wrong = max(self.domain - others, 0.0) * chance
        enough = contributions * 2 / (chance * self.threshold) + others if chance > 0 else inf
        return Bound(chance, wrong, enough)
