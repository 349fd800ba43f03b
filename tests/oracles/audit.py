"""The model once more, straight from the formulas: one query at a time, sums written out, no scans.

Nothing is shared with the fast computation but the inputs and the settings. Tests compare the two, and the benchmark
takes the time of these loops as what somebody would write who follows the paper line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log, pi

from aidos.rooms.audit.inference import LearningSettings
from aidos.rooms.audit.numerics import digamma, minimize

__all__ = ["plain_elbo", "plain_gradient", "plain_infer", "plain_log_mean_personalised", "plain_log_vanilla"]

Vector = Sequence[float]


def plain_log_vanilla(ranks: Sequence[int], concentration: float) -> float:
    """The logarithm of f, for the vanilla ranks of the items in personalised order."""
    total = 0.0
    for i, rank in enumerate(ranks):
        weights = sum(exp(concentration * (i + 1 - later)) for later in ranks[i:])
        total += concentration * (i + 1 - rank) - log(weights)
    return total


def plain_log_mean_personalised(
    ranks: Sequence[int], maps: Sequence[Vector], weights: Vector, mix: float, spread: float
) -> float:
    """The bound on E[ln g]."""
    firm, soft = _utilities(ranks, maps, weights, mix, spread)
    return sum(firm[i] - log(sum(exp(later) for later in soft[i:])) for i in range(len(ranks)))


def plain_gradient(
    ranks: Sequence[int], maps: Sequence[Vector], weights: Vector, mix: float, spread: float
) -> list[float]:
    """Its derivative by m."""
    _, soft = _utilities(ranks, maps, weights, mix, spread)
    found = [0.0] * len(weights)
    for i in range(len(ranks)):
        shares = [exp(later) for later in soft[i:]]
        for topic in range(len(weights)):
            mean = sum(share * maps[i + at][topic] for at, share in enumerate(shares)) / sum(shares)
            found[topic] += mix * (maps[i][topic] - mean)
    return found


def plain_elbo(
    personalised: Vector, vanilla: Vector, switches: Vector, weights: Vector, rate: tuple[float, float], **fixed: float
) -> float:
    """The bound on the evidence from E[ln g] and ln f of each query; ``fixed`` holds s, s0, a1 and a2 by name."""
    first, second = rate
    both = float(digamma(first + second))
    on, off = float(digamma(first)) - both, float(digamma(second)) - both
    total = 0.0
    for lifted, kept, switch in zip(personalised, vanilla, switches, strict=True):
        total += switch * (lifted + on) + (1 - switch) * (kept + off)
        total -= sum(part * log(part) for part in (switch, 1 - switch) if part > 0)
    spread, deviation = fixed["spread"], fixed["prior_deviation"]
    for weight in weights:
        total += -(weight**2 + spread**2) / (2 * deviation**2) - log(2 * pi * deviation**2) / 2
        total += (1 + log(2 * pi * spread**2)) / 2
    a, b = fixed["first"], fixed["second"]
    total += (a - first) * on + (b - second) * off - _log_beta(a, b) + _log_beta(first, second)
    return total


def plain_infer(
    ranks: Sequence[Sequence[int]], maps: Sequence[Sequence[Vector]], settings: LearningSettings, rounds: int
) -> tuple[list[float], list[float]]:
    """LTP-INF, one query after the other: weights, and how likely each query was personalised."""
    weights, odds = [0.0] * len(maps[0][0]), 0.0
    fixed = settings.mix, settings.spread
    kept = [plain_log_vanilla(order, settings.concentration) for order in ranks]
    for _ in range(rounds):
        lifted = [plain_log_mean_personalised(*pair, weights, *fixed) for pair in zip(ranks, maps, strict=True)]
        switches = [1 / (1 + exp(one - other - odds)) for one, other in zip(kept, lifted, strict=True)]
        odds = float(
            digamma(settings.personalised_before + sum(switches))
            - digamma(settings.vanilla_before + len(switches) - sum(switches))
        )
        weights = _best_weights(ranks, maps, switches, weights, settings)
    return weights, switches


def _best_weights(
    ranks: Sequence[Sequence[int]],
    maps: Sequence[Sequence[Vector]],
    switches: Vector,
    start: Vector,
    settings: LearningSettings,
) -> list[float]:
    variance = settings.prior_deviation**2

    def downhill(weights: Vector) -> tuple[float, list[float]]:
        loss = sum(weight**2 for weight in weights) / (2 * variance)
        slope = [weight / variance for weight in weights]
        for order, topics, switch in zip(ranks, maps, switches, strict=True):
            given = order, topics, weights, settings.mix, settings.spread
            loss -= switch * plain_log_mean_personalised(*given)
            slope = [one - switch * other for one, other in zip(slope, plain_gradient(*given), strict=True)]
        return loss, slope

    found: list[float] = minimize(downhill, start, jac=True, method="L-BFGS-B").x.tolist()
    return found


def _log_beta(first: float, second: float) -> float:
    return lgamma(first) + lgamma(second) - lgamma(first + second)


def _utilities(
    ranks: Sequence[int], maps: Sequence[Vector], weights: Vector, mix: float, spread: float
) -> tuple[list[float], list[float]]:
    firm = [
        mix * sum(weight * share for weight, share in zip(weights, topics, strict=True)) - (1 - mix) * rank
        for rank, topics in zip(ranks, maps, strict=True)
    ]
    lengths = [sum(share**2 for share in topics) for topics in maps]
    return firm, [a + mix**2 * spread**2 * length / 2 for a, length in zip(firm, lengths, strict=True)]
