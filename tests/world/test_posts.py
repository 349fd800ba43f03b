from __future__ import annotations

import duckdb

from aidos.core.records import POSTS
from aidos.world.posts import post_blocks
from aidos.world.size import World


def share(town: duckdb.DuckDBPyConnection, what: str, where: str) -> float:
    """How many of the posts about (in)sensitive topics in use are so."""
    found = town.execute(
        f"select avg(({what})::int) from posts join truth on truth.id = forum and fact = 'sensitive' where {where}"
    ).fetchone()
    assert found is not None
    return float(found[0])


def test_columns_begin_with_those_of_posts() -> None:
    names = next(post_blocks(World(50))).column_names
    assert tuple(names[: len(POSTS.columns)]) == POSTS.names()
    assert names[len(POSTS.columns) :] == ["community", "deleted_later"]


def test_sensitive_posts_are_deleted_more_often(town: duckdb.DuckDBPyConnection) -> None:
    assert share(town, "deleted_later", "value = 1") > 3 * share(town, "deleted_later", "value = 0") > 0.03


def test_the_anonymous_community_speaks_of_sensitive_topics(town: duckdb.DuckDBPyConnection) -> None:
    anonymous = share(town, "value = 1", "community = 'anonymous'")
    assert anonymous > 3 * share(town, "value = 1", "community = 'open'")


def test_anonymous_authors_write_one_post_and_have_no_pseudonym(town: duckdb.DuckDBPyConnection) -> None:
    posts, authors, known = town.execute(
        """select count(*), count(distinct author_id), count(*) filter (author_id in (select client_id from log))
           from posts where community = 'anonymous'"""
    ).fetchall()[0]
    assert posts == authors > 500
    assert known == 0


def test_answers_reply_to_earlier_questions_of_the_same_forum(town: duckdb.DuckDBPyConnection) -> None:
    answers, right = town.execute(
        """select count(*), count(*) filter (q.kind = 'question' and q.forum = a.forum and q.community = a.community
                                             and q.timestamp <= a.timestamp)
           from posts a left join posts q on q.post_id = a.parent_id where a.kind = 'answer'"""
    ).fetchall()[0]
    assert answers == right > 3000


def test_only_questions_have_titles_and_only_answers_parents(town: duckdb.DuckDBPyConnection) -> None:
    wrong = town.execute(
        """select count(*) from posts
           where (title is null) = (kind = 'question') or (parent_id is null) = (kind = 'answer')"""
    ).fetchall()
    assert wrong == [(0,)]


def test_post_ids_are_unique(town: duckdb.DuckDBPyConnection) -> None:
    posts, ids = town.execute("select count(*), count(distinct post_id) from posts").fetchall()[0]
    assert posts == ids > 15_000


def test_posts_are_mostly_in_words_of_their_forum(town: duckdb.DuckDBPyConnection) -> None:
    inside, outside = town.execute(
        """select avg(contains(lower(text), 'puppy')::int) filter (forum = 'dogs'),
                  avg(contains(lower(text), 'puppy')::int) filter (forum <> 'dogs') from posts"""
    ).fetchall()[0]
    assert inside > 0.4
    assert outside < 0.04


def test_a_world_of_one_person_has_posts_or_none_but_no_error() -> None:
    for seed in range(6):
        assert sum(len(table) for table in post_blocks(World(1, seed=seed))) < 200
