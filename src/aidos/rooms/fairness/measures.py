"""How good rankings stayed: plain functions on arrays.

Two measures compare a served order with the order by relevance, beside the NDCG-quality that is promised; both are 1
where only subjects of equal relevance changed places, except AP-quality at the edge of the top. None of them says
whether relevance itself was right; for that there are the standard measures against relevance judgements, by
`ir_measures`.

NDCG-quality asks how much of the search system's own order is kept; judgements ask how good it was for people. Results
are judged in the order in which they were *served*: the usual tools sort by score and break ties by name, which would
undo a reordering among equals. A query may be served many times, each time in another order, and every time counts.

Rankings of queries without judgements are left out, and judged queries that were never served do not count as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.rooms.fairness.rankings import Floats, Ints

__all__ = ["STANDARD_MEASURES", "ap_quality", "judge", "kendall_tau"]


def kendall_tau(relevance: Floats, order: Ints) -> float:
    """Kendall's tau of the served order against relevance: 1 is the order by relevance, -1 its reverse.

    A pair of subjects agrees if the more relevant one was served first; pairs of equal relevance cannot disagree and
    are not counted. So the result is tau-b divided by the largest tau-b that the ties allow, and equal to tau-b where
    there are none. 1 if all are equally relevant. Takes n log n steps.
    """
    _, ranks = np.unique(relevance[order], return_inverse=True)
    of_each = np.bincount(ranks)
    number = len(ranks)
    pairs = (number * (number - 1) - int((of_each * (of_each - 1)).sum())) // 2
    # Served first to last, relevance should fall: a pair that rises disagrees, and falls when read from the end.
    return 1 - 2 * _falling_pairs(ranks[::-1]) / pairs if pairs else 1.0


def ap_quality(order: Ints, positions: int) -> float:
    """Average precision of the first k served, where relevant is who stood in the first k by relevance.

    ``order`` holds places in the order by relevance, counted from 0, as served. It is the mean over the original top k
    of the precision at the position where each was served, 0 for those who fell out of it: AP@k with k relevant
    results. 1 if the same subjects fill the top in any order; who stood at its edge among equals is taken as given.
    """
    counted = min(positions, len(order))
    kept = np.asarray(order[:counted]) < counted
    precision = np.cumsum(kept) / np.arange(1, counted + 1)
    return float(precision[kept].sum()) / counted if counted else 1.0


def _falling_pairs(values: Ints) -> int:
    """How many pairs have the larger value first, for values from 0 on.

    Bit by bit from the highest: values that agree in all higher bits form a group, in the order given; a pair of a
    group falls at this bit if a 1 stands before a 0. Then each group is parted into its zeros and its ones.
    """
    found = 0
    places = np.arange(len(values))
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        group, ones = values >> (bit + 1), values >> bit & 1
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        group_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
        ones_before = np.cumsum(ones) - ones
        ones_before -= ones_before[starts][group_of]
        found += int(ones_before[ones == 0].sum())
        zeros = np.add.reduceat(1 - ones, starts)[group_of]
        target = np.where(ones == 1, starts[group_of] + zeros + ones_before, places - ones_before)
        parted = np.empty_like(values)
        parted[target] = values
        values = parted
    return found


STANDARD_MEASURES = ("nDCG@10", "P@10", "AP")

Served = tuple[str, Sequence[str]]
"""A query and what was served for it, first to last."""


def judge(
    served: Iterable[Served],
    judgements: Iterable[tuple[str, str, int]],
    measures: Sequence[str] = STANDARD_MEASURES,
) -> dict[str, float]:
    """Mean of each measure over the served rankings, by the measure's name as given.

    ``served`` holds one (query_id, object_ids in the order served) per ranking, ``judgements`` rows of (query_id,
    object_id, relevance grade).
    """
    grades: dict[str, dict[str, int]] = {}
    for query_id, object_id, grade in judgements:
        grades.setdefault(query_id, {})[object_id] = int(grade)
    parsed = _parse(measures)
    evaluators: dict[str, Any] = {}
    sums, rankings = dict.fromkeys(parsed, 0.0), 0
    for number, (query_id, object_ids) in enumerate(served, start=1):
        if query_id not in grades:
            continue
        if query_id not in evaluators:
            evaluators[query_id] = _evaluator(parsed, {query_id: grades[query_id]})
        for found in evaluators[query_id].iter_calc({query_id: _falling_scores(object_ids, number)}):
            sums[found.measure] += found.value
        rankings += 1
    if not rankings:
        raise InputError("no served ranking has judgements", hint="check that both speak of the same query ids")
    return {text: sums[measure] / rankings for text, measure in zip(measures, parsed, strict=True)}


def _parse(measures: Sequence[str]) -> list[Any]:
    package = _package()
    if not measures:
        raise ParameterError("no measure is given", hint=f"for example {', '.join(STANDARD_MEASURES)}")
    parsed = []
    for text in measures:
        try:
            parsed.append(package.parse_measure(text))
        except (NameError, ValueError, SyntaxError) as error:
            raise ParameterError(
                f"no measure is called {text!r}", hint="ir_measures knows, among others, nDCG@10, P@10, AP, RR, R@100"
            ) from error
    if len(set(parsed)) != len(parsed):
        raise ParameterError("a measure is given twice", hint="give each once")
    return parsed


def _evaluator(parsed: list[Any], grades: Mapping[str, Mapping[str, int]]) -> Any:
    try:
        return _package().evaluator(parsed, grades)
    except ValueError as error:
        raise ParameterError(
            "a measure needs packages that are not installed", hint=str(error).split("\n")[-1]
        ) from error


def _package() -> Any:
    try:
        return import_module("ir_measures")  # an extra
    except ImportError:
        raise MissingExtraError("judging rankings", extra="fairness") from None


def _falling_scores(object_ids: Sequence[str], number: int) -> dict[str, float]:
    """Scores that say nothing but the order."""
    scores = {object_id: -float(position) for position, object_id in enumerate(object_ids)}
    if len(scores) != len(object_ids):
        raise InputError(f"served ranking {number}: a result stands in it twice", hint="keep each result once")
    return scores
