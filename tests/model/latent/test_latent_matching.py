"""Matching latent to sensitive topics, coherence and cards, on models small enough to reckon by hand."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_model import make_model

from aidos.errors import InputError, ParameterError
from aidos.model.latent.matching import candidates, fits, make_cards, match
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import coherence
from aidos.model.sensitive import SensitiveTopic, TopicSet

MODEL = TopicModel(
    words=("sad", "tears", "debt", "loan", "help"),
    phi=np.array([[0.5, 0.3, 0, 0, 0.2], [0, 0, 0.6, 0.3, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2]], dtype=np.float32),
    prior=np.full(3, 0.1, dtype=np.float32),
    shares=np.array([0.25, 0.25, 0.5], dtype=np.float32),
)


def topic_set(**words):
    return TopicSet(
        topics=tuple(SensitiveTopic(name=n, words=tuple(w), weights=(1.0,) * len(w)) for n, w in words.items())
    )


def test_the_fit_is_the_chance_that_a_word_is_known_and_came_from_the_topic():
    topics = topic_set(grief=["sad", "unheard"], money=["debt", "loan"])
    sad = 0.25 * 0.5 / (0.25 * 0.5 + 0.5 * 0.2)
    debt, loan = 0.15 / (0.15 + 0.1), 0.075 / (0.075 + 0.1)
    assert fits(MODEL, topics) == pytest.approx(
        np.array([[sad / 2, 0, (1 - sad) / 2], [0, (debt + loan) / 2, 1 - (debt + loan) / 2]])
    )
    found = match(MODEL, topics, least=0.25).found
    assert (found[0].latent, found[0].confidence, found[0].coverage) == (0, pytest.approx(sad / 2), 0.5)
    assert (found[1].latent, found[1].second) == (1, pytest.approx(1 - (debt + loan) / 2))


def test_topics_without_a_fit_are_refused_with_the_reason():
    matches = match(MODEL, topic_set(none=["unheard"], thin=["sad", "a", "b", "c"], money=["debt"]))
    assert matches.dimensions == {"money": 1}
    assert matches.latent("money") == 1
    with pytest.raises(ParameterError, match="knows no word of none"):
        matches.latent("none")
    with pytest.raises(ParameterError, match=r"no latent topic fits thin: the best has 0\.14"):
        matches.latent("thin")
    with pytest.raises(ParameterError, match="'other' was not matched"):
        matches.latent("other")


def test_corrections_win_and_impossible_ones_are_refused():
    topics = topic_set(grief=["sad"], money=["debt"])
    found = match(MODEL, topics, corrections={"grief": 2, "money": None})
    assert found.dimensions == {"grief": 2}
    assert found.found[0].corrected
    assert found.found[0].confidence == 1
    with pytest.raises(ParameterError, match="money was said to have no latent topic"):
        found.latent("money")
    with pytest.raises(ParameterError, match="cannot be latent topic 3"):
        match(MODEL, topics, corrections={"grief": 3})
    with pytest.raises(ParameterError, match="no topic 'gref'"):
        match(MODEL, topics, corrections={"gref": 1})
    with pytest.raises(ParameterError, match="least"):
        match(MODEL, topics, least=1.1)


def test_shared_and_split_topics_are_warned_of():
    warnings = match(MODEL, topic_set(grief=["sad"], weeping=["sad"], money=["debt"])).warnings
    assert warnings[0] == "latent topic 0 stands for 2 topics, which it cannot tell apart: grief, weeping"
    assert [words.split(" nearly")[0] for words in warnings[1:]] == [
        f"a second latent topic fits {name}" for name in ("grief", "weeping", "money")
    ]


@given(st.integers(1, 6), st.integers(2, 25), st.integers(0, 2**32 - 1))
def test_fits_sum_to_what_is_known(topics, words, seed):
    model = make_model(topics, words, seed)
    names = [*model.words, "unheard", "unknown"]
    chosen = np.random.default_rng(seed).choice(names, min(5, len(names)), replace=False).tolist()
    found = match(model, topic_set(t=chosen)).found[0]
    assert fits(model, topic_set(t=chosen)).sum() == pytest.approx(found.coverage)
    assert found.second <= found.confidence <= found.coverage + 1e-9


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_coherence_is_the_mean_over_pairs_of_words(topics, words, seed):
    model = make_model(topics, words, seed)
    stream = np.random.default_rng(seed)
    texts = [stream.integers(-1, words, stream.integers(0, 6)).astype(np.int32) for _ in range(15)]
    starts = np.cumsum([0, *map(len, texts)])
    found = coherence(model, starts, np.concatenate(texts), number=4)
    sets = [set(text.tolist()) - {-1} for text in texts]
    for topic in range(topics):
        own = model.numbers([salient.word for salient in model.salient(topic, 4)]).tolist()
        own = [word for word in own if any(word in held for held in sets)]
        values = [information(sets, *pair) for pair in combinations(own, 2)]
        assert found[topic] == pytest.approx(np.mean(values) if values else float("nan"), nan_ok=True)


def information(sets, first, second):
    both = sum(first in held and second in held for held in sets) / len(sets)
    if both in {0, 1}:
        return 2 * both - 1
    one, other = (sum(word in held for held in sets) / len(sets) for word in (first, second))
    return math.log(both / (one * other)) / -math.log(both)


def test_coherence_needs_texts():
    with pytest.raises(InputError, match="at least one text"):
        coherence(MODEL, np.array([0]), np.array([], dtype=np.int32))


def test_cards_say_what_a_topic_is():
    topics = topic_set(grief=["sad"], money=["debt"])
    cards = make_cards(MODEL, topics, match(MODEL, topics), words=2)
    assert [card.nearest for card in cards] == ["grief", "money", "grief"]
    assert str(cards[0]).splitlines() == [
        "topic 0: 25.0 % of the corpus, coherence not known",
        "  sad tears",
        f"  stands for grief; nearest is grief ({cards[0].fit:.2f})",
    ]
    assert "stands for no sensitive topic" in str(cards[2])


def test_latent_topics_can_be_judged():
    found = candidates(MODEL, words=2)
    assert found.names == ("topic-0", "topic-1", "topic-2")
    assert found[1].words == ("debt", "loan")
    assert all(topic.sensitive == 0 for topic in found)
    places = {name: place for place, name in enumerate(found.names)}
    assert match(MODEL, found, corrections=places).dimensions == places
