"""Whatever the lines hold, parsing yields rows and bad rows, and bad rows name a line and quote nothing."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from format_samples import FILES
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.core.records import Schema
from aidos.ingest.formats import LINE_FORMATS
from aidos.ingest.formats.base import BadRow, LineFormat, Row

KINDS = {"bad-json", "bad-line", "bad-number", "ragged-rows", "unreadable-time", "missing-person", "missing-column"}
PYTHON_TYPES = {"VARCHAR": str, "TIMESTAMP": datetime, "INTEGER": int, "DOUBLE": float}

cells = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["search", "QUERY", "1", "-7"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "ordinal", "object_id", "document"]), inner)
    ),
    max_leaves=4,
)
field_names = st.sampled_from(
    [
        *(
            "client_id",
            "user_id",
            "timestamp",
            "user_query",
            "query_id",
            "action_name",
            "event_attributes",
            "session_id",
        ),
        *("message", "message_type", "@timestamp", "event", "event.action", "user", "user.id", "search", "document"),
        *(
            "search.results.items",
            "time",
            "items",
            "query",
            "query_orig",
            "_source",
            "position",
            "index",
            "rank",
            "url",
        ),
    ]
)
documents = st.dictionaries(field_names, cells, max_size=8).map(json.dumps)
pieces = st.sampled_from(
    [
        *(
            " path=/select params={q=",
            "} ",
            "&user=",
            "%C3",
            "+",
            "2024-05-01 10:11:12",
            "<row ",
            ' Id="1"',
            ' PostTypeId="1"',
        ),
        *(
            ' Body="&lt;p&gt;',
            '"',
            "/>",
            "&amp;",
            "&#1;",
            "<posts>",
            "Q0",
            "1",
            "nan",
            "1e999",
            "\t",
            "{",
            "\\ud800",
            "\x00",
        ),
    ]
)
broken = st.lists(st.one_of(pieces, st.text(max_size=5))).map("".join)
mutated = st.builds(
    lambda line, at, put: line[: at % (len(line) + 1)] + put + line[at % (len(line) + 1) :],
    st.sampled_from([line for _, lines in FILES.values() for line in lines]),
    st.integers(0, 500),
    st.text(max_size=3),
)
lines_of_all_kinds = st.lists(st.one_of(st.text(), documents, broken, mutated), max_size=6)


def fits(values: dict[str, object], schema: Schema) -> bool:
    for name, value in values.items():
        kind = schema.column(name).type
        if value is not None and type(value) is not PYTHON_TYPES[kind]:
            return False
        if isinstance(value, str):
            value.encode()
        if kind == "INTEGER" and value is not None and not -(2**31) <= value < 2**31:
            return False
    return not schema.person or bool(values[schema.person])


@pytest.mark.parametrize("format_", LINE_FORMATS, ids=lambda format_: format_.name)
@settings(max_examples=150, deadline=None)
@given(lines=lines_of_all_kinds)
def test_any_text_becomes_fitting_rows_or_bad_rows(format_: LineFormat, lines: list[str]) -> None:
    for item in format_.parse(enumerate(lines, start=1)):
        assert 1 <= item.line <= len(lines)
        if isinstance(item, BadRow):
            assert item.kind in KINDS
            assert item.sentence
        else:
            assert isinstance(item, Row)
            assert fits(dict(item.values), format_.schema)


@pytest.mark.parametrize("format_", LINE_FORMATS, ids=lambda format_: format_.name)
def test_hostile_lines(format_: LineFormat) -> None:
    hostile = [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"client_id": ' + "9" * 5000 + "}",
        '{"timestamp": "' + "9" * 5000 + '", "client_id": "c", "action_name": "x", "time": "' + "9" * 5000 + '"}',
        '<!DOCTYPE r [<!ENTITY a "x">]><row Id="&a;" PostTypeId="1"/>',
        '<row Id="1" PostTypeId="1" Body="&a;"/>',
        "1 Q0 d " + "9" * 5000 + " " + "9" * 5000 + " t",
        "1 0 d " + "9" * 5000,
        "\ufeff",
    ]
    for item in format_.parse(enumerate(hostile, start=1)):
        assert isinstance(item, BadRow)
        assert "9999" not in item.sentence
