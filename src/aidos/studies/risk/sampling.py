"""Which profiles to show to judges: people of high risk more often, and all regions of the ranking (section 6.5.1.2).

Very few people of a community are sensitive, so that profiles drawn evenly would hold almost none, and a measure that
says "nobody" would seem good. The thesis draws people in proportion to base^score, where the score is the plain
strength of interest and the base makes up for the skew (10^2 for health forums, 10^3 for AOL).

Here the draw is systematic (Madow 1949): people stand in the order of their scores, each with a width of her chance to
be drawn, and a comb of step 1 is laid over them at a random place. So a person is drawn at most once, the chances are
exactly in proportion (those above 1 are 1, and the others rise), and every region of the ranking gets its share.
Drawing one after the other without putting back has no such simple chances. One over the chance is the weight by which
what is seen in the sample can be carried over to the community; for the variance of such an estimate the draw has no
formula.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError

__all__ = ["ProfileSample", "ProfileSampling"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileSample:
    """People who were drawn for one topic."""

    people: Longs
    """Their rows, rising."""
    chances: Floats = field(repr=False)
    """How likely each of them was to be drawn."""

    def __len__(self) -> int:
        return len(self.people)

    @property
    def weights(self) -> Floats:
        """How many people of the community each stands for: one over the chance."""
        stands_for: Floats = 1.0 / self.chances
        return stands_for

    def total(self, values: ArrayLike) -> float:
        """What the values of the sample say about their sum over the community, without bias (Horvitz-Thompson)."""
        given = np.asarray(values, dtype=np.float64)
        if given.shape != self.people.shape:
            raise InputError(f"{given.size} values were given for {len(self)} people of the sample")
        return float(given @ self.weights)

    def mean(self, values: ArrayLike) -> float:
        """The mean over the community: the sum by the number of people, both as the sample says (Hajek)."""
        return self.total(values) / float(self.weights.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSampling:
    """How profiles are drawn for judging."""

    profiles: Annotated[int, Ge(1)] = 100
    """How many are drawn for a topic; all people where there are no more."""
    base: Annotated[float, Ge(1)] = 100.0
    """People are drawn in proportion to base^score (a); 1 draws evenly, 1000 suits very skewed scores."""
    seed: Annotated[int, Ge(0)] = 0
    """Of the draws."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def chances(self, scores: ArrayLike) -> Floats:
        """How likely each person is to be drawn; they sum to the number of profiles."""
        given = np.asarray(scores, dtype=np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
            raise InputError("scores must be finite, one for each person, and at least one")
        wanted = min(self.profiles, len(given))
        # Powers of differences, so that no score is too large for the base.
        sizes = np.exp((given - given.max()) * np.log(self.base))
        sure = np.zeros(len(given), dtype=np.bool_)
        while True:
            left = wanted - int(sure.sum())
            found = np.where(sure, 1.0, left * sizes / max(float(sizes[~sure].sum()), np.finfo(float).tiny))
            above = ~sure & (found >= 1.0 - ROUNDING)
            # The last places go to nobody for sure: rounding would leave no chance at all to people of tiny size.
            if not above.any() or int(above.sum()) >= left:
                return np.minimum(found, 1.0)
            sure |= above

    def draw(self, scores: ArrayLike, topic: int = 0) -> ProfileSample:
        """Draw people by their scores; draws for different topics are independent."""
        chances = self.chances(scores)
        order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
        ends = np.cumsum(chances[order])
        # The sum is a whole number but for rounding, on which the last of the comb must not depend.
        ends *= round(float(ends[-1])) / ends[-1]
        teeth = np.random.default_rng([self.seed, topic]).random() + np.arange(round(float(ends[-1])))
        drawn = np.sort(order[np.searchsorted(ends, teeth, side="right")]).astype(np.int64)
        return ProfileSample(people=drawn, chances=chances[drawn])
