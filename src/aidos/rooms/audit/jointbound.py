"""The bound of topics and profile together: words and orders speak of the same topic maps.

The topic block of the paper has topics beta_k ~ Dirichlet(e) over words, topic maps theta_d ~ N(0, u0^2 I), and words
drawn from topic k with probability proportional to exp theta_dk. Orders follow the same theta_d. The posterior is
r(beta_k) = Dirichlet(l_k), r(K) free, r(theta_d) = N(mu_d, u^2 I), r(eta) = N(m, s^2 I) with s and u fixed:

    words:  E[ln p(K | theta_d)] >= mu_dk - u^2/2 - ln sum_k exp mu_dk                        (Jensen)
    lists:  E[ln g] >= sum_i (a_{pi_i} - ln sum_{j>=i} exp b_{pi_j}),  a_d = gamma m.mu_d - (1-gamma) rank(d),
            b_d = ln E[exp(gamma eta.theta_d)] - (1-gamma) rank(d)
                = (gamma m.mu_d + gamma^2 s^2 |mu_d|^2 / 2 + gamma^2 u^2 |m|^2 / 2) / c - T/2 ln c - (1-gamma) rank(d)

with c = 1 - gamma^2 s^2 u^2, which must be above 0: the mean of exp of a product of two Gaussians. At u = 0 this is the
bound of `aidos.rooms.audit.densities`. For fixed m it is concave in all mu together, for fixed mu concave in m. The
words of an item are shared out among topics in closed form, and so are the words of topics; mu climbs along its
gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.densities import Scored, evaluate_stages
from aidos.rooms.audit.inference import Ascent, climb
from aidos.rooms.audit.kernels import share_out, sum_log_gamma
from aidos.rooms.audit.numerics import digamma

__all__ = ["ItemWords", "JointAscent", "JointScored", "JointSpreads", "distance_of_topics", "log_mean_joint", "softmax"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

MAP_STEPS = 8
"""Steps of L-BFGS for the maps in one round."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemWords:
    """The known words of every item: item d has ``words[starts[d] : starts[d + 1]]``, a number each."""

    starts: Longs
    words: Ints
    word_count: int
    """How many different words are known."""

    @property
    def lengths(self) -> Floats:
        """How many words each item has."""
        return np.diff(self.starts).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointSpreads:
    """Standard deviations and priors that are fixed."""

    weights: float
    """s, of the posterior of a weight."""
    maps: float
    """u, of the posterior of a map."""
    prior: float
    """u0, of the prior of a map."""
    words: float
    """e, the prior of a word in a topic."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointScored:
    """The bound on E[ln g] of each query, and what its derivatives are made of."""

    scored: Scored
    """Values, slopes by gamma, and derivatives by m.mu_d of each place."""
    pulls: Floats
    """Minus the derivative by b of each place."""
    left: float
    """c."""


def log_mean_joint(pairs: PairArrays, maps: Floats, weights: Floats, mix: float, spreads: JointSpreads) -> JointScored:
    """The bound on E[ln g] of each query, for mu ``maps`` and m ``weights``."""
    squares = np.einsum("ij,ij->i", maps, maps)
    crossed = (spreads.weights * spreads.maps) ** 2
    left = 1 - mix**2 * crossed
    scores = (maps @ weights)[pairs.items]
    lift = (spreads.weights**2 * squares)[pairs.items] + spreads.maps**2 * float(weights @ weights)
    moment = mix * scores + mix**2 / 2 * lift
    ranked = (1 - mix) * pairs.ranks
    topics = len(weights)
    values, pulls = evaluate_stages(pairs, mix * scores - ranked, moment / left - topics / 2 * np.log(left) - ranked)
    bend = (scores + mix * lift) / left + 2 * mix * crossed * moment / left**2 + topics * mix * crossed / left
    slopes = pairs.sum_by_query(scores + pairs.ranks - pulls * (bend + pairs.ranks))
    scored = Scored(values=values, slopes=slopes, pushes=mix * (1 - pulls / left))
    return JointScored(scored=scored, pulls=pulls, left=left)


@dataclass(slots=True, kw_only=True, eq=False)
class JointAscent(Ascent):
    """A climb in topics and profile together."""

    texts: ItemWords
    spreads: JointSpreads
    maps: Floats
    """mu: a row an item."""
    topics: Floats
    """l: a row a word, a column a topic."""
    word_value: float = field(init=False)
    item_counts: Floats = field(init=False)
    """How many words of each item belong to each topic, as shared out last."""
    word_counts: Floats = field(init=False)
    """How often each word belongs to each topic, as shared out last."""

    def __post_init__(self) -> None:
        Ascent.__post_init__(self)
        self.share_words()

    def score_personalised(self) -> None:
        """Put E[ln g] where the climb stands."""
        self.lifted = log_mean_joint(self.pairs, self.maps, self.weights, self.mix, self.spreads).scored

    def target(self, weights: Floats, mix: float) -> tuple[float, Floats, float]:
        """What m and gamma are to maximise, with its derivatives."""
        rho = self.counts * self.switches
        found = log_mean_joint(self.pairs, self.maps, weights, mix, self.spreads)
        variance = self.settings.prior_deviation**2
        value = float(rho @ found.scored.values) - float(weights @ weights) / (2 * variance)
        shared = rho[self.pairs.query_of]
        narrowing = mix**2 * self.spreads.maps**2 / found.left * float(shared @ found.pulls)
        gradient = self.pairs.sum_by_item(shared * found.scored.pushes) @ self.maps
        return value, gradient - (narrowing + 1 / variance) * weights, float(rho @ found.scored.slopes)

    def share_words(self) -> None:
        """Share the words of all items out among the topics, where the climb stands."""
        logs = digamma(self.topics) - digamma(self.topics.sum(axis=0))
        self.item_counts, self.word_counts = np.zeros_like(self.maps), np.zeros_like(self.topics)
        self.word_value = share_out(
            self.texts.starts, self.texts.words, self.maps, logs, self.item_counts, self.word_counts
        )

    def update_topics(self) -> None:
        """Renew l from the words as they are shared out, and share them out again."""
        self.topics = self.spreads.words + self.word_counts
        self.share_words()

    def update_maps(self) -> None:
        """Climb in all mu together."""
        unlimited = np.full(self.maps.size, np.inf)
        found = climb(self._target_of_maps, self.maps.ravel(), (-unlimited, unlimited), MAP_STEPS)
        self.maps = found.reshape(self.maps.shape)
        self.share_words()
        self.score_personalised()

    def _target_of_maps(self, point: Floats) -> tuple[float, Floats]:
        maps = point.reshape(self.maps.shape)
        lengths, variance = self.texts.lengths, self.spreads.prior**2
        totals, shares = softmax(maps)
        rho = (self.counts * self.switches)[self.pairs.query_of]
        found = log_mean_joint(self.pairs, maps, self.weights, self.mix, self.spreads)
        value = float((self.item_counts * maps).sum()) - float(lengths @ totals) - float(point @ point) / (2 * variance)
        value += float(self.counts * self.switches @ found.scored.values)
        pushes = self.pairs.sum_by_item(rho * found.scored.pushes)
        bends = self.pairs.sum_by_item(rho * found.pulls) * (self.mix * self.spreads.weights) ** 2 / found.left
        gradient = self.item_counts - lengths[:, None] * shares - maps / variance
        gradient += np.outer(pushes, self.weights) - bends[:, None] * maps
        return value, gradient.ravel()

    def elbo(self) -> float:
        """The bound on the evidence of lists and words."""
        spreads, size = self.spreads, self.maps.size
        totals, _ = softmax(self.maps)
        words = self.word_value - float(self.texts.lengths @ (totals + spreads.maps**2 / 2))
        ratio = (spreads.maps / spreads.prior) ** 2
        maps = size * (1 + np.log(ratio) - ratio) / 2 - float((self.maps**2).sum()) / (2 * spreads.prior**2)
        return Ascent.elbo(self) + words + float(maps) - distance_of_topics(self.topics, spreads.words)


def softmax(maps: Floats) -> tuple[Floats, Floats]:
    """For each row ln sum exp, and the shares."""
    highest = maps.max(axis=1)
    raised = np.exp(maps - highest[:, None])
    sums = raised.sum(axis=1)
    return highest + np.log(sums), raised / sums[:, None]


def distance_of_topics(topics: Floats, prior: float) -> float:
    """The divergence of the topics' Dirichlet distributions from their prior."""
    totals = topics.sum(axis=0)
    logs = digamma(topics) - digamma(totals)
    number, count = topics.shape
    mass = sum_log_gamma(totals) - sum_log_gamma(topics.ravel())
    before = count * (lgamma(number * prior) - number * lgamma(prior))
    return float(mass - before + ((topics - prior) * logs).sum())
