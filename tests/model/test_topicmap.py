"""Texts go to the topic whose words they use."""

import pytest

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import NO_TOPIC, TopicMap

SMALL = Taxonomy.of(
    [
        Topic("all", "", "everything"),
        Topic("music", "all", "Music", words=("song", "concert")),
        Topic("jazz", "music", "Jazz", words=("saxophone", "swing")),
        Topic("health", "all", "Health", words=("doctor", "pain")),
    ]
)


def test_words_decide_and_unknown_words_do_not():
    found = TopicMap(SMALL).topics(["jazz saxophone", "the doctor and the pain", "Songs at a concert", "zzz qqq", ""])
    assert found == ["jazz", "health", "music", NO_TOPIC, NO_TOPIC]


def test_depth_rolls_up_to_an_ancestor():
    assert TopicMap(SMALL, depth=1).topics(["saxophone swing", "doctor"]) == ["music", "health"]
    assert TopicMap(SMALL, depth=0).topics(["saxophone swing"]) == ["all"]


def test_every_topic_of_the_default_taxonomy_is_mapped_to_itself_by_its_own_words():
    taxonomy = default_taxonomy()
    leaves = [topic for topic in taxonomy.leaves() if topic.words]
    found = TopicMap(taxonomy).topics([f"{topic.name} {' '.join(topic.words)}" for topic in leaves])
    right = sum(found == leaf.id for found, leaf in zip(found, leaves, strict=True))
    assert right / len(leaves) > 0.97


@pytest.mark.parametrize("texts", [[], ["jazz"] * 500])
def test_any_number_of_texts(texts):
    assert TopicMap(SMALL).topics(texts) == ["jazz"] * len(texts)
