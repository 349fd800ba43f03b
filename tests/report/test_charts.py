import re
import sys
from datetime import UTC, date, datetime
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.report import charts
from aidos.report.axes import Axis
from aidos.report.charts import name_layers
from aidos.report.drawing import Drawing, draw

NAN, INFINITE, TOO_LARGE = float("nan"), float("inf"), 10**400
TITLES = {"x_title": "rank", "y_title": "times"}


def words(chart):
    """The text of the wide drawing, in drawing order."""
    return [element.text for element in ET.fromstring(f"<svg>{chart.wide.body}</svg>").iter("text")]


def bar_lengths(chart):
    """Widths of the bars, from their paths (M x,y h width ...)."""
    return [float(width) for width in re.findall(r'd="M[-\d.]+,[-\d.]+h([\d.]+)v12', chart.wide.body)]


def test_bars_are_sorted_and_their_lengths_are_in_proportion():
    chart = charts.bar("t", [("small", 10), ("large", 40), ("middle", 20)], unit="queries")
    assert [word for word in words(chart) if word in {"small", "large", "middle"}] == ["large", "middle", "small"]
    assert {"40", "20", "10", "queries"} <= set(words(chart))
    long, half, quarter = bar_lengths(chart)
    assert (half / long, quarter / long) == pytest.approx((0.5, 0.25), abs=0.01)
    assert chart.description == "3 horizontal bars (queries), from large: 40, down to small: 10."


def test_values_and_axes_are_short():
    assert {"12.5k", "3M"} <= set(words(charts.bar("t", [("a", 12_500), ("b", 3e6)], unit="u")))
    chart = charts.scatter("t", [(1, 1e5), (1e4, 1)], **TITLES)
    assert {"1", "10", "100", "1k", "10k", "100k"} <= set(words(chart))
    assert {"0.01", "0.1", "1"} <= set(words(charts.scatter("t", [(0.01, 1), (1, 2)], **TITLES)))


def test_noisy_counts_below_zero_are_drawn():
    assert "-3" in words(charts.bar("t", [("a", 5), ("b", -3)], unit="u"))


def test_lines_differ_by_dash_and_marker_and_carry_their_names():
    chart = charts.line("t", {"one": [(1, 2), (2, 4)], "two": [(1, 2), (2, 4)]}, **TITLES)
    assert {"one", "two"} <= set(words(chart))
    dashes = re.findall(r'stroke-dasharray="([^"]*)"', chart.wide.body)
    assert dashes == ["1,0", "7,3"]
    shapes = {
        path.split("Z")[0].translate(str.maketrans("", "", "-.,0123456789"))
        for path in re.findall(r'd="([^"]*)" fill="var\(--paper\)"', chart.wide.body)
    }
    assert len(shapes) == 2


def test_names_of_lines_that_end_together_do_not_overlap():
    ends = {name: [(1.0, 5.0)] for name in ("a", "b", "c", "d", "e", "f")}
    axis = Axis.over([5.0], "y", from_zero=True)
    layers = name_layers(ends, axis, (400, 260), beside=True)
    heights = sorted(layer["encoding"]["y"]["value"] for layer in layers if layer["mark"]["type"] == "text")
    assert all(second - first >= 17.9 for first, second in pairwise(heights))
    assert heights[0] >= 0
    assert heights[-1] <= 260


def test_a_name_beside_a_line_is_level_with_its_end():
    axis = Axis.over([0.0, 10.0], "y", from_zero=True)
    lines = {"high": [(0.0, 0.0), (1.0, 10.0)], "low": [(0.0, 10.0), (1.0, 0.0)]}
    layers = name_layers(lines, axis, (400, 260), beside=True)
    assert [layer["encoding"]["y"]["value"] for layer in layers[1::2]] == [0.0, 260.0]


def test_dates_run_in_utc():
    points = [(date(2006, 3, 1), 1), (date(2006, 5, 31), 2)]
    here = charts.line("t", {"s": points}, **TITLES)
    assert {"March", "April", "May"} <= set(words(here))
    timed = [(datetime(2006, 3, 1, tzinfo=UTC), 1), (datetime(2006, 5, 31), 2)]  # noqa: DTZ001  # without a zone it counts as UTC
    assert charts.line("t", {"s": timed}, **TITLES).wide == here.wide


def test_histogram_bars_stand_on_their_bins():
    chart = charts.histogram("t", [(1, 2, 10), (2, 4, 40)], log_x=True, **TITLES)
    assert {"1", "2", "4"} <= set(words(chart))
    widths = [float(width) for width in re.findall(r'd="M[\d.]+,[\d.]+h([\d.]+)v', chart.wide.body)]
    assert widths[0] == pytest.approx(widths[1], abs=0.1), "on a logarithmic axis 1 to 2 is as wide as 2 to 4"
    assert "2 to 4" in chart.description


def empty_charts():
    return [
        charts.bar("t", [], unit="u"),
        charts.line("t", {}, **TITLES),
        charts.line("t", {"s": []}, **TITLES),
        charts.histogram("t", [], **TITLES),
        charts.scatter("t", [], **TITLES),
    ]


def test_nothing_is_drawn_as_nothing_and_said():
    for chart in empty_charts():
        assert words(chart) == ["Nothing to show: there are no data here."]
        assert chart.description == "There are no data for this chart."


