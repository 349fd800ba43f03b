"""The pages of the utility experiments: what the papers found and what was found here, then every figure.

The chapters on caching: hits by strength, by k and by limit (figure 6), and by every mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aidos.report.page import Block, Callout, Chapter, DataTable, Facts, Link, Links, Prose
from aidos.report.values import Value
from aidos.studies.figures import Lines, cell, lines_figure
from aidos.studies.utility.outcome import VERDICTS, YES, UtilityOutcome, holds_from, measured_where
from aidos.studies.utility.plan import ANONYMOUS, ORIGINAL, PAPER
from aidos.studies.utility.releases import COMPARED
from aidos.studies.utility.searchpage import retrieval_chapters, substitution_chapters
from aidos.studies.utility.statisticspage import mechanism_chapters, statistics_chapters

if TYPE_CHECKING:
    from aidos.studies.utility.study import UtilityOverview

__all__ = ["CAME_OUT", "CLAIM_COLUMNS", "caching_chapters", "claim_rows", "overview_chapters", "utility_chapters"]

HITS = "hit probability"


def caching_chapters(outcome: UtilityOutcome) -> list[Chapter]:
    """Hits by strength, by k and by limit."""
    plan = outcome.plan
    best = outcome.number("hit_probability", mechanism=ORIGINAL)
    by_epsilon = outcome.along("epsilon", "hit_probability", mechanism=PAPER, items_per_person=plan.cache_items)
    by_k = outcome.along("k", "hit_probability", mechanism=ANONYMOUS)
    by_limit = outcome.along("items_per_person", "hit_probability", mechanism=PAPER, epsilon=plan.usual_epsilon)
    blocks: tuple[Block, ...] = (
        _cache_facts(outcome, best),
        Prose(
            "A keyword's score is how often it is asked, by the number of documents that have it; lists are taken by "
            "falling score until the memory is full. The log itself counts searches, releases count people, and a "
            "k-anonymous log visits. A hit is a search for a keyword whose list is in memory. Where the whole index "
            "would fit into the memory asked for, the memory is a tenth of the index."
        ),
        lines_figure(
            f"Hits by epsilon, m = {plan.cache_items}",
            {"ZEALOUS": by_epsilon, "the log": [(epsilon, best) for epsilon, _ in by_epsilon]},
            ("epsilon", HITS),
            _lost("epsilon", by_epsilon, best),
        ),
        lines_figure(
            "Hits by k",
            {"k-anonymity": by_k, "the log": [(k, best) for k, _ in by_k]},
            ("k", HITS),
            _lost("k", by_k, best),
        ),
        lines_figure(
            f"Hits by limit, epsilon = {plan.usual_epsilon:g}",
            {"ZEALOUS": by_limit, "the log": [(limit, best) for limit, _ in by_limit]},
            ("keywords of each person, m", HITS),
            _lost("m", by_limit, best),
            log="x",
        ),
    )
    return [Chapter(title="A cache of posting lists", blocks=blocks), _every_mechanism(outcome, best)]


def _every_mechanism(outcome: UtilityOutcome, best: float) -> Chapter:
    plan = outcome.plan
    by_epsilon = _by_mechanism(outcome, "epsilon", items_per_person=plan.cache_items)
    by_limit = _by_mechanism(outcome, "items_per_person", epsilon=plan.usual_epsilon)
    words = (
        f"Mechanisms other than the paper's at delta = {plan.equal_delta:g}, for one person added or removed; ZEALOUS "
        "for one person replaced. Those that publish no counts fill the cache by document frequency alone: every "
        "keyword counts 1."
    )
    blocks: tuple[Block, ...] = (
        Prose(words),
        lines_figure(
            f"Hits by epsilon and mechanism, m = {plan.cache_items}",
            by_epsilon,
            ("epsilon", HITS),
            _best_of(by_epsilon, "epsilon", best),
        ),
        lines_figure(
            f"Hits by limit and mechanism, epsilon = {plan.usual_epsilon:g}",
            by_limit,
            ("keywords of each person, m", HITS),
            _best_of(by_limit, "m", best),
            log="x",
        ),
    )
    return Chapter(title="The cache by every mechanism", blocks=blocks)


def _by_mechanism(outcome: UtilityOutcome, axis: str, **place: float) -> Lines:
    """Those with counts first, since not all lines are drawn."""
    names = [name for name in COMPARED if name != PAPER]
    return {name: outcome.along(axis, "hit_probability", mechanism=name, **place) for name in names}


def _best_of(lines: Lines, axis: str, best: float) -> str:
    """Which mechanism comes nearest to the log, and which stays farthest, at the last place of the axis."""
    ends = {name: points[-1] for name, points in lines.items() if points}
    near, far = (choose(ends, key=lambda name: ends[name][1]) for choose in (max, min))
    place = ends[near][0]
    return (
        f"At {axis} = {place:g} {near} comes nearest to the log's {best:.3f} ({ends[near][1]:.3f}), "
        f"{far} stays farthest ({ends[far][1]:.3f})."
    )


def _cache_facts(outcome: UtilityOutcome, best: float) -> Facts:
    numbers = outcome.basis.numbers
    return Facts(
        (
            ("hit probability, filled by the log", round(best, 4)),
            ("lists in that cache", cell(outcome.number("lists", mechanism=ORIGINAL))),
            ("memory, MB", round(numbers.get("cache_bytes", 0.0) / 1e6, 2)),
            ("whole index, MB", round(numbers.get("index_bytes", 0.0) / 1e6, 2)),
            ("searched keywords that documents have", f"{numbers.get('known_share', 0.0):.0%}"),
        )
    )


def _lost(name: str, points: list[tuple[float, float]], best: float) -> str:
    if not points or not best:
        return "Nothing was published."
    place, value = max(points, key=lambda point: point[1])
    worst, least = min(points, key=lambda point: point[1])
    return (
        f"Of {best:.3f} with the log itself, {value:.3f} is kept at {name} = {place:g} and {least:.3f} at "
        f"{name} = {worst:g}."
    )


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
OTHER_LOGS = (
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
        Prose(f"{OTHER_LOGS} {measured_where()}"),
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
        Prose(f"{OTHER_LOGS} {measured_where()}"),
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
