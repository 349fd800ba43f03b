"""The page of the study of profile generalisation: cost, trade-off, quality, the eavesdropper, re-ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aidos.report.charts import bar
from aidos.report.page import Block, Callout, Chapter, Facts, Figure, Prose
from aidos.studies.figures import algorithm_lines, listed, study_table
from aidos.studies.tables import Row
from aidos.studies.ups.ranking import CLASSES, GENERALISED, NONE, UNMARKED, WHOLE

if TYPE_CHECKING:
    from aidos.studies.ups.study import UpsOutcome

__all__ = ["ups_chapters"]

THREAT = (
    "What is sent by default is decided as if nothing marked were held, against observers who know that and see every "
    "query and profile. The query itself is not protected, and this is not differential privacy. Limits of risk are "
    "the paper's: they are about an observer who knows the taxonomy alone."
)
DRAWN = (
    "Shares are means over small seeds that had to be pruned. That of the paper's greedy hangs on the limit and on how "
    "trees and queries are drawn, so that its mean stands for these trees alone. Single seeds may be far below the "
    "mean: see the worst."
)
RANKING = (
    "Wanted are the results about the topic that the query meant, which is known in the sample world. Every searcher "
    "counts the same. Ambiguous queries have a power of 0.44 or less without a profile, distinct ones of 0.82 or more: "
    "with these no profile is sent."
)
WORLD = (
    "People of the sample world click on what they meant and nothing else, and documents are made of their topics' "
    "words: gains are larger here than they would be for real people."
)
GUESSING = (
    "She knows the rule and sees every query with the profile sent, and believes by Bayes' rule. On small trees she "
    "looks at all that could be held; other people hold too much for that, and she walks over it. Found "
    "is a held sensitive topic that she believes at nine in ten; loss is the mean of -ln of the chance that she gives "
    "to the truth. No rule for profiles takes queries from her; and no profile by the default tells her more than all "
    "unmarked interests would."
)
MONTH = (
    "Each answer keeps the limit, but together they tell more than one does, and a topic that was hidden for one query "
    "may be shown for another. The session's memory keeps what was hidden hidden, and counts all that was shown "
    "towards the limit. Made-up people search for much that is sensitive."
)


def ups_chapters(outcome: UpsOutcome) -> list[Chapter]:
    """Chapters of the parts that were run."""
    tables = {name: table.to_pylist() for name, table in outcome.tables.items()}
    limit = outcome.basis.usual_limit
    chapters = [_numbers(outcome)]
    if outcome.has("speed"):
        chapters.append(_speed(tables["speed"], tables["slopes"], tables["growth"]))
    if outcome.has("limits"):
        chapters.append(_limits(tables["limits"], limit))
    if outcome.has("quality"):
        chapters.append(_quality(tables["quality"]))
    if outcome.has("eavesdropper"):
        chapters += [_observers(tables["eavesdropper"]), _months(tables["sessions"], limit)]
    if outcome.has("reranking"):
        chapters.append(_reranking(tables["reranking"], tables["comparisons"], limit))
    return chapters


def _numbers(outcome: UpsOutcome) -> Chapter:
    basis = outcome.basis
    tiles = Facts((("topics of the taxonomy", basis.topics), ("usual limit of risk", basis.usual_limit)))
    missing = tuple(Prose(f"{what.capitalize()}: left out, since {why}.") for what, why in basis.left_out.items())
    return Chapter(title="In short", blocks=(tiles, Callout("caution", THREAT), *missing, *outcome.checks()))


def _speed(speed: Sequence[Row], slopes: Sequence[Row], growth: Sequence[Row]) -> Chapter:
    blocks: list[Block] = []
    for tree in dict.fromkeys(row["tree"] for row in speed):
        own = [row for row in speed if row["tree"] == tree]
        told = ", ".join(
            f"{row['exponent']:.2f} ({row['algorithm']}; {row['at_the_end']:.2f} over the last decade)"
            for row in slopes
            if row["tree"] == tree
        )
        times = study_table(f"Times ({tree})", own, ("algorithm", "size", "topics", "milliseconds", "trials"))
        steps = study_table(f"Iterations ({tree})", own, ("algorithm", "size", "topics", "iterations"))
        blocks += [
            algorithm_lines(
                f"Time by topics of the seed ({tree})",
                own,
                ("topics", "milliseconds"),
                table=times,
                caption=_rising(told),
                log="xy",
            ),
            algorithm_lines(
                f"Iterations by topics of the seed ({tree})",
                own,
                ("topics", "iterations"),
                table=steps,
                caption=_steps(own),
                log="xy",
            ),
        ]
    ends = [row for row in growth if row["algorithm"] == "ratio"]
    first, last = ends[0], ends[-1]
    said = (
        f"From {first['taxonomy']:,} to {last['taxonomy']:,} topics of the taxonomy, a decision about a query of 20 "
        f"topics goes from {first['milliseconds']:.2f} to {last['milliseconds']:.2f} ms (ratio)."
    )
    columns = ("algorithm", "taxonomy", "held", "topics", "iterations", "milliseconds")
    table = study_table("Taxonomies and profiles", growth, columns)
    axes = ("taxonomy", "milliseconds")
    blocks.append(algorithm_lines("Time by topics of the taxonomy", growth, axes, table=table, caption=said, log="xy"))
    return Chapter(title="Cost", blocks=tuple(blocks))


def _limits(rows: Sequence[Row], limit: float) -> Chapter:
    blocks: list[Block] = []
    for tree in dict.fromkeys(row["tree"] for row in rows):
        own = [row for row in rows if row["tree"] == tree]
        kept = {row["algorithm"]: row["share"] for row in own if row["limit"] == limit}
        shares = listed({name: f"{share:.0%}" for name, share in kept.items()})
        said = f"{tree.capitalize()}: at a limit of {limit:g}, {shares} of the seed's power is left."
        columns = ("algorithm", "limit", "power", "share", "share_low", "share_high", "nothing_left", "seeds")
        powers = study_table(f"Power ({tree})", own, columns)
        table = study_table(f"Risk ({tree})", own, ("algorithm", "limit", "risk", "risk_before", "over_limit"))
        gone = max(row["risk"] for row in own if row["limit"] == limit)
        risks = f"{tree.capitalize()}: what a limit of {limit:g} shows has a risk of {gone:.3f} on average at most."
        blocks += [
            algorithm_lines(f"Power by limit ({tree})", own, ("limit", "power"), table=powers, caption=said),
            algorithm_lines(f"Risk by limit ({tree})", own, ("limit", "risk"), table=table, caption=risks),
        ]
    return Chapter(title="Power and risk by the limit", blocks=tuple(blocks))


def _quality(rows: Sequence[Row]) -> Chapter:
    blocks: list[Block] = [Prose(DRAWN)]
    for tree in dict.fromkeys(row["tree"] for row in rows):
        own = [row for row in rows if row["tree"] == tree]
        means = {row["algorithm"]: row["share"] for row in own if row["limit"] is None}
        shares = listed({name: f"{share:.1%}" for name, share in means.items()})
        said = f"{tree.capitalize()}: on average {shares} of the best power is kept."
        single = [row for row in own if row["limit"] is not None]
        columns = ("algorithm", "limit", "share", "share_low", "share_high", "worst", "best_found", "seeds")
        table = study_table(f"Beside the best ({tree})", own, columns)
        title = f"Share of the best power ({tree})"
        blocks.append(algorithm_lines(title, single, ("limit", "share"), table=table, caption=said))
    return Chapter(title="Beside the best there is", blocks=tuple(blocks))


def _reranking(rows: Sequence[Row], tests: Sequence[Row], limit: float) -> Chapter:
    ways = {NONE: 0.0, WHOLE: 1.0, UNMARKED: 0.0, GENERALISED: limit}
    kept = {(row["clarity"], row["method"]): row for row in rows if row["limit"] == ways[row["method"]]}
    bars = [
        (f"{clarity}: {method}", kept[clarity, method]["precision"])
        for clarity in CLASSES
        for method in ways
        if (clarity, method) in kept
    ]
    said = _gains(kept)
    columns = ("clarity", "method", "limit", "precision", "precision_low", "precision_high", "rank", "scoring")
    table = study_table("Lists of results", list(kept.values()), (*columns, "sent", "moved", "searchers", "queries"))
    ordered = [{**row, "algorithm": row["clarity"]} for row in rows if row["method"] == GENERALISED]
    by_limit = study_table(
        "Generalised profiles by limit", ordered, ("clarity", "limit", "precision", "rank", "scoring")
    )
    compared = study_table(
        f"Paired t-tests over searchers, at a limit of {limit:g}",
        tests,
        ("clarity", "method", "against", "measure", "difference", "t", "corrected", "better", "searchers"),
    )
    spans = [row["precision"] for row in rows if row["method"] == GENERALISED and row["clarity"] == "ambiguous"]
    moved = (
        f"Over all limits, precision of ambiguous queries moves by {max(spans, default=0) - min(spans, default=0):.3f}."
    )
    blocks = (
        Prose(RANKING),
        Callout("caution", WORLD),
        Figure(chart=bar("Average precision", bars, unit="average precision"), caption=f"{said}.", table=table),
        algorithm_lines("Average precision by limit", ordered, ("limit", "precision"), table=by_limit, caption=moved),
        compared,
    )
    return Chapter(title="Re-ranking", blocks=blocks)


def _gains(kept: Mapping[tuple[str, str], Row]) -> str:
    """What profiles change, and what is forgone where none is sent."""

    def gain(clarity: str, method: str) -> str:
        return f"{kept[clarity, method]['precision'] - kept[clarity, NONE]['precision']:+.3f}"

    told = listed({clarity: gain(clarity, UNMARKED) for clarity in CLASSES if (clarity, NONE) in kept})
    if ("distinct", WHOLE) not in kept:
        return f"Average precision changes by {told}"
    forgone = gain("distinct", WHOLE)
    return f"Average precision changes by {told}; the whole profile would change distinct queries by {forgone}"


def _rising(told: str) -> str:
    return (
        f"Time rises with the power {told} of the size." if told else "There are too few sizes to say how time rises."
    )


def _steps(rows: Sequence[Row]) -> str:
    largest = max(row["size"] for row in rows)
    told = {row["algorithm"]: f"{row['iterations']:,.0f}" for row in rows if row["size"] == largest}
    return f"Seeds of {largest:,} topics take {listed(told)} iterations."


def _observers(rows: Sequence[Row]) -> Chapter:
    """The chapter on who knows the rule, from `sum_up_guesses`."""
    blocks: list[Block] = [Prose(GUESSING)]
    columns = ("rule", "queries", "found", "loss", "ranking", "shown", "names", "unasked", "betrayed", "persons")
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people]
        most = max(row["queries"] for row in own)
        last = {row["rule"]: row for row in own if row["queries"] == most}
        told = listed({rule: f"{row['found']:.0%}" for rule, row in last.items()})
        blocks.append(
            Figure(
                chart=bar(
                    f"Sensitive topics found out after {most} queries ({people})",
                    [(rule, float(row["found"])) for rule, row in last.items()],
                    unit="share found",
                ),
                caption=f"{people.capitalize()}, after {most} queries: {told}.",
                table=study_table(f"What the observer knows ({people})", own, columns),
            )
        )
    return Chapter(title="The eavesdropper who knows the rule", blocks=tuple(blocks))


def _months(rows: Sequence[Row], limit: float) -> Chapter:
    """The chapter on many queries, from `sum_up_sessions`."""
    blocks: list[Block] = [Prose(MONTH)]
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people]
        named = [{**row, "algorithm": f"{row['algorithm']}, {_memory(row)}"} for row in own]
        back = {memory: sum(row["reappeared"] for row in own if row["memory"] is memory) for memory in (False, True)}
        at = {row["algorithm"]: row for row in named if row["limit"] == limit}
        columns = ("algorithm", "limit", "together", "over_limit", "power", "sent")
        table = study_table(f"All queries of a month ({people})", named, columns)
        risk = " and ".join(f"{row['together']:.3f} ({name})" for name, row in at.items() if name.startswith("ratio"))
        came = (
            f"{people.capitalize()}: {back[False]:,} topics came back after they were hidden without the memory, "
            f"{back[True]:,} with it (all limits and algorithms)."
        )
        bars = [(name, float(row["reappeared"])) for name, row in at.items()]
        blocks += [
            algorithm_lines(
                f"Risk of all that was shown together ({people})",
                named,
                ("limit", "together"),
                table=table,
                caption=f"{people.capitalize()}: at a limit of {limit:g} a month gives away {risk} on average.",
            ),
            Figure(
                chart=bar(f"Topics that came back at a limit of {limit:g} ({people})", bars, unit="topics"),
                caption=came,
                table=study_table(f"Topics that came back ({people})", named, ("algorithm", "limit", "reappeared")),
            ),
        ]
    return Chapter(title="Sessions under a limit", blocks=tuple(blocks))


def _memory(row: Row) -> str:
    return "with memory" if row["memory"] else "without"
