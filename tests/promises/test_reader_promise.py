"""The reader's promise: one person's lines change no record of anybody else, whatever bytes she typed.

Her cells are arbitrary bytes, as far as the writer of the format lets them through: everything but a line feed where
the format escapes nothing, everything in escaped form where it does. Others' records must be those of the file without
her. A strict reading may refuse the file instead; one that leaves bad rows out, of a format that is declared or named
by its header, must always succeed.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote_plus

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aidos.core.records import SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import BrokenPromiseError, InputError
from aidos.ingest.bytescan import Tally
from aidos.ingest.formats import DELIMITED_FORMATS, LINE_FORMATS
from aidos.ingest.formats.jsonl import JsonLines
from aidos.ingest.normalise import NORMALISED
from aidos.ingest.options import HowToRead, ReadOptions
from aidos.ingest.reading import read_files
from aidos.jobs.recipe import Recipe
from aidos.rooms.publish.catalogue import build_release
from aidos.rooms.publish.multi import LogRelease
from aidos.rooms.publish.sources import read_for_release

HER = "her"
TIMES = [f"2006-03-{day:02} 10:00:00" for day in range(1, 13)]
QUERIES = (b"query 0", b"query 1", b'"query 2"')
"""One stands in quotes, so that whatever makes them text, or no text, shows in it."""
RELEASE = ReadOptions(for_release=True, normalise=NORMALISED)
Cells = tuple[bytes, bytes, bytes]
"""What she typed or sent: a query, a time and an address."""


@dataclass(frozen=True)
class Dialect:
    """A format as some program writes it."""

    name: str
    write: Callable[[bytes, Cells], bytes]
    """One line for a person and her cells, without its end."""
    options: ReadOptions
    header: bytes = b""
    person: str = "client_id"
    end: bytes = b"\n"
    extra: tuple[bytes, ...] = field(default=())
    """Lines of other people besides the usual ones."""


def unescaped(delimiter: bytes) -> Callable[[bytes, Cells], bytes]:
    return lambda person, cells: delimiter.join([person, *cells])


def quoted(person: bytes, cells: Cells) -> bytes:
    """As RFC 4180 has it: only this writer may put line feeds into a cell."""
    return b",".join(b'"' + cell.replace(b'"', b'""') + b'"' for cell in (person, *cells))


def as_json(names: tuple[str, str, str, str], more: dict[str, object] | None = None) -> Callable[[bytes, Cells], bytes]:
    def write(person: bytes, cells: Cells) -> bytes:
        values = [text.decode("utf-8", "replace") for text in (person, *cells)]
        document = {**dict(zip(names, values, strict=True)), **(more or {})}
        if cells[0].startswith(b"{"):  # she may also send a document of her own making
            document |= {"client_id": values[0], "user": values[0], "query_id": "q1", "position": "x", values[3]: 1}
        return json.dumps(document, ensure_ascii=len(cells[0]) % 2 == 0).encode()

    return write


def solr(person: bytes, cells: Cells) -> bytes:
    query, time, _ = cells
    stamp = time.decode("ascii", "replace").replace("\n", " ")[:19]
    parameters = f"q={quote_plus(query)}&user={quote_plus(person)}&note={quote_plus(cells[2])}"
    return f"{stamp}.000 INFO (qtp) path=/select params={{{parameters}}} hits=1 status=0 QTime=1".encode()


def elastic(person: bytes, cells: Cells) -> bytes:
    query, time, address = (cell.decode("utf-8", "replace") for cell in cells)
    event = {"@timestamp": time, "event": {"action": "search"}, "search": {"query": query}}
    return json.dumps({**event, "user": {"id": person.decode()}, "document": {"id": address}}).encode()


def qlog(person: bytes, cells: Cells) -> bytes:
    query, time, address = (cell.decode("utf-8", "replace") for cell in cells)
    entry = {"query_orig": query, "time": time, "items": [{"doc_id": address, "rank": 1, "clicked": len(query) < 10}]}
    if query.startswith("{"):
        entry |= {"items": address, "query_id": None}
    return json.dumps({"user_id": person.decode(), "query_id": "q1", "query": query} | entry).encode()


UBI_EVENT = {"action_name": "click", "client_id": "u1", "query_id": "q1", "timestamp": TIMES[0]}
LOG_NAMES = ("client_id", "user_query", "timestamp", "object_id")
NAMED = b"user,query,time,url\n"
DIALECTS = [
    Dialect(
        "aol",
        lambda person, cells: b"\t".join([person, cells[0], cells[1], b"", cells[2]]),
        RELEASE,
        b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n",
    ),
    Dialect(
        "aol without a header",
        lambda person, cells: b"\t".join([person, cells[0], cells[1], b"", cells[2]]),
        replace(RELEASE, format="aol"),
    ),
    Dialect(
        "excite", lambda person, cells: b"\t".join([person, cells[1], cells[0]]), replace(RELEASE, format="excite")
    ),
    Dialect("csv", unescaped(b","), RELEASE, NAMED),
    Dialect("csv with CRLF", unescaped(b","), RELEASE, NAMED[:-1] + b"\r\n", end=b"\r\n"),
    Dialect("csv without quotes", unescaped(b","), replace(RELEASE, quotes="none"), NAMED),
    Dialect("csv by RFC 4180", quoted, replace(RELEASE, quotes="rfc4180"), NAMED),
    Dialect("tsv", unescaped(b"\t"), RELEASE, NAMED.replace(b",", b"\t")),
    Dialect(
        "tsv without names",
        unescaped(b"\t"),
        replace(
            RELEASE,
            delimiter="\t",
            header=False,
            column=("client_id=c1", "user_query=c2", "timestamp=c3"),
        ),
    ),
    Dialect("tsv with quotes", unescaped(b"\t"), RELEASE, b'"user"\t"query"\t"time"\t"url"\n'),
    Dialect("latin-1", unescaped(b";"), replace(RELEASE, encoding="latin-1"), NAMED.replace(b",", b";")),
    Dialect("shift-jis", unescaped(b","), replace(RELEASE, encoding="shift_jis"), NAMED),
    Dialect(
        "table",
        unescaped(b","),
        replace(RELEASE, table=("user", "query"), normalise=ReadOptions().normalise),
        NAMED,
        "user",
    ),
    Dialect("jsonl", as_json(LOG_NAMES), replace(RELEASE, format="jsonl")),
    Dialect(
        "jsonl with named columns",
        as_json(("user", "q", "time", "url")),
        replace(RELEASE, format="jsonl", column=("client_id=user", "user_query=q", "timestamp=time")),
    ),
    Dialect(
        "ubi",
        as_json(LOG_NAMES, {"query_id": "q1"}),
        replace(RELEASE, format="ubi"),
        extra=(json.dumps(UBI_EVENT).encode(),),
    ),
    Dialect("elastic", elastic, replace(RELEASE, format="elastic")),
    Dialect("solr", solr, replace(RELEASE, format="solr")),
    Dialect("qlogs", qlog, replace(RELEASE, format="qlogs")),
]
ESCAPED = {"csv by RFC 4180", "jsonl", "jsonl with named columns", "ubi", "elastic", "solr", "qlogs"}
"""Writers that let a line feed through because they escape it, or have it in quotes."""
NOT_SKIPPED = {"csv by RFC 4180", "tsv without names"}
"""Where it is not promised that bad rows can be left out."""
TOKENS = [
    *(b'"', b'""', b"'", b",", b"\t", b";", b"\r", b"\r\r", b"\0", b"\\", b"#", b"{", b"}", b"\xff", b"\x81", b"\x1a"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1b$B", b"abc", b" ", b"user,query,time,url", b"2006-03-01"),
    *(b"1141207200", b"970916105432", b"path=/select params={q=x} ", b'{"index":{"_index":"ubi_events"}}', b"\n"),
]
typed = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=3), max_size=4).map(b"".join)
usual = st.sampled_from([time.encode() for time in TIMES])
her_cells = st.tuples(typed, usual | typed, typed)
PACKING = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


_without_her: dict[str, list[tuple[object, ...]]] = {}


@pytest.fixture(scope="module")
def engine() -> Iterator[EmbeddedEngine]:
    with EmbeddedEngine(threads=2) as opened:
        yield opened


def others(dialect: Dialect) -> list[bytes]:
    stamp = (lambda time: time[2:].translate(str.maketrans("", "", "-: "))) if dialect.name == "excite" else str
    lines = [
        dialect.write(f"u{person}".encode(), (QUERIES[number % 3], stamp(time).encode(), b"http://a/%d" % person))
        for number, time in enumerate(TIMES)
        for person in [number % 4]
    ]
    return [*lines, *dialect.extra]


def records(
    engine: EmbeddedEngine, dialect: Dialect, lines: list[bytes], options: ReadOptions, packing: str = ""
) -> list[tuple[object, ...]]:
    """Everybody else's records, in any order."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"log.txt{packing}"
        path.write_bytes(PACKING[packing](dialect.header + b"".join(line + dialect.end for line in lines)))
        table = read_files(engine, [str(path)], options).table
        kept = table.rows(f"select * from {{table}} where {dialect.person} is distinct from '{HER}'")
    return sorted(kept, key=repr)


