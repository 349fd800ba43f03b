"""A file of rankings through the re-ranker: read, answered, counted and written one at a time.

With a store an answer is counted when it is given, and the output file appears when all are: a run that was cut off is
run again, finds the rankings that were counted, gives the same answers for them and goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from aidos.core.progress import Progress
from aidos.errors import InputError
from aidos.fairness.accounts import Keeper, MemoryKeeper
from aidos.fairness.course import Course, Recorder, Series
from aidos.fairness.equity import EquityOfAttention
from aidos.fairness.rankings import Reranked, SubjectRanking
from aidos.fairness.reranker import Reranker
from aidos.fairness.storage.binding import open_store
from aidos.ingest.rankings.rows import RankedRows, RankingRows
from aidos.ingest.rankings.writing import RankingWriter
from aidos.model.attention import find_attention

__all__ = ["Reranking", "open_keeper", "rerank_file", "subject_ranking"]


@dataclass(slots=True)
class Reranking:
    """What happened."""

    after: Course
    before: Course
    """The same rankings in the order by relevance, from empty accounts."""
    replayed: int
    """Rankings that had been served before."""
    groups: dict[str, str] = field(default_factory=dict)


def open_keeper(equity: EquityOfAttention, store: Path | None) -> AbstractContextManager[Keeper]:
    """Accounts that last, or, without a store, accounts for this run."""
    if store is None:
        return nullcontext(MemoryKeeper(half_life=equity.half_life))
    return open_store(equity, store)


def subject_ranking(rows: RankingRows) -> SubjectRanking:
    """From the file's words to the room's."""
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


def rerank_file(
    rankings: Iterable[RankingRows], reranker: Reranker, output: Path, *, lasting: bool, progress: Progress
) -> Reranking:
    """Answer every ranking and write it; ``lasting`` accounts insist on a name for each ranking."""
    equity, series, replayed = reranker.equity, Series(), 0
    before = Recorder("relevance", find_attention(equity.attention), equity.gain, half_life=equity.half_life)
    groups: dict[str, str] = {}
    with RankingWriter(output) as writer, progress.task("re-ranking", total=None, unit="rankings") as task:
        for rows in rankings:
            ranking = subject_ranking(rows)
            if lasting and not ranking.ranking_id:
                raise InputError(
                    f"{ranking.called} has no ranking_id",
                    hint="with a store, served rankings are counted once by their id: give every ranking one",
                )
            served = reranker.rank(ranking)
            writer.write(_as_rows(rows, served))
            series.note(served.unfairness, served.quality)
            replayed += served.replayed
            owners = ranking.actors if equity.level == "actor" else ranking.subject_ids
            before.add(ranking, accounts=owners)
            groups.update(zip(owners, ranking.groups, strict=False))
            task.advance(1)
        by_relevance = before.course()
    with reranker.keeper.turn() as accounts:
        after = Course.ended("re-ranked", accounts, series, quality_floor=equity.quality_floor)
    return Reranking(after, by_relevance, replayed, groups)


def _as_rows(rows: RankingRows, served: Reranked) -> RankedRows:
    """The answer with what the file said about each subject."""
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
