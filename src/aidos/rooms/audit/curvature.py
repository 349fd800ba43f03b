"""How sharply the lists speak: the likelihood of all lists as one mixture, its slope and its curvature.

Learning (`aidos.rooms.audit.inference`) climbs a bound. Intervals need the likelihood itself,

    sum_q ln( phi g(pi_q|sigma_q) + (1 - phi) f(pi_q|sigma_q) ),

as a function of the point (eta, logit gamma, ln lambda, logit phi). Its curvature is that of both laws, each weighed
with how likely a query is of its kind, less what is lost because the kind is not seen (Louis 1982): rho (1 - rho) times
the square of the difference of their slopes. Within a list the curvature of Plackett-Luce in the utilities is
sum_i (diag p_i - p_i p_i'), p_i being the shares of what is left at stage i; sums over stages are kept as they grow.

A wide prior keeps the climb finite where lists say nothing of a topic. It is ten times as wide as the one that the
profile is learned with: that one draws strong weights towards 0, by more than their intervals are wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.densities import Scored, log_mean_personalised, log_vanilla
from aidos.rooms.audit.inference import LearnedProfile
from aidos.rooms.audit.kernels import topic_shifts
from aidos.rooms.audit.numerics import expit, logit, njit

__all__ = ["MIX", "RATE", "STEADINESS", "WIDE", "Peak", "find_peak"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Shares = NDArray[np.float32]

WIDE = 20.0
"""Standard deviation of the prior of a weight."""
USUAL_CONCENTRATION, CONCENTRATION_DEVIATION = 2.0, 1.5
"""Centre of the prior of lambda, and its deviation in ln lambda: lists that never change would drive it to infinity."""
MIX, STEADINESS, RATE = -3, -2, -1
"""Where a point has logit gamma, ln lambda and logit phi; before them are the weights."""
EDGE = 1e-3
"""How near to 0 and 1 shares may begin."""
ROUNDS = 50
LONGEST = 3.0
"""What no coordinate moves by at once."""
HALVINGS = 20
RESTED = 1e-7
"""A step that promises less gain a query ends the climb."""
AT_ONCE = 4_000_000
"""Slopes of queries that are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Peak:
    """Where the likelihood is highest, with the prior, and how it falls off."""

    point: Floats
    """The weights, logit gamma, ln lambda and logit phi."""
    curvature: Floats
    """Minus the second derivatives, those of the prior included; the identity for what was not free."""
    squares: Floats
    """The sum over queries of the squares of their slopes, and the curvature of the prior."""
    free: NDArray[np.bool_]
    """What was learned; INF has gamma and lambda fixed."""
    converged: bool


def find_peak(pairs: PairArrays, profile: LearnedProfile, *, fixed_laws: bool = False) -> Peak:
    """Climb by Newton's method from what was learned; with ``fixed_laws`` gamma and lambda stay as they are."""
    near = np.clip([profile.mix, profile.rate], EDGE, 1 - EDGE)
    mix = logit(np.clip(profile.mix, 1e-9, 1 - 1e-9)) if fixed_laws else logit(near[0])
    point = np.concatenate([profile.weights, [mix, np.log(profile.concentration), logit(near[1])]])
    free = np.ones(len(point), dtype=np.bool_)
    free[[MIX, STEADINESS]] = not fixed_laws
    here, converged = _Place(pairs, point, free), False
    slope, curvature, squares = here.bend()
    for _ in range(ROUNDS):
        step = _newton(slope, curvature)
        promised = float(step @ slope)
        converged = promised <= RESTED * len(pairs)
        if converged:
            break
        better = _search(here, step * min(1.0, LONGEST / float(np.abs(step).max())))
        if better is None:
            break
        here = better
        slope, curvature, squares = here.bend()
    return Peak(point=here.point, curvature=curvature, squares=squares, free=free, converged=converged)


def _newton(slope: Floats, curvature: Floats) -> Floats:
    """The slope over the curvature, to which as much is added as makes it bend downwards."""
    more = 0.0
    while True:
        bent = curvature + more * np.eye(len(curvature))
        try:
            np.linalg.cholesky(bent)
        except np.linalg.LinAlgError:
            more = max(1.0, 4 * more)
        else:
            return np.asarray(np.linalg.solve(bent, slope), dtype=np.float64)


