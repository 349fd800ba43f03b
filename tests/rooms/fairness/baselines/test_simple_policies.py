import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standings import standing_of

from aidos.errors import ParameterError
from aidos.rooms.fairness.heuristics import ByDeficit, ByRelevance, FairCo, TieShuffle


def serve(policy, relevance, rankings, positions=2, **facts):
    """Accumulated attention after some rankings of one query."""
    received, earned = np.zeros(len(relevance)), np.zeros(len(relevance))
    for number in range(rankings):
        standing = standing_of(
            relevance, positions=positions, received=received, before=earned, rankings=number, **facts
        )
        received[policy.place(standing)] += standing.attention
        earned += standing.relevance
    return received, earned


def test_relevance_never_reorders():
    standing = standing_of([4, 3, 2, 1], positions=3, received=[9, 0, 0, 0])
    assert ByRelevance().place(standing).tolist() == [0, 1, 2]


def test_deficit_serves_who_is_owed_most_and_equals_by_relevance():
    standing = standing_of([1, 1, 1, 1], positions=3, received=[0.5, 0, 0.1, 0])
    assert ByDeficit().place(standing).tolist() == [1, 3, 2]


def test_deficit_amortises_where_relevance_does_not():
    for policy, low, high in ((ByDeficit(), 0, 2.5), (ByRelevance(), 100, 200)):
        received, earned = serve(policy, [4, 3, 2, 1], 200)
        assert low <= np.abs(received - earned).sum() <= high


@given(st.lists(st.integers(0, 3), min_size=3, max_size=12).filter(any), st.integers(0, 50), st.integers(0, 5))
def test_shuffling_moves_only_equals_and_repeats_itself(relevance, rankings, seed):
    standing = standing_of(relevance, positions=3, rankings=rankings)
    placed = TieShuffle(seed=seed).place(standing)
    assert len(set(placed.tolist())) == 3
    assert standing.relevance[placed].tolist() == standing.relevance[:3].tolist()
    assert placed.tolist() == TieShuffle(seed=seed).place(standing).tolist()


def test_shuffling_treats_equals_equally_over_time():
    received, _ = serve(TieShuffle(seed=3), [1, 1, 1, 1, 0], 4000)
    assert received[:4] == pytest.approx(1000, rel=0.1)
    assert received[4] == 0


def test_without_gain_the_controller_follows_relevance():
    standing = standing_of([4, 3, 2, 1], received=[9, 0, 0, 0], rankings=10)
    assert FairCo(gain=0.0).place(standing).tolist() == [0, 1]


def test_the_controller_makes_attention_per_merit_equal():
    received, earned = serve(FairCo(gain=0.1), [4, 3, 2, 1], 3000)
    assert received / earned == pytest.approx(1, abs=0.02)


def test_the_controller_compares_groups_when_there_are_groups():
    groups = [0, 0, 1, 1]
    received, earned = serve(FairCo(gain=0.1), [4, 3, 2, 1], 3000, groups=groups)
    assert np.bincount(groups, received) / np.bincount(groups, earned) == pytest.approx(1, abs=0.02)
    # Within a group relevance decides: the weaker one of each pair is not brought forward for herself.
    assert received[0] > received[1]
    assert received[2] > received[3]


def test_the_error_of_the_controller_by_hand():
    # Attention per merit is 2, 1, 0.5; after 4 rankings the errors are 0, 4, 6.
    relevance = np.array([0.5, 0.3, 0.2])
    standing = standing_of(relevance, received=[4, 1.2, 0.4], before=[1.5, 0.9, 0.6], rankings=4)
    scores = relevance / 0.5 + 0.05 * np.array([0, 4, 6])
    assert FairCo(gain=0.05).place(standing).tolist() == np.argsort(-scores)[:2].tolist()
    assert FairCo(gain=0.2).place(standing).tolist() == [2, 1]


def test_a_shared_account_counts_once_in_its_group():
    shared = standing_of(
        [1, 1, 1], received=[4, 4, 1], before=[2, 2, 2], rankings=2, accounts=[0, 0, 1], groups=[0, 0, 1]
    )
    assert FairCo(gain=1.0).place(shared).tolist() == [2, 0]


def test_who_has_no_merit_is_not_brought_forward():
    standing = standing_of([1, 1, 0], received=[5, 1, 0], rankings=5)
    assert FairCo(gain=10.0).place(standing).tolist() == [1, 0]


@pytest.mark.parametrize(
    "wrong", [lambda: FairCo(gain=-1.0), lambda: FairCo(gain=float("nan")), lambda: TieShuffle(seed=-1)]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()
