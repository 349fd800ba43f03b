"""The promise of two steered rounds, computed: every output of a small log, with the law of both noises.

Others have one item, A, alone. The person who is added has A as well and some items that only she has. What the second
round publishes depends on the first noise on these items through few events (candidate or not, which is rarer), whose
chances are sums over one noise; given them, the second noise is enumerated.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import exp, floor

import numpy as np
import pytest

from aidos.account.steering import steered_counts, steered_weights
from aidos.core.sampling import DiscreteGaussian
from aidos.rooms.publish.weighted_gaussian import unit_weights

SHOWN = 100
"""Noisy counts above the threshold that are told apart; more are as if nothing was published, which hides little."""


@lru_cache(maxsize=64)
def published(sigma, people, limit):
    """Chances of the noisy counts above the limit, and last that nothing is published."""
    law = DiscreteGaussian(sigma)
    shown = np.array([law.pmf(n - people) for n in range(limit + 1, limit + 1 + SHOWN)])
    return np.append(shown, 1 - shown.sum())


def noise_in_units(calibrated):
    """Values and chances of the noise, in units."""
    sigma = calibrated.scale / calibrated.unit
    values = np.arange(-int(9 * sigma), int(9 * sigma) + 1)
    chances = np.exp(-((values / sigma) ** 2) / 2)
    return values, chances / chances.sum()


def needed(first, second, epsilon):
    return float(np.maximum(first - exp(epsilon) * second, 0).sum())


def counts_delta(steering, epsilon, *, others, kept, spared=1.0, lower=0):
    """Delta that steered counts really need, for one shared item and one own; ``spared`` and ``lower`` break it."""
    unit = steering.first.unit
    values, chances = noise_in_units(replace(steering.first, scale=steering.first.scale * spared))
    candidate, weight = steering.candidate / unit, unit_weights(unit, 2)[1]
    whole = unit_weights(unit, 1)[0] * others

    def noisy(people):
        return published(steering.second.scale * spared, people, int(steering.second.threshold) - lower)

    hidden = np.zeros(SHOWN + 1)
    hidden[-1] = 1.0
    p = float(noisy(1)[:-1].sum())
    without = float(chances[whole + values >= candidate].sum())
    alone = without * noisy(others) + (1 - without) * hidden
    shared, own = whole + weight + values, weight + values
    shared_is, own_is = float(chances[shared >= candidate].sum()), float(chances[own >= candidate].sum())
    if kept > 1:
        rarer = 0.0
    else:  # both are candidates and her own is the rarer one: it is kept in place of the shared one
        above = np.where(shared >= candidate, chances, 0)
        below = np.cumsum(np.where(own >= candidate, chances, 0))
        place = np.clip(np.searchsorted(own, shared) - 1, 0, len(own) - 1)
        rarer = float((above * below[place]).sum())
    both = shared_is * own_is
    with_her = (shared_is - both) * noisy(others + 1)
    if kept > 1:
        with_her = with_her + both * (1 - p) * noisy(others + 1)
    else:
        with_her = with_her + (both - rarer) * noisy(others + 1) + rarer * (1 - p) * noisy(others)
    with_her = with_her + (1 - shared_is) * (own_is * (1 - p) + 1 - own_is) * hidden
    shows = 1 - with_her.sum()
    return max(shows + needed(with_her, alone, epsilon), needed(alone, with_her, epsilon))


def weights_delta(steering, epsilon, *, others, spared=1.0, lower=0.0):
    """Delta that steered rounds really need: one shared item, one own."""
    first, second = steering.first, steering.second
    values, chances = noise_in_units(replace(first, scale=first.scale * spared))
    later, later_chances = noise_in_units(replace(second, scale=second.scale * spared))
    limit = floor((second.threshold - lower) / second.unit)
    candidate, out = steering.candidate / first.unit, (first.threshold - lower) / first.unit
    one, two = unit_weights(first.unit, 2)
    again = unit_weights(second.unit, 2)

    def tail(t):
        return float(later_chances[later > t].sum())

    def round_one(weight):
        """Chances that an item is out, a candidate, or neither."""
        seen = weight + values
        gone, kept = float(chances[seen > out].sum()), float(chances[(seen >= candidate) & (seen <= out)].sum())
        return {"out": gone, "candidate": kept, "neither": 1 - gone - kept}

    without = round_one(one * others)
    alone = without["out"] + without["candidate"] * tail(limit - again[0] * others)
    base = np.array([alone, 1 - alone])
    with_her = np.zeros(2)  # the shared item shows or not, and her own does not
    for (shared, chance), (own, chance_of_own) in product(
        round_one(one * others + two).items(), round_one(two).items()
    ):
        hers = again[(shared == "candidate") and (own == "candidate")]
        passes = {"out": 1.0, "candidate": tail(limit - again[0] * others - hers), "neither": 0.0}[shared]
        hidden = {"out": 0.0, "candidate": 1 - tail(limit - hers), "neither": 1.0}[own]
        with_her += chance * chance_of_own * hidden * np.array([passes, 1 - passes])
    return max(1 - with_her.sum() + needed(with_her, base, epsilon), needed(base, with_her, epsilon))


REQUESTS = [(2.0, 0.02, 1), (3.0, 0.05, 2), (1.0, 0.1, 1), (4.0, 0.01, 3)]


@pytest.mark.parametrize("request_", REQUESTS)
def test_steered_counts_keep_the_promise(request_):
    epsilon, delta, kept = request_
    steering = steered_counts(epsilon, delta, kept, 10)
    near = int(steering.second.threshold)
    for others in (1, int(steering.candidate), near - 1, near, near + 3, near + 12):
        assert counts_delta(steering, epsilon, others=others, kept=kept) <= delta


@pytest.mark.parametrize("request_", REQUESTS)
def test_steered_rounds_keep_the_promise(request_):
    epsilon, delta, kept = request_
    steering = steered_weights(epsilon, delta, max(kept, 2), 10)
    for others in (1, int(steering.candidate), int(steering.second.threshold), int(steering.second.threshold) + 3):
        assert weights_delta(steering, epsilon, others=others) <= delta


def worst(delta_of, steering, epsilon, **broken):
    near = int(steering.second.threshold)
    return max(delta_of(steering, epsilon, others=n, **broken) for n in range(1, near + 30, 3))


def test_a_third_of_the_noise_is_found():
    epsilon, delta, kept = 2.0, 0.02, 1
    counts, weights = steered_counts(epsilon, delta, kept, 10), steered_weights(epsilon, delta, 2, 10)
    assert worst(counts_delta, counts, epsilon, kept=kept, spared=1 / 3) > delta
    assert worst(weights_delta, weights, epsilon, spared=1 / 3) > delta


def test_a_low_threshold_is_found():
    epsilon, delta, kept = 2.0, 0.02, 2
    counts, weights = steered_counts(epsilon, delta, kept, 2), steered_weights(epsilon, delta, 2, 2)
    assert worst(counts_delta, counts, epsilon, kept=kept, lower=4) > delta
    assert worst(weights_delta, weights, epsilon, lower=3.0) > delta
