"""The pages of the utility experiments: what the papers found and what was found here, then every figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aidos.report.page import Block, Callout, Chapter, DataTable, Facts, Link, Links, Prose
from aidos.report.values import Value
from aidos.studies.utility.cachingpage import caching_chapters
from aidos.studies.utility.measured import VERDICTS, YES, holds_from, measured_where
from aidos.studies.utility.mechanismspage import mechanism_chapters
from aidos.studies.utility.searchpage import retrieval_chapters, substitution_chapters
from aidos.studies.utility.statisticspage import statistics_chapters

if TYPE_CHECKING:
    from aidos.studies.utility.outcome import UtilityOutcome
    from aidos.studies.utility.study import UtilityOverview

__all__ = ["CAME_OUT", "CLAIM_COLUMNS", "claim_rows", "overview_chapters", "utility_chapters"]

CLAIM_COLUMNS = ("fact", "what the paper found", "what was found here", "came out", "holds from")
CAME_OUT = CLAIM_COLUMNS.index("came out")
CHAPTERS: Mapping[str, Callable[[UtilityOutcome], list[Chapter]]] = {
    "statistics": statistics_chapters,
    "caching": caching_chapters,
    "substitution": substitution_chapters,
    "retrieval": retrieval_chapters,
    "mechanisms": mechanism_chapters,
}
SIMULATED = (
    "All releases here are simulated with a seed, so that they can be repeated: they carry no guarantee and may not be "
    "handed on. Each kind of items is released by itself; publishing several adds their epsilons and deltas up."
)
PAPER = (
    "The papers' logs had 500,000 people and a month, and for ranking 657,426 people and three months. Figures differ "
    "with the log, so shapes are compared, not numbers. What did not come out is told as it is."
)
ANSWERS = tuple(VERDICTS.values())


def utility_chapters(outcome: UtilityOutcome) -> list[Chapter]:
    """The facts of the papers, and the experiment's own chapters."""
    return [_short(outcome), *CHAPTERS[outcome.experiment](outcome)]


def claim_rows(outcome: UtilityOutcome) -> list[tuple[Value, ...]]:
    """Rows under CLAIM_COLUMNS."""
    return [(one.finding, one.paper, one.here, one.verdict, holds_from(one.key)) for one in outcome.claims]


def _short(outcome: UtilityOutcome) -> Chapter:
    basis, rows = outcome.basis, claim_rows(outcome)
    came = sum(row[CAME_OUT] == YES for row in rows)
    tiles = Facts((("people", basis.people), ("facts that came out", f"{came} of {len(rows)}")))
    blocks: list[Block] = [tiles, Callout("caution", SIMULATED)]
    blocks += [Prose(f"{kind.capitalize()} are left out: {why}.") for kind, why in basis.left_out.items()]
    blocks += [
        Prose(f"{PAPER} {measured_where()}"),
        DataTable(caption="The papers' facts, and what became of them", columns=CLAIM_COLUMNS, rows=tuple(rows)),
    ]
    return Chapter(title="In short", blocks=tuple(blocks))


def overview_chapters(overview: UtilityOverview) -> list[Chapter]:
    """What each experiment asks, which facts came out, and where to read on."""
    return [_overview(overview), *map(_facts, overview.outcomes)]


def _overview(overview: UtilityOverview) -> Chapter:
    answers = {outcome.experiment: [row[CAME_OUT] for row in claim_rows(outcome)] for outcome in overview.outcomes}
    rows = tuple((name, *(given.count(answer) for answer in ANSWERS)) for name, given in answers.items())
    came = sum(given.count(YES) for given in answers.values())
    told = sum(map(len, answers.values()))
    people = overview.outcomes[0].basis.people
    blocks: list[Block] = [
        Facts((("people", people), ("experiments", len(rows)), ("facts that came out", f"{came} of {told}"))),
        Callout("caution", SIMULATED),
        Prose(f"{PAPER} {measured_where()}"),
        Links(tuple(_link(outcome) for outcome in overview.outcomes)),
        DataTable(caption="How many of the papers' facts came out", columns=("experiment", *ANSWERS), rows=rows),
    ]
    blocks += [Prose(f"{name.capitalize()} is left out: {why}.") for name, why in overview.left_out.items()]
    return Chapter(title="In short", blocks=tuple(blocks))


def _link(outcome: UtilityOutcome) -> Link:
    return Link(
        label=outcome.title(),
        address=f"{outcome.experiment}/report.html",
        words=f"every table and chart of `aidos evaluate {outcome.experiment}`",
    )


def _facts(outcome: UtilityOutcome) -> Chapter:
    """The papers' facts, as the experiment's own page has them."""
    caption = f"The papers' facts about {outcome.experiment}, and what became of them"
    table = DataTable(caption=caption, columns=CLAIM_COLUMNS, rows=tuple(claim_rows(outcome)))
    return Chapter(title=outcome.title(), blocks=(table,))
