"""Pieces of a chart's specification: marks at exact pixels, and a line with its dash, its marker and its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aidos.report.axes import Axis
from aidos.report.drawing import INK, PAPER, SERIES
from aidos.report.values import fit

__all__ = ["Spec", "at", "line_layers", "mark", "name_layers", "pixel"]

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
