"""The computation against brute force, file by file."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from made_posts import as_table, collections, compute_posts, expected, made_post, read_answers, searches

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import parse_scorer
from aidos.model.retrieval.search import search
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries import gathering, plan
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.layout import EXPOSURE_COLUMNS, QUERY_COLUMNS
from aidos.rooms.exposure.queries.settings import SearchExposure
from oracles.exposure import BrutePost, all_answers


def read_exposures(target: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(path) for path in sorted((target / "exposures").glob("*.parquet")))


def inverted(target: Path) -> list[tuple]:
    """What the exposures must be, from the queries."""
    members = pq.read_table(target / "posts.parquet").column("member").to_pylist()
    rows = []
    for path in (target / "queries").glob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            for at, (post, whole) in enumerate(zip(row["posts"], row["whole"], strict=True)):
                certain, facts = at < row["certain"], (row["documents"], row["evenness"])
                rows.append((members[post], post, row["first"], row["second"], at + 1, whole, certain, *facts))
    return sorted(rows)


def check_directory(target: Path, posts: list[BrutePost], asked: SearchExposure) -> None:
    """Everything in a directory is what brute force says."""
    assert read_answers(target) == expected(all_answers(posts, asked))
    exposures = read_exposures(target)
    assert exposures.schema == EXPOSURE_COLUMNS
    rows = [tuple(row.values()) for row in exposures.to_pylist()]
    assert rows == inverted(target)
    check_lookups(target, rows)


def check_lookups(target: Path, rows: list[tuple]) -> None:
    members, words = (pq.read_table(target / name).to_pylist() for name in ("members.parquet", "words.parquet"))
    for member in members:
        files = sorted((target / "exposures").glob("*.parquet"))[member["partition"] :]
        found = pa.concat_tables(map(pq.read_table, files)).slice(member["first_row"], member["exposures"])
        assert [tuple(row.values()) for row in found.to_pylist()] == [row for row in rows if row[0] == member["number"]]
    for word in words:
        found = pq.read_table(target / "queries" / f"{word['chunk']:05d}.parquet")
        assert found.schema == QUERY_COLUMNS
        mine = found.slice(word["first_row"], word["queries"])
        assert set(mine.column("first").to_pylist()) == {word["number"]}
        seconds = mine.column("second").to_pylist()
        assert seconds == sorted(set(seconds)) and seconds[0] == -1
        assert mine.column("documents")[0].as_py() == word["documents"]


@pytest.mark.slow
@given(collections(), searches())
@example([made_post(f"p{at}", "the same words") for at in range(13)], SearchExposure())
@example([made_post("p", ""), made_post("q", "")], SearchExposure(scorer="bm25"))
@example([made_post(f"p{at:02d}", "a b", day=at) for at in range(12)] + [made_post("q", "a a")], SearchExposure(k=2))
@settings(max_examples=40)
def test_every_column_equals_brute_force(posts: list[BrutePost], asked: SearchExposure) -> None:
    with tempfile.TemporaryDirectory() as folder:
        facts = compute_posts(posts, asked, Path(folder) / "exposure")
        check_directory(Path(folder) / "exposure", posts, asked)
        assert facts.posts == facts.documents == len(posts)


def many_posts(number: int = 150) -> list[BrutePost]:
    """Enough for many chunks, buckets and files, when these are small."""
    random = np.random.default_rng(5)
    words = [f"w{at}" for at in range(25)]
    texts = [" ".join(random.choice(words, random.integers(1, 9))) for _ in range(number)]
    return [
        made_post(f"p{at}", text, f"member{random.integers(9)}", int(random.integers(20)))
        for at, text in enumerate(texts)
    ]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "RESULTS", 200)
    monkeypatch.setattr(plan, "BUCKET_ROWS", 40)
    monkeypatch.setattr(gathering, "PARTITION_ROWS", 150)
    monkeypatch.setattr(gathering, "ROW_GROUP", 64)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("asked", [SearchExposure(k=7), SearchExposure(k=100, scorer="bm25", ties="id")])
def test_many_chunks_and_files_on_many_threads_equal_brute_force(tmp_path: Path, asked: SearchExposure) -> None:
    posts, target = many_posts(), tmp_path / "exposure"
    with EmbeddedEngine(threads=1) as engine:
        facts = compute(engine.table(as_table(posts)), asked, target, threads=3)
    assert len(list((target / "queries").iterdir())) > 5
    assert len(list((target / "exposures").iterdir())) > 5
    check_directory(target, posts, asked)
    assert facts.queries == len(all_answers(posts, asked))
    assert facts.exposures == read_exposures(target).num_rows
    assert facts.members == len({post.author_id for post in posts})
    assert not (target / "spill").exists()


@pytest.mark.usefixtures("small_pieces")
def test_members_whose_rows_fill_several_files_are_found_whole(tmp_path: Path) -> None:
    posts = [made_post(post.post_id, post.text, "anna") for post in many_posts(60)]
    compute_posts(posts, SearchExposure(), tmp_path / "exposure")
    assert len(list((tmp_path / "exposure" / "exposures").iterdir())) > 1
    check_directory(tmp_path / "exposure", posts, SearchExposure())


@pytest.mark.parametrize("scorer", ["ql-dirichlet", "ql-dirichlet:matching_only=true", "ql-jm", "bm25"])
def test_rankings_are_those_of_search(tmp_path: Path, scorer: str) -> None:
    # Ids in the order of insertion, so that search breaks ties likewise.
    posts = [made_post(f"p{at:03d}", post.text) for at, post in enumerate(many_posts(80))]
    compute_posts(posts, SearchExposure(scorer=scorer, ties="id"), tmp_path / "exposure")
    index = Index.build([(post.post_id, post.text) for post in posts], analyser=Analyser())
    for query, (_, _, _, found, _) in read_answers(tmp_path / "exposure").items():
        assert found == tuple(search(index, " ".join(query), parse_scorer(scorer), 10).ids)


def test_only_the_owner_may_read_anything(tmp_path: Path) -> None:
    target = tmp_path / "exposure"
    compute_posts(many_posts(20), SearchExposure(), target)
    for path in [target, *target.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_finished_directories_are_left_as_they_are(tmp_path: Path) -> None:
    posts, target = many_posts(20), tmp_path / "exposure"
    facts = compute_posts(posts, SearchExposure(), target)
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*") if path.is_file()}
    assert compute_posts(posts[::-1], SearchExposure(), target) == facts
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*") if path.is_file()} == before


def test_other_posts_other_settings_and_other_directories_are_refused(tmp_path: Path) -> None:
    posts, target = many_posts(20), tmp_path / "exposure"
    compute_posts(posts, SearchExposure(), target)
    with pytest.raises(InputError, match="computed from other posts"):
        compute_posts(posts[1:], SearchExposure(), target)
    with pytest.raises(InputError, match="another k and another ties"):
        compute_posts(posts, SearchExposure(k=3, ties="id"), target)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="exists and is no exposure directory"):
        compute_posts(posts, SearchExposure(), tmp_path / "other")
    with EmbeddedEngine() as engine, pytest.raises(ParameterError, match="threads must be at least 1"):
        compute(engine.table(as_table(posts)), SearchExposure(), tmp_path / "new", threads=0)


def test_empty_directories_are_used_and_progress_is_told(tmp_path: Path) -> None:
    told: dict[str, float] = {}

    class Told:
        def __init__(self, label: str) -> None:
            self.label = label

        def advance(self, amount: float) -> None:
            told[self.label] = told.get(self.label, 0) + amount

        def move_to(self, done: float) -> None:
            told[self.label] = done

    class Listener:
        @contextmanager
        def task(self, label: str, *, total: float | None, unit: str) -> Iterator[Told]:
            yield Told(label)

    (tmp_path / "exposure").mkdir()
    posts = many_posts(20)
    with EmbeddedEngine() as engine:
        facts = compute(engine.table(as_table(posts)), SearchExposure(), tmp_path / "exposure", progress=Listener())
    assert told["ranking posts for all queries"] == facts.words
    assert told["indexing"] == 20
    assert told["sorting results by member"] == 1
