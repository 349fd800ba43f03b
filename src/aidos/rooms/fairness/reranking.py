"""The job that re-ranks: a stream of rankings in, a stream of fairer ones out.

Rankings are read, answered, counted and written one at a time. With a store an answer is counted when it is given, and
the output file appears when all are: a run that was cut off is run again, finds the rankings that were counted, gives
the same answers for them and goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from aidos.errors import InputError, Problem
from aidos.ingest.options import HowToReadRankings
from aidos.jobs.answer import Finding, as_path, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import RequiredInTerminal, Section, Short
from aidos.rooms.fairness.equity import EquityOfAttention

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.ingest.rankings.rows import RankingRows
    from aidos.ingest.rankings.writing import RankedRows
    from aidos.report.page import Page
    from aidos.rooms.fairness.accounts import Keeper
    from aidos.rooms.fairness.course import Course
    from aidos.rooms.fairness.rankings import Reranked as Served
    from aidos.rooms.fairness.rankings import SubjectRanking
    from aidos.rooms.fairness.reranker import Reranker

__all__ = ["Rerank", "Reranked", "open_keeper", "prepare_solver", "subject_ranking", "tell_left_out"]

UNNAMED = "with a store, served rankings are counted once by their id: give every ranking one"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reranked(Finding):
    """Rankings as they are to be served, and how unfairness and quality developed."""

    about: str = "the ranked subjects"
    after: Course
    before: Course
    """The same rankings in the order by relevance, from empty accounts."""
    attention: str
    promise: str = ""
    output: Path | None = None
    """Where the rankings were written as they came."""
    rows: tuple[RankedRows, ...] = ()
    """The rankings, where they were not written."""
    replayed: int = 0
    """Rankings that had been served before."""
    left_out: int = 0
    groups: Mapping[str, str] = field(default_factory=dict)
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """Unfairness and quality after re-ranking."""
        return {
            "output": str(self.output or ""),
            "rankings": len(self.after.quality),
            "served_before": self.replayed,
            "accounts": len(self.after.names),
            "unfairness": self.after.final,
            "unfairness_by_relevance": self.before.final,
            "mean_quality": float(self.after.quality.mean()),
            "least_quality": float(self.after.quality.min()),
            "guarantee": self.promise,
            "left_out": self.left_out,
        }

    def table(self) -> pa.Table:
        """A row for each subject of each ranking, in the order to be served."""
        from aidos.ingest.rankings.writing import rankings_table

        if self.output is not None:
            raise InputError(f"the rankings were written to {self.output}", hint="read that file, or leave output out")
        return rankings_table(self.rows)

    def page(self) -> Page:
        """How unfairness and quality developed, who gains and who loses."""
        from aidos.rooms.fairness.page import FairnessStory, fairness_page

        story = FairnessStory(
            title="Attention after re-ranking",
            lead=f"{len(self.after.quality):,} rankings, re-ranked so that attention over time follows relevance.",
            courses=(self.after, self.before),
            chosen=self.after,
            before=self.before,
            attention=self.attention,
            groups=self.groups,
            source=self,
            command=self.asked,
        )
        return fairness_page(story)

    def save(self, path: str | Path) -> None:
        """Write the rankings (.jsonl, .run, .parquet, .csv, .tsv), or the page (.html)."""
        from aidos.ingest.rankings.writing import RankingWriter

        if as_path(path).suffix in {".html", ".json"}:
            super().save(path)
            return
        if self.output is not None:
            raise InputError(f"the rankings were written to {self.output}", hint="copy that file, or leave output out")
        with RankingWriter(path) as writer:
            for each in self.rows:
                writer.write(each)


@dataclass(frozen=True, slots=True)
class Rerank:
    """Re-rank a stream of rankings, one after the other.

    Reads and writes JSONL (one ranking a line), TREC runs, Parquet, CSV and
    TSV, by the file's name. With a store the accounts last: every ranking is
    counted once by its id, also when the command is killed and run again.

    For example:
        aidos fair rerank rankings.jsonl -o served.jsonl --store attention.store
        aidos fair rerank run.trec -o fair.run --quality-floor 0.9 --attention dcg:positions=10
        aidos fair rerank rankings.parquet -o served.parquet --system rating-multi --report page.html
    """

    recipe_for: ClassVar[str] = "equity"

    rankings: tuple[str, ...]
    """Files or patterns; score is the relevance that attention is to follow."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The file to write: .jsonl, .run, .parquet, .csv or .tsv."""
    store: Path | None = None
    """The file that keeps the accounts between runs; it is made when it is not there."""
    method: str = ""
    """A baseline in place of the exact method: relevance, objective, thesis, fairco..."""
    report: Path | None = None
    """Also write a page about it (a finding: it names subjects)."""
    equity: Annotated[EquityOfAttention, Section("Fairness")] = field(default_factory=EquityOfAttention)
    how: Annotated[HowToReadRankings, Section("How to read the rankings")] = field(default_factory=HowToReadRankings)

    def run(self, desk: Desk) -> Reranked:
        """Answer every ranking, count it and write it."""
        from aidos.rooms.fairness.reranker import find_method

        chosen = find_method(self.method or self.equity.objective)
        prepare_solver(desk)
        problems: list[Problem] = []
        with open_keeper(self.equity, self.store) as keeper:
            stream = self.how.read(self.rankings, problems)
            reranker = chosen.reranker(self.equity, keeper)
            done = _serve(stream, reranker, self, desk)
        done = replace(
            done,
            left_out=tell_left_out(problems, desk),
            promise=_promise(self.equity, done, keeps_floor=chosen.keeps_floor),
        )
        if self.report is not None:
            save_page(done.page(), self.report)
        return done


