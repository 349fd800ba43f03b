from __future__ import annotations

import duckdb

from aidos.core.records import POSTS
from aidos.world.posts import HABITUAL_WORDS, post_blocks
from aidos.world.size import World
from aidos.world.vocabulary import Vocabulary


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


MINE = """select posts.*, role.fact as role, role.topic, news.value as day, date_diff('hour', timestamp '2024-03-01',
                 timestamp) / 24 as moment from posts
          join truth role on role.about = 'person' and role.id = author_id and role.fact = '{}'
          join truth news on news.fact = 'news-day' and news.id = role.topic where community = 'open'"""
"""Posts of people with a role, beside its topic and the day of the news about it."""


def number(town: duckdb.DuckDBPyConnection, role: str, what: str) -> float:
    """A number about the posts of people with a role."""
    found = town.execute(f"with mine as ({MINE.format(role)}) {what}").fetchone()
    assert found is not None
    return float(found[0])


def test_curious_people_write_when_news_breaks_and_afflicted_people_all_the_time(
    town: duckdb.DuckDBPyConnection,
) -> None:
    in_time = "select avg((moment between day - 1 and day + 3)::int) from mine where forum = topic"
    assert number(town, "curious", in_time) > 0.9
    assert number(town, "afflicted", in_time) < 0.15
    often = "select avg(posts) from (select count(*) as posts from mine where forum = topic group by author_id)"
    assert number(town, "afflicted", often) > 2.5


def test_professionals_write_about_several_topics_of_the_domain(town: duckdb.DuckDBPyConnection) -> None:
    broad = """select avg(topics) from (
                 select count(distinct forum) as topics from mine
                 where forum in (select topic from truth where fact = 'domain' and id = mine.topic)
                 group by author_id)"""
    assert number(town, "professional", broad) > 2.5
    assert number(town, "afflicted", broad) < 1.2


def test_afflicted_people_keep_to_few_words_of_their_topic(
    town: duckdb.DuckDBPyConnection, vocabulary: Vocabulary
) -> None:
    words = {
        topic.id: {vocabulary.words[word] for word in row}
        for topic, row in zip(vocabulary.topics, vocabulary.topic_words, strict=True)
    }
    used = {}
    for role in ("afflicted", "curious"):
        rows = town.execute(
            f"with mine as ({MINE.format(role)}) select topic, string_agg(lower(text), ' ') from mine "
            "where forum = topic group by author_id, topic having sum(length(text)) between 500 and 1000"
        ).fetchall()
        assert len(rows) > 15
        used[role] = sum(len(words[topic] & set(text.replace(".", "").split())) for topic, text in rows) / len(rows)
    assert used["afflicted"] < 0.65 * used["curious"]
    assert used["afflicted"] < HABITUAL_WORDS + 3


def test_a_world_of_one_person_has_posts_or_none_but_no_error() -> None:
    for seed in range(6):
        assert sum(len(table) for table in post_blocks(World(1, seed=seed))) < 200
