"""Posts on their way in: order, numbers, statistics, and what is refused."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_posts import START, as_table, collections, made_post

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.model.retrieval.index import Index
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries.collection import BETWEEN, Prepared, cut_texts, prepare
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.examining import Examined, examine
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from oracles.exposure import BrutePost


def examine_table(table: pa.Table) -> Examined:
    with EmbeddedEngine(threads=1) as engine:
        return examine(engine.table(table))


def prepare_table(table: pa.Table, target: Path, asked: SearchExposure | None = None) -> Prepared:
    target.mkdir()
    with EmbeddedEngine(threads=1) as engine:
        return prepare(engine.table(table), asked or SearchExposure(), target)


def statistics(target: Path, name: str) -> list:
    return np.load(target / "statistics" / f"{name}.npy").tolist()


POSTS = [
    made_post("p3", "cat dog cat", "ben", day=1),
    made_post("p1", "dog", "anna", day=2),
    made_post("p2", "bird dog", "anna", day=1),
    made_post("p10", "", "anna", day=1),
]


def test_posts_are_numbered_by_author_time_and_id_and_members_by_name(tmp_path: Path) -> None:
    made = prepare_table(as_table(POSTS), tmp_path / "it")
    posts = pq.read_table(tmp_path / "it" / "posts.parquet").to_pydict()
    assert posts["post_id"] == ["p10", "p2", "p1", "p3"]
    assert posts["number"] == [0, 1, 2, 3]
    assert posts["member"] == [0, 0, 0, 1]
    assert posts["text"] == ["", "bird dog", "dog", "cat dog cat"]
    members = pq.read_table(tmp_path / "it" / "members.parquet").to_pydict()
    assert members["author_id"] == ["anna", "ben"]
    assert members["posts"] == [3, 1]
    assert statistics(tmp_path / "it", "first_posts") == [0, 3, 4]
    assert statistics(tmp_path / "it", "members") == [0, 0, 0, 1]
    assert statistics(tmp_path / "it", "timestamps")[3] == 1_704_153_600_000_000
    assert made == Prepared(posts=4, members=2, words=3, tokens=6, cut_posts=0)


def test_words_are_numbered_the_rarest_first_and_then_by_text(tmp_path: Path) -> None:
    prepare_table(as_table(POSTS), tmp_path / "it")
    words = pq.read_table(tmp_path / "it" / "words.parquet").to_pydict()
    assert words == {"number": [0, 1, 2], "word": ["bird", "cat", "dog"], "documents": [1, 1, 3], "count": [1, 2, 3]}
    index = Index.open(tmp_path / "it" / "index")
    terms = index.vocabulary.ids(["bird", "cat", "dog"]).tolist()
    assert statistics(tmp_path / "it", "terms") == terms
    assert [statistics(tmp_path / "it", "word_numbers")[term] for term in terms] == [0, 1, 2]
    assert index.find("3") is not None


@pytest.mark.parametrize(
    ("ties", "order"), [("newest", "p1 p10 p2 p3"), ("oldest", "p10 p2 p3 p1"), ("id", "p1 p10 p2 p3")]
)
def test_precedence_follows_the_tie_policy_and_leaves_room_between(tmp_path: Path, ties: str, order: str) -> None:
    prepare_table(as_table(POSTS), tmp_path / "it", SearchExposure(ties=ties))  # type: ignore[arg-type]
    names = pq.read_table(tmp_path / "it" / "posts.parquet").column("post_id").to_pylist()
    precedence = statistics(tmp_path / "it", "precedence")
    assert " ".join(sorted(names, key=lambda name: precedence[names.index(name)])) == order
    assert sorted(precedence) == [place << BETWEEN for place in range(4)]


def test_titles_stand_before_the_text(tmp_path: Path) -> None:
    table = as_table(POSTS).append_column("title", pa.array(["Pets", None, "", "Only a title"], pa.string()))
    prepare_table(table, tmp_path / "it")
    found = pq.read_table(tmp_path / "it" / "posts.parquet").column("text").to_pylist()
    assert found == ["Only a title ", "bird dog", "dog", "Pets cat dog cat"]


def test_a_title_that_is_the_text_is_read_once(tmp_path: Path) -> None:
    table = as_table(POSTS)
    table = table.append_column("title", table.column("text"))
    with EmbeddedEngine(threads=1) as engine:
        compute(engine.table(table), SearchExposure(), tmp_path / "e", threads=1)
    found = pq.read_table(tmp_path / "e" / "posts.parquet").column("text").to_pylist()
    assert sorted(found) == sorted(table.column("text").to_pylist())
    store = ExposureStore.open(tmp_path / "e")
    store.add(as_table([made_post("later", "moth", day=9)]).append_column("title", pa.array(["moth"])))
    assert store.posts([len(POSTS)]).column("text").to_pylist() == ["moth"]


def test_long_posts_are_cut_and_counted(tmp_path: Path) -> None:
    posts = [
        made_post("p", "word " * 100_000),
        made_post("q", " ".join(f"w{at}" for at in range(7))),
        made_post("r", "a b"),
    ]
    made = prepare_table(as_table(posts), tmp_path / "it", SearchExposure(longest_post=5))
    assert made.cut_posts == 2
    assert made.tokens == 5 + 5 + 2
    found = pq.read_table(tmp_path / "it" / "posts.parquet").column("text").to_pylist()
    assert found == ["word word word word word", "w0 w1 w2 w3 w4", "a b"]


@given(st.lists(st.text(alphabet="ab' .the\u00e9", max_size=60), min_size=1, max_size=5), st.integers(1, 6))
def test_cutting_leaves_the_first_words(texts: list[str], longest: int) -> None:
    analyser = Analyser(stop_words="english")
    cut, number = cut_texts(pa.array(texts, pa.large_string()), analyser, longest)
    terms = [analyser.terms(text) for text in texts]
    assert [analyser.terms(text) for text in cut.to_pylist()] == [row[:longest] for row in terms]
    assert number == sum(len(row) > longest for row in terms)


@given(collections(), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_fingerprints_know_the_posts_in_any_order_and_no_others(posts: list[BrutePost], random: object) -> None:
    shuffled = list(posts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    table = as_table(posts)
    mine = examine_table(table)
    assert examine_table(as_table(shuffled)) == mine
    changed = table.set_column(3, "text", pa.array(["other", *table.column("text").to_pylist()[1:]]))
    assert examine_table(changed).fingerprint != mine.fingerprint
    assert mine.posts == len(posts)


def test_the_border_between_cells_is_part_of_the_fingerprint() -> None:
    one, two = made_post("ab", "x", "c"), made_post("a", "x", "bc")
    assert examine_table(as_table([one])).fingerprint != examine_table(as_table([two])).fingerprint


def test_posts_without_author_time_or_text_are_refused_with_counts() -> None:
    table = pa.table(
        {
            "post_id": ["p", "q", "r"],
            "author_id": [None, "", "anna"],
            "timestamp": pa.array([None, START, START], pa.timestamp("us")),
            "text": ["a", "b", None],
        }
    )
    with pytest.raises(InputError) as caught:
        examine_table(table)
    assert "1 of 3 posts have no timestamp" in str(caught.value)
    assert "1 of 3 posts have no text" in str(caught.value)
    assert "2 of 3 posts have no author_id" in str(caught.value)
    assert {problem.column: problem.count for problem in caught.value.problems} == {
        "timestamp": 1,
        "text": 1,
        "author_id": 2,
    }


def test_repeated_ids_are_refused_with_their_number() -> None:
    with pytest.raises(InputError, match="2 of 3 posts have the post_id of another one") as caught:
        examine_table(as_table([made_post("p", "a"), made_post("p", "b"), made_post("p", "c")]))
    assert "id of its own" in caught.value.hint


def test_search_logs_and_other_tables_are_refused() -> None:
    log = pa.table({"client_id": ["anna"], "timestamp": pa.array([START]), "user_query": ["flu"]})
    with pytest.raises(InputError, match="this is a search log, not a table of community posts"):
        examine_table(log)
    with pytest.raises(InputError, match="no column author_id and no column text") as caught:
        examine_table(pa.table({"post_id": ["p"], "timestamp": pa.array([START]), "words": ["flu"]}))
    assert "words" in caught.value.hint
    with pytest.raises(InputError, match="there are no posts"):
        examine_table(as_table([]))
