from __future__ import annotations

import numpy as np
import pytest

from aidos.model.topics import default_taxonomy
from aidos.world.size import World
from aidos.world.vocabulary import Vocabulary, build_vocabulary, pick, zipf_cumulative


def test_forty_ordinary_and_twelve_sensitive_topics_by_default(vocabulary: Vocabulary) -> None:
    taxonomy = default_taxonomy()
    categories = [taxonomy.sensitive_category(topic.id) for topic in vocabulary.topics[: vocabulary.in_use]]
    assert not any(categories[:40])
    assert all(categories[40:])
    assert (vocabulary.ordinary, vocabulary.in_use) == (40, 52)


@pytest.mark.parametrize("number", [8, 52, 142, 311])
def test_any_number_of_topics_up_to_the_leaves(number: int) -> None:
    made = build_vocabulary(World(topics=number))
    assert made.in_use == number
    assert len({topic.id for topic in made.topics}) == len(made.topics)


@pytest.mark.parametrize("number", [52, 142])
def test_a_word_belongs_to_two_or_three_topics_on_average(number: int) -> None:
    made = build_vocabulary(World(topics=number))
    _, times = np.unique(made.topic_words[: made.in_use], return_counts=True)
    assert 2.0 <= times.mean() <= 3.0
    assert times.max() < number / 2


def test_topics_have_about_sixty_different_words_their_own_first(vocabulary: Vocabulary) -> None:
    for topic, numbers in zip(vocabulary.topics, vocabulary.topic_words, strict=True):
        words = [vocabulary.words[number] for number in numbers]
        assert len(set(words)) == len(words) == 64
        assert words[:20] == list(topic.words[:20])


def test_background_words_belong_to_no_topic(vocabulary: Vocabulary) -> None:
    assert not set(vocabulary.background.tolist()) & set(vocabulary.topic_words.ravel().tolist())
    assert len(vocabulary.background) >= 80


def test_a_domain_holds_its_topic_and_its_kin(vocabulary: Vocabulary) -> None:
    taxonomy = default_taxonomy()
    assert set(vocabulary.domains) == set(vocabulary.sensitive)
    for topic, domain in vocabulary.domains.items():
        assert topic in domain
        assert len(domain) >= 3
        tops = {taxonomy.path(vocabulary.topics[other].id)[1].id for other in domain}
        assert len(tops) == 1


def test_zipf_picks_low_ranks_most() -> None:
    cumulative = zipf_cumulative(64)
    counts = np.bincount(pick(cumulative, (np.arange(100_000) + 0.5) / 100_000), minlength=64)
    assert (np.diff(counts) <= 1).all()
    assert counts[0] > 10 * counts[-1] > 0
