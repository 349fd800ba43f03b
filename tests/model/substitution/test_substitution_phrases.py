"""Phrases by mutual information: closed forms, brute force, and queries that were never asked."""

import numpy as np
import plain_substitution as plain
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.model.phrases import CodedPhrases, Joining, code_log, mutual_information, spell

NO_PAIRS = pa.table({"user_query": pa.array([], pa.string()), "next_query": pa.array([], pa.string()), "count": []})
NO_PAIRS = NO_PAIRS.set_column(2, "count", pa.array([], pa.int64()))


def counted(queries):
    return pa.table({"user_query": [query for query, _ in queries], "count": [times for _, times in queries]})


def learn(queries, **joining):
    return CodedPhrases.of(code_log(counted(queries), NO_PAIRS), Joining(**joining))


texts = st.lists(st.sampled_from(["a", "b", "c", "dd", "é"]), min_size=1, max_size=5).map(" ".join)
logs = st.lists(st.tuples(texts, st.integers(1, 9)), min_size=1, max_size=25)


def test_words_that_only_occur_together_have_as_many_bits_as_they_are_rare():
    # "new york" is an eighth of all neighbours; each of its words is an eighth of all words.
    assert mutual_information([8], [8], [8], all_words=64, all_neighbours=64) == pytest.approx([3.0])


def test_words_that_meet_by_chance_have_no_information():
    assert mutual_information([4], [16], [16], all_words=64, all_neighbours=64) == pytest.approx([0.0])


def test_a_phrase_goes_on_while_each_word_joins_the_one_before():
    queries = [("new york city", 40), ("hotel paris", 1), ("cheap", 500), ("hotel", 300)]
    found = learn(queries, least_information=2, least_count=5).phrases
    assert found.joined == {("new", "york"), ("york", "city")}
    assert found.split("cheap hotel new york city") == ("cheap", "hotel", "new york city")
    assert found.split("york new city") == ("york", "new", "city")


def test_rare_neighbours_stay_apart_whatever_their_information():
    queries = [("odd pair", 4), ("other", 1000)]
    assert learn(queries, least_count=5, least_information=1).phrases.joined == frozenset()
    assert learn(queries, least_count=4, least_information=1).phrases.joined == {("odd", "pair")}


def test_a_blank_query_has_no_phrases():
    assert learn([("a b", 9)]).phrases.split(" \t ") == ()


@given(logs, st.floats(-3, 4), st.integers(1, 12))
def test_joined_words_are_those_of_the_plain_count(queries, bits, least):
    # A number of bits that no neighbours have exactly: rounding must not decide.
    bits += 1e-7
    found = learn(queries, least_information=bits, least_count=least)
    assert found.phrases.joined == plain.joined(queries, bits, least)


@given(logs, st.floats(-3, 4))
def test_numbered_phrases_spell_what_the_words_say(queries, bits):
    log = code_log(counted(queries), NO_PAIRS)
    found = CodedPhrases.of(log, Joining(least_information=bits, least_count=1))
    texts = spell(log, found.firsts, found.lengths)
    assert len(set(texts)) == len(texts), "the same words have one number"
    for number, query in enumerate(log.texts.to_pylist()):
        numbers = found.numbers[found.starts[number] : found.starts[number + 1]]
        assert tuple(texts[each] for each in numbers) == found.phrases.split(query)


def test_queries_that_differ_in_white_space_are_one():
    log = code_log(counted([("red  moss", 2), (" red moss ", 3), ("\t", 7)]), NO_PAIRS)
    counts = dict(zip(log.texts.to_pylist(), log.counts.tolist(), strict=True))
    assert counts == {"red moss": 5, "": 0}


def test_without_counted_queries_those_of_the_pairs_count():
    pairs = pa.table({"user_query": ["a", "b"], "next_query": ["b", "c d"], "count": [3, 4]})
    log = code_log(None, pairs)
    assert dict(zip(log.texts.to_pylist(), log.counts.tolist(), strict=True)) == {"a": 3, "b": 7, "c d": 4}


def test_rows_without_count_or_text_are_left_out():
    pairs = pa.table(
        {
            "user_query": ["a", "a", None, "a", "a", " "],
            "next_query": ["b", "b", "b", "a", "a ", "b"],
            "count": pa.array([2, -3, 4, 5, 6, 7]),
        }
    )
    log = code_log(None, pairs)
    kept = np.array(log.texts.to_pylist())
    assert [(kept[a], kept[b], n) for a, b, n in zip(log.left, log.right, log.times, strict=True)] == [("a", "b", 2)]


def test_tables_of_another_shape_are_refused():
    with pytest.raises(InputError, match="no column next_query"):
        code_log(None, pa.table({"user_query": ["a"], "count": [1]}))
    with pytest.raises(InputError, match="whole numbers"):
        code_log(pa.table({"user_query": ["a"], "count": [1.5]}), NO_PAIRS)
    with pytest.raises(ParameterError, match="least_count must be at least 1"):
        Joining(least_count=0)
