"""Changes against computing all again with the same statistics, by brute force; and against crashes and rivals."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_posts import START, as_table, collections, compute_posts, made_post, searches
from made_store import FORMS, check_answers, check_store

from aidos.errors import EngineError, InputError
from aidos.rooms.exposure.queries import changes
from aidos.rooms.exposure.queries.manifest import alone
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost

NEW_WORDS = "abcdefxyz"
POSTS = [
    made_post("p0", "a b c", "anna", 0),
    made_post("p1", "a b", "ben", 1),
    made_post("p2", "c d", "anna", 2),
    made_post("p3", "a a d e", "cleo", 1),
    made_post("p4", "b", "ben", 1),
]


@st.composite
def new_posts(draw: st.DrawFn, names: list[str]) -> list[BrutePost]:
    texts = st.lists(st.sampled_from(NEW_WORDS), max_size=5)
    people = st.sampled_from(["anna", "ben", "aaron", "zoe"])
    return [made_post(name, " ".join(draw(texts)), draw(people), draw(st.integers(0, 2))) for name in names]


def computed(path: Path, **asked: object) -> ExposureStore:
    compute_posts(POSTS, SearchExposure(**asked), path)  # type: ignore[arg-type]
    return ExposureStore.open(path)


@given(collections().filter(lambda posts: any(post.text for post in posts)), searches(), st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_any_changes_equal_computing_again(posts: list[BrutePost], asked: SearchExposure, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exposure"
        compute_posts(posts, asked, path)
        store, now, used = ExposureStore.open(path), list(posts), len(posts)
        for _ in range(data.draw(st.integers(1, 4))):
            if now and data.draw(st.booleans()):
                gone = data.draw(st.sets(st.sampled_from([post.post_id for post in now]), min_size=1))
                assert store.delete(sorted(gone)).posts == len(gone)
                now = [post for post in now if post.post_id not in gone]
            else:
                names = [f"p{used + at}" for at in range(data.draw(st.integers(1, 3)))]
                used += len(names)
                more = data.draw(new_posts(names))
                assert store.add(as_table(more)).posts == len(more)
                now += more
            check_store(now, store, posts)
        check_answers(now, store, posts)


@pytest.mark.parametrize("scorer", FORMS)
@pytest.mark.parametrize("semantics", ["or", "and"])
def test_every_scorer_keeps_up_with_a_post_that_takes_a_place_and_leaves_it(
    tmp_path: Path, scorer: str, semantics: str
) -> None:
    store = computed(tmp_path / "exposure", k=2, scorer=scorer, semantics=semantics)
    more = [made_post("n1", "b", "dora", 9), made_post("n2", "a b x", "anna", 0)]
    store.add(as_table(more))
    check_store([*POSTS, *more], store, POSTS)
    store.delete(["n1", "p1"])
    check_store([post for post in [*POSTS, *more] if post.post_id not in {"n1", "p1"}], store, POSTS)


def test_a_change_tells_what_it_did(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    before = store.facts
    change = store.add(as_table([made_post("n1", "y z", "dora", 9)]))
    assert (change.posts, change.queries, change.exposures_before, change.exposures_after) == (1, 3, 0, 3)
    assert store.facts.generation == before.generation + 1
    assert store.facts.queries == before.queries + 3
    assert store.author([3]) == ["dora"]
    assert store.words([5, 6]) == ["y", "z"]
    change = store.delete(["n1"])
    assert (change.queries, change.exposures_before, change.exposures_after) == (3, 3, 0)
    assert store.facts.queries == before.queries


def test_the_drift_from_the_statistics_is_told(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    assert (store.drift.changes, store.drift.hint) == (0, "")
    store.add(as_table([made_post("n1", "a b c", "dora", 9)]))
    drift = store.drift
    assert (drift.changes, drift.documents, drift.tokens) == (1, (5, 6), (12, 15))
    assert "25% since the last full computation: compute it again" in drift.hint


def test_an_id_can_be_given_again_after_it_was_deleted(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    for text in ("a x", "b y", "a b"):
        store.delete(["p0"])
        again = made_post("p0", text, "ben", 4)
        store.add(as_table([again]))
        check_store([*POSTS[1:], again], store, POSTS)


def test_the_text_of_an_added_post_is_gone_with_it(tmp_path: Path) -> None:
    path = tmp_path / "exposure"
    store = computed(path)
    store.add(as_table([made_post("n1", "unmistakable", "dora", 9)]))
    assert any(b"unmistakable" in file.read_bytes() for file in path.glob("changes/*/added.arrow"))
    store.delete(["n1"])
    assert not any(b"unmistakable" in file.read_bytes() for file in path.glob("changes/*/added.arrow"))
    assert store.posts_of(3).tolist() == []
    with pytest.raises(InputError, match="no post of that number"):
        store.posts([5])


def test_titles_count_and_long_posts_are_cut(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure", longest_post=3)
    table = as_table([made_post("n1", "b c d e", "dora", 9), made_post("n2", "b", "dora", 9)])
    store.add(table.append_column("title", pa.array(["a", ""])))
    assert store.posts([5, 6]).column("text").to_pylist() == ["a b c", "b"]
    assert store.facts.cut_posts == 2
    check_store([*POSTS, made_post("n1", "a b c", "dora", 9), made_post("n2", "b", "dora", 9)], store, POSTS)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("author_id", None, "1 of 2 posts have no author_id"),
        ("author_id", "", "1 of 2 posts have no author_id"),
        ("timestamp", None, "1 of 2 posts have no timestamp"),
        ("text", None, "1 of 2 posts have no text"),
        ("post_id", "", "1 of 2 posts have no post_id"),
        ("post_id", "n1", "1 of 2 posts have the post_id of another one"),
        ("post_id", "p3", "1 of 2 posts have a post_id that is there already"),
    ],
)
def test_bad_posts_are_refused_as_a_whole(tmp_path: Path, column: str, value: str | None, words: str) -> None:
    store = computed(tmp_path / "exposure")
    good, bad = {"post_id": "n1", "author_id": "x", "timestamp": START, "text": "a"}, {"post_id": "n2"}
    table = pa.Table.from_pylist([good, {**good, **bad, column: value}])
    with pytest.raises(InputError, match=words) as caught:
        store.add(table)
    assert "nothing was added" in caught.value.message
    assert caught.value.problems[0].count == 1
    check_store(POSTS, ExposureStore.open(store.path), POSTS)


def test_other_tables_are_refused(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    with pytest.raises(InputError, match="no column author_id and no column timestamp"):
        store.add(pa.table({"post_id": ["x"], "text": ["a"]}))
    with pytest.raises(InputError, match="wrong kind"):
        store.add(as_table([made_post("n1", "a")]).set_column(2, "timestamp", pa.array(["yesterday"])))


def test_unknown_posts_are_not_deleted(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    with pytest.raises(InputError, match="2 of 3 posts to delete are not there; nothing was deleted"):
        store.delete(["p0", "q0", "q1"])
    check_store(POSTS, store, POSTS)
    store.delete(["p0", "p0"])
    assert store.facts.posts == 4
    with pytest.raises(InputError, match="1 of 1 posts"):
        store.delete(["p0"])


def test_nothing_changes_nothing(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    assert store.delete([]).posts == store.add(as_table([])).posts == 0
    assert store.facts.generation == 0


def test_a_language_without_words_takes_no_posts_with_words(tmp_path: Path) -> None:
    compute_posts([made_post("p", ""), made_post("q", "!")], SearchExposure(), tmp_path / "exposure")
    store = ExposureStore.open(tmp_path / "exposure")
    with pytest.raises(InputError, match="no post held a word"):
        store.add(as_table([made_post("n", "a")]))
    store.add(as_table([made_post("n", "...")]))
    store.delete(["p"])
    assert store.facts.posts == 2


def test_a_second_writer_is_told_and_readers_go_on(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    reader = ExposureStore.open(store.path)
    with alone(store.path), pytest.raises(EngineError, match="somebody else is writing"):
        store.delete(["p0"])
    store.add(as_table([made_post("n1", "a b", "dora", 9)]))
    store.delete(["p0"])
    check_store(POSTS, reader, POSTS)
    # What was opened before somebody else's change takes it in with its own.
    reader.delete(["p1"])
    assert reader.facts.posts == 4


def test_generations_do_not_pile_up(tmp_path: Path) -> None:
    store = computed(tmp_path / "exposure")
    for _ in range(3):
        store.add(as_table([made_post("n1", "a b", "dora", 9)]))
        store.delete(["n1"])
    assert [path.name for path in (store.path / "changes").iterdir()] == ["000006"]
    assert {oct(path.stat().st_mode)[-2:] for path in (store.path / "changes").rglob("*")} == {"00"}


KILLED = """
import os, signal, sys
from pathlib import Path
from aidos.rooms.exposure.queries import {module}

