"""What a store must hold, by brute force, for tests."""

from collections.abc import Sequence

import numpy as np

from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost, all_answers, answer_of

FORMS = ("ql-dirichlet", "ql-dirichlet:matching_only=true", "ql-jm:weight=0.4", "bm25")
"""One scorer of each form."""


def rows_of(store: ExposureStore) -> set[tuple]:
    """All rows of all members: author, post, query, rank and the rest, with ids and words."""
    rows: set[tuple] = set()
    for member in range(store.state.members):
        found = store.member(member)
        order = np.lexsort((found.second, found.first, found.posts))
        assert np.array_equal(order, np.arange(len(found)))
        assert set(found.members.tolist()) <= {member}
        ids = store.posts(found.posts).column("post_id").to_pylist()
        texts = dict(enumerate(store.words(np.arange(store.state.words))))
        columns = (found.first, found.second, found.ranks, found.whole, found.certain, found.documents, found.evenness)
        for name, first, second, *rest in zip(ids, *(each.tolist() for each in columns), strict=True):
            assert second < 0 or first < second
            query = tuple(sorted(texts[word] for word in (first, second) if word >= 0))
            row = (store.author([member])[0], name, query, *rest)
            assert row not in rows
            rows.add(row)
    return rows


def expected_rows(
    posts: Sequence[BrutePost], store: ExposureStore, reference: Sequence[BrutePost] | None = None
) -> set[tuple]:
    """The same by brute force."""
    authors = {post.post_id: post.author_id for post in posts}
    rows = set()
    for query, answer in all_answers(posts, store.settings, reference=reference).items():
        for at, (post, whole) in enumerate(zip(answer.posts, answer.whole, strict=True)):
            told = (at + 1, whole, at < answer.certain, answer.documents, answer.evenness)
            rows.add((authors[post], post, query, *told))
    return rows


def check_answers(posts: Sequence[BrutePost], store: ExposureStore, reference: Sequence[BrutePost]) -> None:
    """Every query of one or two words of the posts is answered as by brute force, held together or not."""
    words = sorted({word for post in posts for word in post.text.split()})
    asked = [(word,) for word in words] + [(a, b) for at, a in enumerate(words) for b in words[at + 1 :]]
    for query in asked:
        mine, theirs = store.answer(" ".join(query)), answer_of(query, posts, store.settings, reference=reference)
        assert store.posts(mine.posts).column("post_id").to_pylist() == list(theirs.posts)
        assert mine.whole.tolist() == list(theirs.whole)
        assert (mine.documents, mine.evenness) == (theirs.documents, theirs.evenness)
        assert mine.certain.tolist() == [at < theirs.certain for at in range(len(theirs.posts))]
        assert mine.scores.tolist() == list(theirs.scores)
        assert mine.ranks.tolist() == list(range(1, len(theirs.posts) + 1))


def check_store(posts: Sequence[BrutePost], store: ExposureStore, reference: Sequence[BrutePost]) -> None:
    """All that a store holds is what brute force says, with the statistics of the reference."""
    answers = all_answers(posts, store.settings, reference=reference)
    assert rows_of(store) == expected_rows(posts, store, reference)
    assert store.facts.posts == len(posts)
    assert store.facts.queries == len(answers)
    assert store.facts.exposures == sum(len(answer.posts) for answer in answers.values())
