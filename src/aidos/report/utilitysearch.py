"""The chapters on searching: caching (figure 6), suggestions (figures 7 and 8) and ranking (tables 4, 5, figure 1)."""

from __future__ import annotations

from math import isfinite

from aidos.evaluate.utility.outcome import Outcome
from aidos.evaluate.utility.plan import ANONYMOUS, ORIGINAL, PAPER
from aidos.evaluate.utility.poolstudy import AS_PUBLISHED, STRICT
from aidos.evaluate.utility.retrieval import MEASURES, RANKERS
from aidos.report.page import Block, Callout, Chapter, DataTable, Facts, Prose
from aidos.report.utilityfigures import Lines, cell, lines_figure
from aidos.report.values import Value

__all__ = ["caching_chapters", "retrieval_chapters", "substitution_chapters"]

CUTS = (2, 5)
NAMES = {
    "suggestion_precision": "precision",
    "suggestion_recall": "recall",
    "suggestion_average_precision": "MAP",
    "suggestion_ndcg": "NDCG",
    "suggestion_coverage": "coverage",
}
HITS = "hit probability"
RELEVANT = (
    "What held-out people clicked counts as relevant. Among all tried queries one that a release does not have counts "
    "0; among those answered it is asked whether their rankings became worse. Intervals are 95 %."
)
NO_PROMISE = (
    "The release as published has no guarantee: one person's unique pair of queries is in it nearly always. The strict "
    "one has pure differential privacy, from public phrases and results of the collection."
)


def caching_chapters(outcome: Outcome) -> list[Chapter]:
    """Hits by strength, by k and by limit."""
    plan = outcome.plan
    best = outcome.value("hit_probability", mechanism=ORIGINAL)
    by_epsilon = outcome.along("epsilon", "hit_probability", mechanism=PAPER, items_per_person=plan.cache_items)
    by_k = outcome.along("k", "hit_probability", mechanism=ANONYMOUS)
    by_limit = outcome.along("items_per_person", "hit_probability", mechanism=PAPER, epsilon=plan.usual_epsilon)
    blocks: tuple[Block, ...] = (
        _cache_facts(outcome, best),
        Prose(
            "A keyword's score is how often it is asked, by the number of documents that have it; lists are taken by "
            "falling score until the memory is full. The log itself counts searches, releases count people, and a "
            "k-anonymous log visits. A hit is a search for a keyword whose list is in memory. Where the whole index "
            "would fit into the memory asked for, the memory is a tenth of the index."
        ),
        lines_figure(
            f"Hits by epsilon, m = {plan.cache_items}",
            {"ZEALOUS": by_epsilon, "the log": [(epsilon, best) for epsilon, _ in by_epsilon]},
            ("epsilon", HITS),
            _lost("epsilon", by_epsilon, best),
        ),
        lines_figure(
            "Hits by k",
            {"k-anonymity": by_k, "the log": [(k, best) for k, _ in by_k]},
            ("k", HITS),
            _lost("k", by_k, best),
        ),
        lines_figure(
            f"Hits by limit, epsilon = {plan.usual_epsilon:g}",
            {"ZEALOUS": by_limit, "the log": [(limit, best) for limit, _ in by_limit]},
            ("keywords of each person, m", HITS),
            _lost("m", by_limit, best),
            log="x",
        ),
    )
    return [Chapter(title="A cache of posting lists", blocks=blocks)]


def _cache_facts(outcome: Outcome, best: float) -> Facts:
    numbers = outcome.facts.numbers
    return Facts(
        (
            ("hit probability, filled by the log", round(best, 4)),
            ("lists in that cache", cell(outcome.value("lists", mechanism=ORIGINAL))),
            ("memory, MB", round(numbers.get("cache_bytes", 0.0) / 1e6, 2)),
            ("whole index, MB", round(numbers.get("index_bytes", 0.0) / 1e6, 2)),
            ("searched keywords that documents have", f"{numbers.get('known_share', 0.0):.0%}"),
        )
    )


def _lost(name: str, points: list[tuple[float, float]], best: float) -> str:
    if not points or not best:
        return "Nothing was published."
    place, value = max(points, key=lambda point: point[1])
    worst, least = min(points, key=lambda point: point[1])
    return (
        f"Of {best:.3f} with the log itself, {value:.3f} is kept at {name} = {place:g} and {least:.3f} at "
        f"{name} = {worst:g}."
    )


