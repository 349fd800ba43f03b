"""What a release keeps of query substitution: its suggestions against the original log's (Götz et al. 2012, 7.3).

For each query the first two or five suggestions of the original log are the truth, and those of the release are
measured against them: precision, recall, average precision, NDCG and coverage (Figures 7 and 8). The first two of five
are the best two, so one list serves both. Precision and its like are averaged over queries that the release has
suggestions for, coverage over those that the original log has some for, as in the paper.

Where this differs from the paper:

- MAP. As printed it is the sum of (true rank) / (rank in the release), and a suggestion that the release misses counts
  with rank 0, hence as much as if it stood first; two swapped suggestions get 2.5, two right ones 2. `printed_map` is
  that sum; ``average_precision`` is what the name stands for elsewhere.
- NDCG. The paper leaves gains to a reference. Here the best of n true suggestions has grade n, the last grade 1, and
  the gain is 2^grade - 1 with the discount log2(1 + position), as elsewhere in aidos.
- Coverage is not defined, only averaged. Here it is the number of suggestions that the release has, as a share of the
  original's, at most 1; ``answered`` says for how many queries it has any.
- A query that only the release has suggestions for has precision 0 and no recall, average precision or NDCG.

What comes out is a finding: it depends on the original log and may not be released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.core.mechanism import Finding
from aidos.errors import InputError, ParameterError
from aidos.model.suggesting import SubstitutionModel
from aidos.studies.utility.plan import MOST_FREQUENT

__all__ = [
    "MOST_FREQUENT",
    "Mean",
    "SubstitutionUtility",
    "average_precision",
    "compare_models",
    "compare_suggestions",
    "ndcg",
    "precision",
    "printed_map",
    "recall",
    "suggest_all",
]

CUTS = (2, 5)
"""The paper's lengths of lists."""
Z = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over queries with its 95 % interval, which takes the queries for a sample of those one asks about."""

    value: float
    """Not a number where no query counts."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end; not numbers where fewer than two queries count."""
    queries: int
    """How many queries count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubstitutionUtility:
    """How well a release suggests, by the original log, for lists of one length."""

    most: int
    """Suggestions looked at (j)."""
    precision: Mean
    """Share of the release's suggestions that are the original's."""
    recall: Mean
    """Share of the original's suggestions that the release has."""
    average_precision: Mean
    """Its mean over queries is MAP."""
    printed_map: Mean
    """MAP as the paper prints it; it may exceed 1, and a miss counts like a hit at the top."""
    ndcg: Mean
    """Normalised discounted cumulative gain."""
    coverage: Mean
    """Suggestions that the release has, by number, as a share of the original's."""
    answered: Mean
    """Share of the original's queries with suggestions for which the release has any."""
    unfounded: int
    """Queries that only the release has suggestions for."""


def suggest_all(model: SubstitutionModel, queries: Sequence[str], most: int = max(CUTS)) -> list[tuple[str, ...]]:
    """The suggestions for each query, best first."""
    return [tuple(each.query for each in model.suggest(query, most)) for query in queries]


def compare_models(
    original: SubstitutionModel, released: SubstitutionModel, queries: Sequence[str], cuts: Sequence[int] = CUTS
) -> Finding[tuple[SubstitutionUtility, ...]]:
    """What the release keeps of the original's suggestions for these queries, for each length of list."""
    most = max(cuts, default=1)
    return compare_suggestions(suggest_all(original, queries, most), suggest_all(released, queries, most), cuts)


def compare_suggestions(
    truth: Sequence[Sequence[str]], made: Sequence[Sequence[str]], cuts: Sequence[int] = CUTS
) -> Finding[tuple[SubstitutionUtility, ...]]:
    """The same for lists that are there already, one a query: the original's are made once for many releases."""
    if len(truth) != len(made):
        raise InputError(f"lists for {len(made)} queries cannot be compared with lists for {len(truth)}")
    if not cuts or min(cuts) < 1:
        raise ParameterError("each length of list must be at least 1")
    return Finding(value=tuple(_compared(truth, made, most) for most in cuts), about="the people of the log")


def precision(truth: Sequence[str], made: Sequence[str]) -> float:
    """Share of what was made that is true; not a number where nothing was made."""
    return len(set(truth) & set(made)) / len(made) if made else float("nan")


def recall(truth: Sequence[str], made: Sequence[str]) -> float:
    """Share of what is true that was made; not a number where nothing is true."""
    return len(set(truth) & set(made)) / len(truth) if truth else float("nan")


def average_precision(truth: Sequence[str], made: Sequence[str]) -> float:
    """Precision down to each true suggestion, added up, by the number of true ones; not a number without any."""
    hits, total = 0, 0.0
    for position, query in enumerate(made, start=1):
        if query in truth:
            hits += 1
            total += hits / position
    return total / len(truth) if truth else float("nan")


def printed_map(truth: Sequence[str], made: Sequence[str]) -> float:
    """MAP as the paper prints it: the sum of (i + 1) / (rank + 1), where the rank of what is missing is 0."""
    ranks = {query: rank for rank, query in enumerate(made)}
    return (
        sum(place / (ranks.get(query, 0) + 1) for place, query in enumerate(truth, start=1)) if truth else float("nan")
    )


def ndcg(truth: Sequence[str], made: Sequence[str]) -> float:
    """Discounted gain as a share of that of the true list itself; not a number where nothing is true."""
    gains = {query: 2.0 ** (len(truth) - place) - 1 for place, query in enumerate(truth)}
    best, got = _discounted(list(gains.values())), _discounted([gains.get(query, 0.0) for query in made])
    return got / best if truth else float("nan")


def _discounted(gains: Sequence[float]) -> float:
    return float(np.asarray(gains, dtype=np.float64) @ (1 / np.log2(np.arange(2, len(gains) + 2))))


def _compared(truth: Sequence[Sequence[str]], made: Sequence[Sequence[str]], most: int) -> SubstitutionUtility:
    lists = [(true[:most], found[:most]) for true, found in zip(truth, made, strict=True)]
    known = [(true, found) for true, found in lists if true]
    answered = [(true, found) for true, found in known if found]
    unfounded = sum(1 for true, found in lists if found and not true)
    return SubstitutionUtility(
        most=most,
        precision=_mean([precision(*pair) for pair in answered] + [0.0] * unfounded),
        recall=_mean([recall(*pair) for pair in answered]),
        average_precision=_mean([average_precision(*pair) for pair in answered]),
        printed_map=_mean([printed_map(*pair) for pair in answered]),
        ndcg=_mean([ndcg(*pair) for pair in answered]),
        coverage=_mean([min(1.0, len(found) / len(true)) for true, found in known]),
        answered=_mean([float(bool(found)) for _, found in known]),
        unfounded=unfounded,
    )


def _mean(values: Sequence[float]) -> Mean:
    given: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    missing = float("nan")
    value = float(given.mean()) if len(given) else missing
    reach = Z * float(given.std(ddof=1)) / len(given) ** 0.5 if len(given) > 1 else missing
    return Mean(value=value, low=value - reach, high=value + reach, queries=len(given))
