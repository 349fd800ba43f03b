from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import pytest
from format_samples import QLOG, at, only_bad, only_row, parsed

from aidos.errors import InputError, MissingExtraError
from aidos.ingest.formats.base import Row
from aidos.ingest.formats.qlogs import QueryLogs, qlog_lines

QLOGS = QueryLogs()
QUERY = {
    "client_id": "142",
    "timestamp": at("2006-03-01T07:17:12"),
    "user_query": "Rental  Car",
    "session_id": None,
    "query_id": "a1",
    "action": "query",
}
CLICK = {**QUERY, "action": "click", "object_id": "y", "position": 2}


def test_a_query_and_its_click() -> None:
    rows = parsed(QLOGS, json.dumps(QLOG))
    assert [row.line for row in rows] == [1, 1]
    assert [dict(row.values) for row in rows if isinstance(row, Row)] == [QUERY, CLICK]


def test_items_that_lost_their_names() -> None:
    with_ranks = parsed(QLOGS, json.dumps({**QLOG, "items": [["x", 1, False], ["y", 2, True]]}))
    without = parsed(QLOGS, json.dumps({**QLOG, "items": [["x", False], ["y", True]]}))
    assert [dict(row.values) for row in with_ranks if isinstance(row, Row)] == [QUERY, CLICK]
    assert [dict(row.values) for row in without if isinstance(row, Row)] == [QUERY, {**CLICK, "position": None}]


def test_a_query_without_its_original_or_its_items() -> None:
    row = only_row(QLOGS, json.dumps({**QLOG, "query_orig": None, "items": None}))
    assert row["user_query"] == "rental car"


def test_the_session_stands_in_for_a_missing_user() -> None:
    row = only_row(QLOGS, json.dumps({**QLOG, "user_id": None, "session_id": "s", "items": []}))
    assert (row["client_id"], row["session_id"]) == ("s", "s")


@pytest.mark.parametrize(
    ("change", "kind", "column"),
    [
        ({"user_id": ""}, "missing-person", "user_id"),
        ({"time": "noon"}, "unreadable-time", "time"),
        ({"items": "none"}, "bad-line", "items"),
        ({"items": [7]}, "bad-line", "items"),
        ({"items": [{"doc_id": "y", "rank": "top", "clicked": True}]}, "bad-number", "items.rank"),
    ],
)
def test_a_bad_entry_gives_no_row_at_all(change: dict[str, object], kind: str, column: str) -> None:
    bad = only_bad(QLOGS, json.dumps({**QLOG, **change}))
    assert (bad.line, bad.kind, bad.column) == (1, kind, column)
    assert "noon" not in bad.sentence


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError) as caught:
        qlog_lines("ir_datasets:aol-ia")
    assert caught.value.extra == "ir-datasets"


class Item(NamedTuple):
    doc_id: str
    rank: int
    clicked: bool


class Entry(NamedTuple):
    user_id: str
    query_id: str
    query: str
    query_orig: str
    time: datetime
    items: tuple[Item, ...]


@pytest.fixture
def registered() -> Iterator[Any]:
    """A dataset of one entry and one without a query log, in the real registry of the package."""
    package = pytest.importorskip("ir_datasets")
    formats, datasets = pytest.importorskip("ir_datasets.formats"), pytest.importorskip("ir_datasets.datasets.base")

    class Log(formats.BaseQlogs):  # type: ignore[misc, name-defined]
        def qlogs_iter(self) -> Iterator[Entry]:
            items = (Item("x", 1, False), Item("y", 2, True))
            yield Entry("142", "a1", "rental car", "Rental  Car", at("2006-03-01T07:17:12"), items)

        def qlogs_cls(self) -> type[Entry]:
            return Entry

    package.registry.register("aidos-test-log", datasets.Dataset(Log()))
    package.registry.register("aidos-test-no-log", datasets.Dataset())
    yield package
    for name in ("aidos-test-log", "aidos-test-no-log"):
        package.registry._registered.pop(name)


@pytest.mark.usefixtures("registered")
def test_a_dataset_reads_like_its_export() -> None:
    rows = list(QLOGS.parse(qlog_lines("ir_datasets:aidos-test-log")))
    assert [dict(row.values) for row in rows if isinstance(row, Row)] == [QUERY, CLICK]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["ir_datasets:aidos-test-no-log", "ir_datasets:no-such-dataset"])
def test_datasets_without_a_log_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        qlog_lines(name)
