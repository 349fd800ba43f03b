"""Every way in which a file of rankings can be bad: what is said, where, what mends it, and that nothing leaks."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, Problem
from aidos.ingest.rankings.reading import FORMATS, read_rankings

Write = Callable[[str, bytes], str]
Rows = list[tuple[object, object, object]]
GOOD: Rows = [("q1", "a", 2), ("q1", "b", 1), ("q2", "secretword", 1), ("q2", "b", 3), ("q3", "c", 1)]
NAMES = ("query_id", "object_id", "score")


def run(rows: Rows) -> bytes:
    return "".join(f"{q} Q0 {o} 1 {s} tag\n" for q, o, s in rows).encode()


def csv(rows: Rows) -> bytes:
    return (",".join(NAMES) + "\n" + "".join(f"{q},{o},{s}\n" for q, o, s in rows)).encode()


def flat(rows: Rows) -> bytes:
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows).encode()


def nested(rows: Rows) -> bytes:
    lines: dict[object, list[dict[str, object]]] = {}
    for query, name, score in rows:
        lines.setdefault(query, []).append({"subject_id": name, "relevance": score})
    return "".join(json.dumps({"query_id": q, "subjects": s}) + "\n" for q, s in lines.items()).encode()


def parquet(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    columns = [
        [str(q) for q, _, _ in rows],
        [o for _, o, _ in rows],
        [None if s is None else float(s) for _, _, s in rows],
    ]
    pq.write_table(pa.table(dict(zip(NAMES, columns, strict=True))), sink)
    return sink.getvalue().to_pybytes()


MAKERS: Mapping[str, Callable[[Rows], bytes]] = {
    "r.run": run,
    "r.csv": csv,
    "flat.jsonl": flat,
    "nested.jsonl": nested,
    "r.parquet": parquet,
}
FIRST_LINE = {"r.run": 1, "r.csv": 2, "flat.jsonl": 1, "r.parquet": 1}


def refused(path: str, **options: object) -> Problem:
    with pytest.raises(InputError) as caught:
        list(read_rankings([path], **options))
    problem = caught.value.problems[0]
    told = f"{caught.value} {caught.value.hint} {problem}"
    assert "secretword" not in told
    assert path in str(caught.value)
    assert caught.value.hint
    return problem


def line_of(name: str, row: int) -> int:
    """The line of a row (from 0) of the good rankings; of its ranking where each has one line."""
    return [1, 1, 2, 2, 3][row] if name == "nested.jsonl" else FIRST_LINE[name] + row


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    ("score", "words"),
    [(-1, "negative"), (float("nan"), "missing or not a number"), (float("inf"), "infinite"), (1e308, "too large")],
)
def test_scores_that_cannot_be_relevance(write: Write, name: str, score: float, words: str) -> None:
    rows = [*GOOD[:3], ("q2", "b", score), *GOOD[4:]]
    if score == 1e308:
        rows[2] = ("q2", "secretword", score)
    path = write(name, MAKERS[name](rows))
    problem = refused(path)
    assert (problem.kind, problem.option) == ("bad-score", "--skip-bad-rankings")
    assert words in problem.sentence
    assert problem.lines == (line_of(name, 2 if score == 1e308 else 3),)
    found: list[Problem] = []
    kept = list(read_rankings([path], skip_bad=True, problems=found))
    assert [ranking.ranking_id for ranking in kept] == ["q1", "q3"]
    assert [(problem.kind, problem.count) for problem in found] == [("bad-score", 1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.run", run([*GOOD[:3], ("q2", "b", "secretword"), *GOOD[4:]])),
        ("r.csv", csv([*GOOD[:3], ("q2", "b", "secretword"), *GOOD[4:]])),
        ("r.csv", csv([*GOOD[:3], ("q2", "b", ""), *GOOD[4:]])),
        ("r.csv", csv([*GOOD[:3], ("q2", "b", "1_0"), *GOOD[4:]])),
        ("flat.jsonl", flat([*GOOD[:3], ("q2", "b", "secretword"), *GOOD[4:]])),
        ("flat.jsonl", flat([*GOOD[:3], ("q2", "b", True), *GOOD[4:]])),
        ("nested.jsonl", nested([*GOOD[:3], ("q2", "b", "7"), *GOOD[4:]])),
        ("nested.jsonl", nested([*GOOD[:3], ("q2", "b", None), *GOOD[4:]])),
        ("nested.jsonl", nested([*GOOD[:3], ("q2", "b", [1]), *GOOD[4:]])),
        ("r.parquet", parquet([*GOOD[:3], ("q2", "b", None), *GOOD[4:]])),
    ],
)
def test_scores_that_are_no_numbers(write: Write, name: str, content: bytes) -> None:
    problem = refused(write(name, content))
    assert problem.kind == "bad-score"
    assert "missing or not a number" in problem.sentence
    assert problem.lines == (line_of(name, 3),)
    assert ("subject 2 of 2" in problem.sentence) == (name == "nested.jsonl")


@pytest.mark.parametrize("name", MAKERS)
def test_a_whole_number_of_any_length_is_infinite_and_not_a_crash(write: Write, name: str) -> None:
    if name != "r.parquet":
        assert refused(write(name, MAKERS[name]([("q", "a", 10**400)]))).kind == "bad-score"


@pytest.mark.parametrize("name", MAKERS)
def test_rankings_without_any_relevance(write: Write, name: str) -> None:
    rows = [*GOOD[:2], ("q2", "secretword", 0), ("q2", "b", 0), *GOOD[4:]]
    problem = refused(write(name, MAKERS[name](rows)))
    assert (problem.kind, problem.lines) == ("no-relevance", (line_of(name, 2),))


@pytest.mark.parametrize("name", MAKERS)
def test_an_object_twice_in_a_ranking_names_both_places(write: Write, name: str) -> None:
    rows = [*GOOD[:3], ("q2", "secretword", 3), *GOOD[4:]]
    problem = refused(write(name, MAKERS[name](rows)))
    assert (problem.kind, problem.lines) == ("duplicate-object", (line_of(name, 3),))
    place = "subject 1" if name == "nested.jsonl" else f"{problem.place} {line_of(name, 2)}"
    assert f"first {'as' if name == 'nested.jsonl' else 'in'} {place}" in problem.sentence


@pytest.mark.parametrize("name", ["r.csv", "flat.jsonl", "nested.jsonl", "r.parquet"])
@pytest.mark.parametrize("blank", ["", "  "])
def test_objects_and_rankings_without_a_name(write: Write, name: str, blank: str) -> None:
    problem = refused(write(name, MAKERS[name]([*GOOD[:3], ("q2", blank, 3), *GOOD[4:]])))
    assert (problem.kind, problem.lines) == ("empty-id", (line_of(name, 3),))
    problem = refused(write(name, MAKERS[name]([*GOOD[:3], (blank, "b", 3)])))
    assert problem.kind == "empty-id"
    assert "query_id" in problem.sentence


@pytest.mark.parametrize("name", ["r.run", "r.csv", "flat.jsonl", "r.parquet"])
def test_a_ranking_that_comes_back_names_both_lines(write: Write, name: str) -> None:
    path = write(name, MAKERS[name]([*GOOD, ("q1", "z", 1)]))
    for skip_bad in (False, True):  # its first rows are out already: leaving out the others would not mend it
        problem = refused(path, skip_bad=skip_bad)
        assert (problem.kind, problem.lines) == ("out-of-order", (FIRST_LINE[name] + 5,))
        assert f"the first are in {problem.place} {FIRST_LINE[name]}" in problem.sentence
        assert "sort" in problem.remedy


def test_a_ranking_in_two_lines_or_two_files_is_told_and_the_later_one_may_be_left_out(write: Write) -> None:
    path, other = write("a.jsonl", nested(GOOD)), write("b.jsonl", nested([("q4", "a", 1), ("q2", "z", 1)]))
    with pytest.raises(InputError, match=r"b.jsonl, line 2: .*line 2 of .*a.jsonl"):
        list(read_rankings([path, other]))
    with pytest.raises(InputError, match="the ranking was there before"):
        list(read_rankings([path, path]))
    found: list[Problem] = []
    kept = list(read_rankings([path, other], skip_bad=True, problems=found))
    assert [ranking.ranking_id for ranking in kept] == ["q1", "q2", "q3", "q4"]
    assert [problem.kind for problem in found] == ["repeated-ranking"]


def test_rows_of_one_ranking_must_agree_on_the_searcher(write: Write) -> None:
    path = write("r.csv", b"query_id,searcher_id,object_id,score\nq,ann,a,1\nq,bob,b,1\n")
    assert refused(path).kind == "mixed-ranking"


@pytest.mark.parametrize(
    ("name", "bad", "kind"),
    [
        ("r.run", b"q2 Q0 secretword 1 1\n", "ragged-rows"),
        ("r.run", b"q2 Q0 secretword\xff 1 1 tag\n", "invalid-utf8"),
        ("r.run", b"q2 Q0 secretword\0 1 1 tag\n", "invalid-utf8"),
        ("r.csv", b"q2,secretword\n", "ragged-rows"),
        ("r.csv", b"q2,secretword,1,1\n", "ragged-rows"),
        ("r.csv", b"q2,secretword\xff,1\n", "invalid-utf8"),
        ("r.csv", b'q2,"secret"word,1\n', "bad-line"),
        ("flat.jsonl", b'{"query_id": "q2", "object_id": "secretword"\n', "bad-json"),
        ("flat.jsonl", b'["secretword"]\n', "bad-json"),
        ("flat.jsonl", b'{"query_id": "q2", "object_id": "secretword\xff", "score": 1}\n', "invalid-utf8"),
        ("flat.jsonl", b'{"query_id": "q2", "object_id": "secretword\\ud800", "score": 1}\n', "bad-json"),
    ],
)
def test_a_row_that_cannot_be_read_spoils_the_rankings_it_touches(
    write: Write, name: str, bad: bytes, kind: str
) -> None:
    lines = MAKERS[name]([*GOOD, ("q4", "d", 1)]).splitlines(keepends=True)
    first = FIRST_LINE[name]
    inside = write(name, b"".join([*lines[: first + 2], bad, *lines[first + 2 :]]))
    problem = refused(inside)
    assert (problem.kind, problem.lines) == (kind, (first + 3,))
    found: list[Problem] = []
    kept = list(read_rankings([inside], skip_bad=True, problems=found))
    assert [ranking.ranking_id for ranking in kept] == ["q1", "q3", "q4"]
    assert [problem.kind for problem in found] == [kind]
    between = write(name, b"".join([*lines[: first + 1], bad, bad, *lines[first + 1 :]]))
    kept = list(read_rankings([between], skip_bad=True, problems=found))
    assert [ranking.ranking_id for ranking in kept] == ["q3", "q4"]
    assert [problem.count for problem in found] == [1, 2]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"query_id": "q2", "subjects": []}\n', "empty-ranking"),
        (b'{"query_id": "q2", "subjects": "secretword"}\n', "bad-line"),
        (b'{"query_id": "q2", "subjects": ["secretword"]}\n', "bad-line"),
        (b'{"query_id": "q2"}\n', "bad-line"),
        (b'{"query_id": "q2", "subjects": [{"relevance": 1}]}\n', "empty-id"),
        (b'{"query_id": ["secretword"], "subjects": [{"subject_id": "a", "relevance": 1}]}\n', "empty-id"),
        (b'{"query_id": "q2", "subjects": [{"subject_id": "a", "relevance": 1, "position": "1st"}]}\n', "bad-position"),
        (b'{"query_id": "q2", "subjects": [{"subject_id": "a", "relevance": 1, "position": 1.5}]}\n', "bad-position"),
        (b"secretword\n", "bad-json"),
        (b"[" * 100_000 + b"\n", "bad-json"),
    ],
)
def test_nested_lines_that_hold_no_ranking_spoil_no_other(write: Write, line: bytes, kind: str) -> None:
    lines = nested(GOOD).splitlines(keepends=True)
    path = write("r.jsonl", b"".join([lines[0], line, lines[2]]))
    problem = refused(path)
    assert (problem.kind, problem.lines) == (kind, (2,))
    assert [ranking.ranking_id for ranking in read_rankings([path], skip_bad=True)] == ["q1", "q3"]


@pytest.mark.parametrize(
    ("name", "content", "column", "option"),
    [
        ("r.csv", b"query_id,object_id,scores\nq,a,1\n", "score", "--column score=scores"),
        ("r.csv", b"query_id,score\nq,1\n", "object_id", "--column object_id=NAME"),
        ("r.csv", b"object_id,score\na,1\n", "query_id", "--column query_id=NAME"),
        (
            "r.jsonl",
            b'{"query_id": "q", "subjects": [{"subject_id": "a", "points": 1}]}',
            "score",
            "--column score=NAME",
        ),
        ("r.jsonl", b'{"query_id": "q", "subject": "a", "score": 1}', "object_id", "--column object_id=subject"),
    ],
)
def test_a_missing_column_is_named_with_the_option_that_maps_it(
    write: Write, name: str, content: bytes, column: str, option: str
) -> None:
    problem = refused(write(name, content))
    assert (problem.kind, problem.column, problem.option) == ("missing-column", column, option)


def test_a_missing_column_of_a_parquet_file_and_of_a_rename(write: Write) -> None:
    path = write("r.parquet", parquet(GOOD))
    with pytest.raises(InputError, match="no column holds the score") as caught:
        list(read_rankings([path], columns={"actor": "score"}))
    assert caught.value.problems[0].kind == "missing-column"
    assert refused(path, columns={"actor": "host"}).column == "actor"
    assert refused(path, system="bm25").column == "system"


def test_columns_of_the_wrong_type_or_twice(write: Write, tmp_path: Path) -> None:
    for score, name in ((["secretword"], ["a"]), ([1.0], [["secretword"]])):
        pq.write_table(pa.table({"query_id": ["q"], "object_id": name, "score": score}), tmp_path / "r.parquet")
        assert refused(str(tmp_path / "r.parquet")).kind == "bad-column"
    twice = pa.Table.from_arrays([pa.array(["q"])] * 2 + [pa.array([1])], ["query_id", "query_id", "score"])
    pq.write_table(twice.append_column("object_id", pa.array(["a"])), tmp_path / "r.parquet")
    assert refused(str(tmp_path / "r.parquet")).kind == "duplicate-columns"
    assert refused(write("r.csv", b"query_id,object_id,score,score\nq,a,1,2\n")).kind == "duplicate-columns"


def test_bad_lines_at_the_beginning_do_not_hide_what_follows(write: Write) -> None:
    path = write("r.jsonl", b"secretword\n" * 50 + nested(GOOD))
    assert [ranking.ranking_id for ranking in read_rankings([path], skip_bad=True)] == ["q1", "q2", "q3"]


def test_a_first_line_of_data_is_not_told_as_names(write: Write) -> None:
    assert refused(write("r.csv", b"q,secretword,1\nq,b,1\n")).kind == "no-header"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("r.run", b"", "empty-file"),
        ("r.run", b"\n\n", "header-only"),
        ("r.csv", b"\n", "empty-file"),
        ("r.csv", b"query_id,object_id,score\n", "header-only"),
        ("r.jsonl", b"\n", "header-only"),
        ("r.parquet", parquet([]), "header-only"),
        ("r.parquet", b"PAR1secretword", "unreadable-file"),
        ("r.parquet", parquet(GOOD)[:-9], "unreadable-file"),
        ("r.parquet", run(GOOD), "unreadable-file"),
        ("r.txt", b"secretword here\n", "unknown-format"),
        ("r.csv", b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml", "other-file"),
        ("r.run", os.urandom(5000), "invalid-utf8"),
        ("unknown", b"\0\1\2\3" * 999, "unknown-format"),
        ("r.run.gz", gzip.compress(os.urandom(9000).hex().encode())[:-900], "cut-off"),
        ("r.csv.gz", gzip.compress(os.urandom(9000).hex().encode())[:-900], "cut-off"),
        ("unknown.zst", zstandard.ZstdCompressor().compress(os.urandom(9000).hex().encode())[:-900], "cut-off"),
    ],
)
def test_files_that_hold_no_rankings(write: Write, name: str, content: bytes, kind: str) -> None:
    problem = refused(write(name, content), skip_bad=kind != "invalid-utf8")
    assert problem.kind in {kind, "ragged-rows"} if kind == "invalid-utf8" else problem.kind == kind


def test_a_stream_that_breaks_late_names_the_line(write: Write) -> None:
    rows = [(f"q{i}", os.urandom(20).hex(), 1) for i in range(5000)]
    problem = refused(write("r.run.gz", gzip.compress(run(rows))[:-50_000]))
    assert problem.kind == "cut-off"
    assert 1 < problem.lines[0] < 5000


def test_damage_inside_a_parquet_file_is_told(write: Write) -> None:
    content = bytearray(parquet([("q", os.urandom(8).hex(), 1) for _ in range(3000)]))
    content[100:30_000] = os.urandom(29_900)
    assert refused(write("r.parquet", bytes(content))).kind == "unreadable-file"


def test_files_that_are_not_there_are_told_all_at_once_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_rankings([str(tmp_path / "no.run"), str(tmp_path / "*.csv"), str(tmp_path)])
    assert [problem.kind for problem in caught.value.problems] == ["missing-file", "missing-file", "directory"]


def test_when_every_ranking_is_bad_leaving_them_out_is_refused(write: Write) -> None:
    problem = refused(write("r.run", run([("q1", "a", -1), ("q2", "b", -1)])), skip_bad=True)
    assert (problem.kind, problem.count, problem.lines) == ("bad-score", 2, (1, 2))


@given(content=st.binary(max_size=300), chosen=st.sampled_from(FORMATS), skip_bad=st.booleans())
def test_no_content_whatever_makes_anything_but_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, chosen: str, skip_bad: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"anything.{chosen}"
    path.write_bytes(content)
    try:
        list(read_rankings([str(path)], format=chosen, skip_bad=skip_bad))
    except InputError as error:
        assert error.problems
        assert error.hint
