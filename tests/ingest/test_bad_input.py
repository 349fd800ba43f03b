"""Every way in which a file can be bad: what is said, where, which option mends it, and that nothing leaks."""

from __future__ import annotations

import errno
import gzip
import os
import shlex
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, Problem
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import TABLES
from aidos.ingest.reading import check_files, read_files, write_log

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
SECRET = b"secretword"


def row(day: int, *, person: bytes = b"7", query: bytes = SECRET, time: bytes = b"") -> bytes:
    return b"\t".join([person, query, time or b"2006-03-%02d 10:00:00" % day, b"", b""]) + b"\n"


GOOD = [row(day) for day in range(1, 21)]


def log(*changed: tuple[int, bytes], header: bytes = HEADER) -> bytes:
    """Twenty good rows after the header, with the rows of some lines replaced."""
    lines = [header, *GOOD]
    for line, content in changed:
        lines[line - 1] = content
    return b"".join(lines)


CUT = gzip.compress(b"".join(os.urandom(40).hex().encode() + b"\n" for _ in range(5000)))[:-9000]
STRICT = ReadOptions()


@dataclass(frozen=True)
class Case:
    name: str
    content: bytes
    kind: str
    lines: tuple[int, ...] = ()
    option: str = ""
    rows_when_mended: int | None = None
    file: str = "log.tsv"
    options: ReadOptions = STRICT


