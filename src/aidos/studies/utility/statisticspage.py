"""The chapters on statistics (tables 3 and 4, figures 2 to 5), and on mechanisms at equal guarantees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp
from typing import Any

from aidos.report.charts import bar
from aidos.report.page import Block, Chapter, DataTable, Figure, Prose
from aidos.report.values import Value
from aidos.studies.figures import Lines, cell, lines_figure
from aidos.studies.utility.outcome import UtilityOutcome
from aidos.studies.utility.plan import ANONYMOUS, ORIGINAL, PAPER, Setting
from aidos.studies.utility.releases import COMPARED, REPLACING, guarantee_of
from aidos.studies.utility.searchclaims import RELATIONS

__all__ = ["mechanism_chapters", "statistics_chapters"]

VISITS = "Counts of k-anonymity are of visits, since its log has no people in it."
MEASURED = (
    "Top items are the most frequent of the log. By limit they are the four rows of the paper's figure 2, by top its "
    "figure 3. L1 is the mean difference of relative frequencies; KL the divergence "
    "of the true ones from the published, where an unpublished item counts as half a person."
)

AXES = {"limit": "items of each person, m", "top": "most frequent items, j"}
TITLES = {
    "l1": ("L1", "mean difference"),
    "kl": ("KL", "divergence"),
    "missing": ("top items that are missing,", "items"),
    "coverage": ("coverage", "share published"),
}
"""What a measure is called in a title and on an axis."""


def statistics_chapters(outcome: UtilityOutcome) -> list[Chapter]:
    """By limit, by top, by count, by strength."""
    kinds = outcome.basis.kinds
    return [
        _by_limit(outcome),
        *(_tops(outcome, kind) for kind in kinds),
        Chapter(title="How often counts occur", blocks=tuple(_distribution(outcome, kind) for kind in kinds)),
        _by_strength(outcome),
    ]


def _usual(outcome: UtilityOutcome) -> dict[str, Any]:
    return {"mechanism": PAPER, "epsilon": outcome.plan.usual_epsilon}


def _by_limit(outcome: UtilityOutcome) -> Chapter:
    distinct, total = (
        {kind: outcome.along("items_per_person", measure, kind=kind, **_usual(outcome)) for kind in outcome.basis.kinds}
        for measure in ("distinct", "total")
    )
    means = {kind: outcome.number("mean_items", kind=kind, mechanism=ORIGINAL) for kind in outcome.basis.kinds}
    averages = DataTable(
        caption="In the log: distinct items, and items of a person on average (table 4)",
        columns=("kind", "distinct", "average"),
        rows=tuple(
            (kind, cell(outcome.number("distinct", kind=kind, mechanism=ORIGINAL)), cell(mean))
            for kind, mean in means.items()
        ),
    )
    tipping = {kind: max(points, key=lambda point: point[1]) for kind, points in total.items() if points}
    told = ", ".join(f"{kind} at m = {point[0]:g} (average {means[kind]:.0f})" for kind, point in tipping.items())
    blocks: tuple[Block, ...] = (
        averages,
        lines_figure(
            "Distinct items by limit",
            distinct,
            ("items of each person, m", "published items"),
            f"From the lowest limit to the highest, {_ends(distinct)} distinct items are published.",
            log="xy",
        ),
        lines_figure(
            "Total counts by limit",
            total,
            ("items of each person, m", "sum of counts"),
            f"The total is largest for {told}.",
            log="xy",
        ),
    )
    return Chapter(title=f"By the limit on items, at epsilon = {outcome.plan.usual_epsilon:g}", blocks=blocks)


def _tops(outcome: UtilityOutcome, kind: str) -> Chapter:
    """Figures 2 (by limit) and 3 (by top) of one kind."""
    usual = _usual(outcome)
    limits = sorted({row["items_per_person"] for row in outcome.find("coverage", kind=kind, **usual)})
    tops = sorted({row["top"] for row in outcome.find("coverage", kind=kind, **usual)})
    by_top = {
        measure: {
            f"m = {limit}": outcome.along("top", measure, kind=kind, items_per_person=limit, **usual)
            for limit in limits
        }
        for measure in ("coverage", "l1", "kl")
    }
    by_limit = {
        measure: {
            f"top {top:,}": outcome.along("items_per_person", measure, kind=kind, top=top, **usual) for top in tops
        }
        for measure in ("l1", "kl", "missing", "coverage")
    }
    figures = [
        *((measure, lines, "limit", _best_places) for measure, lines in by_limit.items()),
        *((measure, lines, "top", _best_lines) for measure, lines in by_top.items()),
    ]
    blocks: list[Block] = [Prose(MEASURED)]
    for measure, lines, by, find in figures:
        shown, up = TITLES[measure]
        title = f"{kind.capitalize()}: {shown} by {by}"
        found = find(lines, max if measure == "coverage" else min)
        blocks.append(lines_figure(title, lines, (AXES[by], up), f"{title}: {found}.", log="x"))
    return Chapter(title=f"The most frequent {kind}", blocks=tuple(blocks))


def _best_places(lines: Lines, best: Callable[..., Any]) -> str:
    """Where the first line and the last are best."""
    told = []
    drawn = {name: points for name, points in lines.items() if points}
    for name in dict.fromkeys([*drawn][:1] + [*drawn][-1:]):
        place, value = best(drawn[name], key=lambda point: point[1])
        told.append(f"the {name} do best at m = {place:,.0f} ({_short(value)})")
    return "; ".join(told) or "nothing was published"


def _best_lines(lines: Lines, best: Callable[..., Any]) -> str:
    """Which line is best at both ends."""
    ends = []
    places = sorted({place for points in lines.values() for place, _ in points})
    for place in dict.fromkeys(places[:1] + places[-1:]):
        values = {name: dict(points)[place] for name, points in lines.items() if place in dict(points)}
        name = best(values, key=values.__getitem__)
        ends.append(f"for the top {place:,.0f} {name} is best ({_short(values[name])})")
    return "; ".join(ends) or "nothing was published"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _distribution(outcome: UtilityOutcome, kind: str) -> Figure:
    plan = outcome.plan
    sides: dict[str, dict[str, Any]] = {
        "the log": {"mechanism": ORIGINAL},
        f"k = {plan.usual_k}": {"mechanism": ANONYMOUS, "k": plan.usual_k},
        "ZEALOUS, m = 1": {**_usual(outcome), "items_per_person": 1},
    }
    lines = {
        name: points
        for name, side in sides.items()
        if (points := outcome.along("top", "items_with_count", kind=kind, **side))
    }
    least = ", ".join(f"{points[0][0]:,.0f} ({name})" for name, points in lines.items())
    caption = f"{kind.capitalize()}: the least counts that occur are about {least}."
    return lines_figure(f"{kind.capitalize()} by count", lines, ("count", "items with it"), caption, log="xy")


def _by_strength(outcome: UtilityOutcome) -> Chapter:
    by_epsilon = {
        kind: outcome.along("epsilon", "difference", kind=kind, mechanism=PAPER, items_per_person=1)
        for kind in outcome.basis.kinds
    }
    by_k = {
        kind: points
        for kind in outcome.basis.kinds
        if (points := outcome.along("k", "difference", kind=kind, mechanism=ANONYMOUS))
    }
    blocks: tuple[Block, ...] = (
        Prose(f"Published counts are scaled so that both totals are the same. {VISITS}"),
        lines_figure(
            "Average difference of counts by epsilon",
            by_epsilon,
            ("epsilon", "average difference"),
            f"From the smallest epsilon to the largest, the average difference goes {_ends(by_epsilon)}.",
            log="y",
        ),
        lines_figure(
            "Average difference of counts by k",
            by_k,
            ("k", "average difference"),
            f"From the smallest k to the largest, it goes {_ends(by_k)}.",
            log="y",
        ),
        _every_distance(outcome),
    )
    return Chapter(title="How far counts are off", blocks=blocks)


def _every_distance(outcome: UtilityOutcome) -> DataTable:
    settings = ({"mechanism": PAPER, "items_per_person": 1}, {"mechanism": ANONYMOUS})
    rows = tuple(
        (kind, row["mechanism"], cell(row["epsilon"]), row["k"], cell(row["value"]), *(_beside(outcome, row)))
        for kind in outcome.basis.kinds
        for setting in settings
        for row in outcome.find("difference", kind=kind, repeat=0, **setting)
    )
    return DataTable(
        caption="Other distances show the same",
        columns=("kind", "mechanism", "epsilon", "k", "difference", "rms", "total variation"),
        rows=rows,
    )


def _beside(outcome: UtilityOutcome, row: Mapping[str, Any]) -> tuple[Value, ...]:
    wanted = {name: row[name] for name in ("kind", "mechanism", "epsilon", "items_per_person", "k")}
    return tuple(cell(outcome.number(measure, **wanted)) for measure in ("rms", "total_variation"))


def _ends(lines: Lines) -> str:
    """From the first value of each line to its last."""
    return ", ".join(
        f"{points[0][1]:,.4g} to {points[-1][1]:,.4g} ({name})" for name, points in lines.items() if points
    )


BOTH = (
    "Promises are about neighbours: logs that differ by one person who is added or removed, or by one who is replaced. "
    "ZEALOUS promises the second, which covers the first at the same numbers. The others promise the first; under the "
    "second they are run with half of epsilon, and with delta / (1 + e^(epsilon / 2)), which is then the same promise."
)
SETS = (
    "Rounds, steered-rounds, weighted, policy and truncated-geometric publish which items are frequent, without "
    "counts. Rounds and the steered ones look at more of a person's items than they keep."
)


def mechanism_chapters(outcome: UtilityOutcome) -> list[Chapter]:
    """One chapter for each strength and relation, after what is promised."""
    chapters = [_promises(outcome)]
    for epsilon in outcome.plan.equal_epsilons:
        for halved, relation in RELATIONS.items():
            title = f"At epsilon = {epsilon:g}, {relation}"
            chapters.append(Chapter(title=title, blocks=tuple(_blocks(outcome, epsilon, halved=halved))))
    return chapters


def _promises(outcome: UtilityOutcome) -> Chapter:
    plan, rows = outcome.plan, []
    for epsilon in plan.equal_epsilons:
        for name in COMPARED:
            for halved in (False,) if name in REPLACING else (False, True):
                setting = Setting(
                    mechanism=name,
                    epsilon=epsilon,
                    delta=plan.equal_delta,
                    items_per_person=plan.equal_items_per_person,
                    halved=halved,
                )
                promise = guarantee_of(setting, outcome.basis.people)
                relation = str(getattr(promise, "neighbours", "")).replace("_", " ").replace("-", " ")
                run_at = (cell(getattr(promise, "epsilon", None)), f"{getattr(promise, 'delta', 0.0):.3g}")
                compared = "both" if name in REPLACING else RELATIONS[halved]
                rows.append((name, type(promise).__name__, *run_at, relation, epsilon, compared))
    columns = (
        "mechanism",
        "kind of promise",
        "run at epsilon",
        "and delta",
        "its neighbours",
        "epsilon",
        "compared for",
    )
    table = DataTable(caption="What each mechanism promises", columns=columns, rows=tuple(rows))
    spare = f"{exp(max(plan.equal_epsilons) / 2):.2f}"
    words = f"{BOTH}\n\n{SETS} Here e^(epsilon / 2) is up to {spare}, and m = {plan.equal_items_per_person}."
    return Chapter(title="Equal guarantees", blocks=(Prose(words), table))


def _blocks(outcome: UtilityOutcome, epsilon: float, *, halved: bool) -> list[Block]:
    blocks: list[Block] = []
    for kind in outcome.basis.kinds:
        bars = [
            (name, value)
            for name in COMPARED
            if (value := _value(outcome, "distinct", kind, name, epsilon, halved=halved)) is not None
        ]
        if not bars:
            continue
        ranked = sorted(bars, key=lambda pair: -pair[1])
        zealous = max(value for name, value in bars if name in REPLACING)
        caption = (
            f"{ranked[0][0].capitalize()} publishes most {kind} ({ranked[0][1]:,.0f}), {ranked[-1][0]} fewest "
            f"({ranked[-1][1]:,.0f}); ZEALOUS publishes {zealous:,.0f} at best."
        )
        table = _table(outcome, kind, epsilon, halved=halved)
        chart = bar(f"{kind.capitalize()} that are published", bars, unit=f"distinct {kind}")
        blocks.append(Figure(chart=chart, caption=caption, table=table))
    return blocks


def _table(outcome: UtilityOutcome, kind: str, epsilon: float, *, halved: bool) -> DataTable:
    tops = sorted({row["top"] for row in outcome.find("coverage", kind=kind, mechanism=ORIGINAL)})
    chosen = [top for top in tops if top in {100, 1_000}] or tops[-1:]
    measures: dict[str, tuple[str, int | None]] = {"items": ("distinct", None)}
    measures |= {f"of the top {top:,}": ("coverage", top) for top in chosen}
    measures |= {"sum of counts": ("total", None), "total variation": ("total_variation", None)}
    if kind == "keywords":
        measures["cache hits"] = ("hit_probability", None)
    if kind == "pairs":
        measures |= {"precision, top 5": ("suggestion_precision", 5), "coverage, top 5": ("suggestion_coverage", 5)}
    rows: list[tuple[Value, ...]] = []
    for name in (*COMPARED, ORIGINAL):
        cells = [
            _value(outcome, measure, kind, name, epsilon, halved=halved, top=top) for measure, top in measures.values()
        ]
        rows.append((name, *(cell(value) for value in cells)))
    return DataTable(caption=f"{kind.capitalize()} by mechanism", columns=("mechanism", *measures), rows=tuple(rows))


def _value(  # noqa: PLR0913 - which number
    outcome: UtilityOutcome, measure: str, kind: str, name: str, epsilon: float, *, halved: bool, top: int | None = None
) -> float | None:
    wanted: dict[str, object] = {"kind": kind, "mechanism": name, "top": top}
    if name != ORIGINAL:
        wanted |= {"epsilon": epsilon, "halved": halved and name not in REPLACING}
    found = outcome.find(measure, **wanted)
    return outcome.number(measure, **wanted) if found else None
