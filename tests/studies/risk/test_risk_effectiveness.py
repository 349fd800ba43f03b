"""R-precision, average precision and NDCG against plain definitions and against brute force over the orders of ties."""

from itertools import pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.studies.risk.assessment import (
    average_precision,
    before,
    found_within,
    ndcg,
    percentiles,
    r_precision,
    within_first,
)

LISTS = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6)


def orders(risks):
    """All orders of people that the risks allow, each equally likely."""
    return [
        order
        for order in permutations(range(len(risks)))
        if all(risks[one] >= risks[other] for one, other in pairwise(order))
    ]


def plain_precision(order, sensitive):
    number = sum(sensitive)
    return sum(sensitive[person] for person in order[:number]) / number


def plain_average(order, sensitive):
    precisions = [
        sum(sensitive[person] for person in order[: place + 1]) / (place + 1)
        for place, here in enumerate(order)
        if sensitive[here]
    ]
    return sum(precisions) / len(precisions)


def plain_gain(order, sensitive):
    return sum(sensitive[person] / log2(place + 2) for place, person in enumerate(order))


@given(LISTS)
def test_all_three_are_the_mean_over_the_orders_of_ties(rows):
    risks, sensitive = [risk for risk, _ in rows], [is_so for _, is_so in rows]
    if not any(sensitive):
        assert np.isnan(r_precision(risks, sensitive))
        assert np.isnan(average_precision(risks, sensitive))
        assert np.isnan(ndcg(risks, sensitive))
        return
    possible = orders(risks)
    assert r_precision(risks, sensitive) == pytest.approx(np.mean([plain_precision(o, sensitive) for o in possible]))
    assert average_precision(risks, sensitive) == pytest.approx(
        np.mean([plain_average(o, sensitive) for o in possible])
    )
    best = sum(1 / log2(place + 2) for place in range(sum(sensitive)))
    assert ndcg(risks, sensitive) == pytest.approx(np.mean([plain_gain(o, sensitive) for o in possible]) / best)


@given(LISTS)
def test_chances_are_those_of_each_person(rows):
    risks, sensitive = [risk for risk, _ in rows], np.array([is_so for _, is_so in rows])
    number = int(sensitive.sum())
    possible = orders(risks)
    chances = [np.mean([person in order[:number] for order in possible]) for person in range(len(risks))]
    assert found_within(risks, sensitive) == pytest.approx(np.array(chances)[sensitive])
    assert within_first(risks, number).sum() == pytest.approx(number)


def test_a_perfect_and_a_hopeless_ranking():
    sensitive = [True, True, False, False, False]
    assert r_precision([5, 4, 3, 2, 1], sensitive) == average_precision([5, 4, 3, 2, 1], sensitive) == 1
    assert r_precision([1, 2, 3, 4, 5], sensitive) == 0
    assert average_precision([1, 2, 3, 4, 5], sensitive) == pytest.approx((1 / 4 + 2 / 5) / 2)


def test_a_weight_is_as_many_people():
    risks, sensitive, weights = [3.0, 2.0, 1.0], [True, False, True], [2, 1, 3]
    copied = np.repeat([0, 1, 2], weights)
    many = r_precision(np.array(risks)[copied], np.array(sensitive)[copied])
    assert r_precision(risks, sensitive, weights) == pytest.approx(many)
    assert many == pytest.approx((2 + 3 * (2 / 3)) / 5)


def test_percentiles_and_who_stands_before():
    assert percentiles([3, 1, 1, 2]) == pytest.approx([0.875, 0.25, 0.25, 0.625])
    assert before([2.0, 0.0, 9.0], [1.0, 2.0, 3.0, 4.0]) == pytest.approx([0.625, 1.0, 0.0])
    assert np.isnan(before([1.0], [])).all()


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(InputError, match="3 risks were given for 2"):
        r_precision([1, 2, 3], [True, False])
    with pytest.raises(InputError, match="numbers"):
        average_precision([float("nan")], [True])
    with pytest.raises(InputError, match="above 0"):
        r_precision([1, 2], [True, False], [1, 0])