def test_one_value_is_enough():
    assert "7" in words(charts.bar("t", [("only", 7)], unit="u"))
    assert "0" in words(charts.bar("t", [("only", 0)], unit="u"))
    for chart in (
        charts.line("t", {"s": [(3, 0)]}, **TITLES),
        charts.line("t", {"s": [(3, 3)]}, log="xy", **TITLES),
        charts.line("t", {"s": [(date(2006, 3, 1), 3)]}, **TITLES),
        charts.histogram("t", [(0, 1, 0)], **TITLES),
        charts.scatter("t", [(5, 5)], **TITLES),
    ):
        assert "NaN" not in chart.wide.body + chart.narrow.body
        assert chart.wide.height > 100


def test_huge_values_are_drawn():
    assert "1.0e+300" in words(charts.bar("t", [("huge", 1e300), ("small", 1e-300)], unit="u"))
    for chart in (
        charts.line("t", {"s": [(0, -1e300), (1e300, 1e300)]}, **TITLES),
        charts.scatter("t", [(1e-300, 1e300), (1e300, 1e-300)], **TITLES),
    ):
        assert not re.search("NaN|Infinity", chart.wide.body)


@pytest.mark.parametrize("bad", [NAN, INFINITE, -INFINITE, TOO_LARGE])
@pytest.mark.parametrize(
    "make",
    [
        lambda bad: charts.bar("t", [("a", 1), ("b", bad)], unit="u"),
        lambda bad: charts.line("t", {"s": [(1, 1), (2, bad)]}, **TITLES),
        lambda bad: charts.line("t", {"s": [(1, 1), (bad, 2)]}, **TITLES),
        lambda bad: charts.histogram("t", [(0, 1, 1), (1, 2, bad)], **TITLES),
        lambda bad: charts.scatter("t", [(1, 1), (2, bad)], **TITLES),
    ],
)
def test_what_is_no_number_is_refused_and_counted(make, bad):
    with pytest.raises(ParameterError, match=r"1 of 2 .* values cannot be drawn") as caught:
        make(bad)
    assert caught.value.hint


@pytest.mark.parametrize(
    "make",
    [
        lambda: charts.scatter("t", [(0, 1)], **TITLES),
        lambda: charts.line("t", {"s": [(1, -1)]}, log="y", **TITLES),
        lambda: charts.histogram("t", [(0, 1, 1)], log_x=True, **TITLES),
        lambda: charts.histogram("t", [(1, 1, 1)], **TITLES),
        lambda: charts.line("t", {"s": [(1, 1)], "r": [(date(2006, 1, 1), 1)]}, **TITLES),
        lambda: charts.line("t", {str(number): [(1, 1)] for number in range(7)}, **TITLES),
        lambda: charts.bar("t", [(str(number), 1) for number in range(61)], unit="u"),
        lambda: charts.scatter("t", [(1, 1)] * 1001, **TITLES),
    ],
)
def test_what_cannot_be_drawn_honestly_is_refused(make):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.hint


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=30), st.floats(-1e300, 1e300)), max_size=5))
def test_any_labels_and_values_make_a_harmless_drawing(rows):
    chart = charts.bar("t", rows, unit="u")
    assert "NaN" not in "".join(re.findall(r'="([^"]*)"', chart.wide.body))


def test_a_label_that_looks_like_a_colour_stays_a_label():
    assert {"#010111", 'fill="#010101"'} <= set(
        words(charts.bar("t", [("#010111", 1), ('fill="#010101"', 2)], unit="u"))
    )


def test_long_labels_are_cut_in_the_drawing_only():
    chart = charts.bar("t", [("word " * 60, 1)], unit="u")
    assert any(word.endswith("\u2026") and len(word) <= 80 for word in words(chart))


def test_the_same_chart_gives_the_same_bytes():
    assert charts.scatter("t", [(1, 2), (3, 4)], **TITLES) == charts.scatter("t", [(1, 2), (3, 4)], **TITLES)


def test_a_specification_that_wants_the_network_is_refused():
    spec = {"data": {"url": "https://example.org/data.json"}, "mark": "point"}
    with pytest.raises(ValueError, match="not allowed"):
        draw("t", "d", lambda width: spec)


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        "<path onload='alert(1)' d='M0,0'/>",
        "<a href='#x'><text>x</text></a>",
        "<rect fill='#ff0000' width='1' height='1'/>",
        "<rect fill='url(#x)' width='1' height='1'/>",
        "<g style='fill:red'/>",
        "<g id='x'/>",
        "</svg><script>alert(1)</script><svg>",
        "<g>",
    ],
)
def test_a_drawing_made_by_hand_cannot_smuggle_anything(body):
    with pytest.raises(ParameterError):
        Drawing(width=10, height=10, body=body)


def test_without_vl_convert_a_chart_has_words_and_no_drawing(monkeypatch):
    drawn = charts.bar("t", [("a", 1)], unit="u")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    undrawn = charts.bar("t", [("a", 1)], unit="u")
    assert (undrawn.wide, undrawn.narrow) == (None, None)
    assert (undrawn.title, undrawn.description) == (drawn.title, drawn.description)
    with pytest.raises(ParameterError):
        charts.bar("t", [("a", float("nan"))], unit="u")
