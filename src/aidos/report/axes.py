"""Where values fall on an axis: limits a person would choose, ticks that can be read, pixels for labels.

The limits are chosen here and not left to the renderer, because the names beside the lines must know where lines end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import ceil, floor, isfinite, log10
from typing import Any, Literal

from aidos.errors import ParameterError
from aidos.report.values import fit

__all__ = ["Axis", "Kind", "Position", "finite", "places"]

Kind = Literal["linear", "log", "utc"]
"""How an axis runs; utc is an axis of dates."""

Position = float | date
"""A place on the horizontal axis of a line: a number, a date, or a datetime (UTC unless it says otherwise)."""

_LARGEST = 1e300
_DAY = 86_400_000
_LONGEST_TITLE = 44
_SHORT = (
    "abs(datum.value) >= 1e15 ? format(datum.value, '.0e') : "
    "abs(datum.value) >= 1e12 ? format(datum.value / 1e12, '~r') + 'tn' : "
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '~r') + 'bn' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '~r') + 'M' : "
    "abs(datum.value) >= 1e3 ? format(datum.value / 1e3, '~r') + 'k' : "
    "datum.value != 0 && abs(datum.value) < 1e-4 ? format(datum.value, '.0e') : format(datum.value, '~r')"
)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its title, its limits and whether it is linear, logarithmic or of dates."""

    title: str
    low: float
    high: float
    kind: Kind

    @classmethod
    def over(cls, values: Sequence[float], title: str, *, kind: Kind = "linear", from_zero: bool = False) -> Axis:
        """The axis that shows all the values, with round limits; from zero where a length must mean an amount."""
        low, high = min(values), max(values)
        if kind == "utc":
            return cls(title, low, high if high > low else low + _DAY, kind)
        if kind == "log":
            _require_positive(low, title)
            return cls(title, *_decades(low, high), kind)
        return cls(
            title, *_round_limits(min(low, 0.0) if from_zero else low, max(high, 0.0) if from_zero else high), kind
        )

    @classmethod
    def between(cls, low: float, high: float, title: str, *, kind: Kind = "linear") -> Axis:
        """The axis that ends exactly where the data end."""
        if kind == "log":
            _require_positive(low, title)
        return cls(title, low, high, kind)

    def pixel(self, value: float, length: float) -> float:
        """How far from the axis's low end a value falls."""
        if self.kind == "log":
            return length * log10(value / self.low) / log10(self.high / self.low)
        return length * (value - self.low) / (self.high - self.low)

    def across(self, ticks: Sequence[float] = ()) -> dict[str, Any]:
        """The encoding of field ``x`` along the bottom, with ticks at the given places or at round ones."""
        axis: dict[str, Any] = {
            "title": fit(self.title, _LONGEST_TITLE),
            "grid": False,
            "tickCount": 6,
            "labelFlush": True,
        }
        if ticks:
            axis["values"] = list(ticks)
        return self._encoding("x", axis)

    def up(self, height: int) -> dict[str, Any]:
        """The encoding of field ``y`` up the left side; its title lies flat above it, where it can be read."""
        axis: dict[str, Any] = {
            "title": fit(self.title, _LONGEST_TITLE),
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "start",
            "titleBaseline": "bottom",
            "titleX": -46,
            "titleY": -12,
            "minExtent": 46,
            "maxExtent": 46,
            "domain": False,
            "tickCount": 5 if height > 220 else 4,
        }
        return self._encoding("y", axis)

    def _encoding(self, field: str, axis: dict[str, Any]) -> dict[str, Any]:
        scale = {"type": self.kind, "domain": [self.low, self.high], "nice": False, "zero": False}
        if self.kind == "utc":
            axis |= {"labelOverlap": "greedy", "labelSeparation": 8}  # dates are long, and unevenly spaced
            return {"field": field, "type": "temporal", "axis": axis, "scale": {**scale, "zero": None}}
        axis["labelExpr"] = _SHORT
        if self.kind == "log" and "values" not in axis:
            axis["values"] = _powers(self.low, self.high)
        if "values" in axis:
            axis["tickCount"] = len(axis["values"])  # a logarithmic axis leaves out labels beyond this number
        return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}


def _require_positive(low: float, title: str) -> None:
    if low <= 0:
        raise ParameterError(
            f"a logarithmic axis ({title}) cannot show zero or less", hint="leave those values out, or draw it linear"
        )


def finite(values: Sequence[float], name: str) -> list[float]:
    """The values as floats; one ParameterError that counts those which cannot be drawn."""
    numbers = [_number(value) for value in values]
    bad = sum(not isfinite(number) or abs(number) > _LARGEST for number in numbers)
    if bad:
        raise ParameterError(
            f"{bad} of {len(numbers)} {name} values cannot be drawn: they are not numbers, infinite or beyond 1e300",
            hint="leave them out of the chart and say so in its caption",
        )
    return numbers


def places(values: Sequence[Position], name: str) -> list[float]:
    """Places along the bottom: numbers as they are, dates as milliseconds since 1970."""
    dates = [value for value in values if isinstance(value, date)]
    if dates and len(dates) < len(values):
        raise ParameterError(f"the {name} values mix dates and numbers", hint="give one or the other")
    return [_milliseconds(value) for value in dates] or finite([v for v in values if not isinstance(v, date)], name)


def _number(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _milliseconds(moment: date) -> float:
    when = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000


def _round_limits(low: float, high: float) -> tuple[float, float]:
    """Limits on round numbers around the values."""
    if high == low:
        low, high = (0.0, high) if high > 0 else (low, 0.0) if low < 0 else (0.0, 1.0)
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if rough <= power * factor * 1.0000001)
    return floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step


def _decades(low: float, high: float) -> tuple[float, float]:
    """Powers of ten around the values."""
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    return 10.0**first, 10.0 ** max(last, first + 1)


def _powers(low: float, high: float) -> list[float]:
    """The powers of ten within the limits, at most eight; for a snug axis within one decade, its two ends."""
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    stride = max(1, ceil((last - first + 1) / 8))
    powers = [10.0**power for power in range(first, last + 1, stride)]
    return powers if len(powers) > 1 else [low, high]
