"""The chapters that compare mechanisms at equal guarantees: items, coverage, counts, the cache and suggestions."""

from __future__ import annotations

from math import exp

from aidos.report.charts import bar
from aidos.report.page import Block, Chapter, DataTable, Figure, Prose
from aidos.report.values import Value
from aidos.studies.figures import cell
from aidos.studies.utility.outcome import UtilityOutcome
from aidos.studies.utility.plan import ORIGINAL, Setting
from aidos.studies.utility.releases import COMPARED, REPLACING, guarantee_of
from aidos.studies.utility.searchclaims import RELATIONS

__all__ = ["mechanism_chapters"]

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