def prepare_solver(desk: Desk) -> None:
    """Have the solver ready, and say so when that takes its time."""
    with desk.remark_if_slow("compiling the solver; the next run will find it ready"):
        from aidos.rooms.fairness.solver import warm_up

        warm_up()


def tell_left_out(problems: Iterable[Problem], desk: Desk) -> int:
    """Say which rankings were left out, and why; give their number."""
    number = 0
    for problem in problems:
        noun = "ranking" if problem.count == 1 else "rankings"
        desk.remark(f"left out {problem.count:,} {noun}: {problem}")
        number += problem.count
    return number


def open_keeper(equity: EquityOfAttention, store: Path | None) -> AbstractContextManager[Keeper]:
    """Accounts that last, or, without a store, accounts for this run."""
    from aidos.rooms.fairness.accounts import MemoryKeeper
    from aidos.rooms.fairness.keeper import open_store

    return nullcontext(MemoryKeeper(half_life=equity.half_life)) if store is None else open_store(equity, store)


def subject_ranking(rows: RankingRows) -> SubjectRanking:
    """From the file's words to the room's."""
    from aidos.rooms.fairness.rankings import SubjectRanking

    return SubjectRanking(
        subject_ids=rows.object_ids,
        relevance=rows.scores,
        ranking_id=rows.ranking_id,
        query_id=rows.query_id,
        searcher_id=rows.searcher_id,
        actors=rows.actors,
        groups=rows.groups,
        place=rows.place,
    )


def _serve(rankings: Iterable[RankingRows], reranker: Reranker, asked: Rerank, desk: Desk) -> Reranked:
    """Answer every ranking and write it; accounts that last insist on a name for each ranking."""
    from aidos.ingest.rankings.writing import RankingWriter
    from aidos.model.attention import find_attention
    from aidos.rooms.fairness.course import Course, Recorder, Series

    equity, series, replayed = asked.equity, Series(), 0
    before = Recorder("relevance", find_attention(equity.attention), equity.gain, half_life=equity.half_life)
    groups: dict[str, str] = {}
    kept: list[RankedRows] = []
    with ExitStack() as stack:
        write = kept.append if asked.output is None else stack.enter_context(RankingWriter(asked.output)).write
        task = stack.enter_context(desk.progress.task("re-ranking", total=None, unit="rankings"))
        for rows in rankings:
            ranking = subject_ranking(rows)
            if asked.store is not None and not ranking.ranking_id:
                raise InputError(f"{ranking.called} has no ranking_id", hint=UNNAMED)
            served = reranker.rank(ranking)
            write(_as_rows(rows, served))
            series.note(served.unfairness, served.quality)
            replayed += served.replayed
            owners = ranking.actors if equity.level == "actor" else ranking.subject_ids
            before.add(ranking, accounts=owners)
            groups.update(zip(owners, ranking.groups, strict=False))
            task.advance(1)
        by_relevance = before.course()
    with reranker.keeper.turn() as accounts:
        after = Course.ended("re-ranked", accounts, series, quality_floor=equity.quality_floor)
    return Reranked(
        after=after,
        before=by_relevance,
        attention=equity.attention,
        output=asked.output,
        rows=tuple(kept),
        replayed=replayed,
        groups=groups,
        asked=desk.asked,
    )


def _promise(equity: EquityOfAttention, done: Reranked, *, keeps_floor: bool) -> str:
    from aidos.core.guarantee import statement
    from aidos.core.mechanism import PublicFacts
    from aidos.rooms.fairness.reranker import TOLERANCE

    if not keeps_floor:
        return "No quality floor is kept."
    promise = statement(equity.guarantee(PublicFacts()))
    if done.replayed and float(done.after.quality.min()) < equity.quality_floor - TOLERANCE:
        promise += " Rankings that were served before, at a lower floor, keep that one."
    return promise


def _as_rows(rows: RankingRows, served: Served) -> RankedRows:
    """The answer with what the file said about each subject."""
    import numpy as np

    from aidos.ingest.rankings.writing import RankedRows

    where = {name: index for index, name in enumerate(rows.object_ids)}
    order = [where[name] for name in served.subject_ids]
    position = np.empty(len(rows), dtype=np.int64)
    position[np.argsort(-rows.scores, kind="stable")] = np.arange(1, len(rows) + 1)
    return RankedRows(
        ranking_id=rows.ranking_id,
        object_ids=served.subject_ids,
        scores=served.relevance,
        original_positions=position[order],
        attention=served.attention,
        quality=served.quality,
        query_id=rows.query_id,
        searcher_id=rows.searcher_id,
        system=rows.system,
        groups=[rows.groups[each] for each in order] if rows.groups else (),
        actors=[rows.actors[each] for each in order] if rows.actors else (),
    )
