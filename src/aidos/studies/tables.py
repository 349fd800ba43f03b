"""Measured rows, put together: groups, means with 95 % intervals, paired tests, and rows that JSON can hold.

Intervals take people, queries or data sets for a sample of those one asks about, and so does a paired t-test. Where one
is told that a difference is "not significant", its interval still has 0 in it: the interval says how large it may be.
P-values of many comparisons are corrected by Holm's step-down method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from aidos.errors import InputError, MissingExtraError

__all__ = [
    "LEVEL",
    "Group",
    "Interval",
    "PairedTest",
    "Row",
    "correlation",
    "grouped",
    "holm",
    "interval",
    "mean_of",
    "paired_test",
    "plain",
    "table_of",
    "tell_p",
    "told",
]

Floats: TypeAlias = NDArray[np.float64]
Row: TypeAlias = Mapping[str, Any]
"""A row of a table."""
Group: TypeAlias = dict[str, Any]
"""Columns of rows that belong together: arrays, or lists where cells are lists."""
Z = 1.959963984540054
"""95 % of a normal variable is within so many standard deviations."""
LEVEL = 0.05
"""Below which a corrected p-value is called significant."""
LEAST_P = 1e-300
CONFIDENT = 0.975
"""Where the upper end of an interval of 95 % lies."""


class Interval(NamedTuple):
    """A mean with its 95 % interval; ends are not numbers where there are fewer than two values."""

    mean: float
    low: float
    high: float
    values: int


def interval(values: ArrayLike) -> Interval:
    """The mean of the values that are numbers; not a number where there are none."""
    given = np.asarray(values, dtype=np.float64)
    known = given[np.isfinite(given)]
    mean = float(known.mean()) if len(known) else nan
    half = Z * float(known.std(ddof=1)) / len(known) ** 0.5 if len(known) > 1 else nan
    return Interval(mean, mean - half, mean + half, len(known))


def mean_of(values: ArrayLike) -> float:
    """The mean alone."""
    given = np.asarray(values, dtype=np.float64)
    known = given[np.isfinite(given)]
    return float(known.mean()) if len(known) else nan


def told(name: str, values: ArrayLike) -> dict[str, float]:
    """A mean and the ends of its interval, as cells of a row."""
    mean, low, high, _ = interval(values)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def grouped(rows: pa.Table, keys: Sequence[str]) -> Iterator[tuple[dict[str, Any], Group]]:
    """Rows with the same keys, in the order in which they first occur."""
    columns = {name: rows[name].to_pylist() for name in rows.column_names}
    members: dict[tuple[Any, ...], list[int]] = {}
    for at, found in enumerate(zip(*(columns[key] for key in keys), strict=True)):
        members.setdefault(found, []).append(at)
    for found, places in members.items():
        group = {name: [column[place] for place in places] for name, column in columns.items() if name not in keys}
        held = {name: each if isinstance(each[0], list) else np.array(each) for name, each in group.items()}
        yield dict(zip(keys, found, strict=True)), held


def table_of(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Rows as a table."""
    return pa.Table.from_pylist(list(rows))


def plain(value: Any) -> Any:
    """The same without infinities and NaN, which JSON has not."""
    match value:
        case Mapping():
            return {name: plain(held) for name, held in value.items()}
        case list() | tuple():
            return [plain(held) for held in value]
        case float() if not isfinite(value):
            return None
        case _:
            return value


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """Means of pairs, and what their difference may be. With fewer than two pairs what cannot be known is no number."""

    pairs: int
    """How many were compared."""
    before: float
    """Mean of the first of each pair."""
    after: float
    """Mean of the second."""
    difference: float
    """After less before."""
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float
    """Upper end."""
    statistic: float
    """t; infinite where all differences are the same and not 0."""
    p: float
    """Chance of a difference at least as large, either way, where there is none."""


def paired_test(before: ArrayLike, after: ArrayLike) -> PairedTest:
    """A paired two-sided t-test; pairs of which either value is missing do not count."""
    one, other = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"{one.size} values cannot be paired with {other.size}")
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    number, change = len(one), other - one
    mean = float(change.mean()) if number else nan
    low = high = statistic = p = nan
    if number >= 2:
        spread = float(change.std(ddof=1)) if np.ptp(change) > 0 else 0.0
        statistic, p, reach = _student(mean, spread / sqrt(number), number - 1)
        low, high = mean - reach, mean + reach
    return PairedTest(
        pairs=number,
        before=float(one.mean()) if number else nan,
        after=float(other.mean()) if number else nan,
        difference=mean,
        low=low,
        high=high,
        statistic=statistic,
        p=p,
    )


def _student(mean: float, error: float, degrees: int) -> tuple[float, float, float]:
    """t, its two-sided p, and half the width of the interval."""
    if error == 0:
        return (0.0, 1.0, 0.0) if mean == 0 else (inf if mean > 0 else -inf, 0.0, 0.0)
    try:
        from scipy.special import stdtr, stdtrit
    except ImportError as missing:
        raise MissingExtraError("a t-test", extra="studies") from missing
    statistic = mean / error
    return statistic, float(2 * stdtr(degrees, -abs(statistic))), float(error * stdtrit(degrees, CONFIDENT))


def holm(p_values: ArrayLike) -> Floats:
    """p-values corrected for their number by Holm's method; those that are not numbers stay so and do not count."""
    given = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(len(given), np.nan)
    counted = np.flatnonzero(~np.isnan(given))
    order = counted[np.argsort(given[counted], kind="stable")]
    steps = given[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Pearson's correlation; not a number where there are fewer than two pairs or either is constant."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"{one.size} values cannot be correlated with {other.size}")
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return nan
    return float(np.corrcoef(one, other)[0, 1])


def tell_p(p: float) -> str:
    """A chance in words; below what floats can tell from 0 it is not said to be 0."""
    if isnan(p):
        return ""
    return f"{p:.2g}" if p >= LEAST_P else f"< {LEAST_P:g}"
