"""The page of the fairness room: how unfairness and quality developed, who gains, who loses, and how far from the best.

The same page tells of a simulation, of a re-ranked file and of runs that somebody else served: all of them are courses.
It names subjects, so that it can be acted on: what comes from real data is a finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from aidos.report.charts import histogram, line
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Figure, Page, Prose, Source
from aidos.rooms.fairness.course import Course
from aidos.rooms.fairness.disparity import Disparity, Estimate, SubjectDisparity, measure_disparity
from aidos.rooms.fairness.rankings import Floats

__all__ = ["FairnessStory", "fairness_page", "outcome_rows"]

POINTS = 60
"""Points of a line: enough to see its shape."""
LINES = 6
LARGE_RATIO = 6
DEFICITS = 10
BINS = 24
TENTHS = 10
FORM = (
    "Unfairness is the sum over subjects of |attention - relevance|, both accumulated over all rankings. Quality is "
    "the DCG of the served order as a share of the DCG of the order by relevance."
)
LIMITS = (
    "Single rankings are not fair, only sequences are. Attention is what the model says, not what eyes did. Relevance "
    "is taken as given: if it is biased, attention in proportion to it is biased too. Nothing here protects privacy."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessStory:
    """What the page is about."""

    title: str
    lead: str
    courses: tuple[Course, ...]
    """Each a method at a floor; names must differ."""
    chosen: Course
    """The one whose winners and losers are shown."""
    before: Course | None
    """The order by relevance, where it is known."""
    attention: str
    bounds: Mapping[float, float] = field(default_factory=dict)
    """By quality floor: the unfairness per ranking that no method can go below."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group of each account, where known."""
    source: Source = None
    command: str = ""
    recipe: str = ""


def fairness_page(story: FairnessStory) -> Page:
    """One page for all of it."""
    chapters = [_over_time(story), _quality(story.chosen), _who(story)]
    if story.groups:
        chapters.append(_groups(story))
    chapters.append(_how(story))
    return Page(title=story.title, lead=story.lead, chapters=tuple(chapters), source=story.source)


def outcome_rows(
    courses: Sequence[Course], bounds: Mapping[float, float]
) -> tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]:
    """Columns and rows of the table that compares methods, for the page and the terminal."""
    columns = ("method", "floor", "unfairness", "at least", "above it", "mean quality", "least quality", "seconds")
    return columns, [_outcome(course, bounds) for course in courses]


def _outcome(course: Course, bounds: Mapping[float, float]) -> tuple[str | int | float | None, ...]:
    rate = None if course.quality_floor is None else bounds.get(course.quality_floor)
    least = None if rate is None else rate * len(course.quality)
    above = None if not least else f"{max(course.final / least - 1, 0):.1%}"
    return (
        course.method,
        course.quality_floor,
        round(course.final, 1),
        None if least is None else round(least, 1),
        above,
        round(float(course.quality.mean()), 4),
        round(float(course.quality.min()), 4),
        round(course.seconds, 2) or None,
    )


def _over_time(story: FairnessStory) -> Chapter:
    chosen, before = story.chosen, story.before
    columns, rows = outcome_rows(story.courses, story.bounds)
    facts: list[tuple[str, str | int | float | None]] = [
        ("rankings", len(chosen.quality)),
        ("accounts", len(chosen.names)),
        ("unfairness at the end", f"{chosen.final:,.1f}"),
    ]
    if before is not None and before is not chosen:
        facts.append(("by relevance alone", f"{before.final:,.1f}"))
    floors = sorted({course.quality_floor for course in story.courses if course.quality_floor is not None})
    figures = [_at_floor(story, floor) for floor in floors] or [_at_floor(story, None)]
    table = DataTable(caption="Where every method ended", columns=columns, rows=tuple(rows), numeric=columns[1:])
    return Chapter(title="Unfairness over time", blocks=(Facts(tuple(facts)), *figures, table, Prose(FORM)))


