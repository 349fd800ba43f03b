from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import duckdb
import numpy as np
import pytest

from aidos.core.records import SEARCH_LOG
from aidos.world.log import LogMaker, log_blocks
from aidos.world.people import FORMS, Wording, draw_ranks, pack_queries, unpack_queries
from aidos.world.size import World
from aidos.world.vocabulary import Vocabulary

PERSON_MONTHS = 8192 * 3


def one(town: duckdb.DuckDBPyConnection, sql: str) -> float:
    found = town.execute(sql).fetchone()
    assert found is not None
    return float(found[0])


def test_columns_are_those_of_a_search_log() -> None:
    table = next(log_blocks(World(10)))
    assert tuple(table.column_names) == SEARCH_LOG.names()


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("sum(len(string_split(user_query, ' '))) filter (action = 'query')", 56),
        ("count(*) filter (action = 'query')", 20),
        ("count(*) filter (action = 'click')", 14),
    ],
)
def test_averages_of_a_person_and_month(town: duckdb.DuckDBPyConnection, what: str, wanted: float) -> None:
    assert one(town, f"select {what} from log") / PERSON_MONTHS == pytest.approx(wanted, rel=0.06)


def test_seven_query_pairs_a_person_and_month(town: duckdb.DuckDBPyConnection) -> None:
    pairs = one(
        town,
        """select count(*) from (
             select user_query, lag(user_query) over (partition by client_id, session_id order by row) as before
             from log where action = 'query'
           ) where before <> user_query""",
    )
    assert pairs / PERSON_MONTHS == pytest.approx(7, rel=0.06)


def test_rows_go_by_person_and_then_by_time(town: duckdb.DuckDBPyConnection) -> None:
    wrong = one(
        town,
        """select count(*) from (
             select client_id, timestamp, lag(client_id) over w as person, lag(timestamp) over w as before
             from log window w as (order by row)
           ) where person > client_id or (person = client_id and before > timestamp)""",
    )
    assert wrong == 0


def test_a_gap_of_half_an_hour_separates_sessions(town: duckdb.DuckDBPyConnection) -> None:
    wrong = one(
        town,
        """select count(*) from (
             select session_id, lag(session_id) over w as previous, timestamp - lag(timestamp) over w as gap
             from log window w as (partition by client_id order by row)
           ) where previous is not null and (gap > interval 30 minute) <> (previous <> session_id)""",
    )
    assert wrong == 0


def test_reformulations_change_few_words(town: duckdb.DuckDBPyConnection) -> None:
    pairs = town.execute(
        """select before, user_query from (
             select user_query, lag(user_query) over (partition by session_id order by row) as before
             from log where action = 'query'
           ) where before is not null limit 20000"""
    ).fetchall()
    changed = [len(set(before.split()) ^ set(after.split())) for before, after in pairs]
    assert np.mean([number <= 3 for number in changed]) > 0.6
    assert np.mean([before == after for before, after in pairs]) < 0.02


def test_distinct_queries_have_a_long_tail_and_a_shared_head(town: duckdb.DuckDBPyConnection) -> None:
    once, people = town.execute(
        """select avg((times = 1)::int), max(people) from (
             select count(*) as times, count(distinct client_id) as people from log
             where action = 'query' group by user_query)"""
    ).fetchall()[0]
    assert 1 / 3 <= once <= 0.5
    assert people > 500


def test_clicks_fall_with_the_position(town: duckdb.DuckDBPyConnection) -> None:
    counts = [
        row[0]
        for row in town.execute(
            "select count(*) from log where action = 'click' group by position order by position"
        ).fetchall()
    ]
    assert len(counts) == 10
    assert all(upper > lower for upper, lower in pairwise(counts))


def test_clicks_have_a_reserved_address_and_a_position_and_queries_have_neither(
    town: duckdb.DuckDBPyConnection,
) -> None:
    strange = "not regexp_matches(object_id, '^https://[a-z]+\\.example(/[a-z-]+/[0-9]{5})?$')"
    assert one(town, f"select count(*) from log where action = 'click' and ({strange} or position is null)") == 0
    given = "(object_id is not null or position is not null)"
    assert one(town, f"select count(*) from log where action = 'query' and {given}") == 0


def test_people_search_by_their_own_clock(town: duckdb.DuckDBPyConnection) -> None:
    hours = dict(
        town.execute(
            """select extract(hour from timestamp + to_hours(value::int)) as hour, count(*)
               from log join truth on id = client_id and fact = 'utc-offset' group by hour"""
        ).fetchall()
    )
    assert sum(hours[hour] for hour in (19, 20, 21)) > 15 * sum(hours[hour] for hour in (2, 3, 4))


def test_rare_tokens_use_reserved_ranges_only(town: duckdb.DuckDBPyConnection) -> None:
    tokens = {row[0] for row in town.execute("select unnest(string_split(user_query, ' ')) from log").fetchall()}
    phones = {token for token in tokens if token[0].isdigit()}
    addresses = {token for token in tokens if "@" in token}
    assert len(phones) > 20
    assert all(re.fullmatch(r"[2-9]\d\d-555-01\d\d", token) for token in phones)
    assert len(addresses) > 20
    assert all(token.endswith("@example.org") for token in addresses)
    assert sum(not token.isalpha() for token in tokens) > 1000


