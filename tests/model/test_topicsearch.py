"""Topics of a text against scores by plain Python, and the rules about what is kept."""

from dataclasses import replace
from functools import cache
from math import log1p
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import ENOUGH, LEAST_SENSITIVE, NO_PLACE, SCORER, SURE, UNKNOWN_WEIGHT, TopicSearch
from aidos.model.topicwords import ANALYSER
from oracles.retrieval import score_all

DEFAULT = default_taxonomy()
TREE = TopicTree.of(DEFAULT)
SMALL = Taxonomy.of(
    [
        Topic("all", "", "everything"),
        Topic("music", "all", "Music", words=("song", "concert")),
        Topic("jazz", "music", "Jazz", words=("saxophone", "swing")),
        Topic("health", "all", "Health", description="Doctors and pain"),
    ]
)
PLAIN = Taxonomy.of(
    [
        Topic("all", "", "everything"),
        Topic("tints", "all", "Tints", words=("red", "blue")),
        Topic("warm", "tints", "Warmth", words=("red", "gold", "gold")),
        Topic("cold", "tints", "Coldness", words=("blue", "green")),
        Topic("sounds", "all", "Sounds", words=("bell", "drum", "song", "red")),
        Topic("tunes", "sounds", "Tunes", description="A tune is a song", words=("song",)),
    ]
)
"""Without phrases, common words, and names that lend words."""


@cache
def whole():
    return TopicSearch(DEFAULT, TREE)


@cache
def unmarked():
    """The same topics, none of them sensitive."""
    return TopicSearch(Taxonomy.of([replace(topic, sensitive="") for topic in DEFAULT.walk()]), TREE)


@cache
def terms():
    """What the topics of a tree without phrases and learned words are indexed by."""
    texts = []
    for topic in PLAIN.walk():
        *way, _ = PLAIN.path(topic.id)[1:] or [None]
        texts.append(" ".join([topic.name] * 3 + [step.name for step in way] + [topic.description, *topic.words]))
    return [ANALYSER.terms(text) for text in texts[1:]]


def plainly(query, most, least):
    """The definition, word by word: best, enough, none above another, and none where the best says too little."""
    scored = score_all(terms(), ANALYSER.terms(query), SCORER)[:most]
    holding = [sum(word in held for held in terms()) for word in ANALYSER.terms(query)]
    alone = log1p((len(terms()) - 0.5) / 1.5)
    known = [log1p((len(terms()) - count + 0.5) / (count + 0.5)) for count in holding if count]
    weights = [*known, *[UNKNOWN_WEIGHT * alone] * holding.count(0)]
    if not scored or scored[0][1] < min(SURE * sum(weights), ENOUGH * alone):
        return {}
    ids = [topic.id for topic in PLAIN.walk()]
    kept = {ids[number + 1]: score for number, score in scored if score >= least * scored[0][1]}
    above = {step.id for topic_id in kept for step in PLAIN.path(topic_id)[:-1]}
    return {topic_id: score for topic_id, score in kept.items() if topic_id not in above}


QUERIES = ["guitar", "eagles", "debt and divorce lawyer", "jazz music concert", "health", "cheap flights to the island"]


@given(
    st.lists(
        st.sampled_from(["red", "blue", "green", "gold", "song", "tune", "bell", "drum", "soup"]),
        min_size=1,
        max_size=4,
    )
)
def test_topics_are_those_of_the_plain_definition(query):
    for most, least in ((20, 0.3), (2, 0.0), (50, 0.8)):
        found = TopicSearch(PLAIN).find(" ".join(query), most=most, least=least)
        expected = plainly(" ".join(query), most, least)
        ids = [TopicTree.of(PLAIN).ids[place] for place in found.places]
        assert set(ids) == set(expected)
        assert found.scores == pytest.approx([expected[topic_id] for topic_id in ids], rel=1e-9)
        assert list(found.scores) == sorted(found.scores, reverse=True)


words = sorted({word for topic in DEFAULT.walk() for word in topic.words})


@given(st.lists(st.sampled_from(words), min_size=1, max_size=4), st.integers(1, 40), st.floats(0, 1))
def test_no_topic_lies_above_another_and_all_have_enough(query, most, least):
    found = whole().find(" ".join(query), most=most, least=least)
    assert len(found) <= most
    assert 0 not in found.places
    ids = {TREE.ids[place] for place in found.places}
    assert not any(step.id in ids for topic_id in ids for step in DEFAULT.path(topic_id)[:-1])
    assert all(found.scores > 0)
    if len(found):
        assert found.scores.min() >= least * found.scores.max() * (1 - 1e-12)


@given(st.lists(st.sampled_from(words), min_size=1, max_size=4))
def test_beside_a_best_topic_that_is_not_sensitive_others_need_more_if_they_are(query):
    found, free = whole().find(" ".join(query), most=40), unmarked().find(" ".join(query), most=40)
    marked = np.array([bool(DEFAULT.sensitive_category(TREE.ids[place])) for place in free.places], dtype=np.bool_)
    # Beside what is sensitive itself, others of its kind are taken like all.
    weak = marked & ~marked[:1] & (free.scores < LEAST_SENSITIVE * free.scores[:1])
    assert found.places.tolist() == free.places[~weak].tolist()


