# ruff: noqa: DTZ001 (every time of the house is naive UTC)
from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest.timestamps import parse_time

MOMENT = datetime(2006, 3, 1, 10, 0)


@pytest.mark.parametrize(
    "value",
    [
        "2006-03-01 10:00:00",
        "2006-03-01T10:00:00Z",
        " 2006-03-01T12:00:00+02:00 ",
        "060301100000",
        1141207200,
        1141207200.0,
        1141207200000,
        1141207200000000,
        "1141207200",
        "1141207200000",
        MOMENT,
        datetime(2006, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_many_ways_of_writing_one_moment(value: object) -> None:
    assert parse_time(value) == MOMENT


@pytest.mark.parametrize(
    "value",
    [None, True, "", "yesterday", "2006-13-01", float("nan"), float("inf"), 10**30, "9" * 400, [], b"2006-03-01"],
)
def test_what_is_no_time(value: object) -> None:
    assert parse_time(value) is None


def test_two_digit_years_turn_in_69() -> None:
    assert parse_time("690101000000") == datetime(1969, 1, 1)
    assert parse_time("680101000000") == datetime(2068, 1, 1)


def test_twelve_digits_that_are_no_calendar_time_are_milliseconds() -> None:
    assert parse_time("999999999999") == datetime(2001, 9, 9, 1, 46, 39, 999000)


@given(st.datetimes(min_value=datetime(1974, 1, 1), max_value=datetime(2262, 1, 1)))
def test_iso_and_numbers_agree(moment: datetime) -> None:
    microseconds = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    assert parse_time(moment.isoformat()) == moment
    assert parse_time(moment.replace(tzinfo=UTC).isoformat()) == moment
    assert parse_time(microseconds) == moment
    assert parse_time(microseconds // 1000) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert parse_time(microseconds // 1_000_000) == moment.replace(microsecond=0)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans()))
def test_nothing_is_raised_and_nothing_has_a_zone(value: object) -> None:
    parsed = parse_time(value)
    assert parsed is None or parsed.tzinfo is None
