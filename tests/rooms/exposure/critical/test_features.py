from math import log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from town import Town, rows_of

from aidos.errors import ParameterError
from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.categories import CATEGORIES, Lexicon
from aidos.rooms.exposure.critical.features import (
    DESCRIBED,
    FEATURES,
    MARKS,
    MemberFeatures,
    feature_matrix,
    syntactic_marks,
)
from aidos.rooms.exposure.queries.records import NO_WORD


def column(matrix, name):
    return matrix[:, FEATURES.index(name)]


def rows_spelled(town, exposures):
    """Post, words of the query and the other columns of each row."""
    for at in range(len(exposures)):
        numbers = [n for n in (exposures.first[at], exposures.second[at]) if n != NO_WORD]
        yield int(exposures.posts[at]), town.words(numbers), int(exposures.members[at])


def member_bag(town, member):
    return sum((town.bags[post] for post in town.posts_of(member)), type(town.bags[0])())


def test_every_feature_has_a_name_of_its_own_and_words_for_both_directions():
    assert len(set(FEATURES)) == len(FEATURES) == len(CATEGORIES) + 6 + len(MARKS) + 1
    assert all(feature.high and feature.low and feature.high != feature.low for feature in DESCRIBED)
    assert len({feature.high for feature in DESCRIBED}) == len(FEATURES)


def test_language_features_follow_the_formulas(town):
    exposures = town.exposures()
    matrix = feature_matrix(town, exposures)
    reference = town.reference
    share = {word: reference.term_counts[n] / reference.tokens for word, n in town.numbers.items()}
    member_mu, post_mu = reference.tokens / town.facts.members, reference.mean_length
    for row, (post, words, member) in enumerate(rows_spelled(town, exposures)):
        said, bag = member_bag(town, member), town.bags[post]

        def under(bag, word, mu):
            return (bag[word] + mu * share[word]) / (bag.total() + mu)

        expected = -sum(log(under(said, word, member_mu)) for word in words) / len(words)
        assert column(matrix, "user_surprisal")[row] == pytest.approx(expected)
        surprisal = -sum(count * log(under(said, word, member_mu)) for word, count in bag.items()) / bag.total()
        assert column(matrix, "document_surprisal")[row] == pytest.approx(surprisal)
        proximity = sum(log(under(bag, word, post_mu)) for word in words) / len(words)
        assert column(matrix, "proximity")[row] == pytest.approx(proximity)


def test_what_a_row_says_of_itself_is_taken_over(town):
    exposures = town.exposures()
    matrix = feature_matrix(town, exposures)
    assert column(matrix, "selectivity") == pytest.approx(np.log(1 + exposures.documents))
    assert column(matrix, "entropy") == pytest.approx(exposures.evenness / 100)
    assert column(matrix, "rank") == pytest.approx(exposures.ranks)


def test_categories_are_those_of_any_word_of_the_query(town):
    exposures = town.exposures()
    matrix = feature_matrix(town, exposures)
    lexicon = Lexicon.default()
    for row, (_, words, _) in enumerate(rows_spelled(town, exposures)):
        assert (matrix[row, : len(CATEGORIES)] == lexicon.table(words).any(axis=0)).all()
    assert matrix[:, : len(CATEGORIES)].any()


def test_categories_are_matched_before_stemming(stemmed_town):
    word = stemmed_town.numbers["diagnosi"]
    found = rows_of((0, 0, word, NO_WORD, 1, True, True, 1, 0))
    assert "diagnosis" in Lexicon.default().words
    assert "diagnosi" not in Lexicon.default().words
    assert column(feature_matrix(stemmed_town, found), "category_medical_emergency").tolist() == [1.0]


def test_a_stem_means_the_words_of_its_own_post():
    lexicon = Lexicon({"love": ["kisses"], "hate": ["kissing"], "war": ["kissed"]})
    town = Town([(0, "kisses"), (0, "kissing"), (0, "roses")], analyser="words:stemmer=english")
    kiss = town.numbers["kiss"]
    exposures = rows_of(*((0, post, kiss, NO_WORD, 1, post < 2, True, 2, 0) for post in range(3)))
    matrix = feature_matrix(town, exposures, lexicon=lexicon)
    assert column(matrix, "category_love").tolist() == [1.0, 0.0, 1.0]
    assert column(matrix, "category_hate").tolist() == [0.0, 1.0, 1.0]
    # The third post does not hold it: the stem stands for all words that have it.
    assert column(matrix, "category_war").tolist() == [0.0, 0.0, 1.0]


def test_sensitivity_of_a_query_is_the_sum_of_its_words(town):
    exposures = town.exposures()
    sensitivity = TopicalSensitivity.default(analyser=Analyser())
    expected = sensitivity.queries([words for _, words, _ in rows_spelled(town, exposures)])
    assert column(feature_matrix(town, exposures), "topical_sensitivity") == pytest.approx(expected)
    assert expected.max() > 0


def test_rows_of_several_members_come_in_their_order(town):
    exposures = town.exposures()
    shuffled = np.random.default_rng(1).permutation(len(exposures))
    together = feature_matrix(town, exposures.take(shuffled))
    alone = {member: feature_matrix(town, town.exposures(member)) for member in range(3)}
    assert np.array_equal(together[np.argsort(shuffled)], np.concatenate(list(alone.values())))


def test_one_member_at_a_time_and_no_rows_at_all(town):
    with pytest.raises(ParameterError, match="rows of several members"):
        MemberFeatures.of(town, town.exposures())
    assert feature_matrix(town, rows_of()).shape == (0, len(FEATURES))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("see https://x.example.org/a#b", {"has_url"}),
        ("www.example.org", {"has_url"}),
        ("@anna hi", {"has_at_mention"}),
        ("(@anna) hi", {"has_at_mention"}),
        ("mail anna@example.org", set()),
        ("I need #help", {"has_hashtag"}),
        ("we are #1, really &#39;", set()),
        ("so good :)", {"has_emoticon"}),
        (":-( no", {"has_emoticon"}),
        ("I <3 you", {"has_emoticon"}),
        ("yes \U0001f600", {"has_emoticon"}),
        ("at 10:30 (see: below)", set()),
        ("well...", {"has_repeated_punctuation"}),
        ("what?? no", {"has_repeated_punctuation"}),
        ("stop!! now", {"has_repeated_punctuation"}),
        ("stop! a!!b", set()),
        ("sooo tired", {"has_repeated_vowels"}),
        ("NOOO", {"has_repeated_vowels"}),
        ("too", set()),
        ("muahahaha", {"has_laughter"}),
        ("hehe, hihi", {"has_laughter"}),
        ("haho", set()),
        ("", set()),
    ],
)
def test_marks_of_how_a_post_is_written(text, marks):
    found = syntactic_marks(pa.array([text], type=pa.large_string()))[0]
    assert {name for name, mark in zip(MARKS, found, strict=True) if mark} == marks


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 2), st.text(alphabet="ab @#:)!.", min_size=1, max_size=12)), max_size=6))
def test_features_are_finite_for_any_posts(posts):
    town = Town([*posts, (0, "kiss")])
    exposures = town.exposures()
    matrix = feature_matrix(town, exposures)
    assert matrix.shape == (len(exposures), len(FEATURES))
    assert np.isfinite(matrix).all()
