"""Vectors of a model on the disk answer what words leave open: here a small pipeline of scikit-learn."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import ParameterError
from aidos.model.topicsearch import TopicSearch
from aidos.model.topicwords import TopicVectors

TREE = Taxonomy.of(
    [
        Topic("all", "", "everything"),
        Topic("music", "all", "Music", words=("song", "concert", "melody")),
        Topic("cooking", "all", "Cooking", words=("soup", "bake", "oven")),
        Topic("chess", "all", "Chess", words=("bishop", "opening", "checkmate")),
    ]
)
TEXTS = [
    "song concert melody trombone kapelle",
    "kapelle trombone song",
    "soup oven bake ladle suppe",
    "suppe ladle oven",
    "bishop checkmate opening rook läufer",
    "läufer rook bishop",
]
"""What the model has read: words that the taxonomy does not have stand beside some that it has."""


@pytest.fixture(scope="module")
def encode():
    return make_pipeline(TfidfVectorizer(), TruncatedSVD(n_components=3, random_state=1)).fit(TEXTS).transform


def named(search, text):
    return [search.tree.ids[place] for place in search.find(text).places]


def test_vectors_find_what_words_do_not_know_and_words_go_first(encode):
    words, both = TopicSearch(TREE), TopicSearch(TREE, encode=encode)
    for text, topic in (("trombone", "music"), ("suppe ladle", "cooking"), ("rook", "chess")):
        assert named(words, text) == []
        assert named(both, text)[0] == topic
    assert named(both, "checkmate") == named(words, "checkmate") == ["chess"]
    assert both.find("checkmate").scores.tolist() == words.find("checkmate").scores.tolist()
    assert named(both, "zzzz") == []


def test_many_texts_find_what_each_finds(encode):
    both = TopicSearch(TREE, encode=encode)
    texts = ["trombone", "zzzz", "checkmate", "suppe"]
    assert both.map_texts(texts).tolist() == [(both.find(text).places.tolist() or [-1])[0] for text in texts]
    shares = both.share_texts(texts)
    assert np.diff(shares.starts)[1] == 0
    assert shares.shares[: shares.starts[1]].sum() == pytest.approx(1)


def test_closest_topics_are_those_of_the_cosines(encode):
    topics = ["song melody", "soup oven", "bishop checkmate"]
    places, scores, sizes = TopicVectors(topics, encode, closeness=0.5).best(TEXTS, 3)
    vectors = [np.asarray(encode(texts)) for texts in (topics, TEXTS)]
    for at, vector in enumerate(vectors[1]):
        cosines = [float(vector @ topic / np.linalg.norm(vector) / np.linalg.norm(topic)) for topic in vectors[0]]
        assert scores[at] == pytest.approx(sorted(cosines, reverse=True))
        assert places[at, 0] == int(np.argmax(cosines))
        assert sizes[at] == sum(cosine >= 0.5 for cosine in cosines)


def test_encoders_that_make_something_else_are_refused(encode):
    with pytest.raises(ParameterError, match="shape"):
        TopicVectors(["a", "b"], lambda texts: np.zeros(len(texts)), closeness=0.3)
    with pytest.raises(ParameterError, match="shape"):
        TopicVectors(["a", "b"], lambda texts: np.zeros((len(texts), len(texts[0]))), closeness=0.3).best(["abc"], 1)
    with pytest.raises(ParameterError, match="closeness"):
        TopicVectors(["a"], encode, closeness=0)
    odd = TopicVectors(["a", "b"], lambda texts: np.full((len(texts), 2), np.nan), closeness=0.3)
    assert odd.best(["x"], 2)[2].tolist() == [0]
