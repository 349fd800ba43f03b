"""Remedies against deleting the post and adding the changed one."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_posts import as_table, compute_posts, made_post
from made_store import FORMS

from aidos.rooms.exposure.queries.remedies import Remedy, remedies, rewordings
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost, answer_of

STRANGE = "zzz"


def made(seed: int) -> list[BrutePost]:
    draws = random.Random(seed)
    texts = [" ".join(draws.choices("abcdef", k=draws.randint(1, 6))) for _ in range(12)]
    people = ["anna", "ben", "cleo"]
    return [made_post(f"p{at}", text, draws.choice(people), draws.randint(0, 2)) for at, text in enumerate(texts)]


def reworded(post: BrutePost, word: str) -> BrutePost:
    return replace(post, text=" ".join(STRANGE if each == word else each for each in post.text.split()))


@pytest.mark.parametrize("scorer", FORMS)
@pytest.mark.parametrize(("semantics", "ties", "k"), [("or", "newest", 2), ("or", "id", 3), ("and", "oldest", 2)])
def test_ranks_are_those_after_the_change(tmp_path: Path, scorer: str, semantics: str, ties: str, k: int) -> None:
    posts = made(len(scorer) + k)
    asked = SearchExposure(k=k, scorer=scorer, semantics=semantics, ties=ties)  # type: ignore[arg-type]
    compute_posts(posts, asked, tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    for member in range(store.facts.members):
        rows = store.member(member)
        ids = store.posts(rows.posts).column("post_id").to_pylist()
        for at, remedy in enumerate(remedies(store, rows)):
            query = store.words([word for word in (rows.first[at], rows.second[at]) if word >= 0])
            assert remedy.rank == rows.ranks[at]
            found = [remedy.without_first, remedy.without_second]
            for word, rank in zip(query, found, strict=False):
                changed = [reworded(post, word) if post.post_id == ids[at] else post for post in posts]
                left = answer_of(query, changed, asked, reference=posts).posts
                assert rank == (left.index(ids[at]) + 1 if ids[at] in left else None)
            assert len(query) == 2 or remedy.without_second is None


def test_deleting_the_post_and_adding_the_changed_one_gives_the_rank(tmp_path: Path) -> None:
    posts = made(5)
    compute_posts(posts, SearchExposure(k=10), tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    rows = store.member(1)
    told = remedies(store, rows)
    chosen = next(at for at, each in enumerate(told) if each.without_first not in {None, each.rank})
    first, second = store.words([rows.first[chosen], rows.second[chosen]])
    name = store.posts(rows.posts[[chosen]]).column("post_id")[0].as_py()
    old = next(post for post in posts if post.post_id == name)
    store.delete([name])
    store.add(as_table([reworded(old, first)]))
    answer = store.answer(f"{first} {second}")
    ids = store.posts(answer.posts).column("post_id").to_pylist()
    assert ids.index(name) + 1 == told[chosen].without_first
    assert not answer.whole[ids.index(name)]


def test_the_word_that_removes_most_rows_of_a_post_is_found(tmp_path: Path) -> None:
    posts = made(8)
    compute_posts(posts, SearchExposure(k=2), tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    rows = store.member(1)
    for found in rewordings(rows, remedies(store, rows)):
        mine = rows.take(rows.posts == found.post)
        assert found.rows == len(mine)
        name = store.posts([found.post]).column("post_id")[0].as_py()
        left = Counter[str]()
        for word in store.words(np.unique(np.concatenate([mine.first, mine.second[mine.second >= 0]]))):
            changed = [reworded(post, word) if post.post_id == name else post for post in posts]
            for first, second in zip(mine.first, mine.second, strict=True):
                query = store.words([each for each in (first, second) if each >= 0])
                left[word] += name not in answer_of(query, changed, store.settings, reference=posts).posts
        assert found.removed == max(left.values()) == left[store.words([found.word])[0]]


def test_no_rows_need_no_remedy(tmp_path: Path) -> None:
    compute_posts(made(1), SearchExposure(), tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    none = store.member(0).take(np.zeros(0, dtype=np.int64))
    assert remedies(store, none) == []
    assert rewordings(none, []) == []


def test_one_word_rows_are_removed_by_their_word(tmp_path: Path) -> None:
    compute_posts([made_post("p", "alone")], SearchExposure(), tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    assert remedies(store, store.member(0)) == [Remedy(rank=1, without_first=None, without_second=None)]
