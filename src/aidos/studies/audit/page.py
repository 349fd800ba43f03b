"""The page of the study of hidden profiles: what is found, told apart, missed, falsely alarmed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from aidos.report.charts import bar
from aidos.report.page import Block, Callout, Chapter, Facts, Figure, Prose
from aidos.studies.audit.engines import EVERY, SINGLE
from aidos.studies.audit.sampled import STRONG
from aidos.studies.figures import algorithm_lines, listed, study_table
from aidos.studies.tables import Row

if TYPE_CHECKING:
    from aidos.studies.audit.study import AuditOutcome

__all__ = ["audit_chapters"]

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
    "Profiles are learned from the first four queries in five and tried on the others; the last table has nine in ten. "
    "Lists that are equal say nothing and count half. The paper's engine was another one: its numbers stand beside, "
    "not above."
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


PAPERS = ("average_precision", "precision_plus_1", "precision_plus_3")
"""What the paper's first table has beside R-precision: MAP, P@+1 and P@+3."""
SWEEP = (
    "Topics are learned from the results themselves (LDA), few or many, and describe them; profiles of five topics are "
    "learned with each. The paper found 15 to 50 enough for its real accounts."
)


def audit_chapters(outcome: AuditOutcome) -> list[Chapter]:
    """Chapters of the parts that were run."""
    tables = {name: table.to_pylist() for name, table in outcome.tables.items()}
    makers: dict[str, Callable[[], Chapter]] = {
        "recovery": lambda: _recovery(tables["recovery"]),
        "topics": lambda: _topics(tables["topics"], tables["precision"]),
        "disambiguation": lambda: _lists(tables["disambiguation"], tables["splits"]),
        "users": lambda: _users(tables["users"]),
        "sweep": lambda: _sweep(tables["sweep"]),
        "time": lambda: _time(tables["time"], tables["time_by_topics"]),
        "alarms": lambda: _alarms(tables["alarms"], outcome.basis.level),
        "power": lambda: _power(tables["power"]),
        "world": lambda: _accounts(tables["world"]),
        "loop": lambda: _loop(tables["loop"]),
    }
    tiles = Facts(
        (("findings that hold", f"{sum(bool(one.holds) for one in outcome.claims)} of {len(outcome.claims)}"),)
    )
    short = Chapter(title="In short", blocks=(tiles, Callout("caution", MADE_UP), *outcome.checks()))
    return [short, *(make() for part, make in makers.items() if outcome.has(part))]


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
            *PAPERS,
            "beyond_shift",
            "mixing",
            "warned",
        )
        table = study_table(f"Topics found ({setting})", own, (*columns, "profiles", "paper"))
        said = f"{setting.capitalize()}: R-precision {listed(means)}{beside}.{warned}"
        title = f"R-precision by topics of the profile ({setting})"
        blocks.append(algorithm_lines(title, by_size, ("topics", "r_precision"), table=table, caption=said))
        if setting == EVERY:
            blocks.append(_papers_scores(by_size))
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


def _papers_scores(rows: Sequence[Row]) -> Figure:
    """The scores of the paper's first table by topics of the profile, for INF."""
    names = {"average_precision": "MAP", "precision_plus_1": "P@+1", "precision_plus_3": "P@+3"}
    own = [row for row in rows if row["method"] == "INF"]
    drawn = [
        {"algorithm": said, "topics": row["topics"], "score": row[name]} for name, said in names.items() for row in own
    ]
    said = (
        "MAP is the mean precision where each true topic stands. P@+1 and P@+3 are the precision among one and three "
        "topics more than there are, so that a small profile cannot reach 1 (INF, every query)."
    )
    table = study_table("MAP, P@+1 and P@+3", rows, ("method", "topics", *PAPERS))
    return algorithm_lines("The paper's scores by topics", drawn, ("topics", "score"), table=table, caption=said)


def _sweep(rows: Sequence[Row]) -> Chapter:
    drawn = [{**row, "algorithm": f"{row['method']}, {row['setting']}"} for row in rows]
    best = max((row for row in rows if row["setting"] == EVERY), key=lambda row: row["accuracy"])
    said = (
        f"Most lists are told with {best['described_by']} topics: {best['accuracy']:.0%} ({best['method']}, {EVERY})."
    )
    columns = ("setting", "method", "described_by", "accuracy", "accuracy_low", "accuracy_high", "profiles")
    table = study_table("Lists told by the number of topics that describe results", rows, columns)
    axes = ("described_by", "accuracy")
    figure = algorithm_lines("How many topics to describe results by", drawn, axes, table=table, caption=said)
    return Chapter(title="How many topics describe results", blocks=(Prose(SWEEP), figure))


def _lists(rows: Sequence[Row], splits: Sequence[Row]) -> Chapter:
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
    columns = ("setting", "method", "learned_from", "accuracy", "accuracy_low", "accuracy_high", "gain")
    blocks.append(
        study_table("By the share of queries that is learned from", splits, (*columns, "gain_low", "gain_high"))
    )
    return Chapter(title="Which of two lists is personalised", blocks=tuple(blocks))


def _users(rows: Sequence[Row]) -> Chapter:
    blocks: list[Block] = [Prose(USERS)]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting]
        em = [{**row, "algorithm": f"{row['topics']} topics"} for row in own if row["method"] == "EM"]
        luck = [
            {**row, "algorithm": "luck", "accuracy": row["chance"]} for row in em if row["topics"] == em[0]["topics"]
        ]
        first = em[0]
        said = (
            f"{setting.capitalize()}: of {first['people']} people with {first['algorithm']} each the right one is told "
            f"from one query in {first['accuracy']:.0%} of cases (EM), from all queries together in "
            f"{first['from_all_queries']:.0%}."
        )
        columns = ("method", "topics", "people", "chance", "accuracy", "accuracy_low", "accuracy_high")
        table = study_table(f"People told apart ({setting})", own, (*columns, "from_all_queries", "groups", "paper"))
        title = f"Whose query it is ({setting})"
        blocks.append(algorithm_lines(title, [*em, *luck], ("people", "accuracy"), table=table, caption=said))
    return Chapter(title="Whose lists they are", blocks=tuple(blocks))


def _time(rows: Sequence[Row], by_topics: Sequence[Row]) -> Chapter:
    drawn = [{**row, "algorithm": row["method"]} for row in rows]
    slow = max(row["times_inf"] for row in rows)
    said = f"EM takes up to {slow:.1f} times as long as INF; in the paper INF is up to 5 times faster."
    table = study_table("Processor time", rows, ("queries", "method", "seconds", "rounds", "times_inf"))
    figure = algorithm_lines("Seconds by queries", drawn, ("queries", "seconds"), table=table, caption=said)
    sizes = [{**row, "algorithm": row["method"]} for row in by_topics]
    most = max(row["times_inf"] for row in by_topics)
    told = f"By topics of the profile EM takes up to {most:.1f} times as long; in the paper longer where they are many."
    second = study_table("Processor time by topics", by_topics, ("topics", "method", "seconds", "times_inf"))
    other = algorithm_lines("Seconds by topics", sizes, ("topics", "seconds"), table=second, caption=told)
    return Chapter(title="INF against EM", blocks=(figure, other))


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


def _accounts(rows: Sequence[Row]) -> Chapter:
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


def _loop(rows: Sequence[Row]) -> Chapter:
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