def keep_promise(engine: EmbeddedEngine, dialect: Dialect, hers: list[tuple[int, bytes]], packing: str = "") -> None:
    """Compare with the file without her: strictly read, and with bad rows left out."""
    lines = others(dialect)
    known = repr((dialect.name, dialect.options, lines))
    if known not in _without_her:
        _without_her[known] = records(engine, dialect, lines, dialect.options)
    expected = _without_her[known]
    for place, line in hers:
        lines.insert(place % (len(lines) + 1), line)
    with suppress(InputError):
        assert records(engine, dialect, lines, dialect.options, packing) == expected
    if dialect.name not in NOT_SKIPPED:
        lenient = replace(dialect.options, skip_bad_rows=True)
        assert records(engine, dialect, lines, lenient, packing) == expected


def as_written(dialect: Dialect, rows: list[tuple[int, Cells]]) -> list[tuple[int, bytes]]:
    written = [(place, dialect.write(HER.encode(), cells)) for place, cells in rows]
    if dialect.name in ESCAPED:
        return written
    return [(place, line.replace(b"\n", b" ")) for place, line in written]


rows_of_hers = st.lists(st.tuples(st.integers(0, 12), her_cells), min_size=1, max_size=4)
ACROSS = [(3, (b'"abc', b"2006-03-01", b"")), (9, (b'abc"', b"2006-03-01", b""))]
FIRST_AND_LAST = [(0, (b'"', b"", b"\r")), (13, (b"\xff\0", b"", b'"'))]
MANY = [(0, (b"{", b"x", b"client_id"))] * 45
DELIMITED = [(0, (b";" * 9, b"x", b"\t|;" * 9))] * 45
TIMED = [(0, (b"'\"", b"13/04/2006 10:00:00", b"'"))] * 45


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@settings(max_examples=5, deadline=None)
@given(rows=rows_of_hers, packing=st.sampled_from(sorted(PACKING)))
@example(rows=ACROSS, packing="")
@example(rows=FIRST_AND_LAST, packing=".gz")
@example(rows=MANY, packing=".zst")
@example(rows=DELIMITED, packing="")
@example(rows=TIMED, packing="")
def test_what_one_person_typed_changes_no_record_of_others(
    engine: EmbeddedEngine, dialect: Dialect, rows: list[tuple[int, Cells]], packing: str
) -> None:
    keep_promise(engine, dialect, as_written(dialect, rows), packing)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@settings(max_examples=100, deadline=None)
