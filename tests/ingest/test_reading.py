from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.core.records import POSTS, SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.ingest.normalise import NORMALISED
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import check_files, read_files, write_log

Write = Callable[[str, bytes], str]
HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
START = datetime(2006, 3, 1)  # noqa: DTZ001 (every time of the house is naive UTC)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"), min_size=1, max_size=20)
CELL = st.one_of(
    WORDS, st.just(""), st.sampled_from(['"', '"a', "a''b", ",", "NULL", "\\N", " x ", "#", "\x85", "\u2028"])
)


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedEngine]:
    with tempfile.TemporaryDirectory() as scratch, EmbeddedEngine(threads=2, scratch=Path(scratch)) as engine:
        yield engine


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[str, str, datetime, int | None, str]]:
    """Rows as files have them: a rank stands with the result that it is of."""
    size = draw(st.integers(1, 30))
    ranks = st.one_of(st.none(), st.integers(1, 2**31 - 1))
    return [
        (
            draw(WORDS.filter(lambda word: word.strip())),
            draw(CELL),
            START + timedelta(seconds=number),
            draw(ranks) if (url := draw(CELL)) else None,
            url,
        )
        for number in range(size)
    ]


def as_rows(log: list[tuple[str, str, datetime, int | None, str]]) -> list[tuple[object, ...]]:
    return [
        (person, time, query or None, None, None, "click" if url else "query", url or None, rank)
        for person, query, time, rank, url in log
    ]


@settings(max_examples=60, deadline=None)
@given(log=logs(), packed=st.sampled_from([bytes, gzip.compress, zstandard.compress]))
def test_rows_of_a_tsv_come_back_as_they_were(
    shared: EmbeddedEngine, log: list[tuple[str, str, datetime, int | None, str]], packed: Callable[[bytes], bytes]
) -> None:
    lines = ["\t".join([person, query, str(time), str(rank or ""), url]) for person, query, time, rank, url in log]
    with tempfile.NamedTemporaryFile(suffix=".tsv") as file:
        file.write(packed((HEADER + "\n".join(lines) + "\n").encode()))
        file.flush()
        reading = read_files(shared, [file.name])
        assert reading.table.rows() == as_rows(log)


@settings(max_examples=60, deadline=None)
@given(log=logs(), delimiter=st.sampled_from(",;|\t"))
def test_rows_of_a_quoted_file_come_back_as_they_were(
    shared: EmbeddedEngine, log: list[tuple[str, str, datetime, int | None, str]], delimiter: str
) -> None:
    def cell(value: object) -> str:
        return '"' + str(value).replace('"', '""') + '"'

    names = ["user", "query", "time", "rank", "url"]
    rows = [
        (person, f"{query}\n{query}" if query else "", time, rank or "", url) for person, query, time, rank, url in log
    ]
    text = "\n".join(delimiter.join(map(cell, row)) for row in [names, *rows])
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(text.encode())
        file.flush()
        reading = read_files(shared, [file.name], ReadOptions(delimiter=delimiter, quotes="rfc4180"))
        expected = [(person, f"{query}\n{query}", time, rank, url) for person, query, time, rank, url in log]
        found = reading.table.rows("select client_id, user_query, timestamp, position, object_id from {table}")
        assert found == [
            (person, query if query != "\n" else None, time, rank, url or None)
            for person, query, time, rank, url in expected
        ]


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_the_lines_told_are_the_lines_that_were_corrupted(shared: EmbeddedEngine, data: st.DataObject) -> None:
    size = data.draw(st.integers(10, 60))
    lines = [f"7\tq{number}\t{START + timedelta(seconds=number)}\t\t" for number in range(size)]
    blank = data.draw(st.sets(st.integers(0, size), max_size=3))
    kinds = data.draw(
        st.dictionaries(
            st.integers(0, size - 1),
            st.sampled_from(["ragged-rows", "unreadable-time", "bad-number", "missing-person", "absurd-time"]),
            max_size=6,
        )
    )
    for number, kind in kinds.items():
        person, query, time, _, _ = lines[number].split("\t")
        lines[number] = {
            "ragged-rows": f"{person}\t{query}",
            "unreadable-time": f"{person}\t{query}\tsoon\t\t",
            "bad-number": f"{person}\t{query}\t{time}\tfirst\t",
            "missing-person": f"\t{query}\t{time}\t\t",
            "absurd-time": f"{person}\t{query}\t1970-01-01 00:00:00\t\t",
        }[kind]
    text, true_lines, line = HEADER, {}, 1
    for number, content in enumerate(lines):
        if number in blank:
            text, line = text + "\n", line + 1
        text, line = text + content + "\n", line + 1
        if number in kinds:
            true_lines.setdefault(kinds[number], []).append(line)
    with tempfile.NamedTemporaryFile(suffix=".tsv") as file:
        file.write(text.encode())
        file.flush()
        report = check_files(shared, [file.name])
    found = {problem.kind: (problem.count, list(problem.lines)) for problem in report.problems}
    assert found == {kind: (len(numbers), numbers[:5]) for kind, numbers in true_lines.items()}


