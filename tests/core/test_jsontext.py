"""JSON of strangers: every failure is one failure, and what comes back can be walked over."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.jsontext import DEEPEST, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
        '{"a":' * (DEEPEST + 1) + "1" + "}" * (DEEPEST + 1),
        "[" * 900 + "]" * 900,
        "9" * 5000,
        "-" + "9" * 400,
        "[1, ",
        "",
        b"\xff\xff\xff",
        b'{"a": "\xff"}',
        b"\xed\xa0\x80",
    ],
    ids=str,
)
def test_every_failure_is_a_decode_error(text):
    with pytest.raises(json.JSONDecodeError):
        parse_json(text)


def test_what_is_as_deep_as_allowed_is_read_and_brackets_within_texts_do_not_count():
    deep = parse_json("[" * DEEPEST + "]" * DEEPEST)
    assert json.dumps(deep) == "[" * DEEPEST + "]" * DEEPEST
    assert parse_json(json.dumps(["[" * 5000, "{" * 5000])) == ["[" * 5000, "{" * 5000]
    assert len(parse_json(json.dumps([[{}]] * 1000))) == 1000


def test_whole_numbers_fit_into_a_float():
    assert float(parse_json("9" * 300)) == pytest.approx(1e300)


def test_hooks_work_and_may_refuse():
    def refuse(_):
        raise ValueError("no")

    assert parse_json('{"a": 1}', object_pairs_hook=list) == [("a", 1)]
    with pytest.raises(json.JSONDecodeError):
        parse_json("NaN", parse_constant=refuse)


def test_a_message_never_quotes_the_text():
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_json(b'{"illness": "\xff"}')
    assert "illness" not in str(caught.value)


@given(VALUES)
def test_sound_json_is_read_as_the_library_reads_it(value):
    text = json.dumps(value)
    assert parse_json(text) == json.loads(text)
    assert parse_json(text.encode()) == json.loads(text)


@given(st.binary(max_size=60) | st.text(max_size=60, alphabet='[]{}",:0123456789eE.-tfn\\u '))
def test_anything_is_read_or_refused(text):
    with suppress(json.JSONDecodeError):
        parse_json(text)
