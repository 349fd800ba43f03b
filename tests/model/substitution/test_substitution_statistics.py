"""Log-likelihood ratios and phrases that take each other's place: closed forms and brute force."""

from math import log

import numpy as np
import plain_substitution as plain
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from aidos.model.phrases import CodedPhrases, Joining, code_log, spell
from aidos.model.suggesting import PairStatistics, changed_phrases, log_likelihood_ratio


def test_two_that_always_go_together_have_the_entropy_of_their_share():
    # 2 N H(1/4) nats: knowing the first tells the second.
    entropy = -(log(1 / 4) / 4 + 3 * log(3 / 4) / 4)
    assert log_likelihood_ratio([25], [25], [25], 100) == pytest.approx([2 * 100 * entropy])


def test_independent_counts_have_ratio_zero():
    assert log_likelihood_ratio([10], [50], [20], 100) == pytest.approx([0.0], abs=1e-9)


def test_a_pair_that_is_all_there_is_says_nothing():
    assert log_likelihood_ratio([7], [7], [7], 7).tolist() == [0.0]


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_the_ratio_is_the_g_statistic_and_two_binomials(both, only_first, only_second, neither):
    first, second, total = both + only_first, both + only_second, both + only_first + only_second + neither
    found = log_likelihood_ratio([both], [first], [second], total)[0]
    table = [[both, only_first], [only_second, neither]]
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found == pytest.approx(plain.ratio(both, first, second, total), rel=1e-9, abs=1e-9)


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 20)), max_size=40)


@given(rows)
def test_pairs_are_added_up_and_tested_as_by_hand(pairs):
    first, second, times = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
    found = PairStatistics.of(first, second, times)
    expected = plain.statistics(pairs)
    named = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert named == sorted(expected)
    assert found.ratio == pytest.approx([expected[pair] for pair in named], rel=1e-7, abs=1e-7)
    assert found.times.tolist() == [sum(n for a, b, n in pairs if (a, b) == pair) for pair in named]


def test_only_pairs_that_reach_the_ratio_are_kept():
    found = PairStatistics.of(np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([50, 3, 50]))
    kept = found.at_least(50)
    assert kept.first.tolist() == [0, 2]
    assert (kept.ratio >= 50).all()
    assert found.ratio[found.first == 1][0] < 50


texts = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(" ".join)


@given(st.lists(st.tuples(texts, texts, st.integers(1, 9)), min_size=1, max_size=30), st.floats(-2, 3))
def test_changed_phrases_are_those_of_the_plain_walk(pairs, bits):
    assume(any(a != b for a, b, _ in pairs))
    a, b, times = zip(*pairs, strict=True)
    log = code_log(None, pa.table({"user_query": a, "next_query": b, "count": times}))
    coded = CodedPhrases.of(log, Joining(least_information=bits, least_count=2))
    here, there, counts = changed_phrases(log, coded)
    texts = spell(log, coded.firsts, coded.lengths)
    made = sorted((texts[x], texts[y], int(n)) for x, y, n in zip(here, there, counts, strict=True))
    assert made == sorted(plain.changes([pair for pair in pairs if pair[0] != pair[1]], coded.phrases.joined))


def test_a_word_more_is_no_substitution_of_a_phrase():
    pairs = pa.table(
        {
            "user_query": ["red moss", "red moss", "red moss", "red moss"],
            "next_query": ["red fern", "red moss care", "blue fern", "moss red"],
            "count": [3, 5, 7, 9],
        }
    )
    log = code_log(None, pairs)
    coded = CodedPhrases.of(log, Joining(least_information=99))
    here, there, times = changed_phrases(log, coded)
    texts = spell(log, coded.firsts, coded.lengths)
    assert [(texts[x], texts[y], n) for x, y, n in zip(here, there, times, strict=True)] == [("moss", "fern", 3)]
