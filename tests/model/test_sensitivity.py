"""Topical sensitivity against its definition, on topic models small enough to reckon by hand and on the default."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import ParameterError
from aidos.model.sensitivity import TopicalSensitivity, topic_sensitivities
from aidos.model.text.analyser import Analyser
from aidos.model.topics import default_taxonomy

SMALL = Taxonomy.of(
    [
        Topic("all", "", "everything"),
        Topic("music", "all", "Music", words=("song", "help")),
        Topic("health", "all", "Health", "health"),
        Topic("sadness", "health", "Sadness", "mind", words=("sad", "help", "tears")),
        Topic("virus", "health", "Virus", words=("infection", "help")),
    ]
)


def test_a_topic_model_of_three_words_by_hand():
    made = TopicalSensitivity(["a", "b", "c"], np.array([[0.5, 0.5, 0.0], [0.2, 0.0, 0.8]]), [0.4, 1.0])
    # a: 0.5 * 0.4 + 0.2 = 0.4; b: 0.2; c: 0.8, which is the largest.
    assert made.words(["a", "b", "c", "d"]).tolist() == pytest.approx([0.5, 0.25, 1.0, 0.0])
    assert made.queries([["a", "b"], ["c", "c"], ["d"], []]).tolist() == pytest.approx([0.75, 2.0, 0.0, 0.0])


@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_it_is_the_double_sum_of_the_thesis_on_any_topic_model(topics, size, seed):
    stream = np.random.default_rng(seed)
    matrix = stream.dirichlet(np.ones(size), topics)
    levels = stream.random(topics)
    words = [f"w{number}" for number in range(size)]
    made = TopicalSensitivity(words, matrix, levels)
    raw = [sum(matrix[t, w] * levels[t] for t in range(topics)) for w in range(size)]
    queries = [[words[w] for w in stream.integers(0, size, 2)] for _ in range(5)]
    expected = [sum(raw[words.index(word)] for word in query) / max(raw) for query in queries]
    assert made.queries(queries) == pytest.approx(expected)


def test_a_taxonomy_weighs_words_by_their_place_and_adds_topics_that_share_one():
    made = TopicalSensitivity.of_taxonomy(SMALL)
    third = 1 + 1 / 2 + 1 / 3
    raw = {"sad": 1 / third, "help": 1 / 2 / third + 1 / 2 / 1.5, "tears": 1 / 3 / third, "infection": 1 / 1.5}
    found = made.words([*raw, "song"])
    assert found.tolist() == pytest.approx([*(value / raw["infection"] for value in raw.values()), 0.0])
    assert made.categories("help") == ("health", "mind")
    assert made.categories("song") == made.categories("unheard") == ()


def test_words_of_one_stem_count_together():
    pytest.importorskip("Stemmer")
    made = TopicalSensitivity(
        ["drinking", "drinks", "the", "tea"],
        np.array([[0.5, 0.25, 0.125, 0.125]]),
        [1.0],
        categories=["addiction"],
        analyser=Analyser(stop_words="english", stemmer="english"),
    )
    assert len(made) == 2
    assert made.words(["drink", "tea", "the", "drinking"]).tolist() == pytest.approx([1.0, 0.125 / 0.75, 0.0, 0.0])
    assert made.categories("drink") == ("addiction",)


def test_other_sensitivities_for_a_topic_a_branch_or_a_category():
    assert topic_sensitivities(SMALL) == {"all": 0, "music": 0, "health": 1, "sadness": 1, "virus": 1}
    levels = topic_sensitivities(SMALL, {"health": 0.5, "mind": 0.25, "sadness": 0.75, "music": 0.1})
    assert levels == {"all": 0, "music": 0.1, "health": 0.5, "sadness": 0.75, "virus": 0.5}
    assert topic_sensitivities(SMALL, {"mind": 0.25})["sadness"] == 0.25
    assert TopicalSensitivity.of_taxonomy(SMALL, sensitivities={"health": 0}).words(["sad", "help"]).tolist() == [0, 0]


def test_the_default_knows_what_people_hide_and_what_they_do_not():
    made = TopicalSensitivity.default()
    hidden = made.words(["depression", "hiv", "debt", "gay", "alcoholic", "pregnant", "divorce", "prayer"])
    open_words = made.words(["guitar", "recipe", "football", "garden", "the", "zzz"])
    assert hidden.min() > 5 * open_words.max()
    every = made.words([word for topic in default_taxonomy().walk() for word in topic.words])
    assert every.max() == 1.0
    assert every.min() == 0.0
    assert made.categories("depression")[0] == "mental-health"
    assert "money" in made.categories("debt")


def test_the_default_as_stems():
    pytest.importorskip("Stemmer")
    made = TopicalSensitivity.default(analyser=Analyser(stemmer="english"))
    plain = TopicalSensitivity.default()
    assert made.words(["depress"])[0] > 0
    assert len(made) < len(plain)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"matrix": np.ones((2, 3)) / 3}, "2 by 3"),
        ({"matrix": np.array([[0.9, 0.9]])}, "sum to at most 1"),
        ({"matrix": np.array([[np.nan, 0.5]])}, "sum to at most 1"),
        ({"words": ["a", "a"]}, "differ"),
        ({"sensitivities": [1.5]}, "from 0 to 1"),
        ({"categories": ["x", "y"]}, "2 categories for 1 topics"),
    ],
)
def test_what_is_no_topic_model_is_refused(change, says):
    fine = {"words": ["a", "b"], "matrix": np.array([[0.5, 0.5]]), "sensitivities": [1.0]}
    TopicalSensitivity(**fine)
    with pytest.raises(ParameterError, match=says):
        TopicalSensitivity(**(fine | change))


def test_names_and_numbers_that_mean_nothing_are_refused():
    with pytest.raises(ParameterError, match="neither topics nor") as caught:
        topic_sensitivities(SMALL, {"astronomy": 1.0})
    assert "health, mind" in caught.value.hint
    with pytest.raises(ParameterError, match="from 0 to 1"):
        topic_sensitivities(SMALL, {"health": 2.0})
