import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness import disparity
from aidos.rooms.fairness.disparity import Bootstrap, measure_disparity
from oracles.fairness import lorenz

NAMES = ("ada", "ben", "cem", "dot", "eve")
amounts = st.lists(
    st.tuples(st.one_of(st.just(0.0), st.floats(0.001, 1e3)), st.one_of(st.just(0.0), st.floats(0.001, 1e3))),
    min_size=1,
    max_size=30,
).filter(lambda rows: any(a for a, _ in rows) and any(r for _, r in rows))


def table(attention, relevance):
    return measure_disparity(NAMES[: len(attention)], np.array(attention, float), np.array(relevance, float))


def test_who_is_owed_and_who_has_too_much():
    found = table([0, 5, 1, 0, 2], [3, 1, 1, 0, 0])
    assert [(row.subject_id, row.difference) for row in found.deficits()] == [("ada", -3)]
    assert [(row.subject_id, row.difference) for row in found.surpluses()] == [("ben", 4), ("eve", 2)]
    assert [row.subject_id for row in found.surpluses(1)] == ["ben"]


def test_subjects_without_merit_have_a_ratio_too():
    np.testing.assert_array_equal(table([0, 5, 1, 0, 2], [3, 1, 1, 0, 0]).ratio, [0, 5, 1, 1, np.inf])
    assert table([0, 2], [1, 0]).surpluses()[0].ratio == np.inf


def test_equals_are_listed_as_they_came():
    assert [row.subject_id for row in table([0, 0, 6], [2, 2, 2]).deficits()] == ["ada", "ben"]


def test_the_gini_coefficient_of_known_cases():
    assert lorenz(table([1, 2, 3], [2, 4, 6])).gini == pytest.approx(0)
    assert lorenz(table([4, 0, 0, 0], [1, 1, 1, 1])).gini == pytest.approx(3 / 4)
    assert lorenz(table([0, 0, 7], [1, 1, 0])).gini == pytest.approx(1)
    half = lorenz(table([3, 1], [1, 1]))
    np.testing.assert_allclose(half.relevance, [0, 0.5, 1])
    np.testing.assert_allclose(half.attention, [0, 0.25, 1])
    assert half.gini == pytest.approx(0.25)


def pairwise_gini(attention, relevance):
    """Half the mean absolute difference of shares: sum over pairs of |a_i r_j - a_j r_i| / 2."""
    a, r = attention / attention.sum(), relevance / relevance.sum()
    return np.abs(np.outer(a, r) - np.outer(r, a)).sum() / 2


@given(amounts)
def test_the_gini_coefficient_is_that_of_all_pairs_and_the_curve_sags(rows):
    attention, relevance = np.array(rows).T
    curve = lorenz(measure_disparity([str(i) for i in range(len(rows))], attention, relevance))
    assert curve.gini == pytest.approx(pairwise_gini(attention, relevance), abs=1e-9)
    assert (curve.attention <= curve.relevance + 1e-9).all()
    assert curve.attention[-1] == curve.relevance[-1] == 1


def test_groups_add_up_and_carry_intervals():
    found = table([0, 5, 1, 0, 2], [3, 1, 1, 0, 3]).by_group(["x", "y", "x", "y", "x"])
    assert [row.group for row in found] == ["x", "y"]
    x, y = found
    assert (x.subjects, x.attention, x.relevance) == (3, 3, 7)
    assert x.difference.value == pytest.approx(-4 / 3)
    assert x.ratio.value == pytest.approx(3 / 7)
    assert x.difference.low <= x.difference.value <= x.difference.high
    assert (y.ratio.value, y.ratio.low) == (5, 1.0)  # both draws of the subject that has neither: 1


def test_a_group_of_one_has_no_interval():
    (found,) = table([2], [1]).by_group(["x"])
    assert (found.ratio.value, found.ratio.low, found.ratio.high) == (2, None, None)


def test_a_group_without_merit_has_a_ratio_and_a_finite_difference():
    (found,) = table([2, 1, 3], [0, 0, 0]).by_group(["x"] * 3)
    assert found.ratio.value == found.ratio.low == found.ratio.high == np.inf
    assert 1 <= found.difference.low <= 2 <= found.difference.high <= 3


def test_intervals_are_the_percentiles_of_all_draws_of_two_subjects():
    (found,) = table([0, 4], [1, 1]).by_group(["x", "x"], Bootstrap(confidence=0.4, replicates=20_000))
    # Of two drawn, a quarter is (0, 0), half is (0, 4), a quarter (4, 4): differences -1, 1, 3.
    assert (found.difference.low, found.difference.high) == (1, 1)
    (found,) = table([0, 4], [1, 1]).by_group(["x", "x"], Bootstrap(confidence=0.6, replicates=20_000))
    assert (found.difference.low, found.difference.high) == (-1, 3)


def test_the_same_seed_gives_the_same_intervals_whatever_the_other_groups(monkeypatch):
    rng = np.random.default_rng(5)
    attention, relevance = rng.random(60), rng.random(60)
    names = [str(i) for i in range(60)]
    whole = measure_disparity(names, attention, relevance)
    groups = ["a"] * 30 + ["b"] * 30
    first = whole.by_group(groups)
    assert first == whole.by_group(groups)
    assert first != whole.by_group(groups, Bootstrap(seed=1))
    alone = measure_disparity(names[30:], attention[30:], relevance[30:]).by_group(groups[30:])
    assert alone[0] == first[1]
    monkeypatch.setattr(disparity, "MOST_DRAWN_AT_ONCE", 70)
    assert whole.by_group(groups) == first


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(11)
    covered, trials = 0, 400
    for trial in range(trials):
        relevance = rng.gamma(4, size=80)
        attention = relevance * rng.gamma(2, 0.5, size=80)  # 1 per relevance on average
        found = measure_disparity([""] * 80, attention, relevance)
        (group,) = found.by_group(["x"] * 80, Bootstrap(confidence=0.9, replicates=200, seed=trial))
        covered += group.ratio.low <= 1 <= group.ratio.high
    # 0.9 give or take: the interval is a little narrow at 80 subjects, and 400 trials have a deviation of 0.015.
    assert 0.83 <= covered / trials <= 0.95


@pytest.mark.parametrize(
    ("attention", "relevance"), [([1], [1, 2]), ([1, -1], [1, 1]), ([1, float("nan")], [1, 1]), ([1, 1], [1, np.inf])]
)
def test_impossible_accounts_are_refused(attention, relevance):
    with pytest.raises(InputError):
        measure_disparity(["ada", "ben"], np.array(attention, float), np.array(relevance, float))


def test_what_cannot_be_said_is_refused():
    with pytest.raises(InputError, match="2 subjects but 1 groups"):
        table([1, 1], [1, 1]).by_group(["x"])
    with pytest.raises(InputError, match="nobody"):
        lorenz(table([0, 0], [1, 1]))
    with pytest.raises(ParameterError, match="confidence"):
        Bootstrap(confidence=1.0)
