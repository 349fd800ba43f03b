import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_index import MadeIndex

from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.language import (
    Background,
    Histories,
    LanguageModel,
    Personalisation,
    personalise,
    personalise_batch,
)
from aidos.model.retrieval.search import read_queries, search, search_batch

words = st.sampled_from("abcdefg")
texts = st.lists(words, max_size=15)
hows = st.builds(
    Personalisation,
    query_weight=st.floats(0, 1),
    normalisation=st.sampled_from(["sum", "mean", "standard"]),
    smoothing=st.none() | st.floats(0.1, 50),
)


def fit(document, history, histories, mu):
    """The formula word by word: the sum and how many words it has."""
    everything = Counter(word for one in histories for word in one)
    held = Counter(history)
    parts = [
        math.log((held[word] + mu * everything[word] / everything.total()) / (len(history) + mu))
        for word in document
        if everything[word]
    ]
    return math.fsum(parts), len(parts)


def standard(values):
    spread = float(np.std(values)) if values else 0.0
    return [(value - float(np.mean(values))) / spread if spread > 1e-9 else 0.0 for value in values]


def by_hand(index, hits, history, histories, how):
    mean = sum(map(len, histories)) / len(histories)
    mu = how.smoothing or mean or 1.0
    judged = [fit(index.documents[place], history, histories, mu) for place in hits.places]
    scores, fits = list(hits.scores), [total for total, _ in judged]
    if how.normalisation != "sum":
        known = [total / number for total, number in judged if number]
        average = sum(known) / max(len(known), 1)
        fits = [total / number if number else average for total, number in judged]
    if how.normalisation == "standard":
        scores, fits = standard(scores), standard(fits)
    both = [how.query_weight * score + (1 - how.query_weight) * one for score, one in zip(scores, fits, strict=True)]
    return dict(zip(hits.places.tolist(), both, strict=True))


def numbers(index, history):
    return [index.vocabulary.find(word) for word in history]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(texts, min_size=1, max_size=20),
    st.lists(texts, min_size=1, max_size=4),
    st.lists(words, min_size=1, max_size=3),
    hows,
    st.data(),
)
def test_the_same_as_the_formula_word_by_word(documents, histories, query, how, data):
    index = MadeIndex(documents, cuts=data.draw(st.sets(st.integers(0, len(documents)), max_size=2)))
    histories = [[word for word in history if index.vocabulary.find(word) is not None] for history in histories]
    hits = search(index, " ".join(query), size=30)
    models = [LanguageModel(numbers(index, history)) for history in histories]
    again = personalise(hits, models[0], Background.of(models), how)
    expected = by_hand(index, hits, histories[0], histories, how)
    assert sorted(again.places) == sorted(hits.places)
    found = dict(zip(again.places.tolist(), again.scores.tolist(), strict=True))
    assert found == pytest.approx(expected, abs=1e-8)
    pairs = list(zip(-again.scores, again.places, strict=True))
    assert pairs == sorted(pairs)
    assert again.unknown == hits.unknown


def world(seed=3, documents=300, histories=12, queries=400):
    """Documents and histories over a few topics, and queries each with an owner."""
    stream = np.random.default_rng(seed)
    topics = [[f"t{topic}w{word}" for word in range(30)] for topic in range(6)]
    texts = [
        list(stream.choice(topics[number % 6], stream.integers(3, 30))) + list(stream.choice(["and", "or"], 2))
        for number in range(documents)
    ]
    index = MadeIndex(texts, cuts=(100,))
    owners = stream.integers(0, histories, queries)
    asked = [f"{stream.choice(topics[stream.integers(6)])} {stream.choice(topics[owner % 6])} or" for owner in owners]
    return index, owners, asked


