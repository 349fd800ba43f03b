"""Numbers with their intervals, a line for each name: a dot where the number is, a bar as far as it may be off.

Shape and words carry what colour carries: dots that are more than chance are full, others hollow; a second dot of the
same name is a square. It is drawn directly, without a chart library, in the page's own colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from aidos.errors import ParameterError
from aidos.report.axes import Axis, finite
from aidos.report.drawing import NARROW, WIDE, Chart, Drawing
from aidos.report.values import clean, fit, short

__all__ = ["MOST_ROWS", "Dot", "DotRow", "dots"]

MOST_ROWS = 40
"""More cannot be looked over."""
LETTER = 7.2
NAMES = 210.0
"""Room for names beside the plot."""
TOP, BOTTOM, EDGE = 30.0, 26.0, 12.0
PAINTS = ("var(--series-1)", "var(--series-2)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A number and the interval around it."""

    value: float
    low: float
    high: float
    full: bool
    """Whether it is drawn as more than chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotRow:
    """One name, with one dot or two."""

    name: str
    dots: tuple[Dot, ...]


def dots(
    title: str, rows: Sequence[DotRow], *, sides: tuple[str, str], series: tuple[str, ...] = (), unit: str
) -> Chart:
    """The picture in two widths; ``sides`` say what below and above zero mean, ``series`` name the dots of a row."""
    if len(rows) > MOST_ROWS:
        raise ParameterError(f"{len(rows)} rows cannot be read", hint=f"pass the {MOST_ROWS} that matter most")
    if not rows or any(len(row.dots) != max(len(series), 1) for row in rows) or len(series) > len(PAINTS):
        raise ParameterError("a chart of dots needs rows with one dot, or two that have names")
    numbers = finite([end for row in rows for dot in row.dots for end in (dot.low, dot.value, dot.high)], "interval")
    axis = Axis.over(numbers, unit, from_zero=True)
    full = sum(row.dots[-1].full for row in rows)
    words = (
        f"{len(rows)} lines of dots with intervals ({unit}), from {clean(rows[0].name)}: "
        f"{short(rows[0].dots[-1].value)}, to {clean(rows[-1].name)}: {short(rows[-1].dots[-1].value)}; "
        f"{full} of them are more than chance."
    )
    wide, narrow = (_drawing(rows, axis, width, sides, series) for width in (WIDE, NARROW))
    return Chart(title=title, description=words, wide=wide, narrow=narrow)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things stand in one picture."""

    axis: Axis
    width: int
    left: float
    top: float
    height: float
    """Of a row."""
    above: float
    """Room for the name above its dots."""

    def across(self, value: float) -> float:
        return self.left + EDGE + self.axis.pixel(value, self.width - self.left - 2 * EDGE)


def _drawing(
    rows: Sequence[DotRow], axis: Axis, width: int, sides: tuple[str, str], series: tuple[str, ...]
) -> Drawing:
    is_wide = width > NARROW
    above = 0.0 if is_wide else 22.0
    top = TOP + (24.0 if series else 0.0)
    row = above + (28.0 if len(series) < 2 else 38.0)
    frame = _Frame(axis, width, NAMES if is_wide else 0.0, top, row, above)
    end = top + row * len(rows)
    body = [
        *_scale(frame, end),
        *_sides(frame, sides),
        *_legend(frame, series),
        *(piece for at, each in enumerate(rows) for piece in _row(frame, each, top + row * at)),
    ]
    return Drawing(width=width, height=end + BOTTOM, body="".join(body))


def _scale(frame: _Frame, end: float) -> Iterator[str]:
    """The line of zero, and numbers at the ends."""
    zero = frame.across(0.0)
    yield _line(zero, frame.top - 6, zero, end, "var(--muted)", 1.2)
    yield _line(frame.left + EDGE, end, frame.width - EDGE, end, "var(--rule)", 1)
    for value in sorted({frame.axis.low, 0.0, frame.axis.high}):
        yield _text(short(value), frame.across(value), end + 17, "var(--muted)", anchor="middle", size=12)


def _sides(frame: _Frame, sides: tuple[str, str]) -> Iterator[str]:
    """What lies left and right of zero; a side that has no room is not there at all."""
    zero, height = frame.across(0.0), frame.top - 14
    below, above = (fit(words, 40) for words in sides)
    if frame.axis.low < 0 and zero > len(below) * LETTER:
        yield _text(f"\u2190 {below}", zero - 8, height, "var(--muted)", anchor="end", size=12)
    if frame.axis.high > 0:
        yield _text(f"{above} \u2192", zero + 8, height, "var(--muted)", size=12)


def _legend(frame: _Frame, series: tuple[str, ...]) -> Iterator[str]:
    left = frame.left + EDGE
    for number, name in enumerate(series):
        yield _dot(left, 9.0, number, full=True)
        yield _text(name, left + 12, 13.5, "currentColor")
        left += 36 + len(name) * LETTER


def _row(frame: _Frame, row: DotRow, top: float) -> Iterator[str]:
    body = top + frame.above
    middle = body + (frame.height - frame.above) / 2
    strong = any(dot.full for dot in row.dots)
    ink, weight = ("currentColor", "600") if strong else ("var(--muted)", "400")
    if frame.above:
        yield _text(fit(row.name, frame.width / LETTER), 0, top + 16, ink, weight=weight)
    else:
        yield _text(fit(row.name, (NAMES - 8) / LETTER), 0, middle + 4.5, ink, weight=weight)
    apart = 12.0 if len(row.dots) > 1 else 0.0
    for number, dot in enumerate(row.dots):
        height = middle + apart * (number - (len(row.dots) - 1) / 2)
        paint = PAINTS[number] if dot.full else "var(--muted)"
        yield _line(frame.across(dot.low), height, frame.across(dot.high), height, paint, 3 if dot.full else 1.6)
        yield _dot(frame.across(dot.value), height, number, full=dot.full)


def _dot(left: float, middle: float, number: int, *, full: bool) -> str:
    paint = PAINTS[number] if full else "var(--muted)"
    look = f'fill="{paint if full else "var(--paper)"}" stroke="{paint}" stroke-width="1.8"'
    if number:
        return f'<rect x="{left - 5:.1f}" y="{middle - 5:.1f}" width="10" height="10" {look}></rect>'
    return f'<circle cx="{left:.1f}" cy="{middle:.1f}" r="5.5" {look}></circle>'


def _line(left: float, top: float, right: float, bottom: float, paint: str, thick: float) -> str:  # noqa: PLR0913, PLR0917 (two points and a look)
    ends = f'x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}"'
    return f'<line {ends} stroke="{paint}" stroke-width="{thick}"></line>'


def _text(  # noqa: PLR0913 (a place and a look)
    words: str, left: float, base: float, ink: str, *, anchor: str = "start", size: int = 13, weight: str = "400"
) -> str:
    look = f'fill="{ink}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{left:.1f}" y="{base:.1f}" {look}>{escape(clean(words))}</text>'
