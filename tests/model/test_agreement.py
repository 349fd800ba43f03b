"""Fleiss' kappa against published figures, closed forms and a count of pairs."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.model.annotations import fleiss_kappa

FOURTEEN_JUDGES = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_a_worked_example_that_is_widely_published():
    assert fleiss_kappa(FOURTEEN_JUDGES) == pytest.approx(0.210, abs=5e-4)


def test_full_agreement_is_one_and_full_disagreement_of_two_is_minus_one():
    assert fleiss_kappa([[3, 0], [0, 3], [3, 0]]) == 1.0
    assert fleiss_kappa([[1, 1], [1, 1]]) == -1.0


def test_blind_judges_agree_no_more_than_by_chance():
    stream = np.random.default_rng(5)
    counts = stream.multinomial(7, [0.6, 0.3, 0.1], size=50_000)
    assert abs(fleiss_kappa(counts)) < 0.005


def test_where_all_choose_the_same_there_is_no_kappa():
    assert np.isnan(fleiss_kappa([[2, 0], [3, 0]]))


def from_pairs(table: list[list[int]]) -> Fraction | None:
    """Kappa by counting pairs of judges one by one, in fractions."""
    items = [[category for category, number in enumerate(row) for _ in range(number)] for row in table if sum(row)]
    agreed = []
    for item in items:
        pairs = list(combinations(item, 2))
        if pairs:
            agreed.append(Fraction(sum(one == other for one, other in pairs), len(pairs)))
    shares = [sum(Fraction(item.count(category), len(item)) for item in items) / len(items) for category in range(3)]
    expected = sum(share * share for share in shares)
    return None if expected == 1 else (sum(agreed) / len(agreed) - expected) / (1 - expected)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3).map(list), min_size=1, max_size=12))
def test_any_numbers_of_judges_give_what_counting_pairs_gives(table):
    assume(any(sum(row) > 1 for row in table))
    expected = from_pairs(table)
    found = fleiss_kappa(table)
    if expected is None:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("counts", [[[1, 0], [0, 1]], [[0, 0]], np.zeros((0, 3))])
def test_single_judges_say_nothing_about_agreement(counts):
    with pytest.raises(InputError, match="two judges"):
        fleiss_kappa(counts)


@pytest.mark.parametrize("counts", [[1, 2], [[-1, 3]], [[0.5, 1.5]], [[np.nan, 2]]])
def test_what_are_no_counts_is_refused(counts):
    with pytest.raises(InputError, match="whole numbers"):
        fleiss_kappa(counts)