def test_a_weak_guess_at_something_sensitive_is_left_out_by_the_taxonomy_alone():
    topics = [
        Topic("all", "", "everything"),
        Topic("sea", "all", "Sea", words=("port", "coast", "pier", "wave")),
        Topic("ills", "all", "Ills", sensitive="health"),
        Topic("veins", "ills", "Veins", words=("port", "blood", "clot", "heart", "nerve", "skin")),
    ]
    plain = [replace(topic, sensitive="") for topic in topics]
    found = [
        [search.tree.ids[place] for place in search.find(text).places]
        for search in (TopicSearch(Taxonomy.of(topics)), TopicSearch(Taxonomy.of(plain)))
        for text in ("port coast", "port clot", "port")
    ]
    assert found == [["sea"], ["veins", "sea"], ["sea", "veins"], ["sea", "veins"], ["veins", "sea"], ["sea", "veins"]]


def test_the_name_counts_most_the_way_and_the_description_count_and_the_root_does_not():
    search = TopicSearch(SMALL)
    assert search.tree.ids == ("all", "music", "jazz", "health")
    assert search.map_texts(["jazz", "concert", "doctor", "everything", "zzz", ""]).tolist() == [2, 1, 3, -1, -1, -1]
    # Both topics have the word, the lower one by its way alone, and the upper one gives way.
    assert [search.tree.ids[place] for place in search.find("music").places] == ["jazz"]
    assert len(search.find("everything")) == len(search.find("")) == 0


def test_the_best_topic_of_many_texts_is_the_best_of_each():
    texts = [*QUERIES, "", "qqqq"] * 40
    found = whole().map_texts(texts, threads=2)
    assert found.dtype == np.int32
    for text, place in zip(texts[:8], found[:8].tolist(), strict=True):
        each = whole().find(text, most=1).places.tolist()
        assert place == (each[0] if each else NO_PLACE)
    assert NO_PLACE in found
    assert found.reshape(-1, 8).tolist() == [found[:8].tolist()] * 40
    assert whole().map_texts([]).tolist() == []


@given(
    st.lists(st.lists(st.sampled_from([*words, "qqqq"]), max_size=5), max_size=6), st.integers(1, 8), st.floats(0, 1)
)
def test_shares_of_many_texts_are_the_scores_of_each(asked, most, least):
    texts = [" ".join(each) for each in asked]
    found = whole().share_texts(texts, most=most, least=least, threads=1)
    assert len(found) == len(texts)
    for number, text in enumerate(texts):
        here, single = slice(*found.starts[number : number + 2]), unmarked().find(text, most=most, least=least)
        assert found.places[here].tolist() == single.places.tolist()
        assert found.shares[here] == pytest.approx(single.scores / (single.scores.sum() or 1))


def test_shares_of_nothing_are_none():
    assert whole().share_texts([]).starts.tolist() == [0]
    assert len(TopicSearch(Taxonomy.of([Topic("all", "", "everything")])).share_texts(["all"]).places) == 0
    with pytest.raises(ParameterError, match="most"):
        whole().share_texts(["jazz"], most=0)


def test_topics_are_found_by_their_own_words():
    leaves = DEFAULT.leaves()
    found = whole().map_texts([f"{leaf.name} {' '.join(leaf.words[:6])}" for leaf in leaves])
    right = sum(TREE.ids[place] == leaf.id for place, leaf in zip(found.tolist(), leaves, strict=True))
    assert right / len(leaves) > 0.97


def test_a_lone_root_finds_nothing():
    search = TopicSearch(Taxonomy.of([Topic("all", "", "everything")]))
    assert len(search.find("everything")) == 0
    assert search.map_texts(["everything"]).tolist() == [NO_PLACE]


def test_an_index_that_was_saved_finds_the_same(tmp_path):
    kept = TopicSearch(DEFAULT, TREE)
    kept.save(tmp_path / "topics.index")
    opened = TopicSearch.open(tmp_path / "topics.index", DEFAULT, TREE)
    for search in (kept, opened):
        for query in QUERIES:
            again, first = search.find(query), whole().find(query)
            assert again.places.tolist() == first.places.tolist()
            assert again.scores.tolist() == first.scores.tolist()
    with pytest.raises(ParameterError, match="exists already"):
        kept.save(tmp_path / "topics.index")


def test_an_index_of_another_taxonomy_or_none_is_refused(tmp_path):
    TopicSearch(SMALL).save(tmp_path / "small.index")
    with pytest.raises(InputError, match="another taxonomy"):
        TopicSearch.open(tmp_path / "small.index", DEFAULT)
    with pytest.raises(InputError, match="no index of topics"):
        TopicSearch.open(Path(tmp_path), SMALL)


def test_impossible_limits_and_scorers_are_refused():
    with pytest.raises(ParameterError, match="most"):
        whole().find("jazz", most=0)
    with pytest.raises(ParameterError, match="least"):
        whole().find("jazz", least=1.5)
    with pytest.raises(ParameterError, match="least"):
        whole().find("jazz", least=float("nan"))
