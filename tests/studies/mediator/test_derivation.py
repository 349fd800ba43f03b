"""Questions become queries by tf-idf, answers documents, forums or tags topics; what is missing is said."""

from datetime import UTC, datetime
from math import log

import numpy as np
import pyarrow as pa
import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.model.text.analyser import Analyser
from aidos.studies.mediator.derivation import Derivation, index_answers
from aidos.studies.mediator.world import ThesisWorld, write_posts

PLAIN = Analyser()


def posts(rows):
    """Author, forum, kind, text, in the order of time."""
    return pa.table(
        {
            "post_id": [f"p{number}" for number in range(len(rows))],
            "author_id": [row[0] for row in rows],
            "timestamp": [datetime(2020, 1, 1 + number, tzinfo=UTC) for number in range(len(rows))],
            "text": [row[3] for row in rows],
            "title": [row[4] if len(row) > 4 else None for row in rows],
            "forum": [row[1] for row in rows],
            "kind": [row[2] for row in rows],
            "tags": [f" {row[1]}-tag other" if row[1] else None for row in rows],
        },
        schema=pa.schema(
            [("post_id", pa.string()), ("author_id", pa.string()), ("timestamp", pa.timestamp("us"))]
            + [(name, pa.string()) for name in ("text", "title", "forum", "kind", "tags")]
        ),
    )


COMMUNITY = [
    ("ann", "cats", "question", "cats cats purr the the", "whiskers"),
    ("bob", "cats", "answer", "cats purr because the cats are happy"),
    ("ann", "tea", "question", "the green tea"),
    ("cid", "tea", "question", "the tea"),
    (None, "tea", "question", "the nobody asks"),
    ("ann", None, "question", "the topicless"),
    ("ann", "tea", "question", "..."),
    ("bob", "tea", "answer", "green tea the tea"),
    ("ann", "cats", "question", "the dog"),
]


def words(rows):
    """By question, the words with their tf-idf, computed plainly."""
    number = len(rows)
    return [
        {word: row.count(word) * log(number / sum(word in other for other in rows)) for word in set(row)}
        for row in rows
    ]


def derive(table, **settings):
    return Derivation(least_questions=3, **settings).derive(table, index_answers(table, analyser=PLAIN))


def test_a_question_becomes_its_words_of_highest_weight():
    log_made = derive(posts(COMMUNITY), fewest_words=2, most_words=2)
    assert log_made.people == ("ann",)
    assert log_made.topics == ("cats", "tea")
    assert log_made.objects.topics.tolist() == [0, 1, 0]
    assert log_made.left_out == 2
    asked = [["whiskers", "cats", "cats", "purr", "the", "the"], ["the", "green", "tea"], ["the", "dog"]]
    for text, weights in zip(log_made.texts.to_pylist(), words(asked), strict=True):
        best = sorted(weights.values(), reverse=True)[:2]
        assert [weights[word] for word in text.split()] == pytest.approx(best)


def test_words_that_no_answer_holds_are_not_searched_and_not_spoken():
    table = posts(COMMUNITY)
    index = index_answers(table, analyser=PLAIN)
    log_made = Derivation(least_questions=3, most_words=5).derive(table, index)
    spoken = [index.vocabulary.term(int(term)) for term in log_made.terms]
    assert spoken == ["cats", "cats", "purr", "the", "the", "the", "green", "tea", "the"]
    assert log_made.starts.tolist() == [0, 5, 8, 9]
    assert len(log_made.queries) == 3
    assert set(log_made.queries.terms) <= set(log_made.terms)


def test_lengths_are_drawn_from_the_range_and_repeatable():
    objects = ThesisWorld(people=8, topics=5, least_queries=40).draw(1)
    table = write_posts(objects, 1, answers=300)
    index = index_answers(table)
    made = [Derivation(least_questions=40, seed=seed).derive(table, index) for seed in (1, 1, 2)]
    lengths = np.array([len(text.split()) for text in made[0].texts.to_pylist()])
    assert set(lengths) == {2, 3, 4, 5}
    assert made[0].texts.equals(made[1].texts)
    assert not made[0].texts.equals(made[2].texts)
    assert len(made[0]) == len(objects)


def test_a_table_of_the_engine_gives_the_same_log():
    table = posts(COMMUNITY)
    with EmbeddedEngine() as engine:
        held = engine.table(table)
        index = index_answers(held, analyser=PLAIN)
        there = Derivation(least_questions=3).derive(held, index)
    here = derive(table)
    assert there.texts.to_pylist() == here.texts.to_pylist()
    assert there.objects.topics.tolist() == here.objects.topics.tolist()


def test_the_first_tag_may_be_the_topic():
    assert derive(posts(COMMUNITY), topic="tag").topics == ("cats-tag", "tea-tag")


def test_what_is_missing_is_said():
    with pytest.raises(InputError, match="nobody asked 150 questions; the most are 5"):
        Derivation().derive(posts(COMMUNITY), index_answers(posts(COMMUNITY)))
    with pytest.raises(InputError, match="kind"):
        index_answers(posts(COMMUNITY).drop_columns(["kind"]))
    with pytest.raises(InputError, match="forum"):
        derive(posts(COMMUNITY).drop_columns(["forum"]))
    with pytest.raises(ParameterError, match="fewest_words"):
        Derivation(fewest_words=6)


def test_posts_of_a_site_that_is_not_named_are_refused_with_a_way_out():
    unnamed = posts([(author, None, *rest) for author, _, *rest in COMMUNITY])
    with pytest.raises(InputError, match="no question has a forum") as refused:
        derive(unnamed)
    assert "tag" in refused.value.hint
