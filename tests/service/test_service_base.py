"""Patience, clocks and what may be asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError, ServiceError
from aidos.service.answers import ShapeError, need_text, parse_object, read_number, read_text
from aidos.service.base import Clock, PassingError, Result, Retries, check_request, persist


def failing(times, **trouble):
    """An action that fails so often, then succeeds; and the list of its calls."""
    calls = []

    def action():
        calls.append(1)
        if len(calls) <= times:
            raise PassingError("answered 500", hint="try later", **trouble)
        return "found"

    return action, calls


def patient(action, retries, draw=1.0):
    pauses = []
    clock = Clock(sleep=pauses.append, draw=lambda: draw)
    return persist("solr:here", action, retries, clock), pauses


def test_it_tries_again_with_pauses_that_grow_up_to_the_bound():
    action, calls = failing(4)
    retries = Retries(attempts=5, first_pause=1, factor=3, longest_pause=10)
    assert patient(action, retries) == ("found", [1, 3, 9, 10])
    assert len(calls) == 5


def test_it_gives_up_after_the_last_attempt_and_says_how_often_it_tried():
    action, calls = failing(9)
    with pytest.raises(ServiceError) as caught:
        patient(action, Retries(attempts=3))
    assert (str(caught.value), caught.value.hint) == ("solr:here answered 500 (tried 3 times)", "try later")
    assert len(calls) == 3


def test_one_attempt_means_no_pause():
    action, _ = failing(1)
    pauses = []
    with pytest.raises(ServiceError, match="tried once"):
        persist("x", action, Retries(attempts=1), Clock(sleep=pauses.append))
    assert pauses == []


def test_what_the_service_asks_for_is_the_least_pause():
    action, _ = failing(2, after=7.0)
    assert patient(action, Retries(first_pause=1))[1] == [7, 7]
    action, _ = failing(2, after=0.0)
    assert patient(action, Retries(first_pause=1))[1] == [1, 2]


def test_a_service_that_asks_for_too_long_a_pause_is_given_up_at_once():
    action, calls = failing(2, after=3600.0)
    with pytest.raises(ServiceError, match="asks to wait 3600 s, longer than the 30 s allowed"):
        patient(action, Retries())
    assert len(calls) == 1


def test_other_errors_are_not_tried_again():
    calls = []

    def action():
        calls.append(1)
        raise ServiceError("final")

    with pytest.raises(ServiceError, match="final"):
        patient(action, Retries())
    assert len(calls) == 1


@given(
    st.builds(
        Retries,
        attempts=st.integers(1, 10),
        first_pause=st.floats(0.001, 100),
        factor=st.floats(1, 10),
        longest_pause=st.floats(0.001, 100),
    ),
    st.integers(1, 10),
    st.floats(0, 1, exclude_max=True),
    st.none() | st.floats(0, 1e6),
)
def test_pauses_keep_their_bounds(retries, failures, draw, asked):
    pause = retries.pause(failures, draw, asked)
    unvaried = min(retries.longest_pause, retries.first_pause * retries.factor ** (failures - 1))
    assert unvaried / 2 <= pause <= retries.longest_pause
    assert asked is None or pause >= min(asked, retries.longest_pause)


@pytest.mark.parametrize(
    "wrong",
    [{"attempts": 0}, {"attempts": 11}, {"first_pause": 0}, {"factor": 0.5}, {"timeout": float("inf")}],
)
def test_impossible_patience_is_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Retries(**wrong)


def test_positions_count_from_one():
    with pytest.raises(ParameterError, match="position"):
        Result(object_id="a", title="", snippet="", url="", score=None, position=0)


@pytest.mark.parametrize("query", ["", "   ", "\n\t\u2003"])
def test_an_empty_query_is_refused(query):
    with pytest.raises(InputError, match="empty"):
        check_request(query, 10)


@pytest.mark.parametrize("query", ["wind\0mill", "wind\ud83dmill"])
def test_a_query_that_is_no_text_is_refused_without_quoting_it(query):
    with pytest.raises(InputError) as caught:
        check_request(query, 10)
    assert "mill" not in str(caught.value)


@pytest.mark.parametrize("size", [0, -1, 11])
def test_an_impossible_size_is_refused(size):
    with pytest.raises(ParameterError, match="size"):
        check_request("windmill", size, largest=10)
    assert check_request(" windmill  sails ", 10, largest=10) == "windmill  sails"


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"a": Infinity}', b"\xff{}", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"]
)
def test_what_is_no_strict_json_is_refused(text):
    with pytest.raises(ValueError):
        parse_object(text)


def test_fields_are_read_strictly():
    assert (read_text({"t": ["a", "b"]}, "t"), read_text({"t": []}, "t"), read_text({}, "t")) == ("a", "", "")
    assert (read_number({"s": 1}, "s"), read_number({"s": None}, "s")) == (1.0, None)
    assert need_text(42, "id") == "42"
    for broken in (
        lambda: read_text({"t": {"a": 1}}, "t"),
        lambda: read_number({"s": "1"}, "s"),
        lambda: read_number({"s": True}, "s"),
        lambda: need_text("", "id"),
        lambda: need_text(True, "id"),
        lambda: parse_object(b"[]"),
    ):
        with pytest.raises(ShapeError):
            broken()
