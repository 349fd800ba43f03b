import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.core.topictree import TopicTree, sum_below
from aidos.errors import InputError, ParameterError


def taxonomy_of(parents):
    listed = [Topic("t0", "", "All")]
    listed += [Topic(f"t{i}", f"t{min(above, i - 1)}", str(i)) for i, above in enumerate(parents, 1)]
    return Taxonomy.of(listed)


trees = st.lists(st.integers(0, 30), max_size=30).map(taxonomy_of)


@given(trees)
def test_topics_below_are_the_places_that_follow(taxonomy):
    tree = TopicTree.of(taxonomy)
    assert tree.ids[0] == taxonomy.root
    assert tree.parents[0] == -1
    for topic in taxonomy.walk():
        place = tree.place(topic.id)
        assert [tree.ids[at] for at in tree.below(place)] == [below.id for below in taxonomy.walk(topic.id)]
        if topic.parent:
            assert tree.parents[place] == tree.places[topic.parent]


@given(trees, st.randoms(use_true_random=False))
def test_supports_are_those_of_the_taxonomy_and_priors_their_shares(taxonomy, chance):
    given_supports = {leaf.id: chance.uniform(0.1, 9) for leaf in taxonomy.leaves() if chance.random() < 0.7}
    tree = TopicTree.of(taxonomy, given_supports)
    expected = taxonomy.supports(given_supports)
    assert tree.supports == pytest.approx([expected[topic_id] for topic_id in tree.ids])
    assert tree.priors == pytest.approx(tree.supports / expected[taxonomy.root])
    assert np.exp(-tree.contents) == pytest.approx(tree.priors)
    assert (tree.contents >= 0).all()


@given(trees, st.data())
def test_paths_and_lowest_common_topics_follow_their_definitions(taxonomy, data):
    tree = TopicTree.of(taxonomy)
    places = data.draw(st.lists(st.integers(0, len(tree) - 1), min_size=1, max_size=5))
    paths = [[tree.places[step.id] for step in taxonomy.path(tree.ids[place])] for place in places]
    assert tree.with_paths(places).tolist() == sorted({place for path in paths for place in path})
    common = set.intersection(*map(set, paths))
    assert tree.lowest_common(places) == max(common, key=lambda place: taxonomy.depth(tree.ids[place]))


def test_sums_go_up():
    parents = np.array([-1, 0, 1, 1, 0], np.int32)
    assert sum_below(parents, np.array([1.0, 2, 3, 4, 5])).tolist() == [15, 9, 3, 4, 5]


@pytest.mark.parametrize(
    ("supports", "words"),
    [
        ({"nowhere": 1.0}, "not in the taxonomy: nowhere"),
        ({"t2": 0.0}, "not above 0: t2"),
        ({"t2": float("nan")}, "not above 0: t2"),
        ({"t2": float("inf")}, "not above 0: t2"),
        ({"t1": 3.0}, "of a topic with children.*t1"),
    ],
)
def test_impossible_supports_are_refused_with_the_culprits(supports, words):
    with pytest.raises(InputError, match=words):
        TopicTree.of(taxonomy_of([0, 1]), supports)


def test_unknown_and_missing_topics_are_refused():
    tree = TopicTree.of(taxonomy_of([0]))
    with pytest.raises(ParameterError, match="no topic 'nowhere'"):
        tree.place("nowhere")
    with pytest.raises(ParameterError, match="no topics"):
        tree.lowest_common([])
