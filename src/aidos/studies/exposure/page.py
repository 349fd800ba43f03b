"""The page of the experiment on critical queries: the learned ranker beside every single feature and the thesis."""

from __future__ import annotations

from dataclasses import dataclass

from aidos.report.charts import bar
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Figure, Page, Prose, Source
from aidos.report.values import Value
from aidos.studies.exposure.outcome import LEARNED, LEVEL, MEASURES, NOTE, THESIS, Outcome

__all__ = ["RANKER_COLUMNS", "CriticalStory", "critical_page", "ranker_rows"]

RANKER_COLUMNS = ("ranker", *MEASURES.values(), "beaten on")
BARS = 8
HOW = (
    "Each ranker orders the same queries of the same members. P@k is the share of critical ones among the first k; "
    "NDCG also weighs how critical and how high; Kendall's tau compares the whole order. A single feature ranks in the "
    "direction that serves it best on the very truth it is measured by. Differences are tested by paired t-tests over "
    "members, corrected for the number of features (Holm)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalStory:
    """What the page is about."""

    outcome: Outcome
    command: str
    source: Source = None


def critical_page(story: CriticalStory) -> Page:
    """One page for one experiment."""
    facts = story.outcome.facts
    return Page(
        title="Which exposing queries are critical",
        lead=facts.about,
        chapters=(_numbers(story.outcome), _rankers(story.outcome), _thesis(story)),
        source=story.source,
    )


def ranker_rows(outcome: Outcome) -> list[tuple[Value, ...]]:
    """The rankers that people read, with their means, and on how many measures each is beaten by the first."""
    shown = list(dict.fromkeys(str(name) for name in outcome.shown().column("ranker").to_pylist()))
    beaten = dict.fromkeys(shown, 0)
    for measure in MEASURES:
        for one in outcome.comparisons(measure):
            if one.ranker in beaten:
                beaten[one.ranker] += one.beaten
    first = outcome.rankers[0]
    return [
        (
            _words(name),
            *(round(outcome.mean(name, measure), 3) for measure in MEASURES),
            None if name == first else f"{beaten[name]} of {len(MEASURES)}",
        )
        for name in shown
    ]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _numbers(outcome: Outcome) -> Chapter:
    facts = outcome.facts
    told: list[tuple[str, Value]] = [
        ("members", facts.members),
        ("queries", facts.rows),
        ("critical", f"{facts.critical:.0%}"),
        ("correlation with topical sensitivity", round(facts.topical_correlation, 2)),
    ]
    if facts.kappa is not None:
        told.append(("agreement of judges (kappa)", round(facts.kappa, 3)))
    if facts.unmatched:
        told.append(("judged, but not exposing", facts.unmatched))
    return Chapter(title="In numbers", blocks=(Facts(tuple(told)), Prose(HOW)))


def _rankers(outcome: Outcome) -> Chapter:
    first = outcome.rankers[0]
    name = "learned ranker" if first == LEARNED else _words(first)
    unbeaten = {measure: outcome.unbeaten(measure) for measure in MEASURES}
    left = sorted({name for names in unbeaten.values() for name in names})
    caption = (
        f"The {name} beats every single feature on every measure (p below {LEVEL:g}, corrected)."
        if not left
        else f"The {name} does not beat {len(left)} of the single features on every measure."
    )
    rows = ranker_rows(outcome)
    bars = [(str(row[0]), float(str(row[4]))) for row in rows]
    bars = sorted(bars, key=lambda pair: -pair[1])[:BARS]
    return Chapter(
        title="Rankers side by side",
        blocks=(
            Figure(
                chart=bar("NDCG@20 by ranker", bars, unit="NDCG@20, mean over members"),
                caption=caption,
                table=DataTable(caption="Means over members", columns=RANKER_COLUMNS, rows=tuple(rows)),
            ),
        ),
    )


def _thesis(story: CriticalStory) -> Chapter:
    rows = tuple((_words(name), *told) for name, told in THESIS.items())
    return Chapter(
        title="Beside the thesis",
        blocks=(
            Callout("caution", NOTE),
            DataTable(
                caption="What the thesis found: 100 users, 50 queries each, three judges",
                columns=("ranker", *MEASURES.values()),
                rows=rows,
            ),
            Code(text=story.command, language="command"),
        ),
    )