def test_a_batch_is_its_queries_one_by_one():
    index, owners, asked = world()
    read = read_queries(index, asked)
    histories = Histories.gather(np.repeat(owners, np.diff(read.starts)), read.terms, 12)
    lists = search_batch(index, asked, size=20)
    models = [LanguageModel() for _ in range(12)]
    for query, owner in enumerate(owners):
        models[owner].add(read.terms[read.starts[query] : read.starts[query + 1]])
    same = Histories.of(models)
    assert same.terms.tolist() == histories.terms.tolist()
    assert same.counts.tolist() == histories.counts.tolist()
    assert same.starts.tolist() == histories.starts.tolist()
    assert same.background.counts.tolist() == histories.background.counts.tolist()
    for threads in (1, 2):
        batch = personalise_batch(lists, histories, owners, threads=threads)
        for query in range(0, len(asked), 7):
            alone = personalise(lists[query], models[owners[query]], histories.background)
            assert batch[query].ids == alone.ids
            assert batch[query].scores.tolist() == alone.scores.tolist()


def test_a_history_moves_its_topic_up():
    index, _, _ = world()
    hits = search(index, "or", size=300)
    model = LanguageModel(numbers(index, [f"t2w{word}" for word in range(30)]))
    others = LanguageModel(numbers(index, [f"t{topic}w{word}" for topic in range(6) for word in range(30)]))
    again = personalise(hits, model, Background.of([model, others]))
    assert (again.places[:30] % 6 == 2).all()
    assert np.mean(hits.places[:30] % 6 == 2) < 0.5


def test_with_all_the_weight_on_the_query_nothing_moves():
    index, owners, asked = world()
    read = read_queries(index, asked)
    histories = Histories.gather(np.repeat(owners, np.diff(read.starts)), read.terms, 12)
    lists = search_batch(index, asked, size=50)
    for normalisation in ("sum", "mean", "standard"):
        how = Personalisation(query_weight=1.0, normalisation=normalisation)
        assert (personalise_batch(lists, histories, owners, how).places == lists.places).all()


def test_the_sum_follows_length_and_the_mean_does_not():
    index = MadeIndex([["cat"] * 2 + ["dog"] * 2, ["cat", "dog"], ["cat"] * 9 + ["dog"] * 9])
    hits = search(index, "cat")
    model = LanguageModel(numbers(index, ["cat", "dog"]))
    background = Background.of([model])
    summed = personalise(hits, model, background, Personalisation(query_weight=0.0, normalisation="sum"))
    mean = personalise(hits, model, background, Personalisation(query_weight=0.0))
    assert summed.ids == ("d1", "d0", "d2")
    assert (mean.ids, len(set(mean.scores.tolist()))) == (("d0", "d1", "d2"), 1)


@given(st.lists(st.integers(0, 9), max_size=30), st.data())
def test_what_is_added_can_be_taken_back(terms, data):
    model = LanguageModel(terms)
    some = data.draw(st.lists(st.integers(0, 9), max_size=10))
    model.add(some)
    assert model.total == len(terms) + len(some)
    model.remove(some)
    assert (dict(model.tally()), model.total) == (dict(Counter(terms)), len(terms))
    assert model.arrays()[0].tolist() == sorted(set(terms))


def test_a_history_never_goes_below_nothing():
    model = LanguageModel([1, 1, 2])
    with pytest.raises(InputError):
        model.remove([1, 2, 2])
    assert (dict(model.tally()), model.total) == ({1: 2, 2: 1}, 3)


def test_an_empty_history_and_words_nobody_said():
    index = MadeIndex([["cat", "yeti"], ["yeti", "dog"], ["dog", "cat", "cat"]])
    hits = search(index, "cat dog yeti")
    nobody = LanguageModel()
    assert personalise(hits, nobody, Background.of([nobody])).places.tolist() == hits.places.tolist()
    said = LanguageModel(numbers(index, ["cat"]))
    again = personalise(hits, said, Background.of([said]), Personalisation(query_weight=0.0))
    # Every word that was ever said is cat, and the document without it counts as the average: all are equal.
    assert again.ids == ("d0", "d1", "d2")


@pytest.mark.parametrize("owners", [[0], [0, 2], [0, -1]])
def test_owners_must_be_there(owners):
    index = MadeIndex([["cat"]])
    lists = search_batch(index, ["cat", "cat"])
    with pytest.raises(ParameterError):
        personalise_batch(lists, Histories.of([LanguageModel(), LanguageModel()]), np.array(owners))


@pytest.mark.parametrize("wrong", [{"query_weight": 1.5}, {"normalisation": "max"}, {"smoothing": 0.0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ParameterError):
        Personalisation(**wrong)
