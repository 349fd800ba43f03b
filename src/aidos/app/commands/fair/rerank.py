"""`aidos fair rerank`: a stream of rankings in, a stream of fairer ones out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.fair.telling import prepare_solver, tell_facts, tell_left_out, write_page
from aidos.app.console import Common, TerminalProgress
from aidos.app.fairterms import Attending, FairTerms, HowToReadRankings

if TYPE_CHECKING:
    from aidos.app.reranking import Reranking
    from aidos.errors import Problem
    from aidos.fairness.equity import EquityOfAttention
    from aidos.fairness.methods import Method
    from aidos.report.fairpage import FairnessStory

__all__ = ["rerank"]


def rerank(
    rankings: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    store: Path | None = None,
    method: str = "",
    report: Path | None = None,
    terms: FairTerms | None = None,
    attending: Attending | None = None,
    how: HowToReadRankings | None = None,
    common: Common | None = None,
) -> int:
    """Re-rank a stream of rankings, one after the other.

    Reads and writes JSONL (one ranking a line), TREC runs, Parquet, CSV and
    TSV, by the file's name. With a store the accounts last: every ranking is
    counted once by its id, also when the command is killed and run again.

    For example:
        aidos fair rerank rankings.jsonl -o served.jsonl --store attention.store
        aidos fair rerank run.trec -o fair.run --quality-floor 0.9 --attention dcg:positions=10
        aidos fair rerank rankings.parquet -o served.parquet --system rating-multi --report page.html

    Parameters
    ----------
    rankings
        Files or patterns; score is the relevance that attention is to follow.
    output
        The file to write: .jsonl, .run, .parquet, .csv or .tsv.
    store
        The file that keeps the accounts between runs; it is made when it is not there.
    method
        A baseline in place of the exact method: relevance, objective, thesis, fairco...
    report
        Also write a page about it (a finding: it names subjects).
    """
    from aidos.app.reranking import open_keeper, rerank_file
    from aidos.fairness.methods import find_method

    common = common or Common()
    equity = (terms or FairTerms()).equity(attending or Attending())
    chosen = find_method(method or equity.objective)
    prepare_solver(common)
    problems: list[Problem] = []
    with open_keeper(equity, store) as keeper:
        stream = (how or HowToReadRankings()).read(rankings, problems)
        progress = TerminalProgress(quiet=common.quiet)
        done = rerank_file(
            stream, chosen.reranker(equity, keeper), output, lasting=store is not None, progress=progress
        )
    left_out = tell_left_out(problems, common)
    if report is not None:
        command = f"aidos fair rerank {' '.join(rankings)} -o {output}"
        write_page(report, _story(done, equity.attention, command))
    return tell_facts({"output": str(output), **_facts(done, equity, chosen), "left_out": left_out}, common)


def _facts(done: Reranking, equity: EquityOfAttention, method: Method) -> dict[str, object]:
    from aidos.core.guarantee import statement
    from aidos.core.mechanism import PublicFacts
    from aidos.fairness.reranker import TOLERANCE

    promise = statement(equity.guarantee(PublicFacts())) if method.keeps_floor else "No quality floor is kept."
    least = float(done.after.quality.min())
    if done.replayed and method.keeps_floor and least < equity.quality_floor - TOLERANCE:
        promise += " Rankings that were served before, at a lower floor, keep that one."
    return {
        "rankings": len(done.after.quality),
        "served_before": done.replayed,
        "accounts": len(done.after.names),
        "unfairness": done.after.final,
        "unfairness_by_relevance": done.before.final,
        "mean_quality": float(done.after.quality.mean()),
        "least_quality": least,
        "guarantee": promise,
    }


def _story(done: Reranking, attention: str, command: str) -> FairnessStory:
    from aidos.core.mechanism import Finding
    from aidos.report.fairpage import FairnessStory

    return FairnessStory(
        title="Attention after re-ranking",
        lead=f"{len(done.after.quality):,} rankings, re-ranked so that attention over time follows relevance.",
        courses=(done.after, done.before),
        chosen=done.after,
        before=done.before,
        attention=attention,
        groups=done.groups,
        source=Finding(value=done.after, about="the ranked subjects"),
        command=command,
    )
