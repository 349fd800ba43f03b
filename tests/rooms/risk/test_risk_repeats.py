"""Entries that come again: counted once, whatever the order, and refused when they are not the same."""

import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.ingest.options import ReadOptions
from aidos.jobs.desk import Desk
from aidos.rooms.risk.community import rank_community
from aidos.rooms.risk.directory import RiskDirectory
from aidos.rooms.risk.models import load_knowledge
from aidos.rooms.risk.ranking import RiskRanking
from aidos.rooms.risk.sources import leave_out_repeats, read_entries

TEXTS = ("the creditor wants the debt back", "arrears and a loan", "rain on the lawn", "debt, bailiff, overdraft", "")
RANKING = RiskRanking(topics=("debt",), measures=("lda-dt", "bow", "entropy"))
POSTS = [(f"p{at}", "abc"[at % 3], f"2024-0{1 + at % 6}-01T10:00:00", TEXTS[at % 5]) for at in range(12)]
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def knowledge():
    return load_knowledge()


def table_of(posts):
    names, authors, times, texts = zip(*posts, strict=True)
    columns = {"post_id": names, "author_id": authors, "timestamp": times, "text": texts}
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    when = table["timestamp"].cast(pa.timestamp("us"))
    return table.set_column(2, "timestamp", when)


def entries(engine, posts, home):
    path = home / f"posts-{next(NUMBERS)}.parquet"
    pq.write_table(table_of(posts), path)
    return read_entries(engine, [str(path)], ReadOptions(), without_times=False)


def ranking(engine, knowledge, posts, home):
    directory = RiskDirectory(home / f"ranks-{next(NUMBERS)}")
    with leave_out_repeats(entries(engine, posts, home)).held() as held:
        ranked = rank_community(held, RANKING, knowledge, Desk(threads=1))
        directory.create(ranked.state, held)
    return directory


def told(directory):
    rows = pq.read_table(directory.path / "ranks.parquet").to_pylist()
    return sorted(rows, key=lambda row: (row["person"], row["measure"]))


@pytest.mark.slow
@given(
    first=st.lists(st.sampled_from(POSTS), min_size=1, max_size=6),
    batches=st.lists(st.lists(st.sampled_from(POSTS), min_size=1, max_size=5), max_size=3),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_with_repeats_is_the_same_without(engine, knowledge, tmp_path_factory, first, batches):
    home = tmp_path_factory.mktemp("repeats")
    first = [POSTS[0], *first]
    directory = ranking(engine, knowledge, first, home)
    with directory.writing() as store:
        counted = set(first)
        for batch in batches:
            with entries(engine, batch, home).held() as came:
                added = directory.add(store, came)
            assert added.change.entries == len(set(batch) - counted)
            assert added.repeated == len(batch) - added.change.entries
            counted |= set(batch)
        kept = directory.all_entries(engine, store.state)
        assert sorted(row[0] for row in kept.rows("select post_id from {table}")) == sorted(each[0] for each in counted)
    assert told(directory) == told(ranking(engine, knowledge, sorted(counted), home))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (("p0", "a", "2024-01-01T10:00:00", "another text"), "1 entry comes twice .* but the text is not"),
        (("p0", "b", "2024-01-01T10:00:00", TEXTS[0]), "but the person is not"),
        (("p0", "a", "2024-01-02T10:00:00", TEXTS[0]), "but the time is not"),
        (("p0", "b", "2024-01-02T10:00:00", TEXTS[0]), "but the person or the time is not"),
    ],
)
def test_what_comes_changed_is_refused_and_nothing_is_taken_in(engine, knowledge, tmp_path, changed, words):
    directory = ranking(engine, knowledge, POSTS[:4], tmp_path)
    before = told(directory)
    with (
        directory.writing() as store,
        entries(engine, [POSTS[5], changed], tmp_path).held() as came,
        pytest.raises(InputError, match=words) as caught,
    ):
        directory.add(store, came)
    assert "aidos risk forget" in caught.value.hint
    assert "another" not in caught.value.message
    assert told(directory) == before
    assert len(list((directory.path / "entries").iterdir())) == 1
    with pytest.raises(InputError, match="2 entries come twice"):
        leave_out_repeats(
            entries(engine, [POSTS[0], changed, POSTS[1], ("p1", "b", "2024-02-01T10:00:00", "x")], tmp_path)
        )


def test_posts_without_names_are_all_different(engine, tmp_path):
    posts = table_of(POSTS[:1] * 3).drop_columns("post_id")
    pq.write_table(posts, tmp_path / "posts.parquet")
    read = read_entries(engine, [str(tmp_path / "posts.parquet")], ReadOptions(), without_times=True, first=7)
    assert leave_out_repeats(read).count() == 3
    assert sorted(row[0] for row in read.rows("select post_id from {table}")) == ["entry 10", "entry 8", "entry 9"]
