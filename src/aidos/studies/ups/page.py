"""The page of the experiments on profile generalisation: cost, trade-off, quality, the eavesdropper, re-ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aidos.report.charts import bar
from aidos.report.page import (
    Block,
    Callout,
    Chapter,
    Check,
    CheckList,
    Code,
    Facts,
    Figure,
    Page,
    Prose,
)
from aidos.report.values import Value
from aidos.studies.ups.claims import read_claims
from aidos.studies.ups.figures import Row, algorithm_lines, listed, study_table
from aidos.studies.ups.outcome import Outcome
from aidos.studies.ups.ranking import CLASSES, GENERALISED, NONE, WHOLE
from aidos.studies.ups.watchedpage import months, one_query

__all__ = ["CLAIM_COLUMNS", "UpsStudy", "claim_rows", "ups_study_page"]

CLAIM_COLUMNS = ("finding", "holds", "numbers")
SHOWN = 6
"""Numbers of a finding that are told."""
THREAT = (
    "The eavesdropper sees one query with the profile that is sent, and knows the public taxonomy. The query itself is "
    "not protected, and this is not differential privacy. The limit is on a model of what such an observer expects."
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsStudy:
    """What the page is about."""

    outcome: Outcome
    command: str


def ups_study_page(study: UpsStudy) -> Page:
    """One page for one run; chapters of the parts that were run."""
    outcome = study.outcome
    tables = {name: table.to_pylist() for name, table in outcome.tables.items()}
    limit = outcome.facts.usual_limit
    chapters = [_numbers(outcome)]
    if outcome.has("speed"):
        chapters.append(_speed(tables["speed"], tables["slopes"], tables["growth"]))
    if outcome.has("limits"):
        chapters.append(_limits(tables["limits"], limit))
    if outcome.has("quality"):
        chapters.append(_quality(tables["quality"]))
    if outcome.has("eavesdropper"):
        chapters += [one_query(tables["eavesdropper"]), months(tables["sessions"], limit)]
    if outcome.has("reranking"):
        chapters.append(_reranking(tables["reranking"], tables["comparisons"], limit))
    again = Chapter(title="The same again", blocks=(Code(text=study.command, language="command"),))
    return Page(
        title="What a generalised profile costs, hides and gives",
        lead=outcome.facts.about,
        chapters=(*chapters, again),
    )


def claim_rows(outcome: Outcome) -> list[tuple[Value, ...]]:
    """Rows under CLAIM_COLUMNS."""
    return [(one.finding, "yes" if one.holds else "no", _told(one.values)) for one in read_claims(outcome)]


def _numbers(outcome: Outcome) -> Chapter:
    facts = outcome.facts
    tiles = Facts((("topics of the taxonomy", facts.topics), ("usual limit of risk", facts.usual_limit)))
    checks = tuple(
        Check(label=one.finding, outcome="passed" if one.holds else "failed", detail=_told(one.values))
        for one in read_claims(outcome)
    )
    said: tuple[Block, ...] = (Prose("What should be so, and whether it is:"), CheckList(checks)) if checks else ()
    return Chapter(title="In short", blocks=(tiles, Callout("caution", THREAT), *said))


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
    ways = {NONE: 0.0, WHOLE: 1.0, GENERALISED: limit}
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


def _told(values: Mapping[str, float]) -> str:
    # Rounded, as sums leave a dust of 1e-17 behind.
    return ", ".join(f"{name}: {round(value, 6):.4g}" for name, value in list(values.items())[:SHOWN])


def _gains(kept: Mapping[tuple[str, str], Row]) -> str:
    """What profiles change, and what is forgone where none is sent."""

    def gain(clarity: str, method: str) -> str:
        return f"{kept[clarity, method]['precision'] - kept[clarity, NONE]['precision']:+.3f}"

    told = listed({clarity: gain(clarity, GENERALISED) for clarity in CLASSES if (clarity, NONE) in kept})
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
