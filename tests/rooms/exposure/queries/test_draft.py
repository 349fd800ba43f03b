"""Drafts against adding the post and looking it up."""

import tempfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_posts import START, as_table, collections, compute_posts, made_post, searches
from made_store import FORMS

from aidos.errors import InputError
from aidos.rooms.exposure.queries import draft as drafts
from aidos.rooms.exposure.queries.draft import DRAFT, new_words
from aidos.rooms.exposure.queries.records import Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost

COLUMNS = ("first", "second", "ranks", "whole", "certain", "documents", "evenness")
LAST = "\U0010ffff"
"""An id behind all others, as a post without one is taken."""
POSTS = [
    made_post("p0", "a b c", "anna", 0),
    made_post("p1", "a b", "ben", 1),
    made_post("p2", "c d", "anna", 2),
    made_post("p3", "a a d e", "cleo", 1),
]


def check_draft(store: ExposureStore, text: str, day: int, name: str) -> Exposures:
    """A draft equals adding the post; the post stays."""
    found = store.draft(text, member=0, when=START + timedelta(days=day))
    author = store.author([0])[0]
    store.add(as_table([made_post(name, text, author, day)]))
    there = store.member(0)
    there = there.take(there.posts == store.state.posts - 1)
    for column in COLUMNS:
        mine, theirs = getattr(found, column), getattr(there, column)
        if column == "certain" and store.settings.ties == "id":
            assert not (mine & ~theirs).any()
        else:
            assert mine.tolist() == theirs.tolist(), column
        assert mine.dtype == theirs.dtype
    assert set(found.posts.tolist()) <= {DRAFT}
    assert set(found.members.tolist()) <= {0}
    return found


@given(
    collections().filter(lambda posts: any(post.text for post in posts)),
    searches(),
    st.lists(st.tuples(st.lists(st.sampled_from("abcdefxyz"), max_size=7), st.integers(0, 3)), min_size=1, max_size=3),
    st.sampled_from([0, 2, 10_000]),
)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_a_draft_equals_adding_the_post(
    posts: list[BrutePost], asked: SearchExposure, texts: list[tuple[list[str], int]], quick: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # Words are scanned or looked up, whichever is faster; both must hold.
        patch.setattr(drafts, "QUICK", quick)
        compute_posts(posts, asked, Path(folder) / "exposure")
        store = ExposureStore.open(Path(folder) / "exposure")
        for at, (words, day) in enumerate(texts):
            check_draft(store, " ".join(words), day, LAST * (at + 1))


@pytest.mark.parametrize("scorer", FORMS)
@pytest.mark.parametrize("semantics", ["or", "and"])
def test_every_scorer(tmp_path: Path, scorer: str, semantics: str) -> None:
    asked = SearchExposure(k=2, scorer=scorer, semantics=semantics)  # type: ignore[arg-type]
    compute_posts(POSTS, asked, tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    assert len(check_draft(store, "b x", 5, LAST))
    check_draft(store, "a d d", 1, LAST * 2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ExposureStore:
    target = tmp_path_factory.mktemp("draft") / "exposure"
    compute_posts(POSTS, SearchExposure(k=2, longest_post=5), target)
    return ExposureStore.open(target)


def test_unknown_words_only_make_the_draft_the_first_of_all(store: ExposureStore) -> None:
    found = store.draft("never heard before", when=START)
    assert len(found) == 6
    assert set(found.ranks.tolist()) == {1}
    assert found.certain.all() and found.whole.all()
    assert new_words(store.state, "a never heard a before") == ["never", "heard", "before"]
    assert sorted({*found.first.tolist(), *found.second.tolist()}) == [-1, 5, 6, 7]


def test_an_empty_draft_is_found_by_nothing(store: ExposureStore) -> None:
    assert len(store.draft("", when=START)) == len(store.draft("!!! ...", when=START)) == 0


def test_a_long_draft_is_cut_like_a_post(store: ExposureStore) -> None:
    long, cut = (store.draft(text, when=START) for text in ("a b c d e f g h", "a b c d e"))
    assert all(getattr(long, column).tolist() == getattr(cut, column).tolist() for column in COLUMNS)
    assert len(cut)


def test_the_time_decides_ties_with_or_without_a_zone(store: ExposureStore) -> None:
    def ranks(when: datetime) -> list[int]:
        return store.draft("a b", when=when).ranks.tolist()

    equal, later = START + timedelta(days=1), START + timedelta(days=1, seconds=1)
    assert ranks(later) != ranks(equal)
    zone = timezone(timedelta(hours=5))
    for when in (equal, later):
        assert ranks(when) == ranks(when.replace(tzinfo=UTC)) == ranks(when.replace(tzinfo=UTC).astimezone(zone))


def test_without_a_member_it_belongs_to_nobody(store: ExposureStore) -> None:
    assert set(store.draft("a b", when=START).members.tolist()) == {-1}


def test_by_id_a_tied_rank_is_not_certain(tmp_path: Path) -> None:
    compute_posts(POSTS, SearchExposure(k=10, ties="id"), tmp_path / "exposure")
    found = ExposureStore.open(tmp_path / "exposure").draft("a b", when=START)
    whole = found.take((found.second >= 0) & found.whole)
    assert (whole.ranks.tolist(), whole.certain.tolist()) == ([2], [False])
    assert ExposureStore.open(tmp_path / "exposure").draft("e", when=START).certain.all()


def test_a_language_without_words_scores_nothing(tmp_path: Path) -> None:
    compute_posts([made_post("p", "")], SearchExposure(), tmp_path / "exposure")
    empty = ExposureStore.open(tmp_path / "exposure")
    assert len(empty.draft("", when=START)) == 0
    with pytest.raises(InputError, match="no post held a word"):
        empty.draft("a", when=START)


def test_partial_matches_are_told(store: ExposureStore) -> None:
    found = store.draft("d", when=START + timedelta(days=9))
    partial = found.take(~found.whole)
    assert len(partial)
    words = store.word_numbers(["d"])[0]
    assert np.all((partial.first == words) | (partial.second == words))
