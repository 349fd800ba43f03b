"""The page of a utility experiment: what the papers found and what was found here, then every figure with its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aidos.core.mechanism import Finding
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Page, Prose
from aidos.report.values import Value
from aidos.studies.utility.cachingpage import caching_chapters
from aidos.studies.utility.measured import VERDICTS, YES, holds_from, measured_where
from aidos.studies.utility.mechanismspage import mechanism_chapters
from aidos.studies.utility.outcome import Outcome
from aidos.studies.utility.searchclaims import read_claims
from aidos.studies.utility.searchpage import retrieval_chapters, substitution_chapters
from aidos.studies.utility.statisticspage import statistics_chapters

__all__ = ["CAME_OUT", "CLAIM_COLUMNS", "PAPER", "SIMULATED", "TITLES", "UtilityStudy", "claim_rows", "utility_page"]

CLAIM_COLUMNS = ("fact", "what the paper found", "what was found here", "came out", "holds from")
CAME_OUT = CLAIM_COLUMNS.index("came out")
TITLES = {
    "statistics": "What a release keeps of the log's statistics",
    "caching": "What a release is worth for caching an index",
    "substitution": "What a release is worth for suggesting queries",
    "retrieval": "What a release is worth for ranking results",
    "mechanisms": "Mechanisms at equal guarantees",
}
CHAPTERS: Mapping[str, Callable[[Outcome], list[Chapter]]] = {
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityStudy:
    """What the page is about."""

    outcome: Outcome
    command: str
    synthetic: bool
    """Whether the log is a sample, which is about nobody."""


def utility_page(study: UtilityStudy) -> Page:
    """One page for one experiment."""
    outcome = study.outcome
    chapters = CHAPTERS[outcome.experiment](outcome)
    again = Chapter(title="The same again", blocks=(Code(text=study.command, language="command"),))
    return Page(
        title=TITLES[outcome.experiment],
        lead=f"{outcome.facts.about}.",
        chapters=(_short(outcome), *chapters, again),
        source=None if study.synthetic else Finding(value=None, about="the people of the log"),
    )


def claim_rows(outcome: Outcome) -> list[tuple[Value, ...]]:
    """Rows under CLAIM_COLUMNS."""
    return [(one.fact, one.paper, one.here, VERDICTS[one.holds], holds_from(one.key)) for one in read_claims(outcome)]


def _short(outcome: Outcome) -> Chapter:
    facts, rows = outcome.facts, claim_rows(outcome)
    came = sum(row[CAME_OUT] == YES for row in rows)
    tiles = Facts((("people", facts.people), ("facts that came out", f"{came} of {len(rows)}")))
    blocks: list[Block] = [tiles, Callout("caution", SIMULATED)]
    blocks += [Prose(f"{kind.capitalize()} are left out: {why}.") for kind, why in facts.left_out.items()]
    blocks += [
        Prose(f"{PAPER} {measured_where()}"),
        DataTable(caption="The papers' facts, and what became of them", columns=CLAIM_COLUMNS, rows=tuple(rows)),
    ]
    return Chapter(title="In short", blocks=tuple(blocks))
