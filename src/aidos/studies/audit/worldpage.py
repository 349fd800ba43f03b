"""The chapters on the sample world: accounts that are audited, and the loop of audit, shield and audit again."""

from __future__ import annotations

from collections.abc import Sequence

from aidos.report.charts import bar
from aidos.report.page import Callout, Chapter, Figure, Prose
from aidos.studies.figures import study_table
from aidos.studies.tables import Row

__all__ = ["accounts", "loop"]

ACCOUNTS = (
    "The pairs of the sample, with topics of the taxonomy told from titles and snippets. A true topic counts for the "
    "audit's topic at or above it: rare topics are rolled up."
)
LOOP = (
    "First the service holds the whole profile. What the audit finds and the taxonomy calls sensitive is marked; then "
    "with each query goes only what profile generalisation allows, and the same queries are asked and audited again. "
    "Without marks the same is done with nothing to hide: of a profile only what a query is about is sent."
)
FORGETS = (
    "The service of this world believes what it is sent and remembers nothing. A real one that knows an account "
    "already goes on to know it, and the queries themselves tell much."
)


def accounts(rows: Sequence[Row]) -> Chapter:
    """The chapter on single accounts, from `sum_up_accounts`."""
    mean = rows[-1]
    bars = [(f"account {row['account']}", row["r_precision"]) for row in rows[:-1]]
    said = (
        f"R-precision is {mean['r_precision']:.2f} on average, that of rank shift {mean['r_precision_of_shift']:.2f}; "
        f"{mean['detected']:.0%} of profiles are detected, and the sensitive topic in {mean['sensitive_found']:.0%}."
    )
    names = (
        "account",
        "queries",
        "topics",
        "true_topics",
        "r_precision",
        "r_precision_of_shift",
        "detected",
        "p_value",
    )
    table = study_table("Accounts", rows, (*names, "found", "found_true", "sensitive_found", "rate", "true_rate"))
    chart = bar("R-precision by account", bars, unit="R-precision")
    figure = Figure(chart=chart, caption=said, table=table)
    return Chapter(title="Accounts of the sample world", blocks=(Prose(ACCOUNTS), figure))


def loop(rows: Sequence[Row]) -> Chapter:
    """The chapter on the loop, from `sum_up_loops`."""
    bars = [(f"{row['kind']}: before ({row['shield']})", row["before"]) for row in rows]
    bars += [(f"{row['kind']}: after ({row['shield']})", row["after"]) for row in rows]
    told = [
        f"{row['kind']} topics go from {row['before']:.1f} to {row['after']:.1f}, where {row['shield']}" for row in rows
    ]
    said = f"On average {'; '.join(told)}."
    names = ("shield", "kind", "count", "true_weight", "before", "after", "found_before", "found_after", "changed")
    table = study_table("Topics before and after", rows, (*names, "sent", "hidden"))
    figure = Figure(chart=bar("Learned weights", bars, unit="weight"), caption=said, table=table)
    return Chapter(title="Audit, shield, audit again", blocks=(Prose(LOOP), Callout("caution", FORGETS), figure))
