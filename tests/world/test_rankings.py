from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from aidos.world.rankings import SYSTEMS, ranking_blocks, relevances
from aidos.world.size import World
from aidos.world.streams import fresh_stream


@pytest.fixture(scope="module")
def tables() -> dict[str, list[pa.Table]]:
    found: dict[str, list[pa.Table]] = {}
    for table in ranking_blocks(World("small")):
        found.setdefault(table["system"][0].as_py(), []).append(table)
    return found


def test_shapes_of_relevance() -> None:
    stream = fresh_stream(7, "test")
    assert len(set(relevances("uniform", 50, stream).tolist())) == 1
    linear = relevances("linear", 50, stream)
    assert set(np.diff(linear).tolist()) == {-1.0}
    exponential = relevances("exponential", 50, stream)
    assert np.allclose(exponential[1:] / exponential[:-1], 0.5)


def test_ratings_have_many_ties_near_the_top() -> None:
    ratings = relevances("rating", 2000, fresh_stream(7, "test"))
    assert ((ratings >= 20) & (ratings <= 100)).all()
    top = np.sort(ratings)[::-1]
    assert (top[:20] == top[0]).all()
    assert (ratings >= 90).mean() > 0.4
    assert (ratings < 60).any()


def test_positions_follow_relevance(tables: dict[str, list[pa.Table]]) -> None:
    for parts in tables.values():
        for table in parts:
            assert table["position"].to_pylist() == list(range(1, len(table) + 1))
            assert (np.diff(table["score"].to_numpy()) <= 0).all()


def test_one_query_many_queries_and_a_changing_crowd(tables: dict[str, list[pa.Table]]) -> None:
    assert tuple(tables) == SYSTEMS
    assert {system: len(parts) for system, parts in tables.items()} == {
        "uniform": 1,
        "linear": 1,
        "exponential": 1,
        "rating": 1,
        "rating-multi": 7,
        "changing": 60,
    }
    assert len({table["query_id"][0].as_py() for table in tables["rating-multi"]}) == 7


def test_queries_mostly_agree_about_a_subject(tables: dict[str, list[pa.Table]]) -> None:
    by_subject = [
        dict(zip(t["object_id"].to_pylist(), t["score"].to_pylist(), strict=True)) for t in tables["rating-multi"]
    ]
    one, other = (np.array([scores[subject] for subject in sorted(by_subject[0])]) for scores in by_subject[:2])
    assert 0.6 < np.corrcoef(one, other)[0, 1] < 0.99


def test_subjects_join_and_leave(tables: dict[str, list[pa.Table]]) -> None:
    present = [set(table["object_id"].to_pylist()) for table in tables["changing"]]
    joined = sum(len(after - before) for before, after in pairwise(present))
    left = sum(len(before - after) for before, after in pairwise(present))
    assert joined > 30
    assert left > 30
    times = Counter(subject for subjects in present for subject in subjects)
    assert len(times) > len(present[0])
