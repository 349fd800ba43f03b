"""Dots with intervals, as they are drawn."""

import re

import pytest

from aidos.errors import ParameterError
from aidos.report.dots import MOST_ROWS, Dot, DotRow, dots


def row(name, *values, full=True, off=1.0):
    return DotRow(name=name, dots=tuple(Dot(value=each, low=each - off, high=each + off, full=full) for each in values))


def draw(rows, **options):
    return dots("Weights", rows, sides=("lower", "higher"), unit="weight", **options)


def centres(body):
    return [float(found) for found in re.findall(r'<circle cx="([\d.]+)"', body)]


def test_dots_stand_in_the_order_of_their_values_on_a_common_scale():
    chart = draw([row("one", 3.0), row("two", 0.0), row("three", -3.0)])
    for drawing in (chart.wide, chart.narrow):
        first, middle, last = centres(drawing.body)
        assert first > middle > last
        assert first - middle == pytest.approx(middle - last, abs=0.2)


def test_what_is_no_more_than_chance_is_hollow_and_said_in_words():
    chart = draw([row("sure", 3.0), row("unsure", 0.1, full=False)])
    assert chart.wide.body.count('fill="var(--paper)"') == 1
    assert "1 of them are more than chance" in chart.description


def test_a_side_without_values_is_not_named():
    above = draw([row("one", 3.0)]).wide.body
    assert "higher" in above
    assert "lower" not in above
    assert "lower" in draw([row("one", -3.0)]).wide.body


def test_two_dots_of_a_name_have_other_shapes_and_a_legend():
    body = draw([row("one", 2.0, 1.0)], series=("before", "after")).wide.body
    assert body.count("<circle") == body.count("<rect") == 2  # one in the legend each
    assert "before" in body
    assert "after" in body


def test_everything_stays_within_the_picture_and_foreign_names_are_harmless():
    rows = [row("<script> " + "a long name " * 20, 1e6), row("\u202eb", -5.0)]
    chart = draw(rows)
    for drawing in (chart.wide, chart.narrow):
        assert "<script" not in drawing.body
        assert "\u202e" not in drawing.body
        assert "\u2026" in drawing.body
        assert all(0 <= each <= drawing.width for each in centres(drawing.body))


def test_nothing_to_draw_and_too_much_are_refused():
    with pytest.raises(ParameterError):
        draw([])
    with pytest.raises(ParameterError, match="cannot be read"):
        draw([row("one", 1.0)] * (MOST_ROWS + 1))
    with pytest.raises(ParameterError):
        draw([row("one", 1.0, 2.0)])
    with pytest.raises(ParameterError, match="cannot be drawn"):
        draw([row("one", float("nan"))])
