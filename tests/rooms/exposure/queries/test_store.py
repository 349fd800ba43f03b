"""Look-ups against brute force, and what they refuse."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from made_posts import as_table, compute_posts, made_post
from made_store import FORMS, check_answers, check_store

from aidos.errors import InputError, ParameterError
from aidos.jobs.desk import Desk
from aidos.report.page import render
from aidos.rooms.exposure.member import ShowMember
from aidos.rooms.exposure.queries import chunks
from aidos.rooms.exposure.queries.base import RowFile
from aidos.rooms.exposure.queries.records import NO_WORD
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore

POSTS = [
    made_post("p0", "a b c", "ben", 0),
    made_post("p1", "a b", "anna", 1),
    made_post("p2", "c d", "anna", 2),
    made_post("p3", "a a d e", "cleo", 1),
    made_post("p4", "", "ben", 1),
    made_post("p5", "a b", "dora", 1),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("store") / "exposure"
    compute_posts(POSTS, SearchExposure(k=2), target)
    return target


@pytest.fixture
def store(path: Path) -> Iterator[ExposureStore]:
    yield ExposureStore.open(path)


@pytest.mark.parametrize("scorer", FORMS)
@pytest.mark.parametrize("semantics", ["or", "and"])
def test_rows_and_answers_equal_brute_force(tmp_path: Path, scorer: str, semantics: str) -> None:
    asked = SearchExposure(k=2, scorer=scorer, semantics=semantics)  # type: ignore[arg-type]
    compute_posts(POSTS, asked, tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    check_store(POSTS, store, POSTS)
    check_answers(POSTS, store, POSTS)


def test_members_are_found_by_name(store: ExposureStore) -> None:
    assert [store.member_number(name) for name in ("anna", "ben", "cleo")] == [0, 1, 2]
    assert store.author([2, 0]) == ["cleo", "anna"]
    with pytest.raises(InputError, match="no member of that name") as caught:
        store.member_number("dave")
    assert "dave" not in caught.value.message + caught.value.hint
    with pytest.raises(InputError, match="no member of that number"):
        store.member(4)


def test_posts_come_in_the_order_asked(store: ExposureStore) -> None:
    mine = store.posts_of(0)
    assert store.posts(mine).column("post_id").to_pylist() == ["p1", "p2"]
    table = store.posts([mine[1], mine[0], mine[1]])
    assert table.column("text").to_pylist() == ["c d", "a b", "c d"]
    assert table.column("number").to_pylist() == [1, 0, 1]
    assert store.posts([]).num_rows == 0
    with pytest.raises(InputError, match="no post of that number"):
        store.posts([6])


def test_added_posts_stand_beside_the_others(path: Path, tmp_path: Path) -> None:
    shutil.copytree(path, tmp_path / "copy")
    store = ExposureStore.open(tmp_path / "copy")
    store.add(as_table([made_post("n0", "a z", "anna", 5), made_post("n1", "z z d", "zoe", 6)]))
    assert store.posts([6, 0, 7]).column("post_id").to_pylist() == ["n0", "p1", "n1"]
    assert store.posts_of(0).tolist() == [0, 1, 6]
    assert store.author([4, 0]) == ["zoe", "anna"]
    starts, words, frequencies = store.terms_of([7, 4])
    assert starts.tolist() == [0, 2, 5]
    assert dict(zip(store.words(words[:2]), frequencies.tolist(), strict=False)) == {"z": 2, "d": 1}
    assert store.words(store.word_numbers(["z", "a"])) == ["z", "a"]
    assert store.counts_of(store.word_numbers(["z", "a"])).tolist() == [1, 5]
    assert store.documents_of(store.word_numbers(["z", "a"])).tolist() == [1, 4]
    assert store.reference.documents == 6


def test_words_of_posts_are_counted(store: ExposureStore) -> None:
    starts, words, frequencies = store.terms_of([4, 3, 2])
    assert store.posts([4, 3, 2]).column("post_id").to_pylist() == ["p3", "p4", "p0"]
    assert starts.tolist() == [0, 3, 3, 6]
    assert dict(zip(store.words(words[:3]), frequencies[:3].tolist(), strict=True)) == {"a": 2, "d": 1, "e": 1}
    assert store.word_numbers(["unheard"]).tolist() == [-1]


def test_a_word_that_is_repeated_counts_once(store: ExposureStore) -> None:
    once, twice = store.answer("a"), store.answer("A a!")
    assert once.posts.tolist() == twice.posts.tolist()
    assert (twice.second, twice.documents) == (NO_WORD, 4)


def test_unknown_words_find_nothing_by_themselves(store: ExposureStore) -> None:
    for query in ("unheard", "unheard of"):
        answer = store.answer(query)
        assert (len(answer.posts), answer.documents, answer.first) == (0, 0, NO_WORD)
        assert answer.unknown == tuple(query.split())


def test_an_unknown_word_makes_it_a_query_of_two_words(store: ExposureStore, tmp_path: Path) -> None:
    answer = store.answer("a unheard")
    # Under the score of a two-word query the shortest posts come first, the newest among them by id.
    assert store.posts(answer.posts).column("post_id").to_pylist() == ["p1", "p5"]
    assert not answer.whole.any()
    assert (answer.documents, answer.unknown, store.words([answer.first])) == (0, ("unheard",), ["a"])
    compute_posts(POSTS, SearchExposure(semantics="and"), tmp_path / "and")
    assert len(ExposureStore.open(tmp_path / "and").answer("a unheard").posts) == 0


@pytest.mark.parametrize("query", ["", "...", "a b c"])
def test_queries_have_one_word_or_two(store: ExposureStore, query: str) -> None:
    with pytest.raises(ParameterError, match="one word or two"):
        store.answer(query)


def test_what_cannot_be_opened_is_told(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no exposure directory"):
        ExposureStore.open(tmp_path / "nowhere")
    shutil.copytree(path, tmp_path / "copy")
    store = ExposureStore.open(tmp_path / "copy")
    store.delete(["p0"])
    (tmp_path / "copy" / "changes" / "000001" / "added.arrow").write_bytes(b"broken")
    with pytest.raises(InputError, match="is damaged"):
        ExposureStore.open(tmp_path / "copy")
    (tmp_path / "copy" / "exposures" / "00000.parquet").unlink()
    with pytest.raises(InputError, match="is missing"):
        store.member(0)


def test_opening_reads_nothing_but_the_manifest(path: Path, tmp_path: Path) -> None:
    shutil.copytree(path, tmp_path / "copy")
    for name in ("index", "singles", "queries", "exposures"):
        shutil.rmtree(tmp_path / "copy" / name)
    assert ExposureStore.open(tmp_path / "copy").member_number("ben") == 1


def test_only_row_groups_that_can_hold_a_query_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "ROW_GROUP", 2)
    compute_posts(POSTS, SearchExposure(k=2), tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    check_answers(POSTS, store, POSTS)
    check_store(POSTS, store, POSTS)
    file = RowFile(tmp_path / "exposure" / "queries" / "00000.parquet")
    assert len(file.starts) > 3
    assert np.array_equal(
        file.read(1, 5).column("second").to_numpy(), file.read(0, len(file)).column("second").to_numpy()[1:5]
    )
    rows = np.array([4, 0, 4, 3])
    assert file.take(rows).to_pylist() == [file.read(row, row + 1).to_pylist()[0] for row in rows.tolist()]


def test_of_a_member_with_very_many_rows_some_are_read_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [made_post(f"p{at:02}", f"a b{at} c{at} d{at} e{at % 3}", "anna", at) for at in range(40)]
    compute_posts([*posts, made_post("q", "a b", "ben", 50)], SearchExposure(k=10), tmp_path / "e")
    store = ExposureStore.open(tmp_path / "e")
    everything = store.member(0)
    keys = set(zip(everything.posts.tolist(), everything.first.tolist(), everything.second.tolist(), strict=True))
    assert store.left_out(0, len(everything)) == 0
    for most in (len(everything) - 1, 100, 8):
        some = store.member(0, most)
        mine = list(zip(some.posts.tolist(), some.first.tolist(), some.second.tolist(), strict=True))
        assert len(mine) <= most
        assert len(mine) + store.left_out(0, most) == len(everything)
        assert len(set(mine)) == len(mine)
        assert keys.issuperset(mine)
        assert {int(some.posts[0]), int(some.posts[-1])} == {int(everything.posts[0]), int(everything.posts[-1])}
    monkeypatch.setattr("aidos.rooms.exposure.member.MOST_ROWS", 80)
    found = ShowMember(directory=tmp_path / "e", author_id="anna").run(Desk())
    assert (found.value.exposures, found.value.looked_at) == (len(everything), 80)
    assert f"80 of {len(everything):,} pairs of query and post were looked at" in found.value.sentence
    assert "at least" in render(found.page())
