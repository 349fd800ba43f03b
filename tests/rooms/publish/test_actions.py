import pytest
from small_logs import log_of, row

from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.publish.items import askings, first_askings, first_clicks, first_transitions


@pytest.fixture
def engine():
    with EmbeddedEngine(threads=1) as engine:
        yield engine


def ask(log, sql, order="client_id, place"):
    return log.select(sql).rows(f"select * from {{table}} order by {order}")


def test_a_click_belongs_to_the_asking_before_it(engine):
    log = log_of(
        engine, [row("a", 0, "fern"), row("a", 1, "fern", "u1"), row("a", 2, "fern", "u2"), row("a", 3, "fern")]
    )
    assert [found[2:] for found in ask(log, askings(log.columns))] == [("fern", 1), ("fern", 2)]


def test_a_log_with_rows_for_clicks_only_has_one_asking_a_run(engine):
    log = log_of(engine, [row("a", 0, "fern", "u1"), row("a", 0, "fern", "u2"), row("a", 5, "moss", "u1")])
    assert [found[2] for found in ask(log, askings(log.columns))] == ["fern", "moss"]


def test_visits_end_with_a_pause_or_where_the_log_says_so(engine):
    rows = [row("a", 0, "x"), row("a", 30, "y"), row("a", 61, "z")]
    named = [row("b", 0, "x", session="s"), row("b", 300, "y", session="s"), row("b", 301, "z", session="t")]
    log = log_of(engine, rows + named)
    assert [(found[0], found[1]) for found in ask(log, askings(log.columns))] == [
        ("a", 1),
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 1),
        ("b", 2),
    ]


def test_another_persons_session_ids_do_not_change_ones_own_visits(engine):
    mine = [row("a", 0, "x"), row("a", 10, "y"), row("a", 100, "z")]
    alone = ask(log_of(engine, mine), askings(["session_id"]))
    beside = ask(log_of(engine, [*mine, row("b", 0, "x", session="s")]), askings(["session_id"]))
    assert [found for found in beside if found[0] == "a"] == alone


def test_the_first_askings_are_cut_after_what_is_public_was_applied(engine):
    log = log_of(engine, [row("a", minute, query) for minute, query in enumerate(["no", "yes", "no", "yes", "yes"])])
    kept = ask(log, first_askings(log.columns, "user_query = 'yes'", 2))
    assert [(place, query) for _, place, _, query in kept] == [(2, "yes"), (4, "yes")]


def test_transitions_need_neighbours_in_the_whole_log_one_visit_and_two_queries(engine):
    told = [(0, "a"), (1, "b"), (2, "b"), (3, "blocked"), (4, "c"), (60, "d"), (61, "e")]
    log = log_of(engine, [row("p", minute, query) for minute, query in told])
    kept = log.select(first_askings(log.columns, "user_query <> 'blocked'", 100))
    found = ask(kept, first_transitions(100), "user_query")
    assert [pair[1:] for pair in found] == [("a", "b"), ("d", "e")]
    assert len(ask(kept, first_transitions(1), "user_query")) == 1


def test_clicks_are_cut_a_person(engine):
    log = log_of(engine, [row(p, minute, "q", f"u{minute}") for p in "ab" for minute in range(5)])
    assert len(ask(log, first_clicks(log.columns, "true", 3), "client_id, object_id")) == 6


def test_a_log_without_clicks_and_sessions_will_do(engine):
    log = log_of(engine, [row("a", 0, "x"), row("a", 50, "y")]).select(
        'select client_id, "timestamp", user_query from {table}'
    )
    assert len(ask(log, askings(log.columns))) == 2
    assert ask(log, first_clicks(log.columns, "true", 3), "client_id") == []
