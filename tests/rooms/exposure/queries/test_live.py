"""Results straight from the posts against brute force."""

import random
from pathlib import Path

import numpy as np
import pytest
from made_posts import as_table, compute_posts, made_post
from made_store import FORMS, check_answers, check_store

from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.exposure.queries import collection
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.live import apart_lists, pair_lists, scores_of, term_lists
from aidos.rooms.exposure.queries.records import NO_TERM, Lists
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.state import State
from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost, answer_of


def made(seed: int, number: int = 14) -> list[BrutePost]:
    draws = random.Random(seed)
    texts = [" ".join(draws.choices("abcdefghij", k=draws.randint(0, 7))) for _ in range(number)]
    return [made_post(f"p{at}", text, draws.choice(["anna", "ben"]), at % 3) for at, text in enumerate(texts)]


def opened(path: Path, posts: list[BrutePost], asked: SearchExposure) -> State:
    compute_posts(posts, asked, path)
    return ExposureStore.open(path).state


def check_lists(state: State, lists: Lists, posts: list[BrutePost]) -> None:
    """Every list is what brute force says, with one more behind the first k."""
    ids, k = state.base.post_ids.to_pylist(), state.settings.k
    for at, (one, other) in enumerate(zip(lists.ones.tolist(), lists.others.tolist(), strict=True)):
        query = state.word_texts(state.word_numbers(np.array([one, other] if other != NO_TERM else [one])))
        answer = answer_of(query, posts, state.settings)
        mine = slice(lists.starts[at], lists.starts[at + 1])
        assert [ids[post] for post in lists.posts[mine][:k]] == list(answer.posts)
        assert lists.scores[mine][:k].tolist() == list(answer.scores)
        assert lists.whole[mine][:k].tolist() == list(answer.whole)
        told = (lists.documents[at], lists.certain[at], lists.evenness[at])
        assert told == (answer.documents, answer.certain, answer.evenness)
        assert len(lists.posts[mine]) <= k + 1
        scores, orders, held = scores_of(
            state.ground,
            lists.posts[mine],
            np.full(len(lists.posts[mine]), one, dtype=np.int32),
            np.full(len(lists.posts[mine]), other, dtype=np.int32),
            words=len(query),
        )
        assert scores.tolist() == lists.scores[mine].tolist()
        assert orders.tolist() == lists.orders[mine].tolist()
        assert (held == len(query)).tolist() == lists.whole[mine].tolist()


@pytest.mark.parametrize("scorer", FORMS)
@pytest.mark.parametrize("semantics", ["or", "and"])
def test_all_pairs_of_a_word_and_all_words(tmp_path: Path, scorer: str, semantics: str) -> None:
    posts = made(len(scorer))
    asked = SearchExposure(k=2, scorer=scorer, semantics=semantics)  # type: ignore[arg-type]
    state = opened(tmp_path / "exposure", posts, asked)
    terms = np.arange(state.words, dtype=np.int32)
    check_lists(state, term_lists(state.ground, terms), posts)
    found = pair_lists(state.ground, [(int(term), None) for term in terms], state.singles.twos)
    for term, lists in zip(terms, found, strict=True):
        word = state.word_texts(state.word_numbers(np.array([term])))[0]
        assert (
            len(lists) == len({each for post in posts if word in post.text.split() for each in post.text.split()}) - 1
        )
        check_lists(state, lists, posts)


def test_chosen_pairs_held_together_or_not(tmp_path: Path) -> None:
    posts = made(3)
    state = opened(tmp_path / "exposure", posts, SearchExposure(k=3))
    terms = np.arange(state.words, dtype=np.int32)
    wanted = [(int(term), terms[terms != term]) for term in terms]
    one, several = (pair_lists(state.ground, wanted, state.singles.twos, threads=threads) for threads in (1, 3))
    for lists, again in zip(one, several, strict=True):
        check_lists(state, lists, posts)
        assert np.array_equal(lists.posts, again.posts)
        apart = np.flatnonzero(lists.documents == 0)
        alone = apart_lists(state.ground, int(lists.ones[0]), lists.others[apart], state.singles.twos)
        assert np.array_equal(alone.posts, lists.take(apart).posts)
        assert np.array_equal(alone.evenness, lists.take(apart).evenness)
    assert any((lists.documents == 0).any() for lists in one)


def test_single_lists_are_those_that_were_computed(tmp_path: Path) -> None:
    state = opened(tmp_path / "exposure", made(4), SearchExposure(k=2))
    terms = np.arange(state.words, dtype=np.int32)
    for words, stored in ((1, state.singles.ones(state.word_numbers(terms))), (2, state.singles.twos(terms))):
        lists = term_lists(state.ground, terms, words=words)
        for column in ("starts", "scores", "orders", "posts"):
            assert np.array_equal(getattr(lists, column), getattr(stored, column))


def test_an_index_in_many_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "BATCH", 16)
    posts, asked = made(7, 40), SearchExposure(k=3)
    with EmbeddedEngine(threads=1) as engine:
        compute(engine.table(as_table(posts)), asked, tmp_path / "exposure", memory="1kB", threads=1)
    store = ExposureStore.open(tmp_path / "exposure")
    assert len(store.state.base.index.segments) > 1
    gone = [post.post_id for post in posts[::7]]
    store.delete(gone)
    left = [post for post in posts if post.post_id not in gone]
    check_store(left, store, posts)
    check_answers(left, store, posts)


def test_no_pairs_no_lists(tmp_path: Path) -> None:
    state = opened(tmp_path / "exposure", made(3), SearchExposure(k=3))
    assert pair_lists(state.ground, [], state.singles.twos) == []
    assert len(Lists.empty()) == len(term_lists(state.ground, np.zeros(0, dtype=np.int32))) == 0
