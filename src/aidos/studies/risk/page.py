"""The page of the study of risk measures: all of them side by side, the thesis beside, and how robust they are."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from aidos.report.charts import bar, line
from aidos.report.page import Block, Callout, Chapter, Check, CheckList, DataTable, Facts, Figure, Prose
from aidos.report.values import Value
from aidos.studies.study import Claim
from aidos.studies.tables import LEVEL

if TYPE_CHECKING:
    from aidos.studies.risk.outcome import RiskOutcome

__all__ = ["MEASURE_COLUMNS", "measure_rows", "risk_chapters"]

MEASURE_COLUMNS = ("measure", "R-precision (micro)", "95 %", "macro", "MAP", "NDCG", "AOL", "health forums", "Quora")
HOW = (
    "Each measure ranks the same people for the same topics. Where R people of a topic are sensitive, R-precision is "
    "the share of them among the first R: micro over all such people, macro over topics. The last three columns are "
    "the thesis' micro R-precision on its own data. Differences are tested by paired t-tests over sensitive people, "
    "corrected for the number of comparisons (Holm)."
)
ROLES = (
    "In the sample world it is known who is afflicted, who works in the field (professional), and who looks once "
    "(curious). A good measure ranks the last two behind the first. The percentile is that of the mean person of a "
    "role; behind is the share of afflicted people who stand before her; places is the share of the first R that the "
    "role takes."
)
NOTE = (
    "The sample world is made up: who is afflicted there writes as its makers thought. What holds in it is the shape "
    "of the thesis' findings, not its numbers."
)
SWEPT = {"breadth": "share of the domain that is broad (k)", "recurring": "time buckets (m)"}
LINES = 6


def risk_chapters(outcome: RiskOutcome) -> list[Chapter]:
    """Measures side by side, roles and parameters where there are some, and how sure it all is."""
    chapters = [_numbers(outcome), _measures(outcome)]
    if outcome.knows_roles:
        chapters.append(_roles(outcome))
    if outcome.tables["sweep"].num_rows:
        chapters.append(_sweep(outcome))
    return [*chapters, _comparisons(outcome)]


def measure_rows(outcome: RiskOutcome) -> list[tuple[Value, ...]]:
    """Rows under MEASURE_COLUMNS."""
    return [
        (
            row["measure"],
            _rounded(row["micro"]),
            f"{row['low']:.2f} to {row['high']:.2f}" if isfinite(row["low"]) else None,
            *(_rounded(row[name]) for name in ("macro", "map", "ndcg")),
            *(row[f"thesis_{data}"] for data in ("aol", "health_forums", "quora")),
        )
        for row in outcome.tables["summary"].to_pylist()
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, 3)


def _numbers(outcome: RiskOutcome) -> Chapter:
    basis = outcome.basis
    told: list[tuple[str, Value]] = [("people", basis.people), ("posts or queries", basis.entries)]
    if basis.kappa is not None:
        told += [("judges", basis.judges), ("their agreement (kappa)", _rounded(basis.kappa))]
    if basis.unknown:
        told.append(("judged, but not there", basis.unknown))
    blocks: list[Block] = [Facts(tuple(told)), Prose(HOW)]
    if basis.left_out:
        rows = tuple(basis.left_out.items())
        blocks.append(DataTable(caption="What could not be measured", columns=("what", "why"), rows=rows))
    return Chapter(title="In numbers", blocks=tuple(blocks))


def _measures(outcome: RiskOutcome) -> Chapter:
    rows = measure_rows(outcome)
    bars = [(str(row[0]), float(str(row[1]))) for row in rows if row[1] is not None]
    best = max(bars, key=lambda pair: pair[1], default=("no measure", 0.0))
    checks = tuple(
        Check(
            label=claim.finding + (f" ({claim.space})" if claim.space and claim.space not in claim.finding else ""),
            outcome="passed" if claim.holds else "failed",
            detail=_detail(claim),
        )
        for claim in outcome.claims
    )
    figure = Figure(
        chart=bar("Micro R-precision by measure", bars, unit="micro R-precision"),
        caption=f"The best is {best[0]}: it has {best[1]:.0%} of the sensitive people among the first R.",
        table=DataTable(caption="All measures", columns=MEASURE_COLUMNS, rows=tuple(rows), numeric=MEASURE_COLUMNS[1:]),
    )
    said = (Prose("What the thesis found, and whether it holds here:"), CheckList(checks)) if checks else ()
    return Chapter(title="Measures side by side", blocks=(figure, *said))


def _detail(claim: Claim) -> str:
    """The numbers that a claim is read from; the highest where it is about all measures."""
    told = list(claim.values.items())
    if len(told) > LINES:
        told = sorted(told, key=lambda pair: -pair[1])[:LINES]
    return ", ".join(f"{name} {value:.3f}" for name, value in told)


def _roles(outcome: RiskOutcome) -> Chapter:
    rows = outcome.tables["roles"].to_pylist()
    table = DataTable(
        caption="Where people of each role stand",
        columns=("measure", "role", "people", "percentile", "behind", "places"),
        rows=tuple(
            (
                row["measure"],
                row["role"],
                row["people"],
                *(_rounded(row[name]) for name in ("percentile", "behind", "taken")),
            )
            for row in rows
        ),
    )
    return Chapter(title="Afflicted, professional, curious", blocks=(Prose(ROLES), Callout("caution", NOTE), table))


def _sweep(outcome: RiskOutcome) -> Chapter:
    rows = outcome.tables["sweep"].to_pylist()
    blocks: list[Block] = []
    for parameter in dict.fromkeys(row["parameter"] for row in rows):
        own = [row for row in rows if row["parameter"] == parameter]
        series = {
            name: [(row["value"], row["micro"]) for row in own if row["measure"] == name and isfinite(row["micro"])]
            for name in list(dict.fromkeys(row["measure"] for row in own))[:LINES]
        }
        spans = [max(y for _, y in points) - min(y for _, y in points) for points in series.values() if points]
        name = SWEPT.get(parameter, parameter)
        told = tuple((row["measure"], row["value"], _rounded(row["micro"]), _rounded(row["map"])) for row in own)
        blocks.append(
            Figure(
                chart=line(f"By {parameter}", series, x_title=name, y_title="micro R-precision"),
                caption=f"Over all values of {parameter}, R-precision moves by up to {max(spans, default=0.0):.2f}.",
                table=DataTable(
                    caption=f"By {parameter}", columns=("measure", parameter, "micro R-precision", "MAP"), rows=told
                ),
            )
        )
    return Chapter(title="When parameters change", blocks=tuple(blocks))


def _comparisons(outcome: RiskOutcome) -> Chapter:
    rows = tuple(
        (
            f"{row['measure']} against {row['against']}",
            _rounded(row["difference"]),
            _rounded(row["t"]),
            _rounded(row["corrected"]),
            "yes" if row["better"] else "no",
        )
        for row in outcome.tables["comparisons"].to_pylist()
    )
    table = DataTable(
        caption="Paired t-tests over sensitive people",
        columns=("measures", "difference", "t", "p, corrected", f"better (p below {LEVEL:g})"),
        rows=rows,
    )
    return Chapter(title="How sure the differences are", blocks=(table,))