def substitution_chapters(outcome: Outcome) -> list[Chapter]:
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
                lines_figure(f"{named} by epsilon, top {cut}", lines, ("epsilon", name), _range(named, lines)),
                lines_figure(f"{named} by k, top {cut}", by_k, ("k", name), _range(named, by_k)),
            ]
        blocks.append(_suggestion_table(outcome, cut))
        chapters.append(Chapter(title=f"The best {cut} suggestions", blocks=tuple(blocks)))
    numbers = outcome.facts.numbers
    about = Facts((("queries with suggestions from the log", cell(numbers.get("suggested_for"))),))
    chapters[0] = Chapter(title=chapters[0].title, blocks=(about, *chapters[0].blocks))
    return chapters


def _range(name: str, lines: Lines) -> str:
    told = []
    for side, points in lines.items():
        known = [value for _, value in points if isfinite(value)]
        told.append(f"between {min(known):.3f} and {max(known):.3f} ({side})" if known else f"not known ({side})")
    return f"{name} is {', '.join(told)}."


def _suggestion_table(outcome: Outcome, cut: int) -> DataTable:
    rows = []
    for row in outcome.find("suggestion_precision", top=cut, repeat=0):
        wanted = {name: row[name] for name in ("mechanism", "epsilon", "items_per_person", "k", "top", "repeat")}
        means = [cell(outcome.value(measure, **wanted)) for measure in NAMES]
        ends = [cell(outcome.value(f"suggestion_precision_{end}", **wanted)) for end in ("low", "high")]
        rows.append((row["mechanism"], cell(row["epsilon"]), row["items_per_person"], row["k"], *means, *ends))
    columns = ("mechanism", "epsilon", "m", "k", *NAMES.values(), "precision from", "to")
    return DataTable(caption=f"Suggestions against the log's own, top {cut}", columns=columns, rows=tuple(rows))


def retrieval_chapters(outcome: Outcome) -> list[Chapter]:
    """Tables 4 and 5, and figure 1."""
    plan = outcome.plan
    tables = [_tests(outcome, ranker, number) for number, ranker in enumerate(RANKERS, start=4)]
    weak = f"b = {plan.usual_noise:g}, K = {plan.usual_threshold}"
    chapters = [
        Chapter(title=f"Before and after, {weak}", blocks=(Prose(RELEVANT), Callout("caution", NO_PROMISE), *tables))
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
                for threshold in plan.thresholds
            }
            caption = _noise(lines, outcome.value("all nDCG@10 before", method=ranker, mechanism=ORIGINAL))
            title = f"{ranker.capitalize()}: nDCG@10 by noise, {name}"
            blocks.append(lines_figure(title, lines, ("noise, b", "nDCG@10"), caption, log="x"))
        chapters.append(Chapter(title=f"By noise and threshold: {ranker}", blocks=tuple(blocks)))
    return chapters


def _noise(lines: Lines, before: float) -> str:
    told = ", ".join(f"{points[0][1]:.3f} to {points[-1][1]:.3f} ({name})" for name, points in lines.items() if points)
    return f"From the least noise to the most, nDCG@10 goes {told}; with the log itself it is {before:.3f}."


def _rounded(value: float) -> Value:
    return cell(float(f"{value:.3g}")) if isfinite(value) else None


def _tests(outcome: Outcome, ranker: str, number: int) -> DataTable:
    plan, rows = outcome.plan, []
    for variant in (AS_PUBLISHED, STRICT):
        wanted = {
            "mechanism": variant,
            "noise_scale": plan.usual_noise,
            "threshold": plan.usual_threshold,
            "method": ranker,
        }
        for among in ("all", "answered"):
            for measure in MEASURES:
                known = {
                    name: outcome.value(f"{among} {measure} {name}", **wanted)
                    for name in ("before", "after", "difference", "low", "high", "p", "pairs")
                }
                if isfinite(known["pairs"]):
                    named = variant.removeprefix("pool-").replace("-", " ")
                    rows.append((named, among, measure, *(_rounded(value) for value in known.values())))
    columns = ("release", "among", "measure", "before", "after", "difference", "from", "to", "p", "queries")
    return DataTable(caption=f"{ranker.capitalize()} (the paper's table {number})", columns=columns, rows=tuple(rows))
