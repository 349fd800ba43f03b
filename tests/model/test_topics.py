from __future__ import annotations

import re
from collections import Counter

from aidos.model.topics import default_taxonomy

SPECIAL_CATEGORIES = {
    "origin",
    "politics",
    "religion",
    "trade-union",
    "genetic",
    "biometric",
    "health",
    "sex-life",
    "orientation",
}
ALSO_HIDDEN = {"money", "crime", "addiction", "grief", "mental-health"}
TWELVE = {
    "depression",
    "addiction",
    "debt",
    "pregnancy",
    "hiv",
    "religious-life",
    "party-politics",
    "sexual-orientation",
    "unemployment",
    "crime",
    "divorce",
    "grief",
}

TAXONOMY = default_taxonomy()
INNER = [topic for topic in TAXONOMY.walk() if topic.id in TAXONOMY.children]


def test_it_is_read_once() -> None:
    assert default_taxonomy() is TAXONOMY


def test_about_four_hundred_topics_at_most_four_deep() -> None:
    assert 380 <= len(TAXONOMY) <= 440
    assert max(TAXONOMY.depth(topic) for topic in TAXONOMY.topics) == 4
    assert len(TAXONOMY.leaves()) >= 300


def test_every_inner_topic_has_at_least_two_children() -> None:
    assert [topic.id for topic in INNER if len(TAXONOMY.children[topic.id]) < 2] == []


def test_ids_and_names_are_plain_and_unique() -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", topic) for topic in TAXONOMY.topics)
    names = Counter(topic.name.lower() for topic in TAXONOMY.walk())
    assert [name for name, times in names.items() if times > 1] == []


def test_descriptions_are_one_sentence() -> None:
    assert all(topic.description.endswith(".") and topic.description[0].isupper() for topic in TAXONOMY.walk())
    assert max(len(topic.description) for topic in TAXONOMY.walk()) <= 120


def test_words_are_lower_case_letters_without_repeats() -> None:
    for topic in TAXONOMY.walk():
        assert all(re.fullmatch(r"[a-z]+", word) for word in topic.words), topic.id
        assert len(set(topic.words)) == len(topic.words), topic.id


def test_leaves_have_enough_words_and_inner_topics_some() -> None:
    assert min(len(topic.words) for topic in TAXONOMY.leaves()) >= 25
    assert min(len(topic.words) for topic in INNER if topic.parent) >= 12


def test_no_two_leaves_have_nearly_the_same_words() -> None:
    leaves = [(topic.id, set(topic.words)) for topic in TAXONOMY.leaves()]
    twins = [
        (one, other)
        for place, (one, words) in enumerate(leaves)
        for other, more in leaves[:place]
        if len(words & more) > 0.5 * min(len(words), len(more))
    ]
    assert twins == []


def test_all_sensitive_categories_have_topics() -> None:
    categories = {topic.sensitive for topic in TAXONOMY.walk()}
    assert categories >= SPECIAL_CATEGORIES | ALSO_HIDDEN


def test_the_twelve_of_the_sample_world_are_sensitive_leaves() -> None:
    leaves = {topic.id for topic in TAXONOMY.leaves()}
    assert leaves >= TWELVE
    assert all(TAXONOMY.sensitive_category(topic) for topic in TWELVE)


def test_everyday_topics_are_not_called_sensitive() -> None:
    ordinary = [topic for topic in TAXONOMY.leaves() if not TAXONOMY.sensitive_category(topic.id)]
    assert len(ordinary) >= 200
    assert not TAXONOMY.sensitive_category("gardening")
