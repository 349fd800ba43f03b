from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.engine.embedded import EmbeddedEngine
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import check_files

Write = Callable[[str, bytes], str]


def test_a_good_file_is_described(engine: EmbeddedEngine, write: Write) -> None:
    path = write("a.csv", b"cookie,ts,q,url\n7,2006-03-01,x,\n7,2006-03-02,,http://example.org\n8,2006-03-03,z,\n")
    report = check_files(engine, [path])
    assert report.problems == ()
    (file,) = report.files
    assert (file.file, file.format, file.schema, file.rows, file.people) == (path, "csv", "search-log", 3, 2)
    assert (file.first, file.last) == ("2006-03-01 00:00:00", "2006-03-03 00:00:00")
    assert file.columns == {"client_id": "cookie", "timestamp": "ts", "user_query": "q", "object_id": "url"}
    assert file.missing == {"user_query": 1, "object_id": 2}


def test_the_report_is_json(engine: EmbeddedEngine, write: Write, tmp_path: Path) -> None:
    bad = write("a.csv", b"cookie,ts,q\n7,soon,x\n7,2006-03-01,x\n7,2006-03-01,x\n")
    written = json.loads(json.dumps(check_files(engine, [bad, str(tmp_path / "absent")]).to_dict()))
    assert [problem["kind"] for problem in written["problems"]] == ["missing-file", "unreadable-time"]
    assert written["files"][0]["problems"][0]["lines"] == [2]


def test_what_would_be_skipped_is_told_and_is_no_problem(engine: EmbeddedEngine, write: Write) -> None:
    path = write("a.csv", b"cookie,ts,q\n7,soon,x\n7,2006-03-01,x\n7,2006-03-01,x\n")
    report = check_files(engine, [path], ReadOptions(skip_bad_rows=True))
    assert report.problems == ()
    assert [(problem.kind, problem.count) for problem in report.files[0].skipped] == [("unreadable-time", 1)]


def test_times_that_no_calendar_of_python_can_hold(engine: EmbeddedEngine, write: Write) -> None:
    path = write("a.csv", b"cookie,ts,q\n7,2006-03-01,x\n7,290000-01-01,x\n")
    (problem,) = check_files(engine, [path]).problems
    assert (problem.kind, problem.lines, problem.option) == ("absurd-time", (3,), "--latest 9999-12-31")


def test_parquet_of_any_types_is_mapped_and_cast(engine: EmbeddedEngine, tmp_path: Path) -> None:
    table = pa.table(
        {
            "user": pa.array([7.0, 8.0], pa.float64()),
            "time": pa.array([1141207200000, 1141207201000], pa.int64()),
            "query": pa.array([b"one", b"two"], pa.binary()),
            "rank": pa.array(["1", None], pa.string()),
            "url": pa.array(["a", None], pa.string()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    report = check_files(engine, [str(tmp_path / "a.parquet")])
    assert report.problems == ()
    assert (report.files[0].people, report.files[0].first) == (2, "2006-03-01 10:00:00")


def test_stackexchange_people_of_two_sites_are_two_people(engine: EmbeddedEngine, tmp_path: Path) -> None:
    names = ["site", "id", "type", "parent_id", "user_id", "created", "score", "title", "tags", "text"]
    rows = [[site, 1, "question", None, "7", "2017-01-01T00:00:00", 3, "t", "a b", "words"] for site in ("x", "y")]
    pq.write_table(pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)}), tmp_path / "a.parquet")
    report = check_files(engine, [str(tmp_path / "a.parquet")])
    assert report.problems == ()
    assert (report.files[0].schema, report.files[0].rows, report.files[0].people) == ("posts", 2, 2)
