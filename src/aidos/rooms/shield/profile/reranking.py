"""The job that re-ranks at home: a list of results in the searcher's own order, and why each result moved.

The profile acts through the topics that would be sent and no others, so that the order on the screen, and the clicks
that follow from it, tell no more than the profile would. Queries that need no profile keep the service's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from aidos.errors import ParameterError
from aidos.jobs.answer import Finding, as_path
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private, Section, Short
from aidos.rooms.shield.profile.explaining import ReadyProfile, WhoseProfile
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block
    from aidos.report.values import Value
    from aidos.rooms.shield.profile.decision import Decision
    from aidos.rooms.shield.profile.results import ResultList
    from aidos.rooms.shield.profile.siterules import SiteRules

__all__ = ["RerankResults", "RerankedResults", "rerank_list"]

COLUMNS = ("now", "before", "title", "site", "because of")
UNUSED = {
    "distinct": "the query is clear without a profile",
    "nothing-in-common": "the profile has nothing about the query",
    "all-hidden": "all that the profile has on the query is hidden",
    "no-gain": "the profile says no more than the query",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RerankedResults(Finding):
    """A list in its new order."""

    about: str = "one person's interests"
    found: ResultList
    order: tuple[int, ...]
    """Places in the old list, counted from 0; those of blocked sites are not in it."""
    reasons: tuple[str, ...]
    """For each place of the old list: the topic or rule that speaks for or against it; empty where nothing does."""
    decision: Decision | None
    """What of the profile was used; None without a profile."""
    output: Path | None = None
    """Where it was written."""

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """The results as they came, in the new order."""
        return [self.found.results[place].raw for place in self.order]

    @property
    def blocked(self) -> int:
        """Results of blocked sites, which are left out."""
        return len(self.found.results) - len(self.order)

    def facts(self) -> Mapping[str, object]:
        """Every result with its places, and what of the profile was used."""
        decision = self.decision
        return {
            "results": [dict(zip(COLUMNS, row, strict=True)) for row in self._rows()],
            "blocked": self.blocked,
            "outcome": None if decision is None else decision.outcome,
            "reason": "" if decision is None else decision.reason,
            "output": None if self.output is None else str(self.output),
        }

    def table(self) -> pa.Table:
        """A row for each result."""
        import pyarrow as pa

        columns = zip(COLUMNS, zip(*self._rows(), strict=True), strict=False)
        return pa.table({name.replace(" ", "_"): list(cells) for name, cells in columns})

    def blocks(self) -> Sequence[Block]:
        """The list, and where it was written."""
        from aidos.report.page import Code, DataTable

        shown: list[Block] = [Code(text="no result is left: all are of blocked sites", language="text")]
        if self.order:
            shown = [DataTable(caption="Results in your order", columns=COLUMNS, rows=tuple(self._rows()))]
        return [*shown, *([Code(text=str(self.output), language="text")] if self.output is not None else [])]

    def remarks(self) -> Sequence[str]:
        """What was left out, and why the profile was not used."""
        said = []
        if self.blocked and self.order:
            said.append(f"{self.blocked:,} of blocked sites {'is' if self.blocked == 1 else 'are'} left out")
        if self.decision is not None and not self.decision.is_sent:
            said.append(f"{UNUSED[self.decision.outcome]}, so the profile was not used")
        return said

    def save(self, path: str | Path) -> None:
        """Write the list in the form that it came in, readable by its owner only; with the ending .html, a page."""
        from aidos.rooms.shield.profile.results import write_results

        if as_path(path).suffix == ".html":
            super().save(path)
        else:
            write_results(as_path(path), self.found, self.order)

    def _rows(self) -> list[tuple[Value, ...]]:
        found = self.found.results
        return [
            (now, place + 1, found[place].title or found[place].url, found[place].site, self.reasons[place] or None)
            for now, place in enumerate(self.order, start=1)
        ]


@dataclass(frozen=True, slots=True)
class RerankResults:
    """Put a list of results into your own order, by your profile and your rules about sites.

    The list is an answer of SearXNG in JSON, a plain list in JSON or JSON
    lines, or a table with columns url and title. Topics that would be hidden
    for this query do not count, so that what you click tells no more than the
    profile would. A query that is clear without a profile keeps its order.

    For example:
        aidos shield rerank results.json --query - < query.txt
        aidos shield rerank results.csv --query "patch" --rules rules.toml -o mine.csv
        aidos shield rerank results.json --rules rules.toml --without-profile
    """

    recipe_for: ClassVar[str] = "terms"

    results: Path
    """The file of results, in the order of the search service."""
    _: KW_ONLY
    query: Annotated[str, Private("text")] = ""
    """What was searched for, or - for the standard input; an answer of SearXNG holds it already."""
    rules: Path | None = None
    """Your rules about sites: TOML with block, boost and downrank."""
    without_profile: bool = False
    """Go by the rules alone."""
    weight: float = 0.5
    """How much your profile counts against the service's order, from 0 to 1."""
    output: Annotated[Path | None, Short("-o")] = None
    """The file to write, in the form of the one that was read."""
    whose: Annotated[WhoseProfile, Section("Whose profile")] = field(default_factory=WhoseProfile)
    terms: Annotated[ProfileGeneralisation, Section("What may be shown")] = field(default_factory=ProfileGeneralisation)

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ParameterError(f"--weight must be from 0 to 1, got {self.weight:g}")
        if self.without_profile and self.rules is None:
            raise ParameterError("--without-profile leaves nothing to go by", hint="name your rules: --rules FILE")
        if self.without_profile and (self.whose, self.terms) != (WhoseProfile(), ProfileGeneralisation()):
            raise ParameterError("--without-profile excludes the options of the profile", hint="leave one of them out")

    def run(self, desk: Desk) -> RerankedResults:
        """Read the list, and re-rank it."""
        from aidos.rooms.shield.profile.results import read_results

        found = read_results(self.results)
        ready = None
        if not self.without_profile:
            self.words(found)
            ready = self.whose.open(desk, slow="indexing topics")
        return rerank_list(self, found, ready)

    def words(self, found: ResultList) -> str:
        """What was searched for."""
        words = self.query or found.query
        if not words.strip():
            raise ParameterError("what was searched for is missing", hint="name it with --query, - to type it in")
        return words


