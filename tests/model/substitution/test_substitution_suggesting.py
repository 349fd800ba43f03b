"""Suggestions: what they replace, how they are ranked, and that they agree with dictionaries."""

import plain_substitution as plain
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.model.phrases import Joining
from aidos.model.suggesting import SubstitutionModel, Suggesting

APART = Joining(least_information=99)


def tables(queries, pairs):
    asked = pa.table({"user_query": [q for q, _ in queries], "count": pa.array([n for _, n in queries], pa.int64())})
    first, following, times = zip(*pairs, strict=True) if pairs else ((), (), ())
    schema = pa.schema({"user_query": pa.string(), "next_query": pa.string(), "count": pa.int64()})
    return asked, pa.table([list(first), list(following), list(times)], schema=schema)


GARDEN = [
    ("moss care", "fern care", 60),
    ("moss pots", "fern pots", 40),
    ("oak", "elm", 100),
    ("moss care", "how to grow moss", 30),
    ("oak", "weather", 1),
    ("rain", "weather", 80),
    ("rain", "elm", 1),
]


def build(pairs, queries=(), **suggesting):
    return SubstitutionModel.of(*tables(queries, pairs), Suggesting(joining=APART, **suggesting))


def test_the_whole_query_and_each_phrase_may_be_replaced():
    found = build(GARDEN, least_ratio=50).suggest("moss care")
    assert [(each.query, each.replaced, each.by) for each in found] == [
        ("fern care", "moss", "fern"),
        ("how to grow moss", "moss care", "how to grow moss"),
    ]
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    # All phrase pairs: moss for fern 100, oak for elm 100 and weather 1, rain for weather 80 and elm 1.
    assert scores[0] == pytest.approx(plain.ratio(100, 100, 100, 282))


def test_a_query_that_nobody_asked_gets_suggestions_by_its_phrases():
    assert [each.query for each in build(GARDEN).suggest("tall moss in shade")] == ["tall fern in shade"]


def test_what_follows_less_often_than_by_chance_is_never_suggested():
    assert [each.query for each in build(GARDEN, least_ratio=0).suggest("oak")] == ["elm"]


def test_fewer_are_suggested_where_more_is_asked_of_a_pair():
    asked = [len(build(GARDEN, least_ratio=least).suggest("moss care")) for least in (0, 50, 100, 1000)]
    assert asked == [2, 2, 1, 0]


def test_words_of_one_phrase_are_replaced_together():
    queries = [("new york", 50), ("hotel", 400), ("boston", 300)]
    pairs = [("hotel new york", "hotel boston", 50), ("rain", "weather", 50)]
    asked, followed = tables(queries, pairs)
    joining = Joining(least_information=2)
    model = SubstitutionModel.of(asked, followed, Suggesting(least_ratio=10, joining=joining))
    assert [each.query for each in model.suggest("cheap new york flights")] == ["cheap boston flights"]
    assert model.suggest("york new") == ()


def test_the_order_of_the_rows_does_not_matter_and_equals_go_by_their_letters():
    pairs = [("a", letter, 10) for letter in "zyxwv"] + [("b", "c", 50)]
    made = [build(rows, least_ratio=0).suggest("a", 3) for rows in (pairs, pairs[::-1])]
    assert made[0] == made[1]
    assert [each.query for each in made[0]] == ["v", "w", "x"]


def test_the_first_two_are_the_best_two_of_five():
    model = build(GARDEN, least_ratio=0)
    for query in ("moss care", "oak", "rain", "moss rain"):
        assert model.suggest(query, 2) == model.suggest(query, 5)[:2]


def test_nothing_is_suggested_from_nothing():
    assert build([]).suggest("moss") == ()
    assert build(GARDEN).suggest("") == ()


def test_parameters_out_of_their_limits_are_refused():
    with pytest.raises(ParameterError, match="least_ratio must be at least 0"):
        Suggesting(least_ratio=-1)
    with pytest.raises(ParameterError, match="most must be at least 1"):
        build(GARDEN).suggest("oak", 0)


words = st.lists(st.sampled_from(["a", "b", "c", "d e", " "]), min_size=1, max_size=4).map(" ".join)
counts = st.integers(1, 30)


@given(
    queries=st.lists(st.tuples(words, counts), min_size=1, max_size=12),
    pairs=st.lists(st.tuples(words, words, counts), min_size=1, max_size=30),
    query=words,
    least=st.sampled_from([0.0, 5.0, 40.0]),
    bits=st.floats(-2, 3),
    most=st.integers(1, 6),
)
def test_suggestions_are_those_of_the_plain_walk(*, queries, pairs, query, least, bits, most):
    bits, least = bits + 1e-7, least + 1e-7
    joining = Joining(least_information=bits, least_count=2)
    model = SubstitutionModel.of(*tables(queries, pairs), Suggesting(least_ratio=least, joining=joining))
    found = model.suggest(query, most)
    options = {"least_ratio": least, "least_information": bits, "least_count": 2}
    every = dict(plain.suggest(queries, pairs, query, **options, most=10_000))
    # Scores that differ by rounding alone may stand in either order.
    assert [each.score for each in found] == pytest.approx(list(every.values())[:most], rel=1e-7, abs=1e-6)
    for each in found:
        assert every[each.query] == pytest.approx(each.score, rel=1e-7, abs=1e-6)