def _at_floor(story: FairnessStory, floor: float | None) -> Figure:
    """One figure for each floor: its methods, those that know no floor, and what nobody can go below."""
    there = [each for each in story.courses if each.quality_floor in {floor, None}]
    series = {each.method: _thinned(each.unfairness) for each in there[:LINES]}
    rate = None if floor is None else story.bounds.get(floor)
    longest = max(len(each.quality) for each in there)
    if rate and len(series) < LINES:
        series["least possible"] = [(place, rate * place) for place, _ in _thinned(np.zeros(longest))]
    ends = sorted(points[-1][1] for points in series.values())
    # Methods that differ by far are told apart on a logarithmic axis alone.
    log: Literal["", "y"] = "y" if ends[0] > 0 and ends[-1] > LARGE_RATIO * ends[0] else ""
    title = "Unfairness over time" + (f" at a floor of {floor:g}" if floor is not None else "")
    chart = line(title, series, x_title="rankings served", y_title="accumulated unfairness", log=log)
    places = np.unique(np.linspace(0, POINTS - 1, TENTHS).astype(int))
    rows = tuple(
        (int(points[each][0]), name, round(points[each][1], 2))
        for name, points in series.items()
        for each in places[places < len(points)]
    )
    table = DataTable(caption=title, columns=("ranking", "method", "unfairness"), rows=rows)
    return Figure(chart=chart, caption=_caption(there, rate), table=table)


def _caption(there: Sequence[Course], rate: float | None) -> str:
    ranked = sorted(there, key=lambda course: course.final)
    words = f"{ranked[0].method} ends lowest, at {ranked[0].final:,.1f}"
    if len(ranked) > 1:
        words += f", {ranked[-1].method} highest, at {ranked[-1].final:,.1f}"
    if ranked[0].quality_floor is not None:
        words += f" (quality floor {ranked[0].quality_floor:g})"
    if rate:
        words += f"; no method that keeps the floor can end below {rate * len(ranked[0].quality):,.1f}"
    return words + "."


