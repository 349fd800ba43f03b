"""`aidos shield rerank`: a list of results in your own order, on your own machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, remark_if_slow, show, show_json, tell
from aidos.app.shieldterms import ShieldTerms, WhoseProfile
from aidos.app.standardinput import PrivateText
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.resultlists import ResultList
    from aidos.app.shieldranking import Reranked
    from aidos.report.values import Value

__all__ = ["rerank"]


def rerank(
    results: Path,
    /,
    *,
    query: PrivateText = "",
    rules: Path | None = None,
    without_profile: bool = False,
    weight: float = 0.5,
    whose: WhoseProfile | None = None,
    terms: ShieldTerms | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Put a list of results into your own order, by your profile and your rules about sites.

    The list is an answer of SearXNG in JSON, a plain list in JSON or JSON
    lines, or a table with columns url and title. Topics that would be hidden
    for this query do not count, so that what you click tells no more than the
    profile would. A query that is clear without a profile keeps its order.

    For example:
        aidos shield rerank results.json --query - < query.txt
        aidos shield rerank results.csv --query "patch" --rules rules.toml -o mine.csv
        aidos shield rerank results.json --rules rules.toml --without-profile

    Parameters
    ----------
    results
        The file of results, in the order of the search service.
    query
        What was searched for, or - for the standard input; an answer of SearXNG holds it already.
    rules
        Your rules about sites: TOML with block, boost and downrank.
    without_profile
        Go by the rules alone.
    weight
        How much your profile counts against the service's order, from 0 to 1; 0.5 unless given.
    output
        The file to write, in the form of the one that was read.
    """
    from aidos.app.resultlists import read_results, write_results
    from aidos.app.shielding import open_shield
    from aidos.app.shieldranking import rerank_results
    from aidos.app.siterulefile import read_rules

    common = common or Common()
    whose, terms = whose or WhoseProfile(), terms or ShieldTerms()
    _refuse(whose, terms, rules, weight, without_profile=without_profile)
    found = read_results(results)
    read = read_rules(rules) if rules is not None else None
    words = query or found.query
    shield = None
    if not without_profile:
        if not words.strip():
            raise ParameterError("what was searched for is missing", hint="name it with --query, - to type it in")
        with remark_if_slow("indexing topics", quiet=common.quiet):
            shield = open_shield(whose, terms)
        if shield.remark:
            tell(shield.remark, quiet=common.quiet)
    ranked = rerank_results(found.results, shield=shield, query=words, rules=read, weight=weight)
    if output is not None:
        write_results(output, found, ranked.order)
    return _tell(found, ranked, output, common)


def _refuse(
    whose: WhoseProfile, terms: ShieldTerms, rules: Path | None, weight: float, *, without_profile: bool
) -> None:
    if not 0 <= weight <= 1:
        raise ParameterError(f"--weight must be from 0 to 1, got {weight:g}")
    if not without_profile:
        return
    if rules is None:
        raise ParameterError("--without-profile leaves nothing to go by", hint="name your rules: --rules FILE")
    if whose != WhoseProfile() or terms != ShieldTerms():
        raise ParameterError("--without-profile excludes the options of the profile", hint="leave one of them out")


def _tell(found: ResultList, ranked: Reranked, output: Path | None, common: Common) -> int:
    from aidos.report.terminal import rows_table

    rows: list[tuple[Value, ...]] = [
        (
            now,
            place + 1,
            found.results[place].title or found.results[place].url,
            found.results[place].site,
            ranked.reasons[place] or None,
        )
        for now, place in enumerate(ranked.order, start=1)
    ]
    columns = ("now", "before", "title", "site", "because of")
    blocked = len(found.results) - len(ranked.order)
    decision = ranked.decision
    if common.json:
        show_json(
            {
                "results": [dict(zip(columns, row, strict=True)) for row in rows],
                "blocked": blocked,
                "outcome": None if decision is None else decision.outcome,
                "reason": "" if decision is None else decision.reason,
                "output": None if output is None else str(output),
            }
        )
        return 0
    if rows:
        show(rows_table(columns, rows))
    else:
        show("no result is left: all are of blocked sites")
    if blocked and rows:
        tell(f"{blocked:,} of blocked sites {'is' if blocked == 1 else 'are'} left out", quiet=common.quiet)
    if decision is not None and not decision.is_sent:
        tell(f"{_unused(decision.outcome)}, so the profile was not used", quiet=common.quiet)
    if output is not None:
        show(str(output))
    return 0


def _unused(outcome: str) -> str:
    return {
        "distinct": "the query is clear without a profile",
        "nothing-in-common": "the profile has nothing about the query",
        "all-hidden": "all that the profile has on the query is hidden",
    }[outcome]
