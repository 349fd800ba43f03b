"""Who misses a list by a tie alone, against every query asked of every post."""

import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from made_posts import collections, compute_posts, made_post, searches

from aidos.rooms.exposure.queries import ties
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost, answer_of


def tied_by_brute_force(posts: list[BrutePost], query: tuple[str, ...], search: SearchExposure) -> set[str]:
    """The ids of posts that have the score of the last one shown, and are not shown."""
    shown = answer_of(query, posts, search)
    if len(shown.posts) < search.k:
        return set()
    everything = answer_of(query, posts, replace(search, k=100))
    scores = dict(zip(everything.posts, everything.scores, strict=True))
    return {name for name, score in scores.items() if score == shown.scores[-1]} - set(shown.posts)


def told(store: ExposureStore, member: int) -> set[tuple[str, tuple[str, ...]]]:
    found = store.tied_out(member)
    ids = store.posts(found.posts).column("post_id").to_pylist()
    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    words = [tuple(sorted(store.words([word for word in pair if word >= 0]))) for pair in pairs]
    rows = list(zip(ids, words, strict=True))
    assert len(set(rows)) == len(rows)
    return set(rows)


@settings(max_examples=60, deadline=None)
@given(collections(), searches())
def test_members_and_queries_are_told_of_every_tie_that_leaves_them_out(
    posts: list[BrutePost], search: SearchExposure
) -> None:
    search = replace(search, longest_post=1000)
    with tempfile.TemporaryDirectory() as made:
        compute_posts(posts, search, Path(made) / "e")
        store = ExposureStore.open(Path(made) / "e")
        expected: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
        for post in posts:
            words = sorted(set(post.text.split()))
            for query in [*((word,) for word in words), *combinations(words, 2)]:
                tied = tied_by_brute_force(posts, query, search)
                assert store.answer(" ".join(query)).tied_out == len(tied)
                if post.post_id in tied:
                    expected.setdefault(post.author_id, set()).add((post.post_id, query))
        for member, name in enumerate(store.author(range(store.facts.members))):
            assert told(store, member) == expected.get(name, set())


def test_it_holds_after_changes(tmp_path: Path) -> None:
    from made_posts import as_table

    posts = [made_post(f"p{at}", "same words", f"member{at}") for at in range(4)]
    search = SearchExposure(k=2)
    compute_posts(posts, search, tmp_path / "e")
    store = ExposureStore.open(tmp_path / "e")
    more = [made_post("new", "same words", "someone", 3)]
    store.add(as_table(more))
    assert store.answer("same words").tied_out == 3
    for member in range(store.facts.members):
        found = told(store, member)
        assert len(found) in {0, 3}
    store.delete(["p0", "p1"])
    assert store.answer("same").tied_out == 1
    assert store.answer("same unheard").tied_out == 1


def test_identical_posts_beyond_the_limits_are_told_as_the_least_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [made_post(f"p{at:02}", f"one two three only{at}", f"m{at % 3}", at) for at in range(30)]
    compute_posts(posts, SearchExposure(k=1), tmp_path / "e")
    store = ExposureStore.open(tmp_path / "e")
    everything = told(store, 0)
    assert len(everything) == 10 * 6
    assert store.tied_out(0).left_out == 0
    monkeypatch.setattr(ties, "ROWS", 20)
    few = store.tied_out(0)
    assert (few.looked_at, told(store, 0) < everything) == (2, True)
    monkeypatch.setattr(ties, "STEPS", 5)
    assert store.tied_out(0).left_out > 0
