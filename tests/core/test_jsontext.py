"""JSON of strangers: every failure is one failure, and what comes back can be walked over."""

import json
import tomllib
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.jsontext import DEEPEST, parse_json, parse_toml

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


@pytest.mark.parametrize(
    "key", ["a." * 20_000 + "a", "'a'." * 20_000 + "a", '"\\"." . ' * 20_000 + "a", "a.'b'.\"c\"." * 9_000 + "a"]
)
@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}"])
def test_keys_of_many_parts_take_no_memory(key, line):
    tracemalloc.start()
    try:
        with pytest.raises(tomllib.TOMLDecodeError):
            parse_toml(line.format(key))
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_keys_of_few_parts_and_texts_with_many_dots_are_read():
    deep = ".".join(["a"] * DEEPEST)
    assert parse_toml(f"{deep} = 1\nb = '{'...' * 1000} {'a. ' * 1000}'")["b"].startswith("...")
    assert parse_toml("x = [" + "1.5, " * 5000 + "]\n" + "a.b = 1\n")["a"] == {"b": 1}
    assert parse_toml("# " + "a.b." * 1000 + "\na = 1") == {"a": 1}
