from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.ingest.reading import with_sessions_by_gap

START = datetime(2006, 3, 1)  # noqa: DTZ001 (every time of the house is naive UTC)


@pytest.fixture(scope="module")
def shared() -> EmbeddedEngine:
    with EmbeddedEngine(threads=2) as engine:
        yield engine


def table_of(actions: list[tuple[str, int]]) -> pa.Table:
    return pa.table(
        {
            "client_id": pa.array([person for person, _ in actions], pa.string()),
            "timestamp": pa.array([START + timedelta(minutes=minute) for _, minute in actions], pa.timestamp("us")),
            "session_id": pa.array([None] * len(actions), pa.string()),
            "visit": pa.array([minute // 50 for _, minute in actions], pa.int64()),
        }
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 300)), min_size=1), st.integers(1, 60))
def test_sessions_by_gap_are_what_a_plain_loop_finds(
    shared: EmbeddedEngine, actions: list[tuple[str, int]], gap: int
) -> None:
    expected, last, number = [], {}, {}
    for person, minute in sorted(actions):
        if person not in last or minute - last[person] > gap:
            number[person] = number.get(person, 0) + 1
        last[person] = minute
        expected.append((person, minute, f"{person}-{number[person]}"))
    found = with_sessions_by_gap(shared.table(table_of(actions)), gap)
    rows = found.rows("select client_id, timestamp, session_id from {table}")
    assert [(person, (time - START) // timedelta(minutes=1), session) for person, time, session in rows] == expected
    assert list(found.columns) == ["client_id", "timestamp", "session_id", "visit"]


def test_impossible_sessions_are_refused(shared: EmbeddedEngine) -> None:
    log = shared.table(table_of([("a", 1)]))
    for minutes in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ParameterError):
            with_sessions_by_gap(log, minutes)
