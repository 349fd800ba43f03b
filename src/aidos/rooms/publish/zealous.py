"""ZEALOUS: frequent items with noisy counts, after two thresholds (Götz et al., TKDE 2012).

Each person gives at most m items. Items with fewer than tau people are dropped, the others get Laplace noise of scale
lambda, and those whose noisy count is above tau' are published. Two promises are on offer, both about neighbours where
one person's history is *replaced* by another, so that the number of people is public and up to 2m counts change by one
(m up, m down); lambda = 2m/epsilon hides that.

- ``indistinguishable`` (approximate DP), tau = 1: an item that only the new person has is published with probability p,
  and any of m such with probability 1 - (1-p)^m = delta. This is tight.
- ``probabilistic``: except on outputs of probability delta, every output is as likely up to e^epsilon. The bad outputs
  are those that show an item with tau people or fewer: at most U m / tau items have just tau, so delta <= (U m / tau)
  p. It needs U, the number of people, and is the stronger kind: it implies the other at the same numbers.

The probabilistic kind is about outputs, one by one, and such a promise does not survive that a part of the output is
thrown away: a secret salt would mix outputs that are bad under some salts with good ones under others. So its choices
use no randomness: a person's items are bounded in a fixed public order (`PUBLIC_ORDER`), and all randomness is the
noise. The other kind keeps a secret salt, so that nobody can prepare items that will be kept.

Its delta also grows with U, and whether a log has more people than U must not show. So at most U people are counted,
the first ones in a fixed public order of md5(person); a log with more is published without a word. Why that is sound:
let T be everybody but the person who is replaced, and R the first U - 1 of T. With any one person added to T, each of R
is still among the first U. So on both sides R is kept and at most one person more: what is kept differs by one person
replaced, and the proof above applies to it with U people.

Both need p <= 1 - e^(-1/lambda): then *not* showing an item is no stronger evidence than a count is. See
`aidos.account.zealous`, also for what the paper's equation (3) gets wrong.

What it does not promise: less noise where only a person's presence is to be hidden (removing her is replacing her by
somebody without items, so the promise covers that too, but `LaplaceThreshold` gets by with half the noise); that an
item just at tau' gets out with more than probability one half; anything about a second release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from annotated_types import Ge, Gt, Lt

from aidos.account.zealous import ZealousCalibration, indistinguishable, probabilistic
from aidos.core.checks import check_parameters
from aidos.core.guarantee import ApproxDP, Neighbours, ProbabilisticDP
from aidos.core.limits import CROWD, ITEMS
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.rooms.publish.counts import bounded, counted_items, draw_salt, people_in_order
from aidos.rooms.publish.histogram import Histogram
from aidos.rooms.publish.items import PERSON, item_columns

__all__ = ["PUBLIC_ORDER", "Zealous"]

PUBLIC_ORDER = b""
"""The salt of choices that everybody may repeat: none."""

Promise = Literal["indistinguishable", "probabilistic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Zealous:
    """Publish items that many people have, with noisy counts (Götz et al. 2012, two thresholds, replace-one)."""

    epsilon: Annotated[float, Gt(0)] = 1.0
    """How much replacing one person may sway the output; smaller is more private."""
    delta: Annotated[float, Gt(0), Lt(1)] = 1e-6
    """Chance that the promise fails."""
    items_per_person: Annotated[int, Ge(1), ITEMS] = 10
    """Items kept of each person before counting (m in the paper)."""
    promise: Promise = "indistinguishable"
    """Which of the paper's two guarantees: indistinguishable (approximate DP) or probabilistic (DP)."""
    people: Annotated[int | None, Ge(1), CROWD] = None
    """People who are counted at most, a public number; the probabilistic promise needs it (U in the paper)."""
    first_threshold: Annotated[int | None, Ge(1), CROWD] = None
    """Fewest people of an item that gets noise (tau); the best one when not given. For the probabilistic promise."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.promise not in get_args(Promise):
            raise ParameterError(
                f"Zealous: promise must be one of {', '.join(get_args(Promise))}, got {self.promise!r}"
            )
        if self.promise == "probabilistic" and self.people is None:
            raise ParameterError("Zealous: the probabilistic promise needs people", hint="give the number of people")
        if self.promise == "indistinguishable" and self.first_threshold not in (None, 1):
            raise ParameterError(
                f"Zealous: first_threshold must be 1 for the indistinguishable promise, got {self.first_threshold}",
                hint="leave it out, or ask for the probabilistic promise",
            )

    def guarantee(self, facts: PublicFacts) -> ApproxDP | ProbabilisticDP:
        """(epsilon, delta), of the kind asked for, for one person replaced."""
        self._calibrated()
        if self.people is not None and facts.people is not None and facts.people > self.people:
            raise ParameterError(
                f"Zealous: people is {self.people}, but the data have {facts.people}",
                hint=f"give people={facts.people}",
            )
        kind = ProbabilisticDP if self.promise == "probabilistic" else ApproxDP
        return kind(epsilon=self.epsilon, delta=self.delta, neighbours=Neighbours.REPLACE_ONE)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002  # U is a parameter
        """The noise (lambda) and the two thresholds (tau, tau')."""
        calibrated = self._calibrated()
        return {
            "scale": calibrated.scale,
            "first_threshold": calibrated.first_threshold,
            "second_threshold": calibrated.second_threshold,
        }

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        calibrated = self._calibrated()
        with counted_items(self._kept(data, noise), item_columns(data), "count(*)", noise) as counted:
            noisy = counted.numbers + DiscreteLaplace(calibrated.scale).sample(noise, len(counted.numbers))
            frequent = counted.numbers >= calibrated.first_threshold
            return counted.with_counts(frequent & (noisy > calibrated.second_threshold), noisy)

    def _kept(self, data: Table, noise: Noise) -> Table:
        """The contributions that count; the number of people never decides whether something is published at all."""
        if self.promise == "indistinguishable":
            return bounded(data, self.items_per_person, draw_salt(noise))
        # People are put in order once each: a rank over all of their contributions takes twice the time.
        order = f"order by {people_in_order(PUBLIC_ORDER)} limit {self.people}"
        first = f"select {PERSON} from (select distinct {PERSON} from {data.name}) {order}"
        return bounded(data, self.items_per_person, PUBLIC_ORDER).select(
            f"select * from {{table}} where {PERSON} in ({first})"
        )

    def _calibrated(self) -> ZealousCalibration:
        if self.promise == "probabilistic" and self.people is not None:
            return probabilistic(self.epsilon, self.delta, self.items_per_person, self.people, self.first_threshold)
        return indistinguishable(self.epsilon, self.delta, self.items_per_person)