CASES = [
    Case("an empty file", b"", "empty-file"),
    Case("a file of blank lines", b"\n\n  \n", "empty-file"),
    Case("a header only", HEADER, "header-only", (1,)),
    Case("a header only, with names", b"user,time,query\n", "header-only", (1,), file="log.csv"),
    Case(
        "the delimiter that was asked for is not there",
        log(),
        "wrong-delimiter",
        (1,),
        "--delimiter '\\t'",
        20,
        options=ReadOptions(delimiter=","),
    ),
    Case(
        "the format that was asked for has another delimiter",
        log().replace(b"\t", b";"),
        "wrong-delimiter",
        (1,),
        "--delimiter ';'",
        20,
        options=ReadOptions(format="aol"),
    ),
    Case(
        "a delimiter that is never assumed", log().replace(b"\t", b"^"), "wrong-delimiter", (1,), "--delimiter '^'", 20
    ),
    Case("a row with too few columns", log((5, b"7\tsecretword\n")), "ragged-rows", (5,), "--skip-bad-rows", 19),
    Case(
        "rows with too many columns",
        log((5, row(5)[:-1] + b"\tx\n"), (9, row(9)[:-1] + b"\tx\ty\n")),
        "ragged-rows",
        (5, 9),
        "--skip-bad-rows",
        18,
    ),
    Case("a NUL byte", log((6, row(6, query=b"secret\0word"))), "nul-bytes", (6,), "--accept nul-bytes", 20),
    Case(
        "text that is not UTF-8",
        log((7, row(7, query=b"secretword\xe9"))),
        "invalid-utf8",
        (7,),
        "--encoding latin-1",
        20,
    ),
    Case("UTF-16", log().decode().encode("utf-16"), "invalid-utf8", (1,), "--encoding utf-16", 20),
    Case("a long line", log((8, row(8, query=b"x" * 1_200_000))), "line-too-long", (8,), "--skip-bad-rows", 19),
    Case(
        "carriage returns for line ends",
        log().replace(b"\n", b"\r"),
        "mixed-line-ends",
        (1,),
        "--accept mixed-line-ends",
        20,
    ),
    Case(
        "one bare carriage return",
        log((4, row(3).replace(b"\n", b"\r"))),
        "mixed-line-ends",
        (4,),
        "--accept mixed-line-ends",
        20,
    ),
    Case("a byte order mark", b"\xef\xbb\xbf" + log(), "byte-order-mark", (1,), "--accept byte-order-mark", 20),
    Case("unsorted times", log((10, row(2))), "unsorted-times", (10,), "--accept unsorted-times", 20),
    Case(
        "a time of 1970",
        log((2, row(1, time=b"1970-01-01 00:00:00"))),
        "absurd-time",
        (2,),
        "--earliest 1970-01-01",
        20,
    ),
    Case(
        "a time of 2262",
        log((21, row(1, time=b"2262-04-12 00:00:00"))),
        "absurd-time",
        (21,),
        "--latest 2262-12-31",
        20,
    ),
    Case("a time in words", log((3, row(1, time=b"secretword"))), "unreadable-time", (3,), "--skip-bad-rows", 19),
    Case(
        "an empty time",
        log((3, row(1, time=b" ").replace(b"\t \t", b"\t\t"))),
        "unreadable-time",
        (3,),
        "--skip-bad-rows",
        19,
    ),
    Case(
        "a rank that is no number",
        log((12, b"7\tsecretword\t2006-03-11 10:00:00\tsecretword\t\n")),
        "bad-number",
        (12,),
        "--skip-bad-rows",
        19,
    ),
    Case("a row of nobody", log((12, row(11, person=b""))), "missing-person", (12,), "--skip-bad-rows", 19),
    Case(
        "times in a way of their own",
        b"user,time,query\n" + b"".join(b"7,%02d/Mar/2006:10:00:00,secretword\n" % day for day in range(1, 11)),
        "unreadable-time",
        (2, 3, 4, 5, 6),
        "--time-format '%d/%b/%Y:%H:%M:%S'",
        10,
        file="log.csv",
    ),
    Case(
        "duplicate columns",
        b"user,time,query,query\n7,2006-03-01,secretword,x\n",
        "duplicate-columns",
        (1,),
        "--accept duplicate-columns",
        1,
        file="log.csv",
    ),
    Case(
        "a required column under a strange name",
        b"user,time,querystring\n7,2006-03-01,secretword\n",
        "missing-column",
        (1,),
        "--column user_query=querystring",
        1,
        file="log.csv",
    ),
    Case(
        "a quote that never ends",
        b"user,time,query\n" + b"7,2006-03-01,secretword\n" * 9 + b'7,2006-03-01,"secretword\n',
        "unbalanced-quote",
        (11,),
        "--quotes none",
        10,
        file="log.csv",
    ),
    Case(
        "a quote that never ends in a last line without an end",
        b"user,time,query\n" + b"7,2006-03-01,secretword\n" * 9 + b'7,2006-03-01,"secretword',
        "unbalanced-quote",
        (11,),
        "--quotes none",
        10,
        file="log.csv",
    ),
    Case(
        "a gzip cut off in the middle",
        CUT,
        "cut-off",
        (zlib.decompressobj(31).decompress(CUT).count(b"\n") + 1,),
        file="log.tsv.gz",
    ),
    Case(
        "a zst cut off in the middle",
        zstandard.compress(os.urandom(100_000).hex().encode())[:-9000],
        "cut-off",
        (1,),
        file="log.tsv.zst",
    ),
    Case("a gzip with a broken checksum", gzip.compress(log())[:-8] + b"\0" * 8, "cut-off", (22,), file="log.tsv.gz"),
    Case("prose", b"Call me Ishmael.\nSome years ago\n", "unknown-format"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_file_is_refused_with_its_kind_line_and_remedy(
    case: Case, engine: EmbeddedEngine, write: Callable[[str, bytes], str], tmp_path: Path
) -> None:
    path, output = write(case.file, case.content), tmp_path / "out.parquet"
    problems = refused(engine, path, case.options, output)
    found = [problem for problem in problems if problem.kind == case.kind]
    assert len(found) == 1, problems
    assert found[0].lines == case.lines
    assert found[0].file == path
    if case.kind != "unknown-format":
        assert found[0].option == case.option
        assert len(problems) == 1, "one cause, one problem"
    assert_no_leak(problems)
    if case.rows_when_mended is not None:
        options = mended(case.options, case.option)
        reading = read_files(engine, [path], options)
        assert write_log(reading, output) == case.rows_when_mended
        assert pq.read_table(output).num_rows == case.rows_when_mended
        if options.skip_bad_rows:
            assert [(problem.kind, problem.count) for problem in reading.problems] == [(case.kind, found[0].count)]
        else:
            assert reading.problems == ()


def refused(engine: EmbeddedEngine, path: str, options: ReadOptions, output: Path) -> tuple[Problem, ...]:
    """The problems, the same by both doors; nothing is written."""
    with pytest.raises(InputError) as caught:
        write_log(read_files(engine, [path], options), output)
    report = check_files(engine, [path], options)
    assert report.problems == caught.value.problems
    assert not output.exists()
    assert SECRET.decode() not in f"{caught.value.message} {caught.value.hint} {report.to_dict()}"
    return report.problems


def assert_no_leak(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        assert SECRET.decode() not in repr(problem)
        assert problem.remedy
        assert problem.kind in TABLES.kinds


def mended(options: ReadOptions, option: str) -> ReadOptions:
    """The options with a suggested one added, as the command line would."""
    words = shlex.split(option)
    for name, value in zip(words, [*words[1:], ""], strict=True):
        match name:
            case "--skip-bad-rows":
                options = replace(options, skip_bad_rows=True)
            case "--accept":
                options = replace(options, accept=(*options.accept, value))
            case "--encoding" | "--quotes":
                options = replace(options, **{name[2:]: value})  # type: ignore[arg-type]
            case "--delimiter":
                options = replace(options, delimiter=value)
            case "--column":
                options = replace(options, column=(*options.column, value))
            case "--time-format":
                options = replace(options, time_format=value)
            case "--earliest":
                options = replace(options, earliest=value)
            case "--latest":
                options = replace(options, latest=value)
    return options


def test_all_problems_of_all_files_are_told_at_once(
    engine: EmbeddedEngine, write: Callable[[str, bytes], str], tmp_path: Path
) -> None:
    first = write(
        "a.tsv",
        b"\xef\xbb\xbf" + log((3, b"7\tx\n"), (5, row(1, query=b"a\0b")), (9, row(1, time=b"soon")), (12, row(2))),
    )
    second = write("b.tsv", b"")
    report = check_files(engine, [first, second, str(tmp_path / "absent.tsv"), str(tmp_path)])
    assert {(Path(problem.file).name, problem.kind) for problem in report.problems} == {
        ("a.tsv", "byte-order-mark"),
        ("a.tsv", "nul-bytes"),
        ("a.tsv", "ragged-rows"),
        ("a.tsv", "unreadable-time"),
        ("a.tsv", "unsorted-times"),
        ("b.tsv", "empty-file"),
        ("absent.tsv", "missing-file"),
        (tmp_path.name, "directory"),
    }


def test_rows_are_not_skipped_when_most_are_bad(
    engine: EmbeddedEngine, write: Callable[[str, bytes], str], tmp_path: Path
) -> None:
    path = write("log.tsv", HEADER + GOOD[0] + row(2, time=b"secretword") * 3)
    problems = refused(engine, path, ReadOptions(skip_bad_rows=True), tmp_path / "out.parquet")
    assert [problem.kind for problem in problems] == ["unreadable-time"]
    assert problems[0].option == ""
    assert "more than half" in problems[0].remedy


def test_skipped_rows_are_counted_by_kind(
    engine: EmbeddedEngine, write: Callable[[str, bytes], str], tmp_path: Path
) -> None:
    bad = log(
        (3, b"7\tx\n"),
        (4, row(1, query=b"a\xff")),
        (9, row(1, time=b"soon")),
        (15, row(1, person=b"")),
        (21, row(1, time=b"2262-01-01 00:00:00")),
    )
    reading = read_files(engine, [write("log.tsv", bad)], ReadOptions(skip_bad_rows=True))
    assert {problem.kind: (problem.count, problem.lines) for problem in reading.problems} == {
        "invalid-utf8": (1, (4,)),
        "ragged-rows": (1, (3,)),
        "unreadable-time": (1, (9,)),
        "missing-person": (1, (15,)),
        "absurd-time": (1, (21,)),
    }
    assert write_log(reading, tmp_path / "out.parquet") == 15


def test_one_line_of_a_hundred_megabytes(engine: EmbeddedEngine, tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    with path.open("wb") as out:
        out.write(HEADER)
        out.write(b"x" * 100_000_000)
    problems = refused(engine, str(path), ReadOptions(), tmp_path / "out.parquet")
    assert [(problem.kind, problem.lines) for problem in problems] == [("line-too-long", (2,))]


def test_a_hundred_megabytes_of_nothing(engine: EmbeddedEngine, tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    with path.open("wb") as out:
        out.truncate(100_000_000)
    for options in (ReadOptions(), ReadOptions(skip_bad_rows=True)):
        problems = refused(engine, str(path), options, tmp_path / "out.parquet")
        assert [(problem.kind, problem.lines) for problem in problems] == [("line-too-long", (1,))]


def test_a_directory(engine: EmbeddedEngine, write: Callable[[str, bytes], str], tmp_path: Path) -> None:
    inside = tmp_path / "logs"
    inside.mkdir()
    write("logs/a.tsv", log())
    problems = refused(engine, str(inside), ReadOptions(), tmp_path / "out.parquet")
    assert [problem.kind for problem in problems] == ["directory"]
    assert read_files(engine, shlex.split(problems[0].option)).table.count() == 20


def test_a_missing_file(engine: EmbeddedEngine, tmp_path: Path) -> None:
    problems = refused(engine, str(tmp_path / "absent" / "*.tsv"), ReadOptions(), tmp_path / "out.parquet")
    assert [problem.kind for problem in problems] == ["missing-file"]


def test_a_pipe_is_not_waited_for(engine: EmbeddedEngine, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    problems = refused(engine, str(tmp_path / "pipe"), ReadOptions(), tmp_path / "out.parquet")
    assert [problem.kind for problem in problems] == ["unreadable-file"]


IN_A_CHILD = """
import os, resource, sys
from pathlib import Path
{limits}
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import AidosError
from aidos.ingest.reading import read_files, write_log
source, target, scratch = sys.argv[1:4]
try:
    with EmbeddedEngine(memory="500MB", threads=1, scratch=Path(scratch)) as engine:
        print(write_log(read_files(engine, [source]), target))
except AidosError as error:
    print(type(error).__name__, "|", error.message, "|", *(problem.kind for problem in getattr(error, "problems", ())))
"""


def in_a_child(limits: str, source: Path, target: Path, scratch: Path) -> str:
    command = [sys.executable, "-c", IN_A_CHILD.format(limits=limits), str(source), str(target), str(scratch)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_permission(write: Callable[[str, bytes], str], tmp_path: Path) -> None:
    source, scratch = Path(write("log.tsv", log())), tmp_path / "scratch"
    scratch.mkdir()
    drop = ""
    if os.getuid() == 0:
        # Imported before: root's own Python may be closed to others.
        drop = "import _strptime, aidos.ingest.reading; os.setgid(65534); os.setuid(65534)"
        for path in (tmp_path, *tmp_path.parents):
            if path.stat().st_uid == 0 and Path(tempfile.gettempdir()).resolve() in path.parents:
                path.chmod(0o755)
        os.chown(scratch, 65534, 65534)
    source.chmod(0)
    said = in_a_child(drop, source, tmp_path / "out.parquet", scratch)
    assert said.split("|")[0].strip() == "InputError"
    assert said.split("|")[2].split() == ["no-permission"]
    source.chmod(0o644)
    assert in_a_child(drop, source, scratch / "out.parquet", scratch).strip() == "20"


def test_a_limit_on_file_size_leaves_nothing_behind(tmp_path: Path) -> None:
    source, scratch, target = big_log(tmp_path / "log.tsv"), tmp_path / "scratch", tmp_path / "out.parquet"
    scratch.mkdir()
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
    said = in_a_child(limit, source, target, scratch)
    assert said.startswith("EngineError | the disk is full"), said
    assert not target.exists()
    assert list(scratch.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


@pytest.mark.parametrize("full", ["scratch", "target"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, full: str) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        source, roomy = big_log(tmp_path / "log.tsv"), tmp_path / "roomy"
        roomy.mkdir()
        scratch, place = (small, roomy) if full == "scratch" else (roomy, small)
        said = in_a_child("", source, place / "out.parquet", scratch)
        assert "EngineError" in said, said
        assert "the disk is full" in said, said
        assert list(small.iterdir()) == []
        assert list(roomy.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def big_log(path: Path) -> Path:
    """A log whose Parquet file has more than 64 kB."""
    path.write_bytes(
        HEADER
        + b"".join(
            row(1 + i // 3000, person=os.urandom(12).hex().encode(), query=os.urandom(20).hex().encode())
            for i in range(20_000)
        )
    )
    return path


def test_errors_of_the_disk_while_reading_are_told(
    engine: EmbeddedEngine, write: Callable[[str, bytes], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("log.tsv", log())

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("aidos.ingest.bytescan._inspect", fail)
    report = check_files(engine, [path])
    assert [problem.kind for problem in report.problems] == ["unreadable-file"]


class TestParquet:
    def test_nested_types_that_are_not_needed_can_be_left_out(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        path = self.write(
            tmp_path, {"user": ["7"], "time": ["2006-03-01"], "query": ["secretword"], "shown": [["a", "b"]]}
        )
        problems = refused(engine, path, ReadOptions(), tmp_path / "out.parquet")
        assert [(problem.kind, problem.column, problem.option) for problem in problems] == [
            ("nested-types", "shown", "--accept nested-types")
        ]
        assert read_files(engine, [path], mended(ReadOptions(), problems[0].option)).table.count() == 1

    def test_fields_of_a_nested_type_can_be_named(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        path = self.write(
            tmp_path, {"user": ["7"], "time": ["2006-03-01"], "search": [{"query": "secretword", "hits": 3}]}
        )
        problems = refused(engine, path, ReadOptions(), tmp_path / "out.parquet")
        assert [(problem.kind, problem.option) for problem in problems] == [
            ("nested-types", "--column user_query=search.query")
        ]
        reading = read_files(engine, [path], mended(ReadOptions(), problems[0].option))
        assert reading.table.rows("select user_query from {table}") == [("secretword",)]

    def test_duplicate_columns(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        table = pa.table(
            [pa.array(["7"]), pa.array(["2006-03-01"]), pa.array(["first"]), pa.array(["second"])],
            names=["user", "time", "query", "query"],
        )
        pq.write_table(table, tmp_path / "log.parquet")
        path = str(tmp_path / "log.parquet")
        problems = refused(engine, path, ReadOptions(), tmp_path / "out.parquet")
        assert [(problem.kind, problem.option) for problem in problems] == [
            ("duplicate-columns", "--accept duplicate-columns")
        ]
        reading = read_files(engine, [path], mended(ReadOptions(), problems[0].option))
        assert reading.table.rows("select user_query from {table}") == [("first",)]

    def test_a_parquet_cut_off(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        path = Path(self.write(tmp_path, {"user": ["7"], "time": ["2006-03-01"], "query": ["secretword"]}))
        path.write_bytes(path.read_bytes()[:-20])
        problems = refused(engine, str(path), ReadOptions(), tmp_path / "out.parquet")
        assert [problem.kind for problem in problems] == ["unreadable-file"]

    def test_a_parquet_without_rows(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        path = self.write(
            tmp_path,
            {"user": pa.array([], pa.string()), "time": pa.array([], pa.string()), "query": pa.array([], pa.string())},
        )
        problems = refused(engine, path, ReadOptions(), tmp_path / "out.parquet")
        assert [problem.kind for problem in problems] == ["header-only"]

    def test_bad_cells_are_found_by_row(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        path = self.write(
            tmp_path,
            {
                "user": ["7", "7", None, "7", "7"],
                "time": ["2006-03-01", "secretword", "2006-03-02", "2006-03-03", "1970-01-01"],
                "query": ["secretword"] * 5,
                "rank": ["1", "2", "3", "secretword", "5"],
                "url": ["secretword"] * 5,
            },
        )
        problems = refused(engine, path, ReadOptions(accept=("unsorted-times",)), tmp_path / "out.parquet")
        assert {(problem.kind, problem.lines) for problem in problems} == {
            ("missing-person", (3,)),
            ("unreadable-time", (2,)),
            ("absurd-time", (5,)),
            ("bad-number", (4,)),
        }
        assert_no_leak(problems)

    @staticmethod
    def write(directory: Path, columns: dict[str, object]) -> str:
        pq.write_table(pa.table(columns), directory / "log.parquet")
        return str(directory / "log.parquet")
