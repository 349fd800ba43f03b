"""The promise of each mechanism, exactly: every output of small logs with its probability, on every kind of neighbour.

An item's outcome depends on its own number alone, so the outcome of a log is a product. The numbers of a log and of its
neighbour are given for the items of one person; all other items have the same law on both sides and drop out.
"""

from functools import lru_cache
from itertools import product
from math import exp, prod

import numpy as np
import pytest

from aidos.core.mechanism import PublicFacts
from aidos.core.sampling import DiscreteGaussian, DiscreteLaplace
from aidos.rooms.publish.count_gaussian import CountGaussian
from aidos.rooms.publish.laplace_threshold import LaplaceThreshold
from aidos.rooms.publish.rounds import Rounds
from aidos.rooms.publish.truncated_geometric import TruncatedGeometric
from aidos.rooms.publish.weighted_gaussian import WeightedGaussian, unit_weights
from aidos.rooms.publish.zealous import Zealous

FACTS = PublicFacts()
ROUNDING = 1e-11
HIDDEN = None


def excess(first, second, epsilon):
    """The delta that this epsilon needs: how much more likely a set of outputs can be than e^epsilon allows."""
    return sum(max(0.0, chance - exp(epsilon) * second.get(outcome, 0.0)) for outcome, chance in first.items())


def joint(laws):
    return {
        tuple(outcome for outcome, _ in drawn): prod(chance for _, chance in drawn)
        for drawn in product(*(law.items() for law in laws))
    }


def needed_delta(outcomes, neighbours, epsilon):
    """The largest over all pairs of neighbours, both ways round."""
    worst = 0.0
    for numbers in neighbours:
        here, there = (joint([outcomes(one) for one in side]) for side in zip(*numbers, strict=True))
        worst = max(worst, excess(here, there, epsilon), excess(there, here, epsilon))
    return worst


def noisy_count(law, threshold, first=1, width=0):
    """What is published of an item that so many people have."""
    drawn = {k: law.pmf(k) for k in range(-width, width + 1)}

    def outcomes(people):
        if people < first:
            return {HIDDEN: 1.0}
        shown = {people + k: chance for k, chance in drawn.items() if people + k > threshold}
        return {HIDDEN: 1.0 - sum(shown.values()), **shown}

    return outcomes


def chosen(chance):
    """Whether an item is published."""
    known = lru_cache(None)(chance)
    return lambda number: {True: known(number), False: 1 - known(number)}


def added_person(counts):
    """A person with two items is added to so many people; also with one item, and with items of her own."""
    return [((n, n + 1),) for n in counts] + [((n, n + 1), (k, k + 1)) for n in counts for k in counts]


def replaced_person(counts):
    """A person with two items becomes one with two others."""
    pairs = list(product((0, 1, *counts), (0, 1, *counts)))
    return [((n + 1, n), (k, k + 1)) for n, k in pairs] + [
        ((n + 1, n), (n + 1, n), (k, k + 1), (k, k + 1))
        for n, k in [(0, 0), (0, counts[0]), (counts[0], 0), (counts[-1], counts[-1])]
    ]


LAPLACE = LaplaceThreshold(epsilon=2.0, delta=0.02, items_per_person=2)
GAUSSIAN = CountGaussian(epsilon=3.0, delta=0.04, items_per_person=2)
GEOMETRIC = TruncatedGeometric(epsilon=1.5, delta=0.02, items_per_person=2)
WEIGHTED = WeightedGaussian(epsilon=2.0, delta=0.02, items_per_person=2)
ZEALOUS = Zealous(epsilon=3.0, delta=0.03, items_per_person=2)


def laplace_delta(*, scale=1.0, threshold=0):
    asked = LAPLACE.calibration(FACTS)
    law, limit = DiscreteLaplace(asked["scale"] * scale), asked["threshold"] + threshold
    near = (0, 1, int(limit) - 1, int(limit), int(limit) + 3)
    return needed_delta(noisy_count(law, limit, width=45), added_person(near), LAPLACE.epsilon)


def gaussian_delta(*, scale=1.0, threshold=0):
    asked = GAUSSIAN.calibration(FACTS)
    law, limit = DiscreteGaussian(asked["sigma"] * scale), asked["threshold"] + threshold
    near = (0, 1, int(limit) - 1, int(limit), int(limit) + 20)
    return needed_delta(noisy_count(law, limit, width=16), added_person(near), GAUSSIAN.epsilon)


def zealous_delta(*, scale=1.0, threshold=0):
    asked = ZEALOUS.calibration(FACTS)
    law, limit = DiscreteLaplace(asked["scale"] * scale), asked["second_threshold"] + threshold
    near = (int(limit), int(limit) + 5)
    cut = noisy_count(law, limit, width=16)  # four items at once: outputs farther out are lumped into one

    def outcomes(people):
        law_of = cut(people)
        high = limit + 5
        lumped = {outcome: chance for outcome, chance in law_of.items() if outcome is HIDDEN or outcome <= high}
        return {**lumped, "more": 1 - sum(lumped.values())}

    return needed_delta(outcomes, replaced_person(near), ZEALOUS.epsilon)


