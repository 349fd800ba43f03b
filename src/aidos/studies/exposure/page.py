"""The page of the study of critical queries: the learned ranker beside every single feature and the thesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.report.charts import bar
from aidos.report.page import Callout, Chapter, DataTable, Facts, Figure, Prose
from aidos.report.values import Value
from aidos.studies.exposure.study import LEARNED, MEASURES, NOTE, THESIS
from aidos.studies.tables import LEVEL

if TYPE_CHECKING:
    from aidos.studies.exposure.study import ExposureOutcome

__all__ = ["RANKER_COLUMNS", "exposure_chapters", "ranker_rows"]

RANKER_COLUMNS = ("ranker", *MEASURES.values(), "beaten on")
BARS = 8
HOW = (
    "Each ranker orders the same queries of the same members. P@k is the share of critical ones among the first k; "
    "NDCG also weighs how critical and how high; Kendall's tau compares the whole order. A single feature ranks in the "
    "direction that serves it best on the very truth it is measured by. Differences are tested by paired t-tests over "
    "members, corrected for the number of features (Holm)."
)


def exposure_chapters(outcome: ExposureOutcome) -> list[Chapter]:
    """Numbers, rankers side by side, and the thesis."""
    table = DataTable(
        caption="What the thesis found: 100 users, 50 queries each, three judges",
        columns=("ranker", *MEASURES.values()),
        rows=tuple((_words(name), *told) for name, told in THESIS.items()),
    )
    beside = Chapter(title="Beside the thesis", blocks=(Callout("caution", NOTE), table))
    return [_numbers(outcome), _rankers(outcome), beside]


def ranker_rows(outcome: ExposureOutcome) -> list[tuple[Value, ...]]:
    """The rankers that people read, with their means, and on how many measures each is beaten by the first."""
    shown = outcome.shown()
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


def _numbers(outcome: ExposureOutcome) -> Chapter:
    basis = outcome.basis
    told: list[tuple[str, Value]] = [
        ("members", basis.members),
        ("queries", basis.rows),
        ("critical", f"{basis.critical:.0%}"),
        ("correlation with topical sensitivity", round(basis.topical_correlation, 2)),
    ]
    if basis.kappa is not None:
        told.append(("agreement of judges (kappa)", round(basis.kappa, 3)))
    if basis.unmatched:
        told.append(("judged, but not exposing", basis.unmatched))
    return Chapter(title="In numbers", blocks=(Facts(tuple(told)), Prose(HOW)))


def _rankers(outcome: ExposureOutcome) -> Chapter:
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
