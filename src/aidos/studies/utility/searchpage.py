"""The chapters on searching: suggestions (figures 7 and 8) and ranking (tables 4 and 5, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from aidos.report.page import Block, Callout, Chapter, DataTable, Facts, Prose
from aidos.report.values import Value
from aidos.studies.figures import Lines, cell, lines_figure
from aidos.studies.tables import tell_p
from aidos.studies.utility.outcome import NO, YES, UtilityOutcome, measurements
from aidos.studies.utility.plan import ANONYMOUS, AOL_ASKINGS, ORIGINAL, PAPER, PoolGrid
from aidos.studies.utility.poolstudy import AS_PUBLISHED, STRICT
from aidos.studies.utility.retrieval import MEASURES, RANKERS

__all__ = ["retrieval_chapters", "substitution_chapters", "tell_pairs", "tell_pool"]

CUTS = (2, 5)
NAMES = {
    "suggestion_precision": "precision",
    "suggestion_recall": "recall",
    "suggestion_average_precision": "MAP",
    "suggestion_ndcg": "NDCG",
    "suggestion_coverage": "coverage",
}
RELEVANT = (
    "What held-out people clicked counts as relevant. Among all tried queries one that a release does not have counts "
    "0; among those answered it is asked whether their rankings became worse. Intervals are of 95 per cent."
)
NO_PROMISE = (
    "The release as published has no guarantee: one person's unique pair of queries is in it nearly always. The strict "
    "one has pure differential privacy, from public phrases and results of the collection."
)


def substitution_chapters(outcome: UtilityOutcome) -> list[Chapter]:
    """Each measure by strength, by k and by limit."""
    chapters = []
    for cut in CUTS:
        blocks: list[Block] = []
        for measure, name in NAMES.items():
            lines = {
                f"m = {limit}": outcome.along("epsilon", measure, top=cut, mechanism=PAPER, items_per_person=limit)
                for limit in (1, outcome.plan.cache_items)
            }
            by_k = {"k-anonymity": outcome.along("k", measure, top=cut, mechanism=ANONYMOUS)}
            named = name.capitalize() if name.islower() else name
            blocks += [
                lines_figure(
                    f"{named} by epsilon, top {cut}", lines, ("epsilon", name), _course(named, "epsilon", lines)
                ),
                lines_figure(f"{named} by k, top {cut}", by_k, ("k", name), _course(named, "k", by_k)),
            ]
        blocks.append(_suggestion_table(outcome, cut))
        chapters.append(Chapter(title=f"The best {cut} suggestions", blocks=tuple(blocks)))
    numbers = outcome.basis.numbers
    about = Facts((("queries with suggestions from the log", cell(numbers.get("suggested_for"))),))
    few = (Callout("caution", words),) if (words := tell_pairs(outcome)) else ()
    chapters[0] = Chapter(title=chapters[0].title, blocks=(about, *few, *chapters[0].blocks))
    return chapters


def tell_pairs(outcome: UtilityOutcome) -> str:
    """Why there is nothing to see of ZEALOUS in figures 7 and 8, and from which size on there is; else nothing."""
    one = {"mechanism": PAPER, "items_per_person": 1}
    if any(value > 0 for _, value in outcome.along("epsilon", "suggestion_answered", **one)):
        return ""
    pairs = outcome.along("epsilon", "published_pairs", **one)
    told = ", ".join(f"{value:,.0f} at epsilon = {epsilon:g}" for epsilon, value in pairs)
    least = measurements().first("suggestion-precision", (YES, NO))
    larger = f" On the sample world it suggests something from {least:,} people on." if least else ""
    return (
        f"ZEALOUS suggests nothing from this log at m = 1: it publishes few pairs ({told}). Figures 7 and 8 need a "
        f"larger log or a larger epsilon.{larger}"
    )


def _course(name: str, axis: str, lines: Lines) -> str:
    """From the first known value of each line to its last."""
    told = []
    for side, points in lines.items():
        known = [point for point in points if isfinite(point[1])]
        if known:
            (first, before), (last, after) = known[0], known[-1]
            told.append(f"from {before:.3f} at {axis} = {first:g} to {after:.3f} at {last:g} ({side})")
        else:
            told.append(f"nowhere, since nothing is suggested ({side})")
    return f"{name} goes {', '.join(told)}."


def _suggestion_table(outcome: UtilityOutcome, cut: int) -> DataTable:
    rows = []
    for row in outcome.find("suggestion_precision", top=cut, repeat=0):
        wanted = {name: row[name] for name in ("mechanism", "epsilon", "items_per_person", "k", "top", "repeat")}
        means = [_rounded(outcome.number(measure, **wanted)) for measure in NAMES]
        low, high = (outcome.number(f"suggestion_precision_{end}", **wanted) for end in ("low", "high"))
        rows.append((_setting(row), _pairs(outcome, wanted), *means, _interval(low, high)))
    columns = ("release", "pairs", *NAMES.values(), "precision, 95 %")
    return DataTable(caption=f"Suggestions against the log's own, top {cut}", columns=columns, rows=tuple(rows))


def _pairs(outcome: UtilityOutcome, wanted: Mapping[str, Any]) -> Value:
    return cell(outcome.number("published_pairs", **{**wanted, "top": None}))


def _setting(row: Mapping[str, Any]) -> str:
    if row["mechanism"] == ANONYMOUS:
        return f"k = {row['k']}"
    return f"epsilon = {row['epsilon']:g}, m = {row['items_per_person']}"


def _interval(low: float, high: float) -> str:
    return f"{low:.3f} to {high:.3f}" if isfinite(low) else ""


def retrieval_chapters(outcome: UtilityOutcome) -> list[Chapter]:
    """Tables 4 and 5, and figure 1."""
    pool = outcome.pool
    tables = [
        table
        for number, ranker in enumerate(RANKERS, start=4)
        for variant in (AS_PUBLISHED, STRICT)
        if (table := _tests(outcome, ranker, variant, number)).rows
    ]
    weak = f"b = {pool.usual_noise:g}, K = {pool.usual_threshold}"
    chapters = [
        Chapter(
            title=f"Before and after, {weak}",
            blocks=(
                Prose(f"{tell_pool(pool)}\n\n{_price(pool)}"),
                Prose(RELEVANT),
                Callout("caution", NO_PROMISE),
                *tables,
            ),
        )
    ]
    for ranker in reversed(RANKERS):
        blocks: list[Block] = []
        for among, name in (("all", "all tried queries"), ("answered", "answered queries")):
            lines = {
                f"K = {threshold}": outcome.along(
                    "noise_scale",
                    f"{among} nDCG@10 after",
                    method=ranker,
                    mechanism=AS_PUBLISHED,
                    threshold=threshold,
                )
                for threshold in pool.thresholds
            }
            caption = _noise(lines, outcome.number("all nDCG@10 before", method=ranker, mechanism=ORIGINAL))
            title = f"{ranker.capitalize()}: nDCG@10 by noise, {name}"
            blocks.append(lines_figure(title, lines, ("noise, b", "nDCG@10"), caption, log="x"))
        blocks.append(_every_setting(outcome, ranker))
        chapters.append(Chapter(title=f"By noise and threshold: {ranker}", blocks=tuple(blocks)))
    return chapters


def tell_pool(pool: PoolGrid) -> str:
    """How b, K and q_f came from the paper's."""
    return (
        f"The paper's numbers are scaled to this log unless given: K = 500 is {pool.usual_threshold:,}, b = 10 is "
        f"{pool.usual_noise:g} and q_f = 100 is {pool.limit:,}. b and K are multiplied by {pool.scale:.3g} (queries "
        f"asked here, divided by the {AOL_ASKINGS:,} of the paper's log; at least 0.01), q_f by {pool.depth:.3g} "
        "(queries of a person, likewise)."
    )


