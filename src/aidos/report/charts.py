"""The charts of a report: bars, lines, a histogram, a log-log scatter.

Each function takes aggregates that are already counted and gives a `Chart`. Shape and words carry what colour carries:
every bar has its label and value written on it, every line its own dash and marker and its name beside its end.
A chart does not choose what to show: it draws what it is given, and says so plainly when that is nothing.

At the end stand the pieces of a specification: marks at exact pixels, and a line with its dash, marker and name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import chain, islice
from typing import Any, Literal

from aidos.errors import ParameterError
from aidos.report.axes import Axis, Kind, Position, finite, places
from aidos.report.drawing import INK, MUTED, NARROW, PAPER, RULE, SERIES, Chart, draw
from aidos.report.values import clean, fit, short

__all__ = ["Spec", "at", "bar", "histogram", "line", "line_layers", "mark", "name_layers", "pixel", "scatter"]

_MOST_BARS, _MOST_POINTS = 60, 1_000
_ROW, _LETTERS_BESIDE = 42, 18


def bar(title: str, rows: Sequence[tuple[str, float]], *, unit: str) -> Chart:
    """Horizontal bars, the largest first; ``unit`` says what the values count ("queries a month")."""
    if len(rows) > _MOST_BARS:
        raise ParameterError(f"{len(rows)} bars cannot be read", hint=f"pass the {_MOST_BARS} that matter most")
    values = finite([value for _, value in rows], "bar")
    if not values:
        return _nothing(title)
    ranked = sorted(zip((clean(label) for label, _ in rows), values, strict=True), key=lambda row: (-row[1], row[0]))
    (first, most), (last, least) = ranked[0], ranked[-1]
    words = f"{len(ranked)} horizontal bars ({unit}), from {first}: {short(most)}, down to {last}: {short(least)}."
    return draw(title, words, lambda width: _bars(ranked, unit, width))


def line(
    title: str,
    series: Mapping[str, Sequence[tuple[Position, float]]],
    *,
    x_title: str,
    y_title: str,
    log: Literal["", "x", "y", "xy"] = "",
) -> Chart:
    """Up to six lines over numbers or dates, each point an (x, y) pair; ``log`` names the logarithmic axes."""
    if len(series) > len(SERIES):
        raise ParameterError(
            f"{len(series)} lines cannot be told apart", hint=f"draw {len(SERIES)} at most in one chart"
        )
    lines = {clean(name): points for name, points in _drawable(series).items() if points}
    if not lines:
        return _nothing(title)
    dates = any(isinstance(x, date) for points in series.values() for x, _ in points)
    across: Kind = "utc" if dates else "log" if "x" in log else "linear"
    x = Axis.over([x for points in lines.values() for x, _ in points], x_title, kind=across)
    heights = [y for points in lines.values() for _, y in points]
    y = Axis.over(heights, y_title, kind="log" if "y" in log else "linear", from_zero=True)
    longest = max(map(len, lines))

    def spec(width: int) -> Spec:
        beside = longest * 8 + 30 if width > NARROW and len(lines) > 1 and longest <= _LETTERS_BESIDE else 0
        size = (width - 56 - beside, 260 if width > NARROW else 220)
        place = {"x": x.across(), "y": y.up(size[1])}
        drawn = [line_layers(row, points, place, alone=len(lines) == 1) for row, points in enumerate(lines.values())]
        names = name_layers(lines, y, size, beside=beside > 0) if len(lines) > 1 else []
        return {"width": size[0], "height": size[1], "layer": [*chain(*drawn), *names]}

    ends = "; ".join(
        f"{name} goes from {short(points[0][1])} to {short(points[-1][1])}" for name, points in lines.items()
    )
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
    x = Axis.between(min(lows), max(highs), x_title, kind="log" if log_x else "linear")
    y = Axis.over(counts, y_title, from_zero=True)

    edges = sorted({*lows, *highs})
    unseen = {"type": "point", "opacity": 0, "color": RULE}  # bars are set in pixels; this one makes the axis

    def spec(width: int) -> Spec:
        size = (width - 56, 240 if width > NARROW else 200)
        data = [
            {"from": x.pixel(low, size[0]) + 0.75, "to": x.pixel(high, size[0]) - 0.75, "y": count, "zero": 0}
            for low, high, count in zip(lows, highs, counts, strict=True)
        ]
        frame = {"data": {"values": [{"x": lows[0]}]}, **mark(unseen, x=x.across(edges))}
        bars = {"x": pixel("from"), "x2": {"field": "to"}, "y": y.up(size[1]), "y2": {"field": "zero"}}
        rects = {"data": {"values": data}, "mark": {"type": "rect", "color": SERIES[0]}, "encoding": bars}
        return {"width": size[0], "height": size[1], "layer": [rects, frame]}

    peak = max(range(len(counts)), key=counts.__getitem__)
    return draw(
        title,
        f"Histogram of {x_title} in {len(bins)} bins; the fullest, {short(lows[peak])} to {short(highs[peak])}, "
        f"holds {short(counts[peak])} ({y_title}).",
        spec,
    )


def scatter(
    title: str, points: Sequence[tuple[float, float]], *, x_title: str, y_title: str, log: bool = True
) -> Chart:
    """Points on two logarithmic axes, where a power law is a straight line and all must be positive; or plain ones."""
    if not points:
        return _nothing(title)
    if len(points) > _MOST_POINTS:
        raise ParameterError(
            f"{len(points)} points blot the page", hint=f"thin them to {_MOST_POINTS}, evenly in the logarithm"
        )
    xs, ys = finite([x for x, _ in points], "x"), finite([y for _, y in points], "y")
    kind: Kind = "log" if log else "linear"
    x, y = Axis.over(xs, x_title, kind=kind), Axis.over(ys, y_title, kind=kind)
    data = [{"x": across, "y": up} for across, up in zip(xs, ys, strict=True)]
    dots = {"type": "point", "shape": "circle", "size": 28, "color": SERIES[0], "opacity": 1, "strokeWidth": 1.2}

    def spec(width: int) -> Spec:
        size = (width - 56, 280 if width > NARROW else 240)
        layer = {"data": {"values": data}, **mark(dots, x=x.across(), y=y.up(size[1]))}
        return {"width": size[0], "height": size[1], "layer": [layer]}

    spans = f"{x_title} from {short(min(xs))} to {short(max(xs))}, {y_title} from {short(min(ys))} to {short(max(ys))}"
    axes = "logarithmic axes" if log else "two axes"
    return draw(title, f"{len(points)} points on {axes}: {spans}.", spec)


def _drawable(series: Mapping[str, Sequence[tuple[Position, float]]]) -> dict[str, list[tuple[float, float]]]:
    """Every series as numbers, in the order of x; checked together, for they share their axes."""
    pairs = [pair for points in series.values() for pair in points]
    numbers = zip(places([x for x, _ in pairs], "x"), finite([y for _, y in pairs], "y"), strict=True)
    return {name: sorted(islice(numbers, len(points))) for name, points in series.items()}


def _bars(ranked: Sequence[tuple[str, float]], unit: str, width: int) -> Spec:
    """One row a bar: the label above it, where a long one has room, and the value at its end."""
    low, high = min(0.0, ranked[-1][1]), max(0.0, ranked[0][1])
    room = (width - 60) / ((high - low) or 1.0)
    data = [
        {
            "label": fit(label, width / 8),
            "value": short(value),
            "row": row * _ROW,
            "from": (min(value, 0.0) - low) * room,
            "to": (max(value, 0.0) - low) * room,
            "top": row * _ROW + 20,
            "bottom": row * _ROW + 32,
        }
        for row, (label, value) in enumerate(ranked)
    ]
    words = {"type": "text", "align": "left", "baseline": "top"}
    upright = {"y": pixel("top"), "y2": {"field": "bottom"}}
    return {
        "width": width - 60,
        "height": len(ranked) * _ROW,
        "title": {
            "text": fit(unit, width / 8),
            "anchor": "start",
            "color": MUTED,
            "fontSize": 12,
            "fontWeight": "normal",
            "offset": 4,
        },
        "data": {"values": data},
        "layer": [
            mark({"type": "rect", "color": SERIES[0]}, x=pixel("from"), x2={"field": "to"}, **upright),
            mark({"type": "rule", "color": MUTED}, x=at(-low * room), **upright),
            mark(words | {"dy": 3}, x=at(0), y=pixel("row"), text={"field": "label"}),
            mark(words | {"color": MUTED, "dx": 6, "dy": 20}, x=pixel("to"), y=pixel("row"), text={"field": "value"}),
        ],
    }


def _nothing(title: str) -> Chart:
    words = {"type": "text", "align": "left", "color": MUTED}
    data = {"values": [{"words": "Nothing to show: there are no data here."}]}

    def spec(width: int) -> Spec:
        return {
            "width": width - 10,
            "height": 40,
            "data": data,
            **mark(words, x=at(0), y=at(20), text={"field": "words"}),
        }

    return draw(title, "There are no data for this chart.", spec)


Spec = dict[str, Any]
"""A piece of Vega-Lite."""

_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_DASHES = ([1, 0], [7, 3], [2, 3], [9, 3, 2, 3], [14, 4], [4, 7])
_MOST_MARKERS, _MOST_LETTERS = 12, 40


def mark(look: Spec, **encoding: Spec) -> Spec:
    """A mark and where it stands."""
    return {"mark": look, "encoding": encoding}


def at(place: float) -> Spec:
    """A fixed place, in pixels."""
    return {"value": place}


def pixel(field: str) -> Spec:
    """A place, in pixels, that the data give: no scale, no axis."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def line_layers(row: int, points: Sequence[tuple[float, float]], encoding: Spec, *, alone: bool) -> list[Spec]:
    """The line of one series, and markers on it: a dozen at most, and none on a long line that stands alone."""
    data = [{"x": across, "y": up} for across, up in points]
    look = {"type": "line", "color": SERIES[row], "strokeDash": _DASHES[row], "strokeWidth": 2}
    marked = [] if alone and len(data) > _MOST_MARKERS else data[:: -(-len(data) // _MOST_MARKERS)]
    return [
        {"data": {"values": data}, "mark": look, "encoding": encoding},
        {"data": {"values": marked}, "mark": _marker(row), "encoding": encoding},
    ]


def name_layers(
    lines: Mapping[str, Sequence[tuple[float, float]]], y: Axis, size: tuple[int, int], *, beside: bool
) -> list[Spec]:
    """Each name with its marker: beside the end of its line, or above the plot where there is no room beside it."""
    if beside:
        ends = [size[1] - y.pixel(points[-1][1], size[1]) for points in lines.values()]
        spots = [(size[0] + 16.0, height) for height in _apart(ends, 18.0, float(size[1]))]
    else:
        spots = [(-40.0, -44.0 - 20.0 * row) for row in reversed(range(len(lines)))]
    words = {"type": "text", "align": "left", "baseline": "middle", "dx": 12, "color": INK}
    layers: list[Spec] = []
    for row, (name, (left, top)) in enumerate(zip(lines, spots, strict=True)):
        data = {"values": [{"name": fit(name, _MOST_LETTERS)}]}
        layers.append({"data": data, **mark(_marker(row), x=at(left), y=at(top))})
        layers.append({"data": data, **mark(words, x=at(left), y=at(top), text={"field": "name"})})
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


def _marker(row: int) -> Spec:
    return {
        "type": "point",
        "shape": _SHAPES[row],
        "size": 60,
        "strokeWidth": 2,
        "stroke": SERIES[row],
        "fill": PAPER,
        "opacity": 1,
    }
