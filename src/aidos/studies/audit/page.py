"""The page of the experiments on the audit of hidden profiles: what is found, told apart, missed, falsely alarmed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aidos.report.charts import bar
from aidos.report.page import Block, Callout, Chapter, Check, CheckList, Code, Facts, Figure, Page, Prose
from aidos.report.values import Value
from aidos.studies.audit.claims import read_claims
from aidos.studies.audit.engines import EVERY, SINGLE
from aidos.studies.audit.outcome import Outcome
from aidos.studies.audit.plan import PARTS
from aidos.studies.audit.sampled import STRONG
from aidos.studies.audit.worldpage import accounts, loop
from aidos.studies.figures import algorithm_lines, listed, study_table
from aidos.studies.tables import Row

__all__ = ["CLAIM_COLUMNS", "AuditStudy", "audit_study_page", "claim_rows"]

CLAIM_COLUMNS = ("finding", "holds", "numbers")
SHOWN = 10
"""Numbers of a finding that are told."""
MADE_UP = (
    "Engines and accounts are made up, since only there the truth is known. A real engine has more reasons to reorder "
    "results than a profile, and nobody can check there what was found."
)
ENGINES = (
    "The surrogate engine knows what somebody read and lifts results that share words with it; the learner knows "
    "nothing of that. R-precision is the share of true topics among as many topics of the largest weights. In the "
    "third setting each list is about one topic, so that nothing can be lifted over anything: the tool warns before it "
    "learns."
)
LISTS = (
    "Profiles are learned from four queries in five and tried on the others. Lists that are equal say nothing and "
    "count half. The paper's engine was another one: its numbers stand beside, not above."
)
USERS = (
    "Everybody asks queries of the same kind, so that people are told apart by what the engine does alone. The paper's "
    "figure is the best of its real accounts, three people."
)
ALARMS = (
    "There is no profile in these lists. With one vanilla list the verdict must guess where the noise is from; with "
    "two the test is exact. Half of the queries have a first result about one topic, which makes it harder."
)
POWER = (
    "One of thirty topics is favoured, in a fifth of the queries. Foretold is what the true effect would give; planned "
    "is what the queries themselves say, which holds back on purpose: the largest of many topics is always large."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStudy:
    """What the page is about."""

    outcome: Outcome
    command: str


def audit_study_page(study: AuditStudy) -> Page:
    """One page for one run; chapters of the parts that were run."""
    outcome = study.outcome
    tables = {name: table.to_pylist() for name, table in outcome.tables.items()}
    makers: dict[str, Callable[[], Chapter]] = {
        "recovery": lambda: _recovery(tables["recovery"]),
        "topics": lambda: _topics(tables["topics"], tables["precision"]),
        "disambiguation": lambda: _lists(tables["disambiguation"]),
        "users": lambda: _users(tables["users"]),
        "time": lambda: _time(tables["time"]),
        "alarms": lambda: _alarms(tables["alarms"], outcome.facts.level),
        "power": lambda: _power(tables["power"]),
        "world": lambda: accounts(tables["world"]),
        "loop": lambda: loop(tables["loop"]),
    }
    again = Chapter(title="The same again", blocks=(Code(text=study.command, language="command"),))
    return Page(
        title="What an audit finds of a hidden profile",
        lead=outcome.facts.about,
        chapters=(_numbers(outcome), *(makers[part]() for part in PARTS if outcome.has(part)), again),
    )


def claim_rows(outcome: Outcome) -> list[tuple[Value, ...]]:
    """Rows under CLAIM_COLUMNS."""
    return [(one.finding, "yes" if one.holds else "no", _told(one.values)) for one in read_claims(outcome)]


def _numbers(outcome: Outcome) -> Chapter:
    claims = read_claims(outcome)
    tiles = Facts((("findings that hold", f"{sum(one.holds for one in claims)} of {len(claims)}"),))
    checks = tuple(
        Check(label=one.finding, outcome="passed" if one.holds else "failed", detail=_told(one.values))
        for one in claims
    )
    said: tuple[Block, ...] = (Prose("What should be so, and whether it is:"), CheckList(checks))
    return Chapter(title="In short", blocks=(tiles, Callout("caution", MADE_UP), *said))


def _recovery(rows: Sequence[Row]) -> Chapter:
    best = next(row for row in rows if (row["weights"], row["method"]) == (STRONG, "EM"))
    bars = [(f"{row['method']}, {row['weights']}", row["r_precision"]) for row in rows]
    names = ("weights", "method", "r_precision", "r_precision_low", "r_precision_high", "correlation", "mix_error")
    columns = (*names, "concentration_error", "worst_mix_error", "worst_concentration_error", "rate_error", "data_sets")
    said = (
        f"EM: R-precision {best['r_precision']:.2f}, correlation {best['correlation']:.2f}, mix within "
        f"{best['mix_error']:.1%} and concentration within {best['concentration_error']:.1%} on average. INF keeps "
        "both as they are given."
    )
    table = study_table("Profiles that were drawn from the model", rows, columns)
    chart = bar("R-precision on sampled lists", bars, unit="R-precision")
    return Chapter(title="Lists drawn from the model", blocks=(Figure(chart=chart, caption=said, table=table),))


def _topics(rows: Sequence[Row], points: Sequence[Row]) -> Chapter:
    blocks: list[Block] = [Prose(ENGINES)]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [{**row, "algorithm": row["method"]} for row in rows if row["setting"] == setting]
        means = {row["method"]: f"{row['r_precision']:.2f}" for row in own if row["topics"] is None}
        beside = "; the paper has 0.84 (INF)" if setting == EVERY else ""
        warned = " The tool warns before learning." if setting == SINGLE else ""
        by_size = [row for row in own if row["topics"] is not None]
        columns = (
            "method",
            "topics",
            "r_precision",
            "r_precision_low",
            "r_precision_high",
            "beyond_shift",
            "mixing",
            "warned",
        )
        table = study_table(f"Topics found ({setting})", own, (*columns, "profiles", "paper"))
        said = f"{setting.capitalize()}: R-precision {listed(means)}{beside}.{warned}"
        title = f"R-precision by topics of the profile ({setting})"
        blocks.append(algorithm_lines(title, by_size, ("topics", "r_precision"), table=table, caption=said))
    learned = [{**row, "algorithm": row["setting"]} for row in points if row["method"] == "INF"]
    three = next(row for row in learned if row["taken"] == 3 and row["setting"] == EVERY)
    said = (
        f"Of the three topics of the largest weights {three['precision']:.0%} are true, which are "
        f"{three['recall']:.0%} of all true ones (INF, every query). The paper has 0.7 for both there."
    )
    table = study_table(
        "Precision and recall (all methods)", points, ("setting", "method", "taken", "precision", "recall")
    )
    title = "Precision by recall (INF)"
    blocks.append(algorithm_lines(title, learned, ("recall", "precision"), table=table, caption=said))
    return Chapter(title="Which topics are found", blocks=tuple(blocks))


def _lists(rows: Sequence[Row]) -> Chapter:
    blocks: list[Block] = [Prose(LISTS)]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [{**row, "algorithm": row["method"]} for row in rows if row["setting"] == setting]
        paper = [{**row, "algorithm": f"{row['method']}, paper", "accuracy": row["paper"]} for row in own]
        drawn = [*own, *(row for row in paper if setting == EVERY and row["accuracy"] is not None)]
        ends = {row["method"]: f"{row['accuracy']:.2f}" for row in own if row["topics"] == own[-1]["topics"]}
        starts = {row["method"]: f"{row['accuracy']:.2f}" for row in own if row["topics"] == own[0]["topics"]}
        said = (
            f"{setting.capitalize()}: of the lists {listed(starts)} are told right where profiles are smallest, and "
            f"{listed(ends)} where they are largest."
        )
        columns = ("method", "topics", "accuracy", "accuracy_low", "accuracy_high", "paper", "profiles")
        table = study_table(f"Personalised lists told ({setting})", own, columns)
        title = f"Which list is personalised ({setting})"
        blocks.append(algorithm_lines(title, drawn, ("topics", "accuracy"), table=table, caption=said))
    return Chapter(title="Which of two lists is personalised", blocks=tuple(blocks))


def _users(rows: Sequence[Row]) -> Chapter:
    blocks: list[Block] = [Prose(USERS)]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [{**row, "algorithm": row["method"]} for row in rows if row["setting"] == setting]
        luck = [{**row, "algorithm": "luck", "accuracy": row["chance"]} for row in own if row["method"] == "EM"]
        first = next(row for row in own if row["method"] == "EM")
        said = (
            f"{setting.capitalize()}: of {first['people']} people the right one is told from one query in "
            f"{first['accuracy']:.0%} of cases (EM), and from all queries together in {first['from_all_queries']:.0%}."
        )
        columns = ("method", "people", "chance", "accuracy", "accuracy_low", "accuracy_high", "from_all_queries")
        table = study_table(f"People told apart ({setting})", own, (*columns, "groups", "paper"))
        title = f"Whose query it is ({setting})"
        blocks.append(algorithm_lines(title, [*own, *luck], ("people", "accuracy"), table=table, caption=said))
    return Chapter(title="Whose lists they are", blocks=tuple(blocks))


def _time(rows: Sequence[Row]) -> Chapter:
    drawn = [{**row, "algorithm": row["method"]} for row in rows]
    slow = max(row["times_inf"] for row in rows)
    said = f"EM takes up to {slow:.1f} times as long as INF; in the paper INF is up to 5 times faster."
    table = study_table("Processor time", rows, ("queries", "method", "seconds", "rounds", "times_inf"))
    figure = algorithm_lines("Seconds by queries", drawn, ("queries", "seconds"), table=table, caption=said)
    return Chapter(title="INF against EM", blocks=(figure,))


def _alarms(rows: Sequence[Row], level: float) -> Chapter:
    bars = [(f"{row['noise']}, {row['vanilla_lists']} vanilla", 100 * row["alarms"]) for row in rows]
    most = max(row["alarms"] for row in rows)
    said = f"At most {most:.1%} false alarms, where {level:.0%} are promised."
    table = study_table("False alarms", rows, ("noise", "vanilla_lists", "alarms", "data_sets"))
    chart = bar("False alarms", bars, unit="% of data sets")
    return Chapter(title="False alarms", blocks=(Prose(ALARMS), Figure(chart=chart, caption=said, table=table)))


def _power(rows: Sequence[Row]) -> Chapter:
    drawn = [
        {"algorithm": name, "queries": row["queries"], "share": row[name]}
        for name in ("detected", "foretold", "planned")
        for row in rows
    ]
    last = rows[-1]
    said = f"With {last['queries']:,} queries {last['detected']:.0%} are detected, and {last['foretold']:.0%} foretold."
    columns = ("queries", "detected", "detected_low", "detected_high", "foretold", "planned", "planned_queries")
    table = study_table("Weak profiles detected", rows, (*columns, "data_sets"))
    figure = algorithm_lines("Detected by queries", drawn, ("queries", "share"), table=table, caption=said)
    return Chapter(title="How many queries are needed", blocks=(Prose(POWER), figure))


def _told(values: Mapping[str, float]) -> str:
    # Rounded, as sums leave a dust of 1e-17 behind.
    return ", ".join(f"{name}: {round(value, 6):.4g}" for name, value in list(values.items())[:SHOWN])
