from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from aidos.rooms.exposure.critical.learner import draw_pairs

TARGETS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, float("nan")])), max_size=25)


@given(TARGETS, st.integers(1, 40))
def test_pairs_are_of_one_member_different_and_the_better_is_better(rows, most):
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    targets = np.array([target for _, target in rows], dtype=np.float64)
    pairs = draw_pairs(groups, targets, most=most, seed=1)
    assert (groups[pairs.better] == groups[pairs.worse]).all()
    assert (groups[pairs.better] == pairs.names[pairs.members]).all()
    assert (targets[pairs.better] > targets[pairs.worse]).all()
    drawn = set(zip(pairs.better.tolist(), pairs.worse.tolist(), strict=True))
    assert len(drawn) == len(pairs)
    for group in range(4):
        own = np.flatnonzero(groups == group)
        there = sum(bool(targets[a] > targets[b]) for a in own for b in own)
        found = int((groups[pairs.better] == group).sum())
        assert found == there if there <= most else 0 < found <= most


def test_all_pairs_that_differ_are_equally_likely():
    targets = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0])
    counts = Counter()
    for seed in range(3000):
        pairs = draw_pairs(np.zeros(6, dtype=np.int64), targets, most=1, seed=seed)
        counts[int(pairs.better[0]), int(pairs.worse[0])] += 1
    assert len(counts) == 11
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_a_rare_target_is_not_missed():
    targets = np.zeros(50_000)
    targets[123] = 1.0
    pairs = draw_pairs(np.zeros(50_000, dtype=np.int64), targets, most=100, seed=3)
    assert len(pairs) == 100
    assert set(pairs.better.tolist()) == {123}


def test_what_is_drawn_from_a_member_depends_on_nobody_else():
    rng = np.random.default_rng(5)
    groups, targets = np.repeat([3, 8], 100), rng.random(200)
    both = draw_pairs(groups, targets, most=20, seed=2)
    alone = draw_pairs(groups[100:], targets[100:], most=20, seed=2)
    own = both.members == 1
    assert both.better[own].tolist() == (alone.better + 100).tolist()
    assert both.better.tolist() != draw_pairs(groups, targets, most=20, seed=3).better.tolist()