def test_lines_are_right_deep_inside_a_large_file_read_by_several_threads(engine: EmbeddedEngine, write: Write) -> None:
    rows = [
        b"%d\tquery of some words\t2006-03-01 10:00:00\t1\thttp://example.org/\n" % (i // 10) for i in range(600_000)
    ]
    for number in (400_000, 500_000, 599_999):
        rows[number] = b"7\tsoon\tsoon\t\t\n"
    rows[450_000] = b"\t" + rows[450_000].split(b"\t", 1)[1]
    path = write("log.tsv", HEADER.encode() + b"".join(rows))
    report = check_files(engine, [path])
    assert {problem.kind: problem.lines for problem in report.problems} == {
        "unreadable-time": (400_002, 500_002, 600_001),
        "missing-person": (450_002,),
    }


def test_quoted_line_ends_do_not_shift_the_lines_told(engine: EmbeddedEngine, write: Write) -> None:
    good = b'7,2006-03-01,"two\nlines"\n'
    path = write("log.csv", b"user,time,query\n" + good * 10 + b"7,soon,x\n" + good + b",2006-03-02,x\n")
    report = check_files(engine, [path], ReadOptions(quotes="rfc4180"))
    assert {problem.kind: problem.lines for problem in report.problems} == {
        "unreadable-time": (22,),
        "missing-person": (25,),
    }


def test_files_of_several_formats_become_one_table(engine: EmbeddedEngine, write: Write, tmp_path: Path) -> None:
    write("a.tsv", f"{HEADER}7\tone\t2006-03-01 10:00:00\t1\thttp://example.org\n".encode())
    write("b.csv.gz", gzip.compress(b"cookie;when it was;search term\n8;2006-03-02T10:00:00+02:00;two\n"))
    excite = write("c.log", b"9\t970916105432\tthree\n")
    column = ("timestamp=when it was",)
    aol = read_files(engine, [str(tmp_path / "a.*"), excite])
    assert aol.table.rows("select client_id, user_query, action, position from {table}") == [
        ("7", "one", "click", 1),
        ("9", "three", "query", None),
    ]
    assert aol.schema is SEARCH_LOG
    assert [file.format for file in aol.files] == ["aol", "excite"]
    csv = read_files(engine, [str(tmp_path / "b.csv.gz")], ReadOptions(column=column))
    assert csv.table.rows("select client_id, timestamp::varchar, user_query from {table}") == [
        ("8", "2006-03-02 08:00:00", "two")
    ]


def test_tables_of_different_kinds_are_not_mixed(engine: EmbeddedEngine, write: Write) -> None:
    log = write("a.tsv", f"{HEADER}7\tone\t2006-03-01 10:00:00\t\t\n".encode())
    posts = write("b.csv", b"post_id,author_id,created,body\n1,7,2006-03-01,hello\n")
    assert read_files(engine, [posts]).schema is POSTS
    with pytest.raises(InputError) as caught:
        read_files(engine, [log, posts])
    assert [(problem.kind, problem.file) for problem in caught.value.problems] == [("different-tables", posts)]


def test_times_without_a_zone_are_utc_whatever_the_machine_thinks(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    path = write(
        "a.csv", b"user,time,query\n7,2006-03-01 10:00:00,x\n7,2006-03-01T10:00:00Z,x\n7,2006-03-01 12:00:00+02,x\n"
    )
    with EmbeddedEngine(scratch=tmp_path) as engine:
        assert engine.run("set TimeZone = 'America/New_York'") == []
        assert read_files(engine, [path]).table.rows("select distinct timestamp::varchar from {table}") == [
            ("2006-03-01 10:00:00",)
        ]


@pytest.mark.parametrize(
    "times", [("1141207200", "1141207201"), ("1141207200000", "1141207201000"), ("060301100000", "060301100001")]
)
def test_numbers_as_times(engine: EmbeddedEngine, write: Write, times: tuple[str, str]) -> None:
    path = write("a.csv", "user,time,query\n{}\n".format("\n".join(f"7,{time},x" for time in times)).encode())
    rows = read_files(engine, [path]).table.rows("select timestamp::varchar from {table}")
    assert rows == [("2006-03-01 10:00:00",), ("2006-03-01 10:00:01",)]


def test_a_file_without_a_header_never_shows_its_first_row(engine: EmbeddedEngine, write: Write) -> None:
    path = write("a.csv", b"secretword,2006-03-01 10:00:00,secretword too\nb,2006-03-01 11:00:00,x\n")
    report = check_files(engine, [path])
    assert {problem.kind for problem in report.problems} == {"missing-column"}
    assert "secretword" not in str(report.to_dict())
    column = ("client_id=c1", "timestamp=c2", "user_query=c3")
    assert read_files(engine, [path], ReadOptions(column=column)).table.count() == 2


def test_phrases_in_quotes_stay_as_they_were_typed(engine: EmbeddedEngine, write: Write) -> None:
    path = write("a.tsv", b'user\ttime\tquery\n7\t2006-03-01\t"new york"\n7\t2006-03-02\t"half a quote\n')
    rows = read_files(engine, [path]).table.rows("select user_query from {table}")
    assert rows == [('"new york"',), ('"half a quote',)]


def test_accepted_unsorted_rows_are_sorted_by_person_and_time(engine: EmbeddedEngine, write: Write) -> None:
    path = write("a.csv", b"user,time,query\n8,2006-03-02,d\n7,2006-03-02,b\n8,2006-03-01,c\n7,2006-03-01,a\n")
    options = ReadOptions(accept=("unsorted-times",))
    reading = read_files(engine, [path], options)
    assert reading.table.rows("select user_query from {table}") == [("a",), ("b",), ("c",), ("d",)]
    assert any("unsorted-times" in note for note in reading.notes)


@pytest.mark.parametrize(
    "rows", ["7,2006-03-01,a\n8,2006-03-02,b\n7,2006-03-03,c\n", "8,2006-03-02,a\n8,2006-03-03,b\n7,2006-03-01,c\n"]
)
def test_order_by_time_or_by_person_is_order(engine: EmbeddedEngine, write: Write, rows: str) -> None:
    assert read_files(engine, [write("a.csv", f"user,time,query\n{rows}".encode())]).table.count() == 3


class TestWriting:
    LOG = f"{HEADER}7\tOne  Two\t2006-03-01 10:00:00\t\t\n7\tthree\t2006-03-01 11:00:00\t\t\n".encode()

    def test_what_is_written_says_what_it_is_and_can_be_read_again(
        self, engine: EmbeddedEngine, write: Write, tmp_path: Path
    ) -> None:
        out = tmp_path / "out.parquet"
        assert write_log(read_files(engine, [write("a.tsv", self.LOG)], ReadOptions(normalise=NORMALISED)), out) == 2
        assert pq.read_schema(out).names == list(SEARCH_LOG.names())
        metadata = pq.read_metadata(out).metadata
        assert metadata[b"aidos.schema"] == b"search-log"
        assert metadata[b"aidos.normalised"] == b"nfkc,case,white_space,control_characters"
        again = read_files(engine, [str(out)])
        assert again.table.rows("select user_query from {table}") == [("one two",), ("three",)]
        assert again.files[0].why == "aidos wrote it"

    def test_the_table_can_still_be_used_after_it_was_written(
        self, engine: EmbeddedEngine, write: Write, tmp_path: Path
    ) -> None:
        reading = read_files(engine, [write("a.tsv", self.LOG)])
        assert reading.parquet is not None
        write_log(reading, tmp_path / "one.parquet")
        write_log(reading, str(tmp_path / "two.parquet"))
        assert reading.table.count() == pq.read_table(tmp_path / "two.parquet").num_rows == 2

    def test_another_file_system_gets_a_copy(
        self, engine: EmbeddedEngine, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError(18, "Invalid cross-device link")

        monkeypatch.setattr(os, "link", refuse)
        write_log(read_files(engine, [write("a.tsv", self.LOG)]), tmp_path / "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet").num_rows == 2

    def test_an_output_that_is_there_is_replaced_only_by_a_whole_one(
        self, engine: EmbeddedEngine, write: Write, tmp_path: Path
    ) -> None:
        out = Path(write("out.parquet", b"before"))
        with pytest.raises(InputError):
            write_log(read_files(engine, [write("bad.tsv", b"")]), out)
        assert out.read_bytes() == b"before"
        write_log(read_files(engine, [write("a.tsv", self.LOG)]), out)
        assert pq.read_table(out).num_rows == 2

    def test_lines_read_by_python_are_written_without_their_numbers(
        self, engine: EmbeddedEngine, write: Write, tmp_path: Path
    ) -> None:
        path = write("a.jsonl", b'{"user": "7", "time": "2006-03-01", "query": "One"}\n')
        reading = read_files(engine, [path], ReadOptions(normalise=NORMALISED))
        write_log(reading, tmp_path / "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet").select(["client_id", "user_query"]).to_pylist() == [
            {"client_id": "7", "user_query": "one"}
        ]


class TestOptions:
    def test_sessions_by_gap(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write(
            "a.csv",
            b"user,time,query\n7,2006-03-01 10:00:00,a\n7,2006-03-01 10:30:00,b\n"
            b"7,2006-03-01 11:00:01,c\n8,2006-03-01 11:00:02,d\n",
        )
        reading = read_files(engine, [path], ReadOptions(session_gap_minutes=30))
        assert reading.table.rows("select session_id from {table} order by timestamp") == [
            ("7-1",),
            ("7-1",),
            ("7-2",),
            ("8-1",),
        ]

    def test_sessions_are_of_search_logs(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write("b.csv", b"post_id,author_id,created,body\n1,7,2006-03-01,hello\n")
        with pytest.raises(ParameterError, match="search logs"):
            read_files(engine, [path], ReadOptions(session_gap_minutes=30))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"accept": ("ragged-rows",)},
            {"delimiter": ";;"},
            {"encoding": "klingon"},
            {"session_gap_minutes": 0.0},
            {"latest": "1980-03-01"},
        ],
    )
    def test_impossible_options_are_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ParameterError):
            ReadOptions(**wrong)

    def test_unknown_formats_and_columns_are_refused(self, engine: EmbeddedEngine, write: Write) -> None:
        path = write("a.csv", b"user,time,query\n7,2006-03-01,a\n")
        with pytest.raises(ParameterError, match="klingon"):
            read_files(engine, [path], ReadOptions(format="klingon"))
        with pytest.raises(ParameterError, match="shoe_size"):
            read_files(engine, [path], ReadOptions(column=("shoe_size=query",)))
        with pytest.raises(ParameterError, match="no file"):
            read_files(engine, [])


@pytest.mark.parametrize(
    ("paths", "words", "hint"),
    [
        ("log.tsv", "must be a list of names", "['log.tsv']"),
        (Path("log.tsv"), "must be a list of names", "['log.tsv']"),
        ([], "no file was named", "name a file"),
        ([5], "cannot be a int", "as texts"),
    ],
)
@pytest.mark.parametrize("use", [read_files, check_files])
def test_what_is_no_list_of_names_is_refused(shared, use, paths, words, hint):
    with pytest.raises(ParameterError, match=words) as caught:
        use(shared, paths)
    assert hint in caught.value.hint


def test_paths_are_names_too(shared, tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(HEADER + "1\tweather\t2006-03-01 10:00:00\t\t\n")
    assert read_files(shared, [path]).table.count() == 1
