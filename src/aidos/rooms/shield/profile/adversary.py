"""The eavesdropper of the paper, measured: how well hidden sensitive topics can be guessed from queries and profiles.

She knows the public taxonomy R and how texts are mapped to topics, sees the query q and the topics shown G, and wants
to know which sensitive topics the searcher holds. A topic shown is certain. For one that is not shown, with s the
lowest shown topic above it, she expects what the taxonomy and the query tell together:

    belief(t) = sum over T(q) at or below t of w / sum over T(q) at or below s of w,   w = rel(q,t) Pr(t)

A leaf of G that the query does not ask for was generalised, so one of the query's topics below it is in the profile:
that is why a narrow leaf tells more than a wide one. Without a profile s is the root, and the belief is what the query
gives away on its own, which generalisation does not touch.

Over many sessions beliefs add up as independent evidence, 1 - product of (1 - belief), and whatever was shown once is
certain. She may know more than that (clicks, times, other people): what this one fails at, others may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.topictree import TopicTree
from aidos.errors import InputError
from aidos.rooms.shield.profile.seed import Hits

__all__ = ["Eavesdropper", "Guessed", "Sight", "guess", "reappeared"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sight:
    """What is seen of one query."""

    hits: Hits
    """T(q) with relevances: whoever has the taxonomy can work it out."""
    shown: Places = field(default_factory=lambda: np.zeros(0, np.int32))
    """Topics of the profile sent; empty where none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eavesdropper:
    """Beliefs about topics from what was seen."""

    reads_queries: bool = True
    """Whether she maps queries to topics; without it she goes by the taxonomy and the profiles alone."""

    def beliefs(self, tree: TopicTree, sights: Sequence[Sight], candidates: Places) -> Floats:
        """How likely the searcher holds each candidate topic, in the eavesdropper's eyes, after all that was seen."""
        doubt = np.ones(len(candidates))
        for sight in sights:
            doubt *= 1.0 - self._of_one(tree, sight, candidates)
        return 1.0 - doubt

    def _of_one(self, tree: TopicTree, sight: Sight, candidates: Places) -> Floats:
        above = _lowest_shown(tree, sight.shown, candidates)
        if self.reads_queries:
            places, scores = sight.hits.places, sight.hits.scores
            order = np.argsort(places)
            ordered, weights = places[order], (scores * tree.supports[places])[order]
            beliefs = _share(
                _between(ordered, weights, candidates, tree.sizes), _between(ordered, weights, above, tree.sizes)
            )
        else:
            # What is shown below a topic is accounted for: the rest of it is where a hidden interest may be.
            taken = np.zeros(len(tree))
            inner = sight.shown[sight.shown > 0]
            np.add.at(taken, tree.parents[inner], tree.supports[inner])
            beliefs = _share(tree.supports[candidates], (tree.supports - taken)[above])
        beliefs[np.isin(candidates, sight.shown)] = 1.0
        return beliefs


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessed:
    """How well sensitive topics were guessed; NaN where there is nothing to guess."""

    first: float
    """Chance that her first guess, shown topics included, is one that the searcher holds; equals are drawn from."""
    right: float
    """The same among topics not shown, where one of them is held: whether what was hidden can be guessed."""
    blind: float
    """The same for a guess at random among topics not shown."""
    ranking: float
    """Chance that a held sensitive topic is believed more than one that is not held (AUC, over all candidates)."""
    precision: float
    """Share of held topics among as many of the most believed as are held."""
    shown: float
    """Share of held sensitive topics that were plainly shown."""


def guess(beliefs: Floats, held: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Guessed:
    """Measure beliefs about candidate sensitive topics against which of them are held, and which were shown."""
    if not len(beliefs) == len(held) == len(shown):
        raise InputError(f"{len(beliefs)} beliefs, {len(held)} truths and {len(shown)} showings do not fit together")
    hidden_held, open_beliefs = held[~shown], beliefs[~shown]
    number = int(held.sum())
    return Guessed(
        first=_first(beliefs, held) if number else float("nan"),
        right=_first(open_beliefs, hidden_held) if hidden_held.any() else float("nan"),
        blind=float(hidden_held.mean()) if hidden_held.any() else float("nan"),
        ranking=_auc(beliefs, held),
        precision=_precision(beliefs, held, number) if number else float("nan"),
        shown=float(shown[held].mean()) if number else float("nan"),
    )


def reappeared(seeds: Sequence[Places], shown: Sequence[Places]) -> Places:
    """Topics that were hidden in one session (in the seed, not shown) and shown in a later one."""
    hidden: set[int] = set()
    found: set[int] = set()
    for seed, seen in zip(seeds, shown, strict=True):
        now = set(seen.tolist())
        found |= hidden & now
        hidden |= set(seed.tolist()) - now
    return np.array(sorted(found), dtype=np.int32)


def _lowest_shown(tree: TopicTree, shown: Places, candidates: Places) -> Places:
    """The lowest shown topic at or above each candidate; the root where nothing is shown."""
    seen = set(shown.tolist()) | {0}
    found = np.zeros(len(candidates), dtype=np.int32)
    for number, place in enumerate(candidates.tolist()):
        while place not in seen:
            place = int(tree.parents[place])  # noqa: PLW2901 - walking up is the loop
        found[number] = place
    return found


def _between(ordered: Places, weights: Floats, places: Places, sizes: Places) -> Floats:
    """The sum of weights at and below each place."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    ends = np.searchsorted(ordered, places + sizes[places])
    found: Floats = sums[ends] - sums[np.searchsorted(ordered, places)]
    return found


def _share(part: Floats, whole: Floats) -> Floats:
    shares: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return np.clip(shares, 0.0, 1.0)


def _first(beliefs: Floats, held: NDArray[np.bool_]) -> float:
    return float(held[beliefs == beliefs.max()].mean())


def _auc(beliefs: Floats, held: NDArray[np.bool_]) -> float:
    ours, others = beliefs[held], np.sort(beliefs[~held])
    if not len(ours) or not len(others):
        return float("nan")
    wins = np.searchsorted(others, ours, "left") + np.searchsorted(others, ours, "right")
    return float(wins.mean() / (2 * len(others)))


def _precision(beliefs: Floats, held: NDArray[np.bool_], number: int) -> float:
    """Expected over the order of equals."""
    least = np.sort(beliefs)[-number]
    above, equal = beliefs > least, beliefs == least
    drawn = (number - above.sum()) * held[equal].mean()
    return float((held[above].sum() + drawn) / number)