def _price(pool: PoolGrid) -> str:
    tried = ", ".join(f"{noise:g}" for noise in pool.noise_scales)
    needed = ", ".join(f"{threshold:,}" for threshold in pool.thresholds)
    return (
        f"b = {tried} and K = {needed} are tried. The price does not shrink with the log: by the paper's count, "
        f"3 q_f / b, the usual numbers cost epsilon = {pool.epsilon:,.4g}; the paper's cost {PoolGrid().epsilon:g}."
    )


def _noise(lines: Lines, before: float) -> str:
    told = ", ".join(f"{points[0][1]:.3f} to {points[-1][1]:.3f} ({name})" for name, points in lines.items() if points)
    return f"From the least noise to the most, nDCG@10 goes {told}; with the log itself it is {before:.3f}."


def _rounded(value: float) -> Value:
    return cell(float(f"{value:.3g}")) if isfinite(value) else None


def _tests(outcome: UtilityOutcome, ranker: str, variant: str, number: int) -> DataTable:
    pool, rows = outcome.pool, []
    wanted = {
        "mechanism": variant,
        "noise_scale": pool.usual_noise,
        "threshold": pool.usual_threshold,
        "method": ranker,
    }
    for among in ("all", "answered"):
        for measure in MEASURES:
            known = {
                name: outcome.number(f"{among} {measure} {name}", **wanted)
                for name in ("before", "after", "difference", "low", "high", "p", "pairs")
            }
            if isfinite(known["pairs"]):
                means = (_rounded(known[name]) for name in ("before", "after", "difference"))
                tested = (_interval(known["low"], known["high"]), tell_p(known["p"]))
                rows.append((f"{among}, {known['pairs']:,.0f}", measure, *means, *tested))
    columns = ("queries", "measure", "before", "after", "difference", "95 % interval", "p")
    paper = f" (the paper's table {number})" if variant == AS_PUBLISHED else ""
    caption = f"{ranker.capitalize()}, {_variant(variant)}{paper}"
    return DataTable(caption=caption, columns=columns, rows=tuple(rows), numeric=columns[2:])


def _every_setting(outcome: UtilityOutcome, ranker: str) -> DataTable:
    """Both variants wherever they were tried."""
    rows = []
    for variant in (AS_PUBLISHED, STRICT):
        for row in outcome.find("all nDCG@10 after", method=ranker, mechanism=variant):
            setting = {name: row[name] for name in ("mechanism", "noise_scale", "threshold")}
            answered = outcome.number("answered", **setting)
            among = outcome.number("answered nDCG@10 after", method=ranker, **setting)
            placed = (cell(row["noise_scale"]), row["threshold"])
            rows.append((_variant(variant), *placed, f"{answered:.1%}", _rounded(row["value"]), _rounded(among)))
    columns = ("release", "b", "K", "answered", "nDCG@10, all", "nDCG@10, answered")
    return DataTable(caption="Every setting", columns=columns, rows=tuple(rows), numeric=columns[1:])


def _variant(name: str) -> str:
    return name.removeprefix("pool-").replace("-", " ")
