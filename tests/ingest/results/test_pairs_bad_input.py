"""Every way in which saved lists can be bad: what is said, where, what mends it, and that nothing leaks."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_lists import (
    answers,
    archive,
    flat_rows,
    page,
    pages,
    pair_lines,
    run,
    serps,
    write_json,
    write_lines,
    write_parquet,
    write_table,
)

from aidos.errors import InputError
from aidos.ingest.problems import PAIRS
from aidos.ingest.results import files, reading
from aidos.ingest.results.reading import read_pairs

Write = Callable[[str, bytes], str]
GOOD = json.dumps(pair_lines()[0]).encode() + b"\n"


def refused(*names: str, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        read_pairs(names, **options)
    error = caught.value
    assert error.hint
    told = f"{error} {error.hint}"
    for secret in ("hushquery", "hushhush", "Title", "Words of", "site.example"):
        assert secret not in told
    return error


def line_of(**fields: Any) -> bytes:
    return json.dumps({"query": "hushhush", "vanilla": pages("ab"), "personalised": pages("ba"), **fields}).encode()


@pytest.mark.parametrize(
    ("bad", "kind", "sentence"),
    [
        (b'{"query": "hushhush"', "bad-json", "line 2: the line is not a JSON document"),
        (b'["hushhush"]', "bad-json", "line 2: the line is JSON but not an object"),
        (b'{"query": "hush\xff"}', "invalid-utf8", "line 2: the text is not valid UTF-8"),
        (line_of(query=""), "no-query", "line 2: nothing says what was searched for"),
        (line_of(query=7), "bad-cell", "line 2: query is no text"),
        (line_of(vanilla=[{"content": "hushhush"}]), "bad-cell", "line 2: result 1 of vanilla: the result has neither"),
        (line_of(vanilla=[page("a"), 3]), "bad-cell", "line 2: result 2 of vanilla: a result is no object"),
        (line_of(personalised=[{"url": 5}]), "bad-cell", "line 2: result 1 of personalised: url is no text"),
        (line_of(vanilla=[{"url": "u", "title": "\ud800"}]), "bad-json", "line 2"),
        (line_of(vanilla=[]), "empty-list", "line 2: the vanilla list has no organic result"),
        (line_of(again=[]), "empty-list", "line 2: the again list has no organic result"),
        (line_of(personalised=None), "empty-list", "line 2: the personalised list has no organic result"),
        (line_of(vanilla=[{**page("a"), "kind": "ad"}]), "empty-list", "the vanilla list has no organic result"),
        (line_of(when="hushhush"), "bad-cell", "line 2: when is not a time that can be read"),
        (
            b'{"query": "hushhush", "vanilla": [{"url": "u"}]}',
            "lone-list",
            "line 2: the query has no personalised list",
        ),
    ],
)
def test_bad_pairs_are_refused_or_left_out(write: Write, bad: bytes, kind: str, sentence: str) -> None:
    path = write("pairs.jsonl", GOOD + bad + b"\n")
    error = refused(path)
    assert error.problems[0].kind == kind
    assert sentence in str(error)
    assert PAIRS.skip in error.hint
    found = read_pairs([path], skip_bad=True)
    assert [pair.query for pair in found.pairs] == ["first hushquery"]
    assert [problem.kind for problem in found.problems] == [kind]


@pytest.mark.parametrize(
    ("column", "cell", "kind", "sentence"),
    [
        ("list", "hushhush", "bad-side", "line 2: the column list holds something else than vanilla"),
        ("query", "", "no-query", "line 2: nothing says what was searched for"),
        ("position", "hushhush", "bad-cell", "line 2: position is not a whole number"),
        ("url", "", "no-address", "line 2: the result has neither an address nor a title"),
    ],
)
def test_bad_cells_of_tables_spoil_their_pair(tmp_path: Path, column: str, cell: str, kind: str, sentence: str) -> None:
    rows = flat_rows()
    rows[0] = {**rows[0], "title": "" if column == "url" else rows[0]["title"], column: cell}
    path = write_table(tmp_path / "rows.csv", rows)
    error = refused(path)
    assert error.problems[0].kind == kind
    assert sentence in str(error)
    found = read_pairs([path], skip_bad=True)
    assert [pair.query for pair in found.pairs] == ["second hushquery"]
    assert found.counts.skipped == 1
    assert [problem.kind for problem in found.problems] == [kind]


def test_a_broken_first_line_is_told_as_such(write: Write) -> None:
    path = write("pairs.jsonl", b'{"query": "hushhush",\n' + GOOD)
    assert "line 1: the line is not a JSON document" in str(refused(path))
    assert len(read_pairs([path], skip_bad=True).pairs) == 1


def test_unreadable_rows_spoil_the_pairs_on_both_sides(tmp_path: Path) -> None:
    rows = [{**row, "query": f"{name} {row['query']}"} for name in "abc" for row in flat_rows()]
    path = Path(write_table(tmp_path / "rows.csv", rows))
    lines = path.read_text().splitlines()
    lines.insert(1 + len(flat_rows()), "ragged,row")
    path.write_text("\n".join(lines))
    assert "columns were expected" in str(refused(str(path)))
    found = read_pairs([str(path)], skip_bad=True)
    assert [pair.query for pair in found.pairs] == ["a first hushquery", "b second hushquery"] + [
        f"c {name} hushquery" for name in ("first", "second")
    ]


def test_bad_lines_of_runs_are_told(tmp_path: Path) -> None:
    path = tmp_path / "both.run"
    path.write_text("q9 Q0 hushhush 1 2 vanilla\nq9 Q0 hushhush\n" + run("vanilla", "vanilla"))
    assert "line 2: the row cannot be read: a line of a run has 6 fields" in str(refused(str(path)))
    path.write_text("q9 Q0 hushhush 1.5 2 vanilla\n" + run("vanilla", "vanilla"))
    assert "line 1: rank is not a whole number" in str(refused(str(path)))


def test_lists_without_partner_are_told_with_their_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "vanilla.jsonl", answers("vanilla"))
    write_lines(tmp_path / "personalised.jsonl", answers("personalised")[:1])
    error = refused(str(tmp_path))
    assert "vanilla.jsonl, line 2: the query has no personalised list" in str(error)
    found = read_pairs([str(tmp_path)], skip_bad=True)
    assert [pair.query for pair in found.pairs] == ["first hushquery"]
    assert found.counts.skipped == 1


def test_bad_answers_spoil_their_pair(tmp_path: Path) -> None:
    bad = answers("vanilla")
    bad[0]["results"][1] = {"content": "hushhush"}
    write_lines(tmp_path / "vanilla.jsonl", bad)
    write_lines(tmp_path / "personalised.jsonl", answers("personalised"))
    assert "vanilla.jsonl, line 1: result 2 of results: the result has neither" in str(refused(str(tmp_path)))
    found = read_pairs([str(tmp_path)], skip_bad=True)
    assert [pair.query for pair in found.pairs] == ["second hushquery"]


def test_one_side_only_is_no_pair(tmp_path: Path) -> None:
    write_lines(tmp_path / "vanilla.jsonl", answers("vanilla"))
    assert "has no personalised list" in str(refused(str(tmp_path)))
    error = refused(str(tmp_path), skip_bad=True)
    assert "has no personalised list" in str(error)


def test_lists_of_an_unknown_side_are_refused(tmp_path: Path) -> None:
    for path in (
        write_lines(tmp_path / "lists.jsonl", answers("vanilla")),
        write_json(tmp_path / "list.json", answers("vanilla")[0], indent=1),
        write_table(tmp_path / "rows.csv", [{"query": "hushhush", "url": "u"}]),
        write_json(tmp_path / "browser.har", archive("vanilla")),
    ):
        error = refused(path)
        assert error.problems[0].kind == "unknown-side"
        assert "vanilla, personalised or again" in error.hint


def test_records_of_websearcher_need_their_searches(tmp_path: Path) -> None:
    for side in ("vanilla", "personalised"):
        write_lines(tmp_path / side / "parsed.json", serps(side)[1])
    error = refused(str(tmp_path))
    assert "parsed.json, line 1: nothing says what was searched for" in str(error)
    assert "serp_id" in error.hint


def test_archives_without_results_are_refused(tmp_path: Path) -> None:
    held = archive("vanilla")
    held["log"]["entries"] = held["log"]["entries"][:3]
    error = refused(write_json(tmp_path / "vanilla.har", held))
    assert "none of its 3 responses holds results in JSON" in str(error)
    assert "format=json" in error.hint


@pytest.mark.parametrize("entry", [None, 7, {}, {"response": 3}, {"response": {"content": {"text": 5}}}])
def test_strange_entries_of_archives_are_passed_over(tmp_path: Path, entry: object) -> None:
    for side in ("vanilla", "personalised"):
        held = archive(side)
        held["log"]["entries"].append(entry)
        held["log"]["entries"].append({"response": {"content": {"text": "!!", "encoding": "base64"}}})
        write_json(tmp_path / f"{side}.har", held)
    assert len(read_pairs([str(tmp_path)]).pairs) == 2


@pytest.mark.parametrize(
    ("name", "content", "kind", "sentence"),
    [
        ("a.html", b"<html>hushhush</html>", "web-page", "it is a web page"),
        ("a.json", b'{"query":\n "hushhush"', "broken-json", "line 2: it is not valid JSON"),
        ("a.json", b"[" * 100_000, "broken-json", "it is not valid JSON"),
        ("a.json", b'{\n"query": "\xff"}', "invalid-utf8", "not valid UTF-8"),
        ("a.json", b'{"hushhush": 1}', "not-results", "it is no result list and no pair of lists"),
        ("a.json", b"[1, 2]", "bad-row", "entry 1: the row cannot be read: it is no object"),
        ("a.csv", b"", "empty-file", "is empty"),
        ("a.csv", b" \n\n", "empty-file", "is empty"),
        ("a.csv", b"query,list,url\n", "header-only", "header"),
        ("a.csv", b"hushhush,hushhush\n1,2\n", "no-header", "line 1: the first line does not name the columns"),
        (
            "a.csv",
            b"query,list\nhushhush,vanilla\n",
            "missing-column",
            "no column holds the address (url) or the title",
        ),
        ("a.csv", b"url,list\nhushhush,vanilla\n", "missing-column", "no column holds the query"),
        ("a.csv", b"query,url,URL\nhushhush,1,2\n", "duplicate-columns", "more than one column is called url"),
        ("a.csv", b"query,list,url\nhushhush,vanilla,\xff\n", "invalid-utf8", "line 2"),
        ("a.csv", b'query,list,url\nhushhush,vanilla,"u\n', "bad-line", "a quoted cell does not end"),
        ("a.parquet", b"PAR1hushhush", "unreadable-file", "it is not a whole Parquet file"),
        ("a.gz", gzip.compress(GOOD)[:-9], "cut-off", ""),
    ],
)
def test_files_that_are_no_lists_are_refused(write: Write, name: str, content: bytes, kind: str, sentence: str) -> None:
    error = refused(write(name, content))
    assert error.problems[0].kind == kind
    assert sentence in str(error)
    assert name in str(error)


def test_parquet_says_which_column_is_missing(tmp_path: Path) -> None:
    error = refused(write_parquet(tmp_path / "a.parquet", [{"query": "hushhush", "place": "x"}]))
    assert "no column holds the address" in str(error)
    assert "query, place" in error.hint


def test_rows_of_parquet_are_counted_as_rows(tmp_path: Path) -> None:
    rows = flat_rows()
    rows[2]["url"] = rows[2]["title"] = None
    assert "row 3: the result has neither an address nor a title" in str(
        refused(write_parquet(tmp_path / "a.parquet", rows))
    )
    bad = pa.table({"query": [1, 2], "list": ["vanilla"] * 2, "url": ["u", "v"]})
    pa.parquet.write_table(bad, tmp_path / "b.parquet")
    assert "row 1: query is no text" in str(refused(str(tmp_path / "b.parquet")))


def test_missing_and_closed_files_and_empty_directories_are_told(tmp_path: Path) -> None:
    assert "there is no such file" in str(refused(str(tmp_path / "none.jsonl")))
    (tmp_path / "empty").mkdir()
    assert "the directory holds no file" in str(refused(str(tmp_path / "empty")))
    if os.geteuid():
        closed = tmp_path / "closed.jsonl"
        closed.write_bytes(GOOD)
        closed.chmod(0)
        assert "may not be read" in str(refused(str(closed)))


def test_documents_without_ids_or_with_strange_cells_are_refused(tmp_path: Path) -> None:
    both = tmp_path / "both.run"
    both.write_text(run("vanilla", "vanilla") + run("personalised", "personalised"))
    texts = write_lines(tmp_path / "texts.jsonl", [{"title": "hushhush"}])
    assert "no document has an id" in str(refused(str(both), documents=[texts]))
    texts = write_lines(tmp_path / "texts.jsonl", [{"docno": "doc-a", "title": 5}])
    assert "texts.jsonl, line 1: title is no text" in str(refused(str(both), documents=[texts]))
    texts = write_lines(tmp_path / "texts.jsonl", [{"docno": "doc-a"}]) + "x"
    assert "no such file" in str(refused(str(both), documents=[texts]))


def test_too_long_lists_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST_LIST", 3)
    path = write_lines(tmp_path / "pairs.jsonl", pair_lines())
    assert "line 1: the vanilla list has more than 3 results" in str(refused(path))
    assert len(read_pairs([path], skip_bad=True).pairs) == 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200), form=st.sampled_from(["jsonl", "csv", "har", "run", "json"]))
def test_any_bytes_end_in_pairs_or_in_a_clear_error(tmp_path: Path, content: bytes, form: str) -> None:
    path = tmp_path / f"vanilla.{form}"
    path.write_bytes(content)
    for skip in (False, True):
        with pytest.raises(InputError):
            read_pairs([str(path)], skip_bad=skip)


KEYS = st.sampled_from(
    [
        *("query", "vanilla", "personalised", "again", "results", "url", "title", "content", "kind", "type", "list"),
        *("position", "serp_id", "qry", "when", "log", "entries", "pair_id"),
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.dictionaries(KEYS, values, max_size=6), min_size=1, max_size=4))
def test_any_objects_end_in_pairs_or_in_a_clear_error(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    path = write_lines(tmp_path / "vanilla.jsonl", lines)
    for skip in (False, True):
        try:
            found = read_pairs([path], skip_bad=skip)
        except InputError as error:
            assert error.hint
        else:
            assert found.pairs


def test_half_characters_in_whole_files_are_told(tmp_path: Path) -> None:
    lines = pair_lines()
    lines[0]["vanilla"][0]["title"] = "hushhush \ud800"
    path = write_json(tmp_path / "pairs.json", lines, indent=1)
    assert "entry 1: result 1 of vanilla: title holds half of a character pair" in str(refused(path))
    assert len(read_pairs([path], skip_bad=True).pairs) == 1


def test_whole_files_that_are_cut_off_or_too_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = [{**line, "noise": os.urandom(100_000).hex()} for line in pair_lines()]
    packed = tmp_path / "pairs.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(noise, indent=1).encode())[:-9])
    assert refused(str(packed)).problems[0].kind == "cut-off"
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    large = write_json(tmp_path / "pairs.json", [*noise, "x" * (1 << 20)], indent=1)
    assert "it is larger than 1 MB" in str(refused(large))


def test_searches_with_strange_times_are_told(tmp_path: Path) -> None:
    for side in ("vanilla", "personalised"):
        searches, parsed = serps(side)
        searches[0]["timestamp"] = "hushhush"
        write_lines(tmp_path / side / "searches.json", searches)
        write_lines(tmp_path / side / "parsed.json", parsed)
    assert "searches.json, line 1: timestamp is not a time that can be read" in str(refused(str(tmp_path)))
    assert [pair.query for pair in read_pairs([str(tmp_path)], skip_bad=True).pairs] == ["second hushquery"]
