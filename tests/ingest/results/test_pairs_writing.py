"""Pairs that were written are read back equal, from files that only their owner can read."""

from __future__ import annotations

import stat
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_lists import flat_rows, serps, write_lines, write_table

from aidos.core.resultpairs import SIDES, Fetch, Result, ResultPair
from aidos.errors import InputError, ParameterError
from aidos.ingest.results.reading import read_pairs
from aidos.ingest.results.writing import write_pairs

words = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12).map(str.strip)
results = st.builds(
    Result,
    url=st.integers(0, 20).map(lambda number: f"https://site.example/{number}"),
    title=st.text("abc Ω🙂", min_size=1, max_size=8).map(lambda title: f"t{title}".strip()),
    snippet=words,
)
lists = st.lists(results, min_size=1, max_size=6, unique_by=lambda result: result.identity).map(tuple)
times = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1))  # noqa: DTZ001
pairs_drawn = st.builds(
    ResultPair,
    query=words.filter(bool),
    vanilla=lists,
    personalised=lists,
    again=st.none() | lists,
    when=st.none() | times,
    gap=st.none() | st.timedeltas(timedelta(days=-30), timedelta(days=30)),
    place=st.sampled_from(["", "Saarland,Germany"]),
)


fetches = st.builds(
    Fetch,
    place=st.sampled_from(["", "Bern", "Saarland,Germany"]),
    when=st.none() | times,
    turn=st.none() | st.integers(1, 3),
    bucket=st.sampled_from(["", "b-17"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(known=st.tuples(fetches, fetches, fetches), again=st.booleans(), ending=st.sampled_from([".jsonl", ".parquet"]))
def test_how_each_list_was_fetched_comes_back(
    tmp_path: Path, known: tuple[Fetch, ...], again: bool, ending: str
) -> None:
    one = (Result(url="https://site.example/1", title="one"),)
    first, second = known[0].when, known[1].when
    given = ResultPair(
        query="q",
        vanilla=one,
        personalised=one,
        again=one if again else None,
        when=first or second,
        gap=second - first if first and second else None,
        place=known[0].place or known[1].place,
        fetches=known if again else known[:2],
    )
    path = tmp_path / f"pairs{ending}"
    write_pairs(path, [given])
    read = read_pairs([str(path)]).pairs[0]
    sides = SIDES if again else SIDES[:2]
    assert [read.fetch(side) for side in sides] == [given.fetch(side) for side in sides]
    assert (read.when, read.gap, read.place) == (given.when, given.gap, given.place)
    write_pairs(path, [read])
    assert read_pairs([str(path)]).pairs[0] == read


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(pairs_drawn, min_size=1, max_size=4), ending=st.sampled_from([".jsonl", ".parquet", ".ndjson"]))
def test_any_pairs_come_back_equal(tmp_path: Path, pairs: list[ResultPair], ending: str) -> None:
    path = tmp_path / f"pairs{ending}"
    write_pairs(path, pairs)
    assert read_pairs([str(path)]).pairs == tuple(pairs)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_what_was_read_from_services_comes_back_equal(tmp_path: Path, ending: str) -> None:
    for side in ("vanilla", "personalised", "again"):
        searches, parsed = serps(side)
        write_lines(tmp_path / "lists" / side / "searches.json", searches)
        write_lines(tmp_path / "lists" / side / "parsed.json", parsed)
    bare = [{key: row[key] for key in ("query", "list", "url")} for row in flat_rows()]
    for pairs in (
        read_pairs([str(tmp_path / "lists")]).pairs,
        read_pairs([write_table(tmp_path / "bare.csv", bare)]).pairs,
    ):
        path = tmp_path / f"pairs{ending}"
        write_pairs(path, pairs)
        assert read_pairs([str(path)]).pairs == pairs
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_many_pairs_are_written_in_parts_and_come_back_whole(tmp_path: Path) -> None:
    one = Result(url="https://site.example/1", title="one")
    pairs = [ResultPair(query=f"q{number}", vanilla=(one,), personalised=(one,)) for number in range(2_500)]
    write_pairs(tmp_path / "pairs.parquet", pairs)
    assert read_pairs([str(tmp_path / "pairs.parquet")]).pairs == tuple(pairs)


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    one = Result(url="https://site.example/1", title="one")
    good = ResultPair(query="q", vanilla=(one,), personalised=(one,))
    for ending in (".jsonl", ".parquet"):
        path = tmp_path / f"pairs{ending}"
        write_pairs(path, [good])
        before = path.read_bytes()
        half = ResultPair(query="q\ud800", vanilla=(one,), personalised=(one,))
        with pytest.raises(InputError, match="half of a character pair"):
            write_pairs(path, [good, half])
        ad = ResultPair(query="q", vanilla=(Result(url="u", kind="ad"),), personalised=(one,))
        with pytest.raises(ParameterError, match="only organic results"):
            write_pairs(path, [good, ad])
        with pytest.raises(ParameterError, match="no pair to write"):
            write_pairs(path, [])
        assert path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.jsonl", "pairs.parquet"]
    with pytest.raises(ParameterError, match="in which format"):
        write_pairs(tmp_path / "pairs.csv", [good])


@pytest.mark.parametrize("gap", ['"soon"', "true", "1e300", "[]"])
def test_strange_gaps_are_told(tmp_path: Path, gap: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f'{{"query": "q", "gap": {gap}, "vanilla": ["https://a.example"], "personalised": ["b"]}}\n')
    with pytest.raises(InputError, match="line 1: gap is no number of seconds"):
        read_pairs([str(path)])