@given(rows=rows_of_hers)
def test_what_one_person_typed_changes_no_record_of_others_at_length(
    engine: EmbeddedEngine, dialect: Dialect, rows: list[tuple[int, Cells]]
) -> None:
    keep_promise(engine, dialect, as_written(dialect, rows))


def test_every_text_format_of_a_search_log_is_tried() -> None:
    known = [*DELIMITED_FORMATS, *LINE_FORMATS]
    logs = {one.name for one in known if getattr(one, "schema", SEARCH_LOG) is SEARCH_LOG}
    assert logs <= {dialect.name.partition(" ")[0] for dialect in DIALECTS}
    assert {one.name for one in known} - logs == {
        "trec-run",
        "trec-qrels",
        "stackexchange",
    }  # no release is made of these


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "latin-1", "table"])
def test_a_line_that_is_too_long_costs_itself_alone(engine: EmbeddedEngine, name: str) -> None:
    dialect = next(dialect for dialect in DIALECTS if dialect.name == name)
    keep_promise(engine, dialect, [(2, HER.encode() + b',"' + b"x" * 1_100_000)])


def csv_dialect(name: str = "csv") -> Dialect:
    return next(dialect for dialect in DIALECTS if dialect.name == name)


class TestTheTestCanFail:
    """The same comparison, with a reader that is as it was, or as it might be by mistake."""

    def test_with_quotes_that_reach_over_lines(self, engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("aidos.ingest.delimited.heed_quotes", lambda text, *_: (text, Tally()))
        with pytest.raises(BrokenPromiseError):  # the lines are counted, whatever the quotes are taken for
            keep_promise(engine, csv_dialect(), as_written(csv_dialect(), ACROSS))
        monkeypatch.setattr("aidos.ingest.delimited._account", lambda *_: None)
        with pytest.raises(AssertionError):
            keep_promise(engine, csv_dialect(), as_written(csv_dialect(), ACROSS))

    def test_with_a_file_that_is_said_to_be_rfc_4180_and_is_not(self, engine: EmbeddedEngine) -> None:
        wrong = replace(csv_dialect(), options=replace(RELEASE, quotes="rfc4180"))
        with pytest.raises(AssertionError):
            keep_promise(engine, wrong, as_written(wrong, ACROSS))

    def test_with_fields_that_the_first_documents_settle(
        self, engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        guess = JsonLines.fitted
        monkeypatch.setattr(JsonLines, "fitted", lambda self, sample, columns, **_: guess(self, sample, columns))
        dialect = replace(csv_dialect("jsonl"), write=as_json(("user", "q", "time", "url")))
        hers = [(0, json.dumps({"client_id": HER, "user_query": "x", "timestamp": TIMES[0]}).encode())]
        with pytest.raises((AssertionError, InputError)):
            keep_promise(engine, dialect, hers)

    def test_with_line_ends_that_the_owner_accepts(self, engine: EmbeddedEngine) -> None:
        accepted = replace(csv_dialect(), options=replace(RELEASE, accept=("mixed-line-ends",)))
        forged = [(2, b"her,x,2006-03-01,\ru1,forged,2006-03-01,")]
        with pytest.raises(AssertionError):
            keep_promise(engine, accepted, forged)


class TestReleasesAreTold:
    """What rows would decide must be declared."""

    def test_the_first_row_of_a_file_without_names_says_nothing_about_quotes(self, engine: EmbeddedEngine) -> None:
        dialect = csv_dialect("tsv without names")
        lines = [line.replace(b"query 1", b'"query 1"') for line in others(dialect)]
        expected = records(engine, dialect, lines, dialect.options)
        hers = b'her\t"x"\t2006-03-01\t'
        assert records(engine, dialect, [hers, *lines], dialect.options) == expected

    def test_the_delimiter_of_a_file_without_names_is_declared(self, engine: EmbeddedEngine) -> None:
        dialect = csv_dialect("tsv without names")
        with pytest.raises(InputError) as caught:
            records(engine, dialect, others(dialect), replace(dialect.options, delimiter="", format="csv"))
        assert caught.value.problems[0].option == "--delimiter '\\t'"

    @pytest.mark.parametrize("name", ["aol without a header", "excite", "jsonl", "ubi", "elastic", "solr", "qlogs"])
    def test_a_format_that_only_rows_tell_is_refused(self, engine: EmbeddedEngine, name: str) -> None:
        dialect = csv_dialect(name)
        with pytest.raises(InputError) as caught:
            records(engine, dialect, others(dialect), RELEASE)
        assert caught.value.problems[0].kind == "guessed-format"
        assert caught.value.problems[0].option.startswith("--format ")

    def test_bad_rows_of_a_file_without_names_are_not_left_out(self, engine: EmbeddedEngine) -> None:
        column = ("client_id=c1", "user_query=c2", "timestamp=c3")
        options = replace(RELEASE, column=column, header=False, delimiter=",")
        dialect = replace(csv_dialect(), header=b"", options=options)
        keep = records(engine, dialect, others(dialect), options)
        assert len(keep) == len(TIMES)
        with pytest.raises(InputError) as caught:
            records(engine, dialect, others(dialect), replace(options, skip_bad_rows=True))
        assert caught.value.problems[0].kind == "guessed-width"

    def test_a_header_that_cannot_be_read_is_refused_and_no_row_takes_its_place(self, engine: EmbeddedEngine) -> None:
        for header in (b'"user,query,time,url\n', b"us\xffer,query,time,url\n"):
            dialect = replace(csv_dialect(), header=header)
            with pytest.raises(InputError):
                records(
                    engine, dialect, [b"user,query,time,url", *others(dialect)], replace(RELEASE, skip_bad_rows=True)
                )

    def test_blank_lines_before_the_names_are_passed_over(self, engine: EmbeddedEngine) -> None:
        dialect = replace(csv_dialect(), header=b"\n\r\n" + NAMED)
        assert records(engine, dialect, others(dialect), RELEASE) == records(
            engine, csv_dialect(), others(csv_dialect()), RELEASE
        )


class TestReleasesByTheirDoor:
    """The files that were read wrongly once, as `aidos publish` reads them."""

    ROWS = b"".join(b"u%d,query %d,2006-03-01 10:00:00\n" % (person, person % 3) for person in range(40))
    SWALLOWED = b'user,query,time\nher,"abc,2006-03-01\n' + ROWS + b'her,abc",2006-03-01\n'

    @pytest.mark.parametrize(
        "recipe",
        [Recipe(items=("queries",)), Recipe(items=(), person="user", columns=("query",))],
        ids=["log", "table"],
    )
    def test_quotes_of_one_person_swallow_nobody(self, engine: EmbeddedEngine, tmp_path: Path, recipe: Recipe) -> None:
        (tmp_path / "log.csv").write_bytes(self.SWALLOWED)
        files = [str(tmp_path / "log.csv")]
        with pytest.raises(InputError) as caught:
            read_for_release(engine, files, build_release(recipe), HowToRead())
        assert [(found.kind, found.lines) for found in caught.value.problems] == [("unbalanced-quote", (2, 43))]
        assert read_for_release(engine, files, build_release(recipe), HowToRead(skip_bad_rows=True)).count() == 40
        assert read_for_release(engine, files, build_release(recipe), HowToRead(quotes="none")).count() == 42

    def test_no_row_flips_the_quotes_of_a_tab_separated_file(self, engine: EmbeddedEngine, tmp_path: Path) -> None:
        rows = b"".join(b'u%d\t"one\t2006-03-01\nu%d\ttwo"\t2006-03-01\n' % (person, person) for person in range(12))
        (tmp_path / "log.tsv").write_bytes(b"user\tquery\ttime\n" + rows)
        table = read_for_release(engine, [str(tmp_path / "log.tsv")], LogRelease(), HowToRead())
        assert table.rows("select user_query, count(*) from {table} group by all order by all") == [
            ('"one', 12),
            ('two"', 12),
        ]
