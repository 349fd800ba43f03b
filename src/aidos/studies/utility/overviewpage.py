"""The page over all utility experiments on one log: what each asks, which facts came out, and where to read on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aidos.core.mechanism import Finding
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Link, Links, Page, Prose
from aidos.studies.utility.measured import VERDICTS, YES, measured_where
from aidos.studies.utility.outcome import Outcome
from aidos.studies.utility.page import CAME_OUT, CLAIM_COLUMNS, PAPER, SIMULATED, TITLES, claim_rows

__all__ = ["UtilityOverview", "overview_page"]

ANSWERS = tuple(VERDICTS.values())
LEAD = "Statistics, caching, suggestions, ranking, and all mechanisms at equal guarantees."


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityOverview:
    """What the page is about."""

    outcomes: tuple[Outcome, ...]
    """Of the experiments that were run; each has a page in the directory of its name."""
    left_out: Mapping[str, str]
    """Those that the log does not allow, and why."""
    command: str
    synthetic: bool
    """Whether the log is a sample, which is about nobody."""


def overview_page(overview: UtilityOverview) -> Page:
    """One page that leads to the others."""
    again = Chapter(title="The same again", blocks=(Code(text=overview.command, language="command"),))
    return Page(
        title="What a released log is still good for",
        lead=f"{overview.outcomes[0].facts.about}. {LEAD}",
        chapters=(_short(overview), *(_facts(outcome) for outcome in overview.outcomes), again),
        source=None if overview.synthetic else Finding(value=None, about="the people of the log"),
    )


def _short(overview: UtilityOverview) -> Chapter:
    answers = {outcome.experiment: [row[CAME_OUT] for row in claim_rows(outcome)] for outcome in overview.outcomes}
    rows = tuple((name, *(given.count(answer) for answer in ANSWERS)) for name, given in answers.items())
    came = sum(given.count(YES) for given in answers.values())
    told = sum(map(len, answers.values()))
    people = overview.outcomes[0].facts.people
    blocks: list[Block] = [
        Facts((("people", people), ("experiments", len(rows)), ("facts that came out", f"{came} of {told}"))),
        Callout("caution", SIMULATED),
        Prose(f"{PAPER} {measured_where()}"),
        Links(tuple(_link(outcome) for outcome in overview.outcomes)),
        DataTable(caption="How many of the papers' facts came out", columns=("experiment", *ANSWERS), rows=rows),
    ]
    blocks += [Prose(f"{name.capitalize()} is left out: {why}.") for name, why in overview.left_out.items()]
    return Chapter(title="In short", blocks=tuple(blocks))


def _link(outcome: Outcome) -> Link:
    return Link(
        label=TITLES[outcome.experiment],
        address=f"{outcome.experiment}/report.html",
        words=f"every table and chart of `aidos evaluate {outcome.experiment}`",
    )


def _facts(outcome: Outcome) -> Chapter:
    """The papers' facts, as the experiment's own page has them."""
    caption = f"The papers' facts about {outcome.experiment}, and what became of them"
    table = DataTable(caption=caption, columns=CLAIM_COLUMNS, rows=tuple(claim_rows(outcome)))
    return Chapter(title=TITLES[outcome.experiment], blocks=(table,))
