"""Ranks: where somebody stands in a community by a risk measure, and how much that hangs on single entries.

Rank 1 is the most exposed. People of equal risk share a place: the best of their places (as in sports), the worst, or
the mean. The percentile is the share of the others who are less exposed, half of those with the same risk among them.

The interval comes from the bootstrap: her entries are drawn again from her own, with replacement and as many as she
has, while all others stay as they are; the rank is taken every time, and the interval holds the middle share of the
ranks (``coverage``). It says how much the rank hangs on single entries of hers. It does not say what she will write
next, and where the risk is that of her best entry it mostly says how far she would fall without that entry: a redrawn
history never has a better one. With a single entry there is nothing to draw, and the interval is the rank itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.risk.measure import RiskMeasure, RiskQuestion

__all__ = ["Bootstrap", "RankInterval", "Ties", "percentiles", "rank_among", "rank_people"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Ties = Literal["best", "mean", "worst"]
DRAWS = 1 << 24
"""Entries that are drawn in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankInterval:
    """Where somebody stands, and within which ranks she would with other entries of hers."""

    rank: float
    low: float
    """The best rank of the interval; not above ``high``."""
    high: float
    percentile: float
    percentile_low: float
    percentile_high: float
    coverage: float
    """The share of the redrawn histories whose ranks the interval holds, at least."""
    entries: int
    """How many she has; with one there is nothing to draw."""
    people: int


def rank_people(risks: Floats, *, ties: Ties = "best") -> Floats:
    """The rank of everybody by their risks; whole numbers unless ties share the mean."""
    known = _checked(risks)
    return _ranks(known, np.sort(known), ties, own=1)


def rank_among(risks: Floats, others: Floats, *, ties: Ties = "best") -> Floats:
    """The rank that each of these risks would have, alone among the others."""
    return _ranks(_checked(risks), np.sort(_checked(others, may_be_empty=True)), ties, own=0)


def percentiles(risks: Floats) -> Floats:
    """For everybody the share of the others who are less exposed; 0.5 for one who is alone."""
    known = _checked(risks)
    if len(known) == 1:
        return np.full(1, 0.5)
    return (len(known) - _ranks(known, np.sort(known), "mean", own=1)) / (len(known) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How intervals of ranks are found."""

    resamples: Annotated[int, Ge(100), Le(100_000)] = 1000
    """How often entries are drawn again."""
    coverage: Annotated[float, Gt(0), Lt(1)] = 0.9
    """The share of redrawn ranks that the interval holds, at least."""
    seed: Annotated[int, Ge(0)] = 1
    """The same seed draws the same entries."""
    ties: Ties = "best"
    """Which of the places that people of equal risk share is theirs."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def intervals(
        self, measure: RiskMeasure, question: RiskQuestion, person: int, risks: Floats
    ) -> tuple[RankInterval, ...]:
        """The interval of one person for every topic; ``risks`` are those of everybody, as the measure gives them."""
        people = question.people
        if risks.shape != (len(people), len(question.topics)):
            raise ParameterError(
                f"risks must be {len(people)} by {len(question.topics)}, a row a person and a column a topic, "
                f"got {' by '.join(map(str, risks.shape))}"
            )
        entries = int(people.person_starts[person + 1] - people.person_starts[person])
        stream = np.random.default_rng([self.seed, person])
        step = max(1, DRAWS // entries)
        parts = []
        for first in range(0, self.resamples, step):
            draws = stream.integers(entries, size=(min(step, self.resamples - first), entries))
            parts.append(measure.redrawn(people, person, question.topics, question.models, draws))
        redrawn = np.concatenate(parts)
        return tuple(
            self._interval(risks[:, topic], person, redrawn[:, topic], entries) for topic in range(risks.shape[1])
        )

    def _interval(self, risks: Floats, person: int, redrawn: Floats, entries: int) -> RankInterval:
        others = np.delete(risks, person)
        ranks = rank_among(redrawn, others, ties=self.ties)
        middle = rank_among(redrawn, others, ties="mean")
        shares = (len(risks) - middle) / len(others) if len(others) else np.full(len(ranks), 0.5)
        own = rank_among(risks[person : person + 1], others, ties=self.ties)
        low, high = _middle(ranks, self.coverage)
        share_low, share_high = _middle(shares, self.coverage)
        return RankInterval(
            rank=float(own[0]),
            low=low,
            high=high,
            percentile=float(percentiles(risks)[person]),
            percentile_low=share_low,
            percentile_high=share_high,
            coverage=self.coverage,
            entries=entries,
            people=len(risks),
        )


def _middle(values: Floats, coverage: float) -> tuple[float, float]:
    """Two of the values that hold at least that share of them between them."""
    low = np.quantile(values, (1 - coverage) / 2, method="lower")
    high = np.quantile(values, (1 + coverage) / 2, method="higher")
    return float(low), float(high)


def _ranks(risks: Floats, ordered: Floats, ties: Ties, *, own: int) -> Floats:
    """Ranks among sorted risks, in which those to rank stand themselves (own = 1) or not (0)."""
    best = (len(ordered) - np.searchsorted(ordered, risks, side="right") + 1).astype(np.float64)
    worst = (len(ordered) - np.searchsorted(ordered, risks, side="left") + 1 - own).astype(np.float64)
    match ties:
        case "best":
            return best
        case "worst":
            return worst
        case "mean":
            return (best + worst) / 2
        case _:
            raise ParameterError(f"ties must be best, mean or worst, got {ties!r}")


def _checked(risks: Floats, *, may_be_empty: bool = False) -> Floats:
    known = np.asarray(risks, dtype=np.float64)
    if known.ndim != 1 or not (len(known) or may_be_empty):
        raise ParameterError("ranks are of a list of risks, one for every person")
    if wrong := int((~np.isfinite(known)).sum()):
        raise ParameterError(
            f"{wrong} of {len(known)} risks are not numbers, so nobody can be ranked",
            hint="look at the measure: a risk is finite for everybody",
        )
    return known
