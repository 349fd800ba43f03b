"""Standard measures of what was served, against relevance judgements, by `ir_measures`.

NDCG-quality asks how much of the search system's own order is kept; judgements ask how good it was for people. Results
are judged in the order in which they were *served*: the usual tools sort by score and break ties by name, which would
undo a reordering among equals. A query may be served many times, each time in another order, and every time counts.

Rankings of queries without judgements are left out, and judged queries that were never served do not count as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from aidos.errors import InputError, MissingExtraError, ParameterError

__all__ = ["STANDARD_MEASURES", "judge", "served_lists"]

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


def served_lists(rows: Iterable[tuple[str, str, int]]) -> Iterator[Served]:
    """From rows of a run, (query_id, object_id, position), to one list per query, by position.

    A run holds each query once; the rows of a query need not stand together.
    """
    lists: dict[str, list[tuple[int, str]]] = {}
    for query_id, object_id, position in rows:
        lists.setdefault(query_id, []).append((position, object_id))
    for query_id, placed in lists.items():
        placed.sort(key=lambda pair: pair[0])
        if len({position for position, _ in placed}) != len(placed):
            raise InputError(
                "a query has two results on one position", hint="number the results of a query 1, 2, 3, ..."
            )
        yield query_id, [object_id for _, object_id in placed]


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