real, calls = {module}.{name}, []
def killed(*given, **named):
    {before}
    os.kill(os.getpid(), signal.SIGKILL)
{module}.{name} = killed
from aidos.rooms.exposure.queries import changes
changes.delete(Path(sys.argv[1]), ["p0"])
"""


@pytest.mark.parametrize(
    ("module", "name", "before", "changed"),
    [
        ("overlay", "_write_table", "pass", False),
        ("changes", "write_overlay", "real(*given, **named)", False),
        # The first call is that of opening, before anything is changed.
        ("changes", "remove_other_generations", "if calls.append(1) or len(calls) == 1: return real(*given)", True),
    ],
)
def test_a_killed_writer_leaves_the_old_or_the_new(
    tmp_path: Path, module: str, name: str, before: str, changed: bool
) -> None:
    store = computed(tmp_path / "exposure")
    code = KILLED.format(module=module, name=name, before=before)
    done = subprocess.run([sys.executable, "-c", code, str(store.path)], check=False, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL
    check_store(POSTS[1:] if changed else POSTS, ExposureStore.open(store.path), POSTS)
    # Nobody holds it any more, and the next change cleans up.
    changes.delete(store.path, ["p1"])
    left = [post for post in POSTS if post.post_id != "p1" and (post.post_id != "p0" or not changed)]
    check_store(left, ExposureStore.open(store.path), POSTS)
    assert len(list((store.path / "changes").iterdir())) == 1
