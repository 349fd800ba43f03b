"""`aidos audit check`: what is in saved result lists, and what stands in the way of an audit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aidos.app.audit.reading import HowToReadPairs
from aidos.app.console import Common, show, show_json, tell

if TYPE_CHECKING:
    from aidos.ingest.results.checks import PairFacts, Remark
    from aidos.ingest.results.reading import PairsRead
    from aidos.report.values import Value

__all__ = ["check"]


def check(
    pairs: Sequence[str] = (),
    /,
    *,
    how: HowToReadPairs | None = None,
    common: Common | None = None,
) -> int:
    """Say what is in saved result lists, and what stands in the way of an audit.

    Reads pairs in JSON lines, CSV or Parquet, answers of SearXNG, records of
    WebSearcher, TREC runs and HAR files. Which list is which is said by a
    column, an option, or the name of the file or directory: vanilla,
    personalised, again. The exit code is 2 when nothing can be learned. No
    search and no result is ever shown.

    For example:
        aidos audit check pairs.jsonl
        aidos audit check saved-lists/
        aidos audit check --vanilla without/ --personalised with/ --again without-again/
        aidos audit check results.parquet --account person-17 --json

    Parameters
    ----------
    pairs
        Files, glob patterns or directories of saved lists.
    """
    from aidos.ingest.results.checks import examine_pairs, find_remarks

    common, how = common or Common(), how or HowToReadPairs()
    read = how.read(pairs)
    facts = examine_pairs(read.pairs)
    remarks = find_remarks(facts)
    if common.json:
        _show_json(read, facts, remarks)
    else:
        _show(read, facts, remarks)
    if any(remark.stops for remark in remarks):
        return 2
    command = shlex.join(["aidos", "audit", "learn", *pairs, *how.words(), "-o", "audit"])
    tell(f"next: {command}", quiet=common.quiet or common.json)
    return 0


def _show_json(read: PairsRead, facts: PairFacts, remarks: Sequence[Remark]) -> None:
    from dataclasses import asdict

    show_json(
        {
            "forms": dict(read.formats),
            "accounts": len(read.accounts),
            **asdict(facts),
            "left_out": sum(problem.count for problem in read.problems),
            "problems": [str(problem) for problem in read.problems],
            "notes": list(read.notes),
            "remarks": [asdict(remark) for remark in remarks],
            "can_learn": not any(remark.stops for remark in remarks),
        }
    )


def _show(read: PairsRead, facts: PairFacts, remarks: Sequence[Remark]) -> None:
    from rich.text import Text

    from aidos.report.terminal import facts_table, problem_list

    show(facts_table(_facts(read, facts)))
    for note in read.notes:
        show(Text(f"note: {note}"))
    if read.problems:
        show("")
        show(problem_list(read.problems))
    show("")
    for remark in remarks:
        show(Text(f"{'stops' if remark.stops else 'mind'}: {remark.sentence}"))
        show(Text(f"       {remark.remedy}", style="dim"))
    if any(remark.stops for remark in remarks):
        show("nothing can be learned from these lists")
    elif not remarks:
        show("nothing stands in the way")


def _facts(read: PairsRead, facts: PairFacts) -> list[tuple[str, Value]]:
    forms = ", ".join(f"{number:,} {form}" for form, number in read.formats.items())
    told: list[tuple[str, Value]] = [
        ("read as", forms),
        ("pairs", facts.pairs),
        ("different searches", facts.queries),
        ("with a second list without account", facts.with_again),
        ("results of a pair", f"{facts.shortest:,} to {facts.longest:,}, half of the pairs up to {facts.median:g}"),
        ("results that both lists have", f"{facts.shared:.0%}"),
        ("pairs of equal lists", facts.identical),
    ]
    if len(read.accounts) > 1:
        told.insert(1, ("accounts in the files", len(read.accounts)))
    if facts.first is not None and facts.last is not None:
        told.append(("fetched", f"{facts.first:%Y-%m-%d %H:%M} to {facts.last:%Y-%m-%d %H:%M}"))
    return told
