"""The k-anonymity comparators do what their papers say, and fall to the active attack."""

from collections import Counter

import pytest
from small_logs import crowd, log_of, row

from aidos.core.guarantee import KAnonymity, statement
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.anonymity import KKeywordAnonymity, KQueryAnonymity, KSessionAnonymity
from aidos.rooms.publish.attacks.opponents import publisher_of
from aidos.rooms.publish.attacks.scenes import QueryScene, Stage
from aidos.rooms.publish.attacks.sybil import attack_with_sybils

FACTS = PublicFacts()
EVERY = (KQueryAnonymity, KSessionAnonymity, KKeywordAnonymity)


@pytest.fixture
def engine():
    with EmbeddedEngine(threads=1) as engine:
        yield engine


def test_k_query_drops_queries_of_fewer_people_however_often_asked(engine):
    often = [row("one", 40 * minute, "often") for minute in range(9)]
    log = log_of(engine, crowd(3, ["fern", "moss"]) + crowd(2, ["rare"], "few") + often)
    rows = KQueryAnonymity(k=3).run(log, Noise()).table.rows()
    assert Counter(query for _, query, _ in rows) == {"fern": 3, "moss": 3}


def test_k_query_gives_each_visit_a_number_that_tells_nothing(engine):
    rows = [row("one", minute, "fern") for minute in (0, 1, 100)] + crowd(1, ["fern"])
    log = log_of(engine, rows)
    first, second = (KQueryAnonymity(k=2).run(log, Noise()).table.rows() for _ in range(2))
    assert sorted(Counter(visit for visit, _, _ in first).values()) == [1, 1, 2]
    assert {visit for visit, _, _ in first}.isdisjoint(visit for visit, _, _ in second)
    assert set(KQueryAnonymity(k=2).run(log, Noise()).table.columns) == {"visit", "user_query", "place"}


def test_k_query_keeps_the_order_within_a_visit(engine):
    rows = KQueryAnonymity(k=2).run(log_of(engine, crowd(2, ["c", "a", "b"])), Noise()).table.rows()
    visits = {visit for visit, _, _ in rows}
    for visit in visits:
        assert [q for v, q, _ in sorted(rows, key=lambda one: one[2]) if v == visit] == ["c", "a", "b"]


def sessions(engine, k, rows):
    return [keywords for _, keywords in KSessionAnonymity(k=k).run(log_of(engine, rows), Noise()).table.rows()]


def test_k_session_leaves_visits_that_are_alike(engine):
    assert sessions(engine, 3, crowd(3, ["fern care", "moss"])) == ["care fern moss"] * 3


def test_k_session_keeps_what_most_of_a_group_have(engine):
    queries = ["fern care", "fern care", "fern moss"]
    rows = [row(f"p{place}", 0, query) for place, query in enumerate(queries)]
    assert sessions(engine, 3, rows) == ["care fern"] * 3


def test_every_published_visit_equals_k_minus_one_others(engine):
    words = ["fern", "moss", "ivy", "oak", "ash"]
    rows = [
        row(f"p{place}", minute, words[(place * 7 + minute * place) % 5] + f" {words[place % 3]}")
        for place in range(53)
        for minute in range(2)
    ]
    found = Counter(sessions(engine, 5, rows))
    assert found
    assert min(found.values()) >= 5


def test_too_few_visits_are_not_published(engine):
    assert sessions(engine, 4, [row(f"p{place}", 0, f"q{place}") for place in range(3)]) == []


def keywords(engine, k, rows):
    table = KKeywordAnonymity(k=k).run(log_of(engine, rows), Noise()).table
    return dict(zip(table.column("keyword").to_pylist(), table.column("people").to_pylist(), strict=True))


def test_k_keyword_cuts_rare_words_to_prefixes_that_k_people_have(engine):
    rows = [row("a", 0, "cardiac"), row("b", 0, "cardigan"), row("c", 0, "cab"), *crowd(2, ["card"], "many")]
    assert keywords(engine, 2, rows) == {"card": 2, "cardi*": 2}


def test_k_keyword_pools_what_is_left_under_shorter_prefixes(engine):
    rows = [row("a", 0, "cardiac"), row("b", 0, "cab"), row("c", 0, "dig")]
    assert keywords(engine, 2, rows) == {"ca*": 2}
    assert keywords(engine, 3, rows) == {"*": 3}
    assert keywords(engine, 4, rows) == {}


def test_k_keyword_counts_people_not_words(engine):
    assert keywords(engine, 2, [row("a", 0, "cat cap can"), row("b", 0, "cot")]) == {"c*": 2}


@pytest.mark.parametrize("mechanism", EVERY)
def test_they_promise_k_anonymity_and_say_that_it_falls(mechanism):
    guarantee = mechanism(k=7).guarantee(FACTS)
    assert isinstance(guarantee, KAnonymity)
    assert guarantee.k == 7
    assert "defeats it" in statement(guarantee)
    with pytest.raises(ParameterError, match="at least 2"):
        mechanism(k=1)


@pytest.mark.parametrize("mechanism", EVERY)
def test_they_fall_to_the_active_attack(engine, mechanism):
    log = log_of(engine, crowd(40, ["fern care", "moss", "ivy"]))
    spec = mechanism(k=10)
    result = attack_with_sybils(
        Stage(publisher_of(spec), QueryScene(trials=200), log, Noise(3)), guarantee=spec.guarantee(FACTS)
    )
    assert result.falls
    assert result.advantage == 1.0
    assert result.interval[0] > 0.85