def geometric_delta(*, words=None):
    selection = GEOMETRIC._selection()
    table = selection.words if words is None else words(selection.words)
    chance = chosen(lambda people: float(table[people]) / 2.0**64 if people < len(table) else 1.0)
    return needed_delta(chance, added_person(range(len(table) + 2)), GEOMETRIC.epsilon)


def weighted_delta(*, scale=1.0, threshold=0.0):
    asked = WEIGHTED.calibration(FACTS)
    law = DiscreteGaussian(asked["sigma"] / asked["unit"] * scale)
    limit = int(asked["threshold"] / asked["unit"] * (1 + threshold))
    one, two = unit_weights(asked["unit"], 2)
    chance = chosen(lambda weight: law.tail(limit - weight) if weight else 0.0)
    others = (0, limit - two, limit)
    alone = [((n, n + one),) for n in others]
    return needed_delta(
        chance, alone + [((n, n + two), (k, k + two)) for n in others for k in others], WEIGHTED.epsilon
    )


@pytest.mark.parametrize(
    ("mechanism", "delta"),
    [
        (LAPLACE, laplace_delta),
        (GAUSSIAN, gaussian_delta),
        (ZEALOUS, zealous_delta),
        (GEOMETRIC, geometric_delta),
        (WEIGHTED, weighted_delta),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_output_keeps_the_promise(mechanism, delta):
    assert delta() <= mechanism.delta * (1 + ROUNDING)


def test_the_promise_is_not_a_gift():
    """Bounds that are far from tight would let a broken mechanism pass."""
    assert laplace_delta() > LAPLACE.delta / 3
    assert geometric_delta() > GEOMETRIC.delta * 0.99
    assert zealous_delta() > ZEALOUS.delta / 3


@pytest.mark.parametrize("broken", [{"scale": 0.5}, {"threshold": -1}])
@pytest.mark.parametrize(("mechanism", "delta"), [(LAPLACE, laplace_delta), (ZEALOUS, zealous_delta)])
def test_half_the_noise_or_a_threshold_off_by_one_is_found(mechanism, delta, broken):
    assert delta(**broken) > mechanism.delta


def test_half_the_gaussian_noise_is_found():
    assert gaussian_delta(scale=0.5) > GAUSSIAN.delta
    assert weighted_delta(scale=0.5) > WEIGHTED.delta


def test_a_gaussian_threshold_off_by_one_is_found():
    """Noise and threshold share one delta, so that nothing is left over for a lower one."""
    assert gaussian_delta(threshold=-1) > GAUSSIAN.delta


def test_a_selection_that_rises_too_early_is_found():
    assert geometric_delta(words=lambda words: np.concatenate([words[:1], words[2:]])) > GEOMETRIC.delta


def test_rounds_keep_the_promise_on_one_item():
    mechanism = Rounds(epsilon=2.0, delta=0.02, items_per_person=1)
    calibrated = mechanism._calibrated()[0]
    laws = [DiscreteGaussian(one.scale / one.unit) for one in calibrated]

    def chance(people):
        if people == 0:
            return 0.0
        missed = [
            1 - law.tail(one.threshold / one.unit - people / one.unit)
            for law, one in zip(laws, calibrated, strict=True)
        ]
        return 1 - prod(missed)

    assert needed_delta(chosen(chance), [((n, n + 1),) for n in (0, 1, 5, 8, 12)], mechanism.epsilon) <= mechanism.delta
    assert chance(12) > 0.9


def test_the_probabilistic_promise_bounds_the_bad_outputs():
    """Bad are outputs with an item of at most tau people; people and items as adverse as can be."""
    mechanism = Zealous(epsilon=2.0, delta=0.05, items_per_person=2, promise="probabilistic", people=60)
    asked = mechanism.calibration(FACTS)
    law, first, second = DiscreteLaplace(asked["scale"]), asked["first_threshold"], asked["second_threshold"]
    most_items = mechanism.people * mechanism.items_per_person // first
    shown = law.tail(second - first)
    assert 1 - (1 - shown) ** most_items <= mechanism.delta < most_items * law.tail(second - first - 1) * 1.02
    # All other outputs are as likely up to e^epsilon: an item at tau + 1 against the same at tau, and so on upwards.
    outcomes = noisy_count(law, second, first=first, width=60)
    for people in range(first, second + 5):
        here, there = outcomes(people), outcomes(people + 1)
        for outcome in here.keys() & there.keys():
            ratio = here[outcome] / there[outcome]
            assert exp(-1 / asked["scale"]) - 1e-9 <= ratio <= exp(1 / asked["scale"]) + 1e-9
