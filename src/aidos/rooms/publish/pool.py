"""The pool release: queries, clicks and transitions with noisy counts (Zhang, Yang and Singh, SIGIR 2016).

The paper expands the log's queries with a pool of frequent n-grams, publishes those whose noisy count is above a
threshold K, and with them noisy counts of clicks and of transitions between released queries. It claims pure
differential privacy, which its steps do not give:

- queries rarer than 5 are dropped before the cut per person, so one person can let other people's queries in;
- queries of the log are candidates, so that a query was asked at all may show;
- clicks and transitions are published whenever they occur: a pair that only one person asked comes out always.

Three variants are offered. ``as-published`` does what the paper says and promises nothing. ``strict`` earns pure
differential privacy: candidates, clicked results and blocked terms come from public lists, every candidate gets noise
(zeros too), transitions are noised over all pairs of released queries, and each person's actions are cut before
anything else. ``thresholded`` takes candidates from the log and pays for it with a small delta, computed by
`leak`. Noise is discrete in all three.

What none of them promises: that a query of the pool was ever asked (noise alone may lift it over the threshold), and
that a public list is harmless. A pool that was made from this very log is not public.

Public lists are candidate queries and results of queries that everybody may know, from a file or from values. Nothing
here can tell whether a list is public. One that was made from the log it is used on is not, and takes the
promise away that rests on it.

How likely it is that something which only one person did passes a threshold. Counts of occurrences differ from counts
of people: one person may ask one rare query many times, so her own count may be anything up to her limit. This module
finds the worst way to spend that limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1, inf, log1p, nextafter
from pathlib import Path
from typing import Annotated, assert_never, get_args

import pyarrow as pa
from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.guarantee import ApproxDP, Guarantee, NoGuarantee, PureDP
from aidos.core.limits import ROWS
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.core.table import Table
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.rooms.publish.poolsteps import PoolCounts, PoolTables, Steps, Variant

__all__ = ["PoolRelease", "leak", "public_list", "threshold_for"]

AS_PUBLISHED = {
    "queries": "rare queries are dropped by looking at everybody before each person is cut to a limit, "
    "and queries of the log are candidates",
    "clicks": "every click that occurs is published, also one person's only",
    "transitions": "every pair that occurs between released queries is published, so a pair that one person asked "
    "comes out always",
}
"""Why no table of the variant as published has a guarantee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRelease:
    """Frequent queries with clicks and transitions, from candidates of a public pool (Zhang et al. 2016)."""

    variant: Variant = "strict"
    """strict (pure differential privacy), thresholded (a small delta) or as-published (no guarantee)."""

    pool: Path | tuple[str, ...] = ()
    """Public candidate queries: a file with one on each line, or the queries themselves."""

    click_lists: Path | tuple[tuple[str, str], ...] = ()
    """Public results of queries: a file with query, tab, result on each line, or such pairs."""

    blocked_terms: tuple[str, ...] = ()
    """Queries with one of these words are left out; the list must not come from the log."""

    queries_per_person: Annotated[int, Ge(1), Le(10_000)] = 10
    """The first so many queries of each person count (the paper's q_f)."""

    clicks_per_person: Annotated[int, Ge(0), Le(10_000)] = 10
    """The first so many clicks of each person count (c_f)."""

    transitions_per_person: Annotated[int, Ge(0), Le(10_000)] = 5
    """The first so many transitions of each person count (t_f); never more than queries_per_person - 1."""

    query_scale: Annotated[float, Gt(0), Le(2**15)] = 30.0
    """Scale of the noise on query counts (b)."""

    click_scale: Annotated[float, Gt(0), Le(2**15)] = 30.0
    """Scale of the noise on click counts (b_c)."""

    transition_scale: Annotated[float, Gt(0), Le(2**15)] = 15.0
    """Scale of the noise on transition counts (b_t)."""

    query_threshold: Annotated[int, Ge(0), ROWS] = 500
    """Queries with a noisy count above it are released (K)."""

    click_threshold: Annotated[int, Ge(0), ROWS] = 500
    """Clicks with a noisy count above it are released; as-published does not look at it."""

    transition_threshold: Annotated[int, Ge(0), ROWS] = 250
    """Transitions with a noisy count above it are released; as-published does not look at it."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.variant not in get_args(Variant):
            raise ParameterError(f"PoolRelease: variant must be one of {', '.join(get_args(Variant))}")
        if self.variant == "strict" and not self.pool:
            raise ParameterError(
                "PoolRelease: the strict variant releases queries of a public pool only, and none was given",
                hint="name a file of public queries, one on each line; or take the thresholded variant",
            )

    @property
    def counts_clicks(self) -> bool:
        """Whether any click can be released: strictly, only those of the public lists."""
        return self.clicks_per_person > 0 and (self.variant != "strict" or bool(self.click_lists))

    @property
    def transitions_kept(self) -> int:
        """Transitions that one person can have among her first queries."""
        return min(self.transitions_per_person, self.queries_per_person - 1)

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """What the whole release promises: the sum of its three tables (basic composition)."""
        pieces = self.pieces(facts)
        match self.variant:
            case "strict":
                return PureDP(epsilon=self.epsilon)
            case "thresholded":
                delta = sum(piece.delta for piece in pieces.values() if isinstance(piece, ApproxDP))
                return ApproxDP(epsilon=self.epsilon, delta=min(1.0, delta))
            case "as-published":
                reasons = "; ".join(f"{name}: {reason}" for name, reason in AS_PUBLISHED.items())
                return NoGuarantee(f"the pool release as published has none; {reasons}")
            case _:
                assert_never(self.variant)

    def pieces(self, facts: PublicFacts) -> Mapping[str, Guarantee]:  # noqa: ARG002  (nothing public is needed)
        """What each table promises by itself, given the released queries."""
        match self.variant:
            case "strict":
                return {name: PureDP(epsilon=limit / scale) for name, (limit, scale, _) in self._spends().items()}
            case "thresholded":
                return {
                    name: ApproxDP(epsilon=limit / scale, delta=leak(limit, scale, threshold))
                    for name, (limit, scale, threshold) in self._spends().items()
                }
            case "as-published":
                return {name: NoGuarantee(reason) for name, reason in AS_PUBLISHED.items()}
            case _:
                assert_never(self.variant)

    @property
    def epsilon(self) -> float:
        """q_f/b + c_f/b_c + t_f/b_t: the noisy count that decided a query's release is the one that is published."""
        return sum(limit / scale for limit, scale, _ in self._spends().values())

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Noise and thresholds, and what each table costs."""
        costs = {
            f"{name}_{part}": getattr(piece, part)
            for name, piece in self.pieces(facts).items()
            for part in ("epsilon", "delta")
            if hasattr(piece, part)
        }
        thresholds = {f"{name}_threshold": float(threshold) for name, (_, _, threshold) in self._spends().items()}
        return {f"{name}_scale": scale for name, (_, scale, _) in self._spends().items()} | thresholds | costs

    def run(self, data: Table, noise: Noise) -> PoolTables:
        """Three tables, from a search log."""
        steps = self.steps(data, noise)
        with steps.askings(self.queries_per_person) as asked:
            return self.noised(steps, steps.counts(asked, self.clicks_per_person, self.transitions_kept))

    def steps(self, data: Table, noise: Noise) -> Steps:
        """What is done to a log, step by step."""
        return Steps(
            log=data,
            variant=self.variant,
            noise=noise,
            pool=public_list(data, self.pool, ("user_query",)),
            click_lists=public_list(data, self.click_lists, ("user_query", "object_id")),
            blocked_terms=self.blocked_terms,
        )

    def noised(self, steps: Steps, counts: PoolCounts) -> PoolTables:
        """The steps that draw noise: queries first, then what hangs on the released ones."""
        queries = steps.queries(counts.queries, DiscreteLaplace(self.query_scale), self.query_threshold)
        clicks = steps.clicks(
            counts.clicks, queries, self.clicks_per_person, DiscreteLaplace(self.click_scale), self.click_threshold
        )
        transitions = steps.transitions(
            counts.transitions,
            queries,
            self.transitions_kept,
            DiscreteLaplace(self.transition_scale),
            self.transition_threshold,
        )
        return PoolTables(queries=queries, clicks=clicks, transitions=transitions)

    def _spends(self) -> Mapping[str, tuple[int, float, int]]:
        """Limit, scale and threshold of each table that is published at all."""
        spends = {
            "queries": (self.queries_per_person, self.query_scale, self.query_threshold),
            "clicks": (self.clicks_per_person, self.click_scale, self.click_threshold),
            "transitions": (self.transitions_kept, self.transition_scale, self.transition_threshold),
        }
        without_lists = self.variant == "strict" and not self.click_lists
        return {
            name: spend for name, spend in spends.items() if spend[0] > 0 and not (name == "clicks" and without_lists)
        }


def public_list(log: Table, source: Path | Sequence[str] | Sequence[tuple[str, ...]], columns: Sequence[str]) -> Table:
    """The distinct rows of a public list, beside the log in its engine; a file has lines, with tabs between columns."""
    rows = _lines(source, len(columns)) if isinstance(source, Path) else map(_cells, source)
    distinct = dict.fromkeys(row for row in rows if all(row))
    cells: Iterable[tuple[str, ...]] = zip(*distinct, strict=True) if distinct else ((),) * len(columns)
    arrays = [pa.array(column, pa.string()) for column in cells]
    return log.beside(pa.table(arrays, names=list(columns)))


def _cells(row: str | tuple[str, ...]) -> tuple[str, ...]:
    return (row.strip(),) if isinstance(row, str) else tuple(cell.strip() for cell in row)


def _lines(path: Path, width: int) -> Iterator[tuple[str, ...]]:
    text = read_text(path, hint="name a list in UTF-8, one entry on each line")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            cells = tuple(cell.strip() for cell in line.split("\t"))
            if len(cells) != width:
                raise InputError(
                    f"{path}, line {number}: {len(cells)} columns where {width} were expected",
                    hint="put one tab between the columns, and none elsewhere",
                )
            yield cells


ROUNDING = 1 + 1e-12
"""Covers the rounding of a few hundred sums and one exponential."""


def leak(occurrences: int, scale: float, threshold: int) -> float:
    """The delta of publishing counts above a threshold, with discrete Laplace noise, of what occurs in the log.

    D' is D and one person more, who has at most ``occurrences`` (L) occurrences; b is the scale, K the threshold,
    epsilon = L / b. An item that others have too, or that is a candidate in any case, is *common*. The others, U, are
    hers alone; let them have c_1, c_2, ... occurrences, c in all. Write p(n) = P[n + X > K].

    - M(D') in S: either something of U comes out, with probability 1 - (1 - p(c_1)) (1 - p(c_2)) ... <= delta, or only
      common items do; their counts differ from D's by L - c in all, so that has at most e^epsilon P[M(D) in S].
    - M(D) in S: the common part alone is e^((L - c) / b)-close to that of D'. Nothing of U comes out with probability
      (1 - p(c_1)) (1 - p(c_2)) ..., and if every p(n) <= 1 - e^(-n / b) that is at least e^(-c / b). So
      P[M(D) in S] <= e^epsilon P[M(D') in S]. Where the condition fails, the difference costs e^epsilon delta at most.

    delta is the maximum of 1 - (1 - p(c_1)) (1 - p(c_2)) ... over all ways to split L, found exactly: the logarithms
    add up, so it is a knapsack. It is tight for the worst person.
    """
    law = DiscreteLaplace(scale)
    chances = [law.tail(threshold - own) for own in range(1, occurrences + 1)]
    weights = [-log1p(-chance) if chance < 1 else inf for chance in chances]
    worst = [0.0]
    for total in range(1, occurrences + 1):
        worst.append(max(weights[own - 1] + worst[total - own] for own in range(1, total + 1)))
    delta = nextafter(-expm1(-worst[-1] * ROUNDING), inf)
    if any(chance > -expm1(-own / scale) for own, chance in enumerate(chances, start=1)):
        delta *= exp(min(occurrences / scale, 700.0))
    return min(1.0, delta)


def threshold_for(occurrences: int, scale: float, delta: float) -> int:
    """The smallest threshold whose leak is at most delta, for 0 < delta < 1."""
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be greater than 0 and less than 1, got {delta!r}")
    low, high = 0, occurrences
    while leak(occurrences, scale, high) > delta:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if leak(occurrences, scale, middle) <= delta else (middle + 1, high)
    return high