def _search(here: _Place, step: Floats) -> _Place | None:
    for _ in range(HALVINGS):
        there = _Place(here.pairs, here.point + step, here.free)
        if there.value > here.value:
            return there
        step = step / 2
    return None


@dataclass(slots=True, eq=False)
class _Place:
    """One point, and how well it explains the lists."""

    pairs: PairArrays
    point: Floats
    free: NDArray[np.bool_]
    value: float = field(init=False)
    lifted: Scored = field(init=False)
    kept: Scored = field(init=False)
    interests: Floats = field(init=False)
    switches: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.interests = self.pairs.maps.dot(self.point[:MIX].copy())
        self.lifted = log_mean_personalised(self.pairs, self.interests, self.mix, 0.0)
        self.kept = log_vanilla(self.pairs, self.concentration)
        on, off = np.log(self.rate) + self.lifted.values, np.log1p(-self.rate) + self.kept.values
        self.switches = expit(on - off)
        self.value = float(np.logaddexp(on, off).sum()) + self._log_prior()

    @property
    def mix(self) -> float:
        return float(expit(self.point[MIX]))

    @property
    def concentration(self) -> float:
        return float(np.exp(self.point[STEADINESS]))

    @property
    def rate(self) -> float:
        return float(expit(self.point[RATE]))

    def _log_prior(self) -> float:
        weights, away = self.point[:MIX], self.point[STEADINESS] - np.log(USUAL_CONCENTRATION)
        normal = float(weights @ weights) / WIDE**2 + (away / CONCENTRATION_DEVIATION) ** 2
        # Mix and rate are taken as even between 0 and 1, which their logits are not.
        even = sum(np.log(share) + np.log1p(-share) for share in (self.mix, self.rate))
        return float(even - normal / 2)

    def bend(self) -> tuple[Floats, Floats, Floats]:
        """The slope, the curvature, and the sum of squares of the slopes of queries."""
        size, rho = len(self.point), self.switches
        slope, squares, lost = np.zeros(size), np.zeros((size, size)), np.zeros((size, size))
        crossed = np.zeros(size)
        for chunk, on, off in self._slopes():
            share = rho[chunk, None]
            each = share * on + (1 - share) * off
            apart = np.sqrt(share * (1 - share)) * (on - off)
            slope += each.sum(axis=0)
            squares += each.T @ each
            lost += apart.T @ apart
            crossed += rho[chunk] @ on
        curvature = self._complete(crossed) - lost
        shrinking, prior = self._prior_bend()
        slope, curvature, squares = slope - shrinking, curvature + np.diag(prior), squares + np.diag(prior)
        slope[~self.free] = 0
        for matrix in (curvature, squares):
            matrix[~self.free] = 0
            matrix[:, ~self.free] = 0
            matrix[~self.free, ~self.free] = 1
        return slope, curvature, squares

    def _prior_bend(self) -> tuple[Floats, Floats]:
        away = self.point[STEADINESS] - np.log(USUAL_CONCENTRATION)
        shrinking, prior = self.point / WIDE**2, np.full(len(self.point), 1 / WIDE**2)
        shrinking[STEADINESS], prior[STEADINESS] = away / CONCENTRATION_DEVIATION**2, 1 / CONCENTRATION_DEVIATION**2
        for where, share in ((MIX, self.mix), (RATE, self.rate)):
            shrinking[where], prior[where] = 2 * share - 1, 2 * share * (1 - share)
        return shrinking, prior

    def _slopes(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """For some queries at a time, the slopes of both laws with the kind known."""
        pairs, size = self.pairs, len(self.point)
        step = max(1, AT_ONCE // size)
        for first in range(0, len(pairs), step):
            chunk = slice(first, min(first + step, len(pairs)))
            number = chunk.stop - first
            on, off, told = np.zeros((number, size)), np.zeros((number, size)), np.empty((number, size - 3))
            starts, maps = pairs.starts[first : chunk.stop + 1], pairs.maps
            topic_shifts(starts, pairs.items, self.lifted.pushes, maps.starts, maps.topics, maps.shares, told)
            on[:, :MIX] = self.mix * told
            on[:, MIX] = self.mix * (1 - self.mix) * self.lifted.slopes[chunk]
            off[:, STEADINESS] = self.concentration * self.kept.slopes[chunk]
            on[:, RATE], off[:, RATE] = 1 - self.rate, -self.rate
            yield chunk, on, off

    def _complete(self, crossed: Floats) -> Floats:
        """The curvature were the kind of every query known; ``crossed`` has the weighed sum of slopes of g."""
        pairs, rho, mix, maps = self.pairs, self.switches, self.mix, self.pairs.maps
        turn, size = mix * (1 - mix), len(self.point)
        found, bent = np.zeros((size, size)), np.zeros((size - 2, size - 2))
        scores = self.interests[pairs.items]
        utilities = mix * scores - (1 - mix) * pairs.ranks
        told = (pairs.starts, pairs.items, utilities, scores + pairs.ranks, rho)
        _bend_lists(*told, maps.starts, maps.topics, maps.shares, bent)
        found[:MIX, :MIX] = mix**2 * bent[:-1, :-1]
        found[:MIX, MIX] = found[MIX, :MIX] = mix * turn * bent[:-1, -1] - (1 - mix) * crossed[:MIX]
        found[MIX, MIX] = turn**2 * bent[-1, -1] - (1 - 2 * mix) * crossed[MIX]
        found[RATE, RATE] = len(pairs) * self.rate * (1 - self.rate)
        found[STEADINESS, STEADINESS] = self._bend_of_steadiness()
        return found

    def _bend_of_steadiness(self) -> float:
        lam, bent = self.concentration, np.zeros((1, 1))
        nothing = np.zeros(len(self.pairs.maps) + 1, dtype=np.int64)
        ranks = self.pairs.ranks.astype(np.float64)
        told = (self.pairs.starts, self.pairs.items, -lam * ranks, ranks, 1 - self.switches)
        _bend_lists(*told, nothing, np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32), bent)
        return lam**2 * float(bent[0, 0]) - lam * float((1 - self.switches) @ self.kept.slopes)


@njit(cache=True, nogil=True)
def _bend_lists(  # noqa: PLR0913, PLR0917 - compiled code takes no objects
    starts: Longs,
    items: Longs,
    utilities: Floats,
    beside: Floats,
    counts: Floats,
    map_starts: Longs,
    topics: Ints,
    shares: Shares,
    found: Floats,
) -> None:
    """Add up D' W D over lists, each so often: W bends Plackett-Luce in the utilities, D has topic maps and a number.

    The number ``beside`` of each place is the last column of D.
    """
    for query in range(len(starts) - 1):
        start, size = starts[query], starts[query + 1] - starts[query]
        if size < 2 or counts[query] == 0:
            continue
        # In logarithms: utilities of a steady list lie further apart than numbers reach.
        once, twice, total = np.empty(size), np.empty(size), -np.inf
        for place in range(size - 1, -1, -1):
            total = np.logaddexp(total, utilities[start + place])
            once[place], twice[place] = -total, -2 * total
        for place in range(1, size):
            once[place] = np.logaddexp(once[place], once[place - 1])
            twice[place] = np.logaddexp(twice[place], twice[place - 1])
        for one in range(size):
            for other in range(one, size):
                bend = -np.exp(utilities[start + one] + utilities[start + other] + twice[one])
                if one == other:
                    bend += np.exp(utilities[start + one] + once[one])
                bend *= counts[query]
                _add_product(start + one, start + other, bend, items, beside, map_starts, topics, shares, found)
                if one != other:
                    _add_product(start + other, start + one, bend, items, beside, map_starts, topics, shares, found)


@njit(cache=True, nogil=True)
def _add_product(  # noqa: PLR0913, PLR0917 - the same
    one: int,
    other: int,
    bend: float,
    items: Longs,
    beside: Floats,
    map_starts: Longs,
    topics: Ints,
    shares: Shares,
    found: Floats,
) -> None:
    """Add a number times the product of two rows of D."""
    last, item, against = len(found) - 1, items[one], items[other]
    for at in range(map_starts[item], map_starts[item + 1]):
        for there in range(map_starts[against], map_starts[against + 1]):
            found[topics[at], topics[there]] += bend * shares[at] * shares[there]
        found[topics[at], last] += bend * shares[at] * beside[other]
    for there in range(map_starts[against], map_starts[against + 1]):
        found[last, topics[there]] += bend * beside[one] * shares[there]
    found[last, last] += bend * beside[one] * beside[other]