def weeks_of_interest(town: duckdb.DuckDBPyConnection, vocabulary: Vocabulary, role: str) -> list[tuple[int, float]]:
    """For each person of a role: weeks with a typical word of the topic, and the share that falls into one spell."""
    words = [
        (topic.id, word)
        for topic in vocabulary.topics[vocabulary.ordinary : vocabulary.in_use]
        for word in topic.words[:12]
    ]
    town.execute(
        "create or replace temp table typical as select unnest($1) as topic, unnest($2) as word",
        [[topic for topic, _ in words], [word for _, word in words]],
    )
    rows = town.execute(
        """with hits as (
             select distinct client_id, query_id, date_diff('day', timestamp '2024-03-01', timestamp) as day
             from log join truth on id = client_id and fact = $1
             join typical on typical.topic = truth.topic and list_contains(string_split(user_query, ' '), word)
             where action = 'query'),
           news as (select id as topic, value as news from truth where fact = 'news-day')
           select count(distinct day // 7), avg((day between news - 1 and news + 2)::int)
           from hits join truth on id = client_id and fact = $1 join news on news.topic = truth.topic
           group by client_id""",
        [role],
    ).fetchall()
    return [(int(weeks), float(share)) for weeks, share in rows]


def test_afflicted_people_come_back_and_curious_people_come_once(
    town: duckdb.DuckDBPyConnection, vocabulary: Vocabulary
) -> None:
    afflicted = weeks_of_interest(town, vocabulary, "afflicted")
    curious = weeks_of_interest(town, vocabulary, "curious")
    assert len(afflicted) > 250
    assert len(curious) > 150
    assert np.median([weeks for weeks, _ in afflicted]) >= 8
    assert np.median([weeks for weeks, _ in curious]) <= 3
    assert np.mean([share for _, share in curious]) > 0.6
    assert np.mean([share for _, share in afflicted]) < 0.2


def topics_of_the_domain(town: duckdb.DuckDBPyConnection, role: str) -> float:
    """How many topics of the domain an average person of a role clicked on."""
    return one(
        town,
        f"""select avg(topics) from (
              select client_id, count(distinct domain.topic) as topics
              from log join truth on truth.id = client_id and truth.fact = '{role}'
              join truth as domain on domain.id = truth.topic and domain.fact = 'domain'
                and domain.topic = string_split(object_id, '/')[4]
              where action = 'click' group by client_id)""",
    )


def test_professionals_read_all_over_the_domain(town: duckdb.DuckDBPyConnection) -> None:
    assert topics_of_the_domain(town, "professional") > 1.5 * topics_of_the_domain(town, "afflicted")


def test_blocks_do_not_depend_on_threads_order_or_batches() -> None:
    maker = LogMaker.of(World(3000))
    in_order = list(log_blocks(World(3000)))
    with ThreadPoolExecutor(3) as pool:
        backwards = list(pool.map(maker.block, [2, 1, 0]))
    assert all(one.equals(other) for one, other in zip(in_order, reversed(backwards), strict=True))


def test_the_same_people_do_the_same_in_a_larger_world() -> None:
    few = LogMaker.of(World(2048)).block(1).drop_columns(["object_id"])
    many = LogMaker.of(World(9000)).block(1).drop_columns(["object_id"])
    assert few.equals(many)


def test_another_seed_gives_another_log() -> None:
    logs = [next(log_blocks(World(200, seed=seed))) for seed in (7, 8)]
    assert not logs[0].equals(logs[1])


def test_queries_are_packed_and_unpacked() -> None:
    topics, ranks, forms = np.array([0, 51, 310]), np.array([0, 5, 2**30 - 1]), np.array([3, 0, 2])
    for packed, unpacked in zip(
        (topics, ranks, forms), unpack_queries(pack_queries(topics, ranks, forms)), strict=True
    ):
        assert np.array_equal(packed, unpacked)


def test_the_forms_of_a_need_are_four_different_texts(vocabulary: Vocabulary) -> None:
    wording = Wording(7, vocabulary)
    ranks = np.repeat(np.arange(3000), FORMS)
    topics = np.repeat(np.arange(3000) % (wording.sites + 1), FORMS)
    ranks = np.where(topics == wording.sites, ranks % 400, ranks)
    texts = wording.texts(pack_queries(topics, ranks, np.tile(np.arange(FORMS), 3000))).to_pylist()
    groups = [texts[place : place + FORMS] for place in range(0, len(texts), FORMS)]
    assert all(len(set(group)) == FORMS for group in groups)
    assert all(1 <= len(text.split()) <= 7 and len(set(text.split())) == len(text.split()) for text in texts)


def test_ranks_have_no_end_but_stay_in_bounds() -> None:
    ranks = draw_ranks(np.array([0.0, 0.5, 1 - 2.0**-53]))
    assert ranks[0] == 0
    assert 0 < ranks[1] < 100
    assert ranks[2] == 2**30 - 1
