"""The charts of a report: bars, lines, a histogram, a log-log scatter.

Each function takes aggregates that are already counted and gives a `Chart`. Shape and words carry what colour carries:
every bar has its label and value written on it, every line its own dash and marker and its name beside its end.
A chart does not choose what to show: it draws what it is given, and says so plainly when that is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from aidos.errors import ParameterError
from aidos.report.axes import MOMENTS, Axis, Position, finite, places
from aidos.report.drawing import INK, MUTED, NARROW, PAPER, RULE, SERIES, Chart, draw
from aidos.report.values import clean, short

__all__ = ["bar", "histogram", "line", "scatter"]

_MOST_BARS, _MOST_POINTS, _MOST_MARKERS = 60, 1_000, 12
_ROW = 42
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_DASHES = ([1, 0], [7, 3], [2, 3], [9, 3, 2, 3], [14, 4], [4, 7])

Spec = dict[str, Any]


def bar(title: str, rows: Sequence[tuple[str, float]], *, unit: str) -> Chart:
    """Horizontal bars, the largest first; ``unit`` says what the values count ("queries a month")."""
    if len(rows) > _MOST_BARS:
        raise ParameterError(f"{len(rows)} bars cannot be read", hint=f"pass the {_MOST_BARS} that matter most")
    values = finite([value for _, value in rows], "bar")
    if not values:
        return _nothing(title)
    ranked = sorted(zip((clean(label) for label, _ in rows), values, strict=True), key=lambda row: (-row[1], row[0]))
    low, high = min(0.0, ranked[-1][1]), max(0.0, ranked[0][1])

    def spec(width: int) -> Spec:
        room = (width - 60) / ((high - low) or 1.0)
        data = [
            {
                **{"label": _fit(label, width / 8), "value": short(value), "words": row * _ROW},
                **{"x": (min(value, 0.0) - low) * room, "end": (max(value, 0.0) - low) * room},
                **{"top": row * _ROW + 20, "base": row * _ROW + 32, "above": row * _ROW + 18, "below": row * _ROW + 34},
            }
            for row, (label, value) in enumerate(ranked)
        ]
        bars = {"x": _pixel("x"), "x2": {"field": "end"}, "y": _pixel("top"), "y2": {"field": "base"}}
        words = {"type": "text", "align": "left", "baseline": "top"}
        return {
            "width": width - 60,
            "height": len(ranked) * _ROW,
            "title": _small_title(unit),
            "data": {"values": data},
            "layer": [
                {"mark": {"type": "rect", "color": SERIES[0]}, "encoding": bars},
                _mark(words | {"dy": 3}, x=_at(0), y=_pixel("words"), text={"field": "label"}),
                _mark(words | {"color": MUTED, "dx": 6, "dy": 20}, x=_pixel("end"), y=_pixel("words"), text={"field": "value"}),
                _mark({"type": "rule", "color": MUTED}, x=_at(-low * room), y=_pixel("above"), y2={"field": "below"}),
            ],
        }

    (first, most), (last, least) = ranked[0], ranked[-1]
    words = f"{len(ranked)} horizontal bars ({unit}), from {first}: {short(most)}, down to {last}: {short(least)}."
    return draw(title, words, spec)


def line(
    title: str,
    series: Mapping[str, Sequence[tuple[Position, float]]],
    *,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Chart:
    """Up to six lines over numbers or dates, each point an (x, y) pair; names stand beside the ends of the lines."""
    if len(series) > len(SERIES):
        raise ParameterError(f"{len(series)} lines cannot be told apart", hint=f"draw {len(SERIES)} at most in one chart")
    lines = {
        clean(name): sorted(zip(places([x for x, _ in points], name="x"), finite([y for _, y in points], "y"), strict=True))
        for name, points in series.items()
        if points
    }
    if not lines:
        return _nothing(title)
    dates = any(isinstance(x, date) for points in series.values() for x, _ in points)
    x = Axis.over([x for points in lines.values() for x, _ in points], x_title, log=log_x, kind=MOMENTS if dates else "")
    y = Axis.over([y for points in lines.values() for _, y in points], y_title, log=log_y, from_zero=True)

    def spec(width: int) -> Spec:
        beside = 0 if width <= NARROW or len(lines) == 1 else min(170, max(map(len, lines)) * 8 + 30)
        size = (width - 56 - beside, 260 if width > NARROW else 220)
        layers = [layer for row, points in enumerate(lines.values()) for layer in _one_line(row, points, x, y, size)]
        return {
            "width": size[0],
            "height": size[1],
            "layer": layers + ([] if len(lines) == 1 else _names(lines, y, size, beside=bool(beside))),
        }

    ends = "; ".join(f"{name} goes from {short(points[0][1])} to {short(points[-1][1])}" for name, points in lines.items())
    return draw(title, f"{y_title} over {x_title}: {ends}.", spec)


def histogram(
    title: str, bins: Sequence[tuple[float, float, float]], *, x_title: str, y_title: str, log_x: bool = False
) -> Chart:
    """Bars over ranges: each bin is (low, high, count), counted by the caller."""
    if not bins:
        return _nothing(title)
    lows, highs = finite([low for low, _, _ in bins], "low"), finite([high for _, high, _ in bins], "high")
    counts = finite([count for _, _, count in bins], "count")
    if any(low >= high for low, high in zip(lows, highs, strict=True)):
        raise ParameterError("a bin ends before it begins", hint="give each bin as (low, high, count) with low < high")
    x, y = Axis.over(lows + highs, x_title, log=log_x, snug=True), Axis.over(counts, y_title, from_zero=True)

    edges = sorted({*lows, *highs})
    unseen = {"type": "point", "opacity": 0, "color": RULE}  # bars are set in pixels; this one makes the axis

    def spec(width: int) -> Spec:
        size = (width - 56, 240 if width > NARROW else 200)
        data = [
            {"from": x.pixel(low, size[0]) + 0.75, "to": x.pixel(high, size[0]) - 0.75, "y": count, "zero": 0}
            for low, high, count in zip(lows, highs, counts, strict=True)
        ]
        frame = {"data": {"values": [{"x": lows[0]}]}, **_mark(unseen, x=x.across(edges))}
        bars = {"x": _pixel("from"), "x2": {"field": "to"}, "y": y.up(size[1]), "y2": {"field": "zero"}}
        rects = {"data": {"values": data}, "mark": {"type": "rect", "color": SERIES[0]}, "encoding": bars}
        return {"width": size[0], "height": size[1], "layer": [rects, frame]}

    peak = max(range(len(counts)), key=counts.__getitem__)
    return draw(
        title,
        f"Histogram of {x_title} in {len(bins)} bins; the fullest, {short(lows[peak])} to {short(highs[peak])}, "
        f"holds {short(counts[peak])} ({y_title}).",
        spec,
    )


def scatter(title: str, points: Sequence[tuple[float, float]], *, x_title: str, y_title: str) -> Chart:
    """Points on two logarithmic axes, where a power law is a straight line; both coordinates must be above zero."""
    if not points:
        return _nothing(title)
    if len(points) > _MOST_POINTS:
        raise ParameterError(f"{len(points)} points blot the page", hint=f"thin them to {_MOST_POINTS}, evenly in the logarithm")
    xs, ys = finite([x for x, _ in points], "x"), finite([y for _, y in points], "y")
    x, y = Axis.over(xs, x_title, log=True), Axis.over(ys, y_title, log=True)
    data = [{"x": across, "y": up} for across, up in zip(xs, ys, strict=True)]
    dots = {"type": "point", "shape": "circle", "size": 28, "color": SERIES[0], "filled": False, "strokeWidth": 1.2}

    def spec(width: int) -> Spec:
        size = (width - 56, 280 if width > NARROW else 240)
        layer = {"data": {"values": data}, **_mark(dots, x=x.across(), y=y.up(size[1]))}
        return {"width": size[0], "height": size[1], "layer": [layer]}

    spans = f"{x_title} from {short(min(xs))} to {short(max(xs))}, {y_title} from {short(min(ys))} to {short(max(ys))}"
    return draw(title, f"{len(points)} points on logarithmic axes: {spans}.", spec)


def _one_line(row: int, points: list[tuple[float, float]], x: Axis, y: Axis, size: tuple[int, int]) -> list[Spec]:
    data = [{"x": across, "y": up} for across, up in points]
    marked = data[:: max(1, len(data) // _MOST_MARKERS)]
    look = {"type": "line", "color": SERIES[row], "strokeDash": _DASHES[row], "strokeWidth": 2}
    encoding = {"x": x.across(), "y": y.up(size[1])}
    return [
        {"data": {"values": data}, "mark": look, "encoding": encoding},
        {"data": {"values": marked}, "mark": _marker(row), "encoding": encoding},
    ]


def _names(lines: Mapping[str, list[tuple[float, float]]], y: Axis, size: tuple[int, int], *, beside: bool) -> list[Spec]:
    """Each name with its marker: beside the end of its line, or above the plot where there is no room beside it."""
    if beside:
        ends = [size[1] - y.pixel(points[-1][1], size[1]) for points in lines.values()]
        spots = [(size[0] + 16.0, height) for height in _apart(ends, 18.0, float(size[1]))]
    else:
        spots = [(-40.0, -44.0 - 20.0 * row) for row in reversed(range(len(lines)))]
    layers = []
    for row, (name, (left, top)) in enumerate(zip(lines, spots, strict=True)):
        data = {"values": [{"name": _fit(name, 18 if beside else 42)}]}
        words = {"type": "text", "align": "left", "baseline": "middle", "dx": 12, "color": INK}
        layers.append({"data": data, **_mark(_marker(row), x=_at(left), y=_at(top))})
        layers.append({"data": data, **_mark(words, x=_at(left), y=_at(top), text={"field": "name"})})
    return layers


def _apart(heights: Sequence[float], gap: float, bottom: float) -> list[float]:
    """The heights moved as little as needed for each to be ``gap`` from the next, none below the bottom."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    moved = [heights[index] for index in order]
    for place in range(1, len(moved)):
        moved[place] = max(moved[place], moved[place - 1] + gap)
    floor = bottom
    for place in reversed(range(len(moved))):
        moved[place] = min(moved[place], floor)
        floor = moved[place] - gap
    spots = dict(zip(order, moved, strict=True))
    return [spots[index] for index in range(len(heights))]


def _nothing(title: str) -> Chart:
    words = {"type": "text", "align": "left", "color": MUTED}

    def spec(width: int) -> Spec:
        data = {"values": [{"words": "Nothing to show: there are no data for this chart."}]}
        return {"width": width, "height": 40, "data": data, **_mark(words, x=_at(0), y=_at(20), text={"field": "words"})}

    return draw(title, "There are no data for this chart.", spec)


def _marker(row: int) -> Spec:
    return {
        **{"type": "point", "shape": _SHAPES[row], "size": 60, "strokeWidth": 2, "stroke": SERIES[row], "fill": PAPER},
        "opacity": 1,
    }


def _mark(mark: Spec, **encoding: Spec) -> Spec:
    return {"mark": mark, "encoding": encoding}


def _at(pixel: float) -> Spec:
    return {"value": pixel}


def _pixel(field: str) -> Spec:
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def _small_title(words: str) -> Spec:
    return {"text": clean(words), "anchor": "start", "color": MUTED, "fontSize": 12, "fontWeight": "normal", "offset": 4}


def _fit(text: str, most: float) -> str:
    """The text on one line, cut to the room there is; the table under the chart has it in full."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: int(most) - 1].rstrip() + "\u2026"
