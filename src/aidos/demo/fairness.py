"""The demo's chapter on fairness: the same ratings served a thousand times, by relevance and re-ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.demo.chapter import Outcome, Workplace
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Figure, Prose

if TYPE_CHECKING:
    from aidos.rooms.fairness.course import Course, Scenario

__all__ = ["fairness_chapter"]

RANKINGS = 1000
FLOOR = 0.9
POINTS = 40


def fairness_chapter(place: Workplace) -> Outcome:
    """Simulate a rental site whose best ratings are nearly equal, and show who is seen."""
    from aidos.core.guarantee import statement
    from aidos.core.mechanism import PublicFacts
    from aidos.rooms.fairness.course import simulate
    from aidos.rooms.fairness.equity import EquityOfAttention

    scenario, equity = _scenario(place), EquityOfAttention(quality_floor=FLOOR)
    before, after = (
        simulate(scenario, equity, method=method, rankings=RANKINGS, progress=place.progress)
        for method in ("relevance", "adaptive")
    )
    facts = (
        ("subjects", len(scenario.subject_ids)),
        ("rankings", RANKINGS),
        ("seen at all, by relevance", int((before.received > 0).sum())),
        ("seen at all, re-ranked", int((after.received > 0).sum())),
    )
    commands = (
        "aidos fair rerank rankings.parquet --system changing -o served.jsonl --store attention.store",
        "aidos fair measure served.jsonl",
        "aidos fair simulate --shape linear --floors 0.8,0.95 -o page.html",
    )
    chapter = Chapter(
        title="Attention in proportion to relevance",
        blocks=(
            Prose(
                "Attention falls steeply with the position; ratings do not. Whoever ranks by rating shows the same few "
                "subjects for ever. Re-ranking a little, differently each time, lets attention follow relevance."
            ),
            Facts(facts),
            _figure(before, after),
            Callout("promise", statement(equity.guarantee(PublicFacts()))),
            Code(text="\n".join(commands), language="command"),
        ),
    )
    return Outcome(chapter, "fairness", f"unfairness {after.final:,.0f} instead of {before.final:,.0f}")


def _figure(before: Course, after: Course) -> Figure:
    from aidos.report.charts import line

    steps = range(0, RANKINGS, RANKINGS // POINTS)
    series = {
        name: [(float(step + 1), float(course.unfairness[step])) for step in steps]
        for name, course in (("by relevance", before), ("re-ranked", after))
    }
    rows = tuple(
        (int(step), round(first, 1), round(second, 1))
        for (step, first), (_, second) in zip(*series.values(), strict=True)
    )
    return Figure(
        chart=line("Unfairness over time", series, x_title="rankings served", y_title="accumulated unfairness"),
        caption=f"After {RANKINGS:,} rankings unfairness is {after.final:,.0f} instead of {before.final:,.0f}; "
        f"rankings keep {after.quality.mean():.1%} of their quality on average.",
        table=DataTable(caption="Unfairness over time", columns=("ranking", *series), rows=rows[::4]),
    )


def _scenario(place: Workplace) -> Scenario:
    """The world's ratings, as one query."""
    import numpy as np

    from aidos.rooms.fairness.course import Scenario

    table = place.engine.parquet(place.directory / "rankings.parquet")
    rows = table.rows(
        "select object_id, score, subject_group from {table} where system = 'rating' order by position, object_id"
    )
    names, scores, groups = zip(*rows, strict=True)
    return Scenario(
        name="rating",
        subject_ids=tuple(map(str, names)),
        relevance=np.array([scores], dtype=np.float64),
        queries=("rating",),
        groups=tuple(map(str, groups)),
    )
