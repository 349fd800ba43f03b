from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standings import standing_of

from aidos.errors import ParameterError
from aidos.rooms.fairness.heuristics import FairTopK, adjusted_significance, chance_of_failing, least_protected


def enumerated_failure(needed, share):
    """Over all sequences of tosses."""
    total = 0.0
    for tosses in product((0, 1), repeat=len(needed)):
        if (np.cumsum(tosses) < needed).any():
            heads = sum(tosses)
            total += share**heads * (1 - share) ** (len(tosses) - heads)
    return total


def test_the_table_of_the_binomial_test():
    assert least_protected(10, 0.5, 0.1).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3, 3]


@given(st.integers(1, 10), st.floats(0.05, 0.95), st.floats(0.005, 0.5))
@settings(max_examples=40)
def test_the_chance_of_failing_is_that_of_enumeration(positions, share, significance):
    needed = least_protected(positions, share, significance)
    assert chance_of_failing(needed, share) == pytest.approx(enumerated_failure(needed, share), abs=1e-12)


@given(st.integers(1, 12), st.floats(0.05, 0.95), st.floats(0.005, 0.5))
@settings(max_examples=60)
def test_the_adjustment_keeps_the_significance_and_no_larger_one_does(positions, share, significance):
    adjusted = adjusted_significance(positions, share, significance)
    needed = least_protected(positions, share, adjusted)
    assert adjusted <= significance
    assert chance_of_failing(needed, share) <= significance + 1e-9
    for other in np.linspace(adjusted, significance, 40):
        stricter = least_protected(positions, share, float(other))
        assert (stricter == needed).all() or chance_of_failing(stricter, share) > significance


def test_the_test_of_all_prefixes_is_stricter_than_its_parts():
    # Prefixes at 0.1 each call a fair order unfair in more than one case of ten, and the more the longer the ranking.
    assert chance_of_failing(least_protected(10, 0.5, 0.1), 0.5) == 33 / 256
    assert chance_of_failing(least_protected(100, 0.5, 0.1), 0.5) > 0.25
    assert 0 < adjusted_significance(10, 0.5, 0.1) < 0.1


def test_protected_subjects_are_drawn_forward_only_where_needed():
    groups = [1] * 8 + [0] * 8
    standing = standing_of(np.arange(16, 0, -1), positions=8, groups=groups)
    policy = FairTopK(least_share=0.5, significance=0.1)
    placed = policy.place(standing)
    needed = least_protected(8, 0.5, adjusted_significance(8, 0.5, 0.1))
    protected = np.asarray(groups)[placed] == 0
    assert (np.cumsum(protected) >= needed).all()
    assert protected.sum() == needed[-1] > 0
    for kind in (protected, ~protected):
        assert (np.diff(placed[kind]) == 1).all()
    assert placed[0] == 0


def test_an_order_that_passes_is_left_alone():
    standing = standing_of(np.arange(8, 0, -1), positions=6, groups=[0, 1] * 4)
    assert FairTopK().place(standing).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("groups", [[1] * 6, [0] * 6, [1, 1, 1, 1, 1, 0]])
def test_too_few_of_a_group_still_fill_every_position(groups):
    standing = standing_of(np.arange(6, 0, -1), positions=6, groups=groups)
    assert sorted(FairTopK(least_share=0.9).place(standing).tolist()) == [0, 1, 2, 3, 4, 5]


def test_groups_are_needed():
    with pytest.raises(ParameterError, match="groups"):
        FairTopK().place(standing_of([2, 1]))


@pytest.mark.parametrize(
    "wrong", [{"least_share": 0.0}, {"least_share": 1.0}, {"significance": 0.0}, {"protected_group": -1}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        FairTopK(**wrong)
