import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.taxonomy import Profile, Taxonomy, Topic
from aidos.errors import InputError, ParameterError


def tree(*pairs):
    return Taxonomy.of([Topic("root", "", "All"), *(Topic(child, parent, child.title()) for child, parent in pairs)])


@st.composite
def random_trees(draw):
    parents = draw(st.lists(st.integers(0, 30), max_size=30))
    pairs = [(f"t{i}", "root" if parent >= i else f"t{parent}") for i, parent in enumerate(parents)]
    return tree(*pairs)


def test_paths_depths_and_leaves():
    topics = tree(("health", "root"), ("mind", "health"), ("sleep", "mind"), ("food", "root"))
    assert [step.id for step in topics.path("sleep")] == ["root", "health", "mind", "sleep"]
    assert topics.depth("sleep") == 3
    assert [leaf.id for leaf in topics.leaves()] == ["sleep", "food"]
    assert [topic.id for topic in topics.walk("health")] == ["health", "mind", "sleep"]


def test_sensitivity_is_inherited_from_the_nearest_marked_ancestor():
    topics = Taxonomy.of(
        [Topic("root", "", "All"), Topic("a", "root", "A", "health"), Topic("b", "a", "B"), Topic("c", "root", "C")]
    )
    assert topics.sensitive_category("b") == "health"
    assert topics.sensitive_category("c") == ""


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ([Topic("a", "", "A"), Topic("b", "", "B")], "one root"),
        ([], "one root"),
        ([Topic("a", "", "A"), Topic("b", "nowhere", "B")], "does not exist: b"),
        ([Topic("a", "", "A"), Topic("b", "a", "B"), Topic("b", "a", "B")], "appear twice: b"),
        ([Topic("a", "", "A"), Topic("b", "c", "B"), Topic("c", "b", "C")], "cycle.*b, c"),
    ],
)
def test_broken_trees_are_refused_with_the_culprits(topics, words):
    with pytest.raises(InputError, match=words):
        Taxonomy.of(topics)


@given(random_trees())
def test_support_of_the_root_is_the_number_of_leaves_and_every_topic_is_walked_once(topics):
    walked = [topic.id for topic in topics.walk()]
    assert sorted(walked) == sorted(topics.topics)
    assert topics.supports()["root"] == len(topics.leaves())
    position = {topic: index for index, topic in enumerate(walked)}
    assert all(position[topic.parent] < position[topic.id] for topic in topics.walk() if topic.parent)


def test_profile_refuses_impossible_supports_and_knows_foreign_topics():
    with pytest.raises(ParameterError, match="jazz"):
        Profile({"jazz": float("nan")})
    profile = Profile({"food": 3, "golf": 1})
    with pytest.raises(TypeError):
        profile.supports["food"] = 9
