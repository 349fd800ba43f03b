"""The community: short posts, questions and answers, and an anonymous sister community.

Forums are topics. People write under their pseudonym in the open community and under a fresh name for every post in
the anonymous one, where sensitive topics are far more common. Some posts will be deleted later, sensitive ones more
often. Afflicted people come back to their topic, always in the same few words; professionals write much, about all of
its domain; curious people write a few posts within two days of the news. Others touch sensitive topics in passing: now
and then a post is about one by less than half, and many posts borrow a few of its words for something else. Answers
reply to questions of the same block of people. Nobody's style is modelled beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aidos.world.columns import Column, choose, column, glue, take, texts
from aidos.world.log import BURST_DAYS, draw_domain, local_starts
from aidos.world.people import ROLES, People, block_count, draw_topics, news_days, people_block
from aidos.world.prose import Prose, client_texts, digit_texts, site_address
from aidos.world.size import START, World
from aidos.world.streams import Flags, Floats, Ints, fresh_stream, hash_numbers, hash_units
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, build_vocabulary, zipf_cumulative

__all__ = ["KINDS", "post_blocks", "post_table"]

KINDS = ("post", "question", "answer")
KIND_SHARES = (0.25, 0.30, 0.45)
LENGTHS = ((8, 26), (15, 61), (20, 91))
"""Shortest and one more than the longest text, by kind."""
TITLE = (4, 9)

MEMBERS = 0.5
POSTS_A_MEMBER = 6.0
ROLE_POSTS = (0.0, 6.0, 20.0, 3.0)
"""What people write because of their role, on average, in the order of `ROLES`."""
HABITUAL_WORDS = 12
"""Words of her topic that an afflicted person keeps to: about as many as in her searches."""
ANONYMOUS, ANONYMOUS_SENSITIVE = 0.10, 0.50
DELETED, DELETED_SENSITIVE, DELETED_AFFLICTED = 0.03, 0.12, 0.25
BACKGROUND = 0.4
ON_TOPIC, IN_PASSING = 0.85, 0.4
"""How much of a post is about its topic; the second where it is a sensitive one that its author has no role in."""
BORROWED = 0.2
"""How many posts have words of a sensitive topic as their second one."""
DECORATED = 0.15
DECORATIONS = ("!!", "???", "...", ":)", ":(", "haha", "hahaha", "sooo tired", "nooo", "#help", "#news", "@fernpost")


@dataclass(frozen=True, slots=True)
class _Posts:
    """Posts of a block of people, by time."""

    people: Ints
    """The place of the author in the block."""
    topics: Ints
    times: Ints
    """Seconds after the world's beginning."""
    kinds: Ints
    shares: Floats
    """How much of it is about its topic."""
    habitual: Flags
    """Whether it is in the few words that an afflicted person has for her topic."""
    anonymous: Flags
    deleted: Flags
    parents: Ints
    """The place of the post that is answered; -1 for none."""


def post_blocks(world: World) -> Iterator[pa.Table]:
    """All posts, a block of people at a time."""
    vocabulary = build_vocabulary(world)
    prose = Prose(vocabulary)
    for block in range(block_count(world)):
        yield post_table(world, vocabulary, prose, block)


def post_table(world: World, vocabulary: Vocabulary, prose: Prose, block: int) -> pa.Table:
    """The posts of one block of people."""
    stream = fresh_stream(world.seed, "posts", block)
    people = people_block(world, vocabulary, block)
    posts = _draw_posts(world, vocabulary, people, stream)
    number = len(posts.people)
    habits = _habits(world, people.numbers[posts.people], posts.habitual)
    titles, bodies = _write(prose, vocabulary, posts, habits, stream)
    ids = digit_texts("p", (np.full(number, block), 5), (np.arange(number), 6))
    strangers = digit_texts("anon", (hash_numbers(world.seed, "stranger", block, np.arange(number)) % 10**9, 9))
    names = take(client_texts(people.numbers), posts.people)
    forums = texts([topic.id for topic in vocabulary.topics])
    parents = texts([topic.parent for topic in vocabulary.topics])
    return pa.table(
        {
            "post_id": ids,
            "author_id": choose(posts.anonymous.astype(np.int64), names, strangers),
            "timestamp": column(posts.times + int(START.timestamp()), pa.timestamp("s")),
            "text": bodies,
            "title": titles,
            "forum": take(forums, posts.topics),
            "kind": take(texts(KINDS), posts.kinds),
            "parent_id": take(ids, posts.parents, posts.parents < 0),
            "tags": take(parents, posts.topics),
            "score": column((stream.pareto(1.5, number) * 2).clip(0, 5000).astype(np.int32)),
            "community": take(texts(("open", "anonymous")), posts.anonymous.astype(np.int64)),
            "deleted_later": column(posts.deleted),
        }
    )


