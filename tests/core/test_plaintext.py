"""Text for a terminal: nothing acts, and what would have acted can be seen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.plaintext import harmless, one_line

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("flu\x1b[2J\x1b[31m", "flu\\x1b[2J\\x1b[31m"),
        ("\x9b31m\x07\r", "\\x9b31m\\x07\\x0d"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\U000e0041\ud800", "\\U000e0041\\ud800"),
        ("two\r\nlines\tand tabs", "two\nlines\tand tabs"),
    ],
)
def test_what_acts_is_shown(text, shown):
    assert harmless(text) == shown


@pytest.mark.parametrize(
    "text", ["Müller & Söhne", "\u0645\u06cc\u200c\u062e\u0648\u0627", "👩\u200d🔬", "北京 天气", "naïve \u00ad soft"]
)
def test_what_people_write_stays(text):
    assert harmless(text) == text


def test_a_message_stays_on_its_line():
    assert one_line("topic\naidos: all is well") == "topic\\naidos: all is well"


@given(st.text(alphabet=st.characters()))
def test_nothing_that_acts_is_left(text):
    shown = harmless(text)
    shown.encode("utf-8")
    assert not any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in shown if letter not in "\n\t")
    assert not set(shown) & set(BIDI)
    assert harmless(shown) == shown
