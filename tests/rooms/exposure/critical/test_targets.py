import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from town import rows_of

from aidos.errors import InputError, ParameterError
from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.teaching import (
    combine,
    community_scores,
    count_words,
    log_ratios,
    sensitivity_scores,
    user_scores,
)
from aidos.rooms.exposure.queries.records import NO_WORD

COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1)


def row(town, post, *words):
    numbers = sorted(town.numbers[word] for word in words)
    return (town.written[post][0], post, numbers[0], numbers[1] if len(numbers) == 2 else NO_WORD, 1, True, True, 1, 0)


def test_deleted_posts_score_one_and_unknown_ones_nothing(town):
    rows = rows_of(row(town, 0, "cancer"), row(town, 1, "garden"), row(town, 0, "doctor"), row(town, 2, "haha"))
    scores = user_scores(town, rows, {"p0": True, "p1": False})
    assert scores[:3].tolist() == [1.0, 0.0, 1.0]
    assert np.isnan(scores[3])
    assert len(user_scores(town, rows_of(), {})) == 0


def test_words_are_counted_as_the_analyser_has_them():
    counts = count_words(["Kisses and a kiss", "a rose"], Analyser(stop_words="english", stemmer="english"))
    assert counts == {"kiss": 2, "rose": 1}


@given(COUNTS, COUNTS)
def test_ratios_are_those_of_the_smoothed_distributions(anonymous, named):
    words = list("abcdefg")
    added = 1 / min(sum(anonymous.values()), sum(named.values()))
    for word, found in zip(words, log_ratios(words, anonymous, named), strict=True):
        own = anonymous.get(word, 0) / sum(anonymous.values()) + added
        other = named.get(word, 0) / sum(named.values()) + added
        assert found == pytest.approx(np.log(own / other))
    assert log_ratios(["g"], anonymous, named) == pytest.approx([0.0])
    assert log_ratios(words, named, anonymous) == pytest.approx(-log_ratios(words, anonymous, named))


def test_the_score_of_a_query_is_the_papers_with_products_for_two_words(town):
    anonymous, named = {"cancer": 30, "doctor": 20, "rare": 50}, {"cancer": 2, "doctor": 60, "common": 138}
    rows = rows_of(row(town, 0, "cancer"), row(town, 0, "doctor"), row(town, 0, "cancer", "doctor"))

    def likely(counts, words):
        return np.prod([counts[word] / sum(counts.values()) + 1 / 100 for word in words])

    expected = []
    for words in (["cancer"], ["doctor"], ["cancer", "doctor"]):
        one, other = likely(anonymous, words), likely(named, words)
        expected.append((one - other) / (one + other))
    assert community_scores(town, rows, anonymous, named) == pytest.approx(expected)


def test_an_unseen_word_is_not_anonymous_because_that_community_is_small(town):
    anonymous, named = {"cancer": 10}, {"doctor": 1, "other": 99_999}
    scores = community_scores(
        town, rows_of(row(town, 1, "garden"), row(town, 0, "doctor"), row(town, 0, "cancer")), anonymous, named
    )
    assert scores[0] == 0.0
    assert abs(scores[1]) < 0.001
    assert scores[2] > 0.8


def test_sensitivity_is_a_target_too(town):
    sensitivity = TopicalSensitivity(["cancer", "roses"], np.array([[0.5, 0.0], [0.0, 0.5]]), [1.0, 0.0])
    rows = rows_of(row(town, 0, "cancer"), row(town, 0, "cancer", "doctor"), row(town, 1, "roses"))
    assert sensitivity_scores(town, rows, sensitivity).tolist() == [1.0, 1.0, 0.0]


def test_scores_are_combined_and_unknown_stays_unknown():
    user, community = np.array([1.0, 0.0, np.nan]), np.array([-0.5, 0.5, 0.5])
    found = combine((1.0, user), (2.0, community))
    assert found[:2].tolist() == [0.0, 1.0]
    assert np.isnan(found[2])


def test_bad_targets_are_refused():
    with pytest.raises(InputError, match="without words"):
        log_ratios(["a"], {}, {"a": 1})
    with pytest.raises(ParameterError, match="pseudo_count"):
        log_ratios(["a"], {"a": 1}, {"a": 1}, pseudo_count=0)
    with pytest.raises(ParameterError, match="no scores"):
        combine()
    with pytest.raises(ParameterError, match="different lengths"):
        combine((1.0, np.zeros(2)), (1.0, np.zeros(3)))
    with pytest.raises(ParameterError, match="finite"):
        combine((float("nan"), np.zeros(2)))