def _draw_posts(world: World, vocabulary: Vocabulary, people: People, stream: np.random.Generator) -> _Posts:
    members = hash_units(world.seed, "member", people.numbers) < MEMBERS
    usual = np.repeat(np.arange(len(people)), stream.poisson(POSTS_A_MEMBER * people.activity * members))
    special = np.repeat(np.arange(len(people)), stream.poisson(np.array(ROLE_POSTS)[people.roles] * members))
    professional = people.roles[special] == ROLES.index("professional")
    about = people.role_topics[special]
    about[professional] = draw_domain(vocabulary, about[professional], stream)
    who = np.concatenate([usual, special])
    topics = np.concatenate([draw_topics(people, usual, stream), about])
    days = stream.random(len(who)) * world.days
    days[len(usual) :] = _days(world, vocabulary, people, special, days[len(usual) :])
    times = local_starts(days, people.utc_offsets[who], world, stream)
    order = np.lexsort((who, times))
    who, topics, times = who[order], topics[order], times[order]
    sensitive = (topics >= vocabulary.ordinary) & (topics < vocabulary.in_use)
    anonymous = stream.random(len(who)) < np.where(sensitive, ANONYMOUS_SENSITIVE, ANONYMOUS)
    own_topic = people.role_topics[who] == topics
    own_trouble = own_topic & (people.roles[who] == ROLES.index("afflicted"))
    passing = sensitive & ~own_topic & (people.roles[who] != ROLES.index("professional"))
    rate = np.select([own_trouble, sensitive], [DELETED_AFFLICTED, DELETED_SENSITIVE], DELETED)
    deleted = stream.random(len(who)) < rate
    kinds = stream.choice(len(KINDS), len(who), p=KIND_SHARES)
    parents = _answered(kinds, topics * 2 + anonymous, stream)
    kinds[(kinds == KINDS.index("answer")) & (parents < 0)] = KINDS.index("post")
    shares = np.where(passing, IN_PASSING, ON_TOPIC)
    return _Posts(who, topics, times, kinds, shares, own_trouble, anonymous, deleted, parents)


def _days(world: World, vocabulary: Vocabulary, people: People, who: Ints, any_day: Floats) -> Floats:
    """Any day, but for curious people one soon after the news."""
    news = news_days(world, vocabulary)
    broke = np.array([news[topic] for topic in people.role_topics[who].tolist()], dtype=np.float64)
    curious = people.roles[who] == ROLES.index("curious")
    return np.where(curious, broke + any_day / world.days * BURST_DAYS, any_day)


def _habits(world: World, authors: Ints, habitual: Flags) -> Ints:
    """The places of the words that the author keeps to, a row a post; -1 where she uses all words of the topic."""
    weights = np.diff(zipf_cumulative(WORDS_PER_TOPIC), prepend=0.0)
    units = hash_units(world.seed, "habit", authors[habitual][:, None], np.arange(WORDS_PER_TOPIC)[None, :])
    # The least of exponential variables divided by weights: a draw by weight, without putting back.
    drawn = np.argsort(-np.log1p(-units) / weights, axis=1)[:, :HABITUAL_WORDS]
    habits = np.full((len(authors), HABITUAL_WORDS), -1, dtype=np.int64)
    habits[habitual] = drawn
    return habits


def _answered(kinds: Ints, forums: Ints, stream: np.random.Generator) -> Ints:
    """For each answer an earlier question of its forum, any of them; -1 where there is none."""
    order = np.argsort(forums, kind="stable")
    question = kinds[order] == KINDS.index("question")
    asked = np.cumsum(question) - question
    first = np.concatenate([[True], forums[order][1:] != forums[order][:-1]]) if len(order) else question
    before_forum = asked[first][np.cumsum(first) - 1] if len(order) else asked
    choice = before_forum + (stream.random(len(order)) * (asked - before_forum)).astype(np.int64)
    questions = np.append(order[question], -1)
    answers = (kinds[order] == KINDS.index("answer")) & (asked > before_forum)
    parents = np.full(len(order), -1, dtype=np.int64)
    parents[order[answers]] = questions[choice[answers]]
    return parents


def _second_topics(vocabulary: Vocabulary, number: int, stream: np.random.Generator) -> Ints:
    """What else posts are about: mostly something ordinary."""
    borrowed = stream.random(number) < BORROWED
    sensitive = stream.integers(vocabulary.ordinary, vocabulary.in_use, number)
    return np.where(borrowed, sensitive, stream.integers(0, vocabulary.ordinary, number))


def _write(
    prose: Prose, vocabulary: Vocabulary, posts: _Posts, habits: Ints, stream: np.random.Generator
) -> tuple[Column, Column]:
    """Titles (of questions only) and texts."""
    number = len(posts.topics)
    mix = (posts.topics, _second_topics(vocabulary, number, stream), posts.shares)
    low, high = np.array(LENGTHS)[posts.kinds].reshape(-1, 2).T
    bodies = prose.draw(stream, stream.integers(low, high), mix, BACKGROUND, habits)
    written = prose.write(bodies, prose.sentence_ends(stream, bodies))
    extras = texts(["", *(f" {decoration}" for decoration in (*DECORATIONS, site_address("fernpost")))])
    decorated = stream.random(number) < DECORATED
    chosen = np.where(decorated, stream.integers(1, len(extras), number), 0)
    heads = prose.draw(stream, stream.integers(*TITLE, number), mix, BACKGROUND, habits)
    titles = prose.write(heads, np.zeros(len(heads.words), dtype=np.bool_))
    places = np.arange(number)
    return (
        take(titles, places, posts.kinds != KINDS.index("question")),
        glue(written, take(extras, chosen)),
    )