def _quality(course: Course) -> Chapter:
    lost = 100 * (1 - course.quality)
    worst, mean = _windows(lost, np.max), _windows(lost, np.mean)
    series = {"average": mean, "largest": worst}
    if course.quality_floor is not None:
        series["allowed"] = [(place, 100 * (1 - course.quality_floor)) for place, _ in mean]
    chart = line("Quality given up", series, x_title="rankings served", y_title="NDCG-quality given up, percent")
    rows = tuple(
        (int(place), round(average, 2), round(most, 2))
        for (place, average), (_, most) in list(zip(mean, worst, strict=True))[:: max(1, len(mean) // 12)]
    )
    columns = ("ranking", "average, percent", "largest, percent")
    words = (
        f"A ranking keeps {course.quality.mean():.1%} of its quality on average and {course.quality.min():.1%} at least"
    )
    floor = f"; the floor is {course.quality_floor:.0%}" if course.quality_floor is not None else ""
    table = DataTable(caption="Quality given up, window by window", columns=columns, rows=rows)
    return Chapter(title="Quality", blocks=(Figure(chart=chart, caption=words + floor + ".", table=table),))


def _who(story: FairnessStory) -> Chapter:
    disparity = _disparity(story.chosen)
    blocks: list[Block] = [_spread(disparity), _tenths(story)]
    for title, lines in (
        ("Who is owed most", disparity.deficits(DEFICITS)),
        ("Who received most beyond relevance", disparity.surpluses(DEFICITS)),
    ):
        if lines:
            blocks.append(_subjects(title, lines))
    return Chapter(title="Who gains and who loses", blocks=tuple(blocks))


def _spread(disparity: Disparity) -> Figure:
    counts, edges = np.histogram(disparity.difference, bins=_round_edges(disparity.difference))
    bins = [(float(low), float(high), float(each)) for low, high, each in zip(edges, edges[1:], counts, strict=False)]
    chart = histogram("How far from balance", bins, x_title="attention less relevance", y_title="accounts")
    owed = int((disparity.difference < 0).sum())
    middle = float(np.median(np.abs(disparity.difference)))
    rows = tuple((f"{low:.3g} to {high:.3g}", int(number)) for low, high, number in bins if number)
    return Figure(
        chart=chart,
        caption=f"{owed:,} of {len(disparity):,} accounts are owed attention; half are within {middle:.3g} of balance.",
        table=DataTable(caption="Accounts by balance", columns=("attention less relevance", "accounts"), rows=rows),
    )


def _round_edges(values: Floats) -> Floats:
    """Edges of about so many bins, at numbers that can be read."""
    low, high = float(values.min()), float(values.max())
    rough = max(high - low, 1e-6) / BINS
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    edges: Floats = np.arange(np.floor(low / step), np.ceil(high / step) + 1.5) * step
    return edges.round(10)


def _tenths(story: FairnessStory) -> Figure:
    chosen = story.chosen
    series = {"relevance": _by_tenth(chosen, chosen.earned), "attention after": _by_tenth(chosen, chosen.received)}
    if story.before is not None and story.before is not chosen:
        series["attention before"] = _by_tenth(story.before, story.before.received)
    chart = line(
        "Attention against relevance",
        series,
        x_title="tenth of the accounts, most relevant first",
        y_title="share of the whole, percent",
    )
    columns = ("tenth", *series)
    rows = tuple(
        (int(tenth), *(round(points[int(tenth) - 1][1], 2) for points in series.values()))
        for tenth, _ in series["relevance"]
    )
    first = series["attention after"][0][1]
    words = f"The most relevant tenth earned {series['relevance'][0][1]:.0f} % and received {first:.0f} % of all"
    if "attention before" in series:
        words += f"; in the order by relevance it would be {series['attention before'][0][1]:.0f} %"
    table = DataTable(caption="Shares by tenth, in percent", columns=columns, rows=rows)
    return Figure(chart=chart, caption=words + ".", table=table)


def _by_tenth(course: Course, values: Floats) -> list[tuple[float, float]]:
    order = np.argsort(-course.earned, kind="stable")
    parts = np.array_split(values[order], min(TENTHS, len(order)))
    total = float(values.sum()) or 1.0
    return [(float(tenth), 100 * float(part.sum()) / total) for tenth, part in enumerate(parts, start=1)]


def _subjects(title: str, lines: Sequence[SubjectDisparity]) -> DataTable:
    rows = tuple(
        (each.subject_id, round(each.relevance, 3), round(each.attention, 3), round(each.difference, 3))
        for each in lines
    )
    return DataTable(caption=title, columns=("account", "relevance", "attention", "difference"), rows=rows)


def _groups(story: FairnessStory) -> Chapter:
    groups = [story.groups.get(name, "none") for name in story.chosen.names]
    rows = tuple(
        (each.group, each.subjects, _interval(each.ratio), _interval(each.difference))
        for each in _disparity(story.chosen).by_group(groups)
    )
    columns = ("group", "accounts", "attention per relevance", "difference of the average account")
    return Chapter(
        title="Groups",
        blocks=(
            DataTable(caption="Groups, with 95 % bootstrap intervals", columns=columns, rows=rows),
            Prose("Attention per relevance is 1 where a group receives what it earns. Whoever is fair to every subject "
                  "is fair to every group; an interval that does not hold 1 shows a group that is not there yet."),
        ),
    )  # fmt: skip


def _how(story: FairnessStory) -> Chapter:
    blocks: list[Block] = [Facts((("attention model", story.attention),)), Callout("caution", LIMITS)]
    if story.command:
        blocks.append(Code(text=story.command, language="command"))
    if story.recipe:
        blocks.append(Code(text=story.recipe, language="recipe"))
    return Chapter(title="How it was made", blocks=tuple(blocks))


def _disparity(course: Course) -> Disparity:
    return measure_disparity(course.names, course.received, course.earned)


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3g}"
    return f"{estimate.value:.3g} ({estimate.low:.3g} to {estimate.high:.3g})"


def _thinned(values: Floats) -> list[tuple[float, float]]:
    places = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).astype(int))
    return [(float(place + 1), float(values[place])) for place in places]


def _windows(values: Floats, summary: object) -> list[tuple[float, float]]:
    parts = np.array_split(np.arange(len(values)), min(POINTS, len(values)))
    return [(float(part[-1] + 1), float(summary(values[part]))) for part in parts]  # type: ignore[operator]
