"""The quality floor is kept by every single ranking, whatever the objective, the gain, the data and the past."""

import numpy as np
import pytest

from aidos.core.guarantee import QualityFloor
from aidos.core.mechanism import PublicFacts
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import SubjectRanking, gains
from oracles.fairness import ndcg_quality

TOLERANCE = 1e-9
ATTENTIONS = ("singular", "geometric", "dcg:positions=4", "measured:0.1,0.5,0.2,0.2", "rbp:persistence=0.9,positions=3")


def random_relevance(draws):
    """Ratings with ties, scores, steep ones, near ties, mostly zeros."""
    number = int(draws.integers(10, 40))
    return [
        draws.integers(0, 6, number) + np.eye(1, number)[0],
        draws.random(number) + 1e-6,
        draws.random(number) ** 8 + 1e-12,
        1 + draws.random(number) * 10.0 ** -draws.integers(3, 15),
        draws.random(number) * (draws.random(number) < 0.2) + 1e-3 * np.eye(1, number)[0],
        0.5 ** np.arange(number, dtype=np.float64),
    ][draws.integers(6)]


@pytest.mark.parametrize("gain", ["paper", "linear", "exponential-1", "exponential-5"])
@pytest.mark.parametrize("objective", ["adaptive", "absolute", "squared"])
def test_no_ranking_falls_below_the_floor(objective, gain):
    draws = np.random.default_rng(0)
    for number in range(12):
        floor = float(draws.choice([0.0, 0.3, 0.5, 0.8, 0.9, 0.99, 1.0, draws.random()]))
        equity = EquityOfAttention(
            attention=ATTENTIONS[number % len(ATTENTIONS)],
            quality_floor=floor,
            objective=objective,
            gain=gain,
            unfairness_ceiling=2.0 if number % 4 == 3 else None,
            half_life=10.0 if number % 3 == 2 else None,
            short_rankings="share",
        )
        reranker, promised = equity.reranker(), equity.guarantee(PublicFacts())
        assert isinstance(promised, QualityFloor)
        positions = int(promised.measure.removeprefix("NDCG@"))
        for _ in range(25):
            relevance = random_relevance(draws)
            who = draws.permutation(60)[: len(relevance)]
            answer = reranker.rank(SubjectRanking(subject_ids=[f"s{each}" for each in who], relevance=relevance))
            place = {f"s{each}": at for at, each in enumerate(who)}
            order = np.array([place[name] for name in answer.subject_ids])
            # Measured from the served order, not as the re-ranker reports it.
            measured = ndcg_quality(gains(relevance.astype(np.float64), gain), order, positions)
            assert measured >= promised.at_least - TOLERANCE
            assert measured == pytest.approx(answer.quality, abs=TOLERANCE)


def test_a_long_sequence_on_the_same_subjects_keeps_it():
    relevance = np.arange(50.0, 0, -1)
    equity = EquityOfAttention(quality_floor=0.93).reranker()
    ranking = SubjectRanking(subject_ids=[f"s{each}" for each in range(50)], relevance=relevance)
    qualities = np.array([equity.rank(ranking).quality for _ in range(600)])
    assert qualities.min() >= 0.93 - TOLERANCE
    # The floor is used: it is no accident that it holds.
    assert qualities.mean() < 0.94
