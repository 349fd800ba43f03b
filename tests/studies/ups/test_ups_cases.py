"""Made-up cases: trees are trees, seeds have their size, nothing lies above another, and a seed repeats everything."""

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.studies.ups.pruning import FEWEST, MOST, apart, draw_case, draw_query, random_tree

seeds = st.integers(0, 10**9)


def overlaps(tree, places):
    return any(low != high and low in tree.below(high) for high in places.tolist() for low in places.tolist())


@settings(max_examples=25)
@given(seeds, st.integers(1, 300))
def test_random_trees_are_depth_first_with_families_of_two_to_eight(number, topics):
    tree = random_tree(topics, np.random.default_rng(number))
    assert len(tree) == topics
    assert tree.parents[0] == -1
    assert all(place in tree.below(above) for place, above in enumerate(tree.parents.tolist()) if place)
    families = np.bincount(tree.parents[1:], minlength=topics)
    inner = families[families > 0]
    assert inner.max(initial=0) <= MOST
    # A branch of two topics has no choice but one child.
    assert all(size >= FEWEST or tree.sizes[place] == 2 for place, size in enumerate(families.tolist()) if size)
    for place in range(topics):
        below = [tree.supports[child] for child in np.flatnonzero(tree.parents == place)]
        assert not below or tree.supports[place] == pytest.approx(sum(below))
    assert (tree.supports > 0).all()


@settings(max_examples=25)
@given(seeds, st.integers(5, 60))
def test_seeds_have_their_size_and_are_made_of_topics_apart(number, size):
    stream = np.random.default_rng(number)
    try:
        case = draw_case(random_tree(3 * size, stream), stream, size=size)
    except ParameterError:  # 1 tree in 100 has no topics apart that make so large a seed
        reject()
    seed = case.seed()
    assert size <= len(seed) <= size + 40
    assert not overlaps(case.tree, case.query.places)
    assert not overlaps(case.tree, case.sensitive)
    assert case.layer.total > 0 or not (case.held.supports[case.sensitive] > 0).any()
    assert set(case.query.places.tolist()) <= set(case.held.places.tolist())


def test_a_query_has_as_many_topics_as_asked_and_too_large_seeds_are_refused():
    stream = np.random.default_rng(1)
    tree = random_tree(60, stream)
    assert len(draw_query(tree, stream, asked=5).places) == 5
    with pytest.raises(ParameterError, match="no seed of 61 topics"):
        draw_query(tree, stream, size=61)


def test_queries_and_documents_may_be_at_leaves_alone():
    stream = np.random.default_rng(3)
    tree = random_tree(60, stream)
    case = draw_case(tree, stream, asked=8, of_leaves=True)
    leaves = np.flatnonzero(tree.sizes == 1)
    assert np.isin(case.query.places, leaves).all()
    # What is held above the leaves comes from them.
    for place in case.held.places.tolist():
        below = [other for other in leaves.tolist() if other in tree.below(place)]
        assert case.held.supports[place] == pytest.approx(case.held.supports[below].sum())


def test_topics_apart_go_by_the_order_given():
    stream = np.random.default_rng(2)
    tree = random_tree(40, stream)
    order = 1 + stream.permutation(39)
    found = apart(tree, order, 40)
    kept = []
    for place in order.tolist():
        if not any(place in tree.below(other) or other in tree.below(place) for other in kept):
            kept.append(place)
    assert found.tolist() == sorted(kept)


def test_the_same_seed_gives_the_same_case():
    def drawn():
        stream = np.random.default_rng(9)
        return draw_case(random_tree(90, stream), stream, size=30)

    one, other = drawn(), drawn()
    assert one.query.places.tolist() == other.query.places.tolist()
    assert one.layer.costs.tolist() == other.layer.costs.tolist()
