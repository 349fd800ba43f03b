"""Posts for tests, and a computed directory as plain values."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.manifest import Facts
from aidos.rooms.exposure.queries.settings import SearchExposure
from oracles.exposure import BruteAnswer, BrutePost

START = datetime(2024, 1, 1)  # noqa: DTZ001 (posts have no zone)
WORDS = "abcdef"


def made_post(name: str, text: str, author: str = "anna", day: int = 0) -> BrutePost:
    return BrutePost(post_id=name, author_id=author, timestamp=START + timedelta(days=day), text=text)


def as_table(posts: Sequence[BrutePost]) -> pa.Table:
    return pa.table(
        {
            "post_id": pa.array([post.post_id for post in posts], pa.string()),
            "author_id": pa.array([post.author_id for post in posts], pa.string()),
            "timestamp": pa.array([post.timestamp for post in posts], pa.timestamp("us")),
            "text": pa.array([post.text for post in posts], pa.string()),
        }
    )


def compute_posts(posts: Sequence[BrutePost], settings: SearchExposure, target: Path) -> Facts:
    with EmbeddedEngine(threads=1) as engine:
        return compute(engine.table(as_table(posts)), settings, target, threads=1)


def read_answers(target: Path) -> dict[tuple[str, ...], tuple[int, int, int, tuple[str, ...], tuple[bool, ...]]]:
    """All queries of a directory by their words, with ids instead of numbers."""
    words = pq.read_table(target / "words.parquet").column("word").to_pylist()
    ids = pq.read_table(target / "posts.parquet").column("post_id").to_pylist()
    found = {}
    for path in sorted((target / "queries").glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            query = tuple(sorted(words[word] for word in (row["first"], row["second"]) if word >= 0))
            posts = tuple(ids[post] for post in row["posts"])
            assert query not in found
            found[query] = (row["documents"], row["evenness"], row["certain"], posts, tuple(row["whole"]))
    return found


def expected(answers: dict[tuple[str, ...], BruteAnswer]) -> dict[tuple[str, ...], tuple]:
    return {query: (one.documents, one.evenness, one.certain, one.posts, one.whole) for query, one in answers.items()}


@st.composite
def collections(draw: st.DrawFn) -> list[BrutePost]:
    """Few words and few days, so that posts repeat words, equal each other and tie."""
    texts = draw(st.lists(st.lists(st.sampled_from(WORDS), max_size=7), min_size=1, max_size=14))
    names = draw(st.permutations([f"p{at}" for at in range(len(texts))]))
    return [
        made_post(name, " ".join(text), draw(st.sampled_from(["anna", "ben", "cleo"])), draw(st.integers(0, 2)))
        for name, text in zip(names, texts, strict=True)
    ]


SCORERS = (
    "ql-dirichlet",
    "ql-dirichlet:mu=3",
    "ql-dirichlet:matching_only=true",
    "ql-jm:weight=0.4",
    "ql-jm:matching_only=true",
    "bm25",
    "bm25:k1=1.2,b=0.75",
    "bm25:k1=0",
)


@st.composite
def searches(draw: st.DrawFn) -> SearchExposure:
    return SearchExposure(
        k=draw(st.sampled_from([1, 2, 3, 10, 63, 64, 100])),
        scorer=draw(st.sampled_from(SCORERS)),
        semantics=draw(st.sampled_from(["or", "and"])),
        ties=draw(st.sampled_from(["newest", "oldest", "id"])),
        longest_post=draw(st.sampled_from([3, 1000])),
    )