def rerank_list(asked: RerankResults, found: ResultList, ready: ReadyProfile | None) -> RerankedResults:
    """A list in the searcher's order, by a profile, by rules about sites, or by both; written where that is asked."""
    from aidos.rooms.shield.profile.rerank import Results, rerank
    from aidos.rooms.shield.profile.siterules import read_rules

    rules = None if asked.rules is None else read_rules(asked.rules)
    decision = None if ready is None else ready.decide(asked.words(found), asked.terms)
    scores, reasons = None, [""] * len(found.results)
    if ready is not None and decision is not None and decision.is_sent:
        scores, reasons = _scored(found, ready, decision)
    sites = tuple(each.site for each in found.results)
    listed = Results(object_ids=tuple(map(str, range(len(sites)))), sites=sites)
    ranking = rerank(listed, scores, weight=asked.weight, rules=rules)
    if rules is not None:
        reasons = [_with_rule(reason, rules, site) for reason, site in zip(reasons, sites, strict=True)]
    answer = RerankedResults(
        found=found,
        order=tuple(map(int, ranking.object_ids)),
        reasons=tuple(reasons),
        decision=decision,
        output=asked.output,
    )
    if asked.output is not None:
        answer.save(asked.output)
    return answer


def _scored(found: ResultList, ready: ReadyProfile, decision: Decision) -> tuple[Any, list[str]]:
    """What the profile says for each result, and the topic that says most."""
    import numpy as np

    from aidos.rooms.shield.profile.rerank import leaves_of, topic_relevances, user_scores

    tree, reasons = ready.search.tree, [""] * len(found.results)
    leaves = leaves_of(tree, decision.sent)
    relevances = topic_relevances(tree, leaves, [ready.search.find(each.text) for each in found.results])
    scores = user_scores(decision.basis, leaves, relevances)
    pull = relevances * decision.basis.supports[leaves]
    for row in np.flatnonzero(scores > 0).tolist():
        reasons[row] = ready.topics[tree.ids[leaves[int(pull[row].argmax())]]].name
    return scores, reasons


def _with_rule(reason: str, rules: SiteRules, site: str) -> str:
    if rules.is_blocked(site):
        return "blocked"
    strength = rules.strength(site)
    rule = "" if not strength else f"site moved {'up' if strength > 0 else 'down'} by {abs(strength)}"
    return "; ".join(part for part in (reason, rule) if part)
