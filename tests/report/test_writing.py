import pytest

from aidos.report.values import clean, short, show


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "\u2013"),
        (0, "0"),
        (1234567, "1,234,567"),
        (-1234, "-1,234"),
        (2.0, "2"),
        (0.123456, "0.1235"),
        (1e-9, "1e-09"),
        (True, "yes"),
        (False, "no"),
        (float("nan"), "not defined"),
        (float("inf"), "\u221e"),
        (10**30, "1.0e+30"),
        (-(10**400), "-1.0e+400"),
        ("as it is", "as it is"),
    ],
)
def test_values_in_full(value, written):
    assert show(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (0.05, "0.05"),
        (950, "950"),
        (999.9, "1k"),
        (1000, "1k"),
        (12_500, "12.5k"),
        (999_999, "1M"),
        (-2_500_000, "-2.5M"),
        (3e9, "3bn"),
        (4e12, "4tn"),
        (1e15, "1.0e+15"),
    ],
)
def test_values_in_short(value, written):
    assert short(value) == written


def test_text_that_acts_is_made_to_be_read():
    assert clean("a\x1b[31mb\x00c\u202ed\ud800e") == "a\ufffd[31mb\ufffdc\ufffdd\ufffde"
    assert clean("two\r\nlines\tand a tab") == "two\nlines\tand a tab"
    assert clean("Götz, αιδώς, 検索, عربي") == "Götz, αιδώς, 検索, عربي"
