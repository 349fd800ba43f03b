import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.model.attention import find_attention
from aidos.rooms.fairness.batch import ABSENT, EquityRanker, rerank_matrix
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import SubjectRanking, gains
from oracles.fairness import accumulate, ndcg_quality

NAN = float("nan")


def matrices(rng, rows=15, columns=8):
    """Sparse, with at least three subjects in a row."""
    values = rng.integers(1, 9, size=(rows, columns)).astype(float)
    for row in values:
        row[rng.permutation(columns)[: rng.integers(0, columns - 2)]] = NAN
    return values


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.7, 0.9, 1.0]))
def test_rows_are_orders_of_those_present_whose_quality_and_unfairness_are_as_told(seed, floor):
    matrix = matrices(np.random.default_rng(seed))
    ranker = EquityRanker(attention="geometric:positions=3", quality_floor=floor)
    orders = ranker.fit_transform(matrix)
    lists = []
    for row, order, told in zip(matrix, orders, ranker.quality_, strict=True):
        there = np.flatnonzero(~np.isnan(row))
        served = order[: len(there)]
        assert sorted(served) == list(there)
        assert (order[len(there) :] == ABSENT).all()
        places = {subject: place for place, subject in enumerate(there)}
        found = ndcg_quality(gains(row[there]), np.array([places[subject] for subject in served]), 3)
        assert found == pytest.approx(told)
        assert found >= floor - 1e-9
        lists.append(served)
    relevances = [row[served] for row, served in zip(matrix, lists, strict=True)]
    plain = accumulate(lists, relevances, find_attention("geometric:positions=3"))
    assert ranker.unfairness_[-1] == pytest.approx(plain.unfairness)


def test_a_matrix_is_answered_like_its_rankings_one_by_one():
    few = matrices(np.random.default_rng(4), rows=6)
    matrix = np.concatenate([np.repeat(few, 3, axis=0), np.tile(few, (3, 1))])  # the same again, at once and later
    equity = EquityOfAttention(attention="geometric:positions=2", objective="squared").reranker()
    orders = rerank_matrix(matrix, attention="geometric:positions=2", objective="squared")
    for row, order in zip(matrix, orders, strict=True):
        there = np.flatnonzero(~np.isnan(row))
        one = equity.rank(SubjectRanking(subject_ids=[f"s{each}" for each in there], relevance=row[there]))
        assert [f"s{each}" for each in order[: len(there)]] == list(one.subject_ids)


def test_equals_take_turns():
    orders = rerank_matrix(np.ones((12, 4)), attention="singular")
    assert sorted(orders[:4, 0]) == sorted(orders[4:8, 0]) == [0, 1, 2, 3]


def test_accounts_go_on_from_one_transform_to_the_next_until_fit():
    matrix = matrices(np.random.default_rng(7), rows=30)
    ranker = EquityRanker(attention="singular", quality_floor=0.5)
    whole = ranker.fit_transform(matrix)
    ranker.fit()
    parts = np.concatenate([ranker.transform(matrix[:11]), ranker.transform(matrix[11:])])
    np.testing.assert_array_equal(parts, whole)
    np.testing.assert_array_equal(ranker.fit().transform(matrix), whole)
    assert len(ranker.quality_) == 30


def test_the_conventions_of_estimators():
    ranker = EquityRanker(quality_floor=0.9)
    known = ranker.get_params()
    assert known["quality_floor"] == 0.9
    assert known["objective"] == EquityOfAttention().objective
    assert EquityRanker(**known).get_params() == known
    assert ranker.get_params(deep=False) == known
    assert ranker.set_params(objective="squared") is ranker
    assert repr(ranker) == "EquityRanker(quality_floor=0.9, objective='squared')"
    clone = EquityRanker(**{name: copy.deepcopy(value) for name, value in ranker.get_params().items()})
    assert all(clone.get_params()[name] is value for name, value in ranker.get_params().items())


def test_parameters_change_at_the_next_fit():
    matrix = np.array([[3.0, 2.0, 1.0]] * 6)
    ranker = EquityRanker(attention="singular", quality_floor=0.0).fit()
    assert (ranker.transform(matrix)[:, 0] != 0).any()
    ranker.set_params(quality_floor=1.0).fit()
    assert (ranker.transform(matrix)[:, 0] == 0).all()


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([1.0, 2.0], "two dimensions"),
        ([[1.0, 2.0], [1.0]], "unequal length"),
        ([["a", "b"]], "numbers"),
        ([[1.0, 2.0], [1.0, -2.0]], "row 2 of 2"),
        ([[1.0, 2.0], [NAN, NAN]], "row 2 of 2: a ranking: it has no subjects"),
        ([[0.0, 0.0]], "row 1 of 1"),
        ([[1.0, float("inf")]], "infinite"),
    ],
)
def test_what_is_no_matrix_of_rankings_is_refused(matrix, words):
    with pytest.raises(InputError, match=words):
        rerank_matrix(matrix, attention="singular")


def test_unknown_parameters_and_unfitted_estimators_are_refused():
    with pytest.raises(ParameterError) as caught:
        rerank_matrix([[1.0]], quality_flor=0.5)
    assert caught.value.hint.startswith("did you mean quality_floor?")
    with pytest.raises(ParameterError, match="'floor'"):
        EquityRanker().set_params(floor=1)
    with pytest.raises(ParameterError, match="not fitted"):
        EquityRanker().transform([[1.0]])
    with pytest.raises(ParameterError, match="quality_floor"):
        EquityRanker(quality_floor=2.0).fit()
