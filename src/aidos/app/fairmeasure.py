"""Served rankings, measured: one run after another, whoever chose the order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aidos.app.console import Common, open_engine
from aidos.app.reranking import subject_ranking
from aidos.core.mechanism import Finding
from aidos.fairness.course import Course, Recorder
from aidos.fairness.equity import EquityOfAttention
from aidos.fairness.judged import judge
from aidos.fairness.measures import ap_quality, kendall_tau
from aidos.fairness.rankings import Ints
from aidos.ingest.rankings.rows import RankingRows
from aidos.model.attention import find_attention
from aidos.report.fairpage import FairnessStory

__all__ = ["MeasuredRun", "measure_run", "read_judgements"]

Judgements = Sequence[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run."""

    course: Course
    before: Course
    """The same rankings in the order by relevance."""
    kendall_tau: float
    ap_quality: float
    judged: dict[str, float]
    groups: dict[str, str]

    def row(self) -> dict[str, str | int | float]:
        """For a table."""
        return {
            "run": self.course.method,
            "rankings": len(self.course.quality),
            "accounts": len(self.course.names),
            "unfairness": self.course.final,
            "by_relevance": self.before.final,
            "mean_quality": float(self.course.quality.mean()),
            "least_quality": float(self.course.quality.min()),
            "kendall_tau": self.kendall_tau,
            "ap_quality": self.ap_quality,
            **self.judged,
        }

    def story(self, courses: Sequence[Course], attention: str, files: Sequence[str]) -> FairnessStory:
        """For the page."""
        return FairnessStory(
            title="Attention as it was served",
            lead=f"{len(self.course.quality):,} rankings, measured in the order in which they were served.",
            courses=(*courses, self.before),
            chosen=self.course,
            before=self.before,
            attention=attention,
            groups=self.groups,
            source=Finding(value=self.course, about="the ranked subjects"),
            command=f"aidos fair measure {' '.join(files)}",
        )


def measure_run(
    name: str, rankings: Iterable[RankingRows], equity: EquityOfAttention, judged: Judgements, measures: Sequence[str]
) -> MeasuredRun:
    """Count every ranking as it was served."""
    attention = find_attention(equity.attention)
    after, before = (
        Recorder(label, attention, equity.gain, half_life=equity.half_life) for label in (Path(name).name, "relevance")
    )
    taus, precisions, lists = [], [], []
    groups: dict[str, str] = {}
    for rows in rankings:
        ranking, order = subject_ranking(rows), _served_order(rows)
        owners = ranking.actors if equity.level == "actor" else ranking.subject_ids
        after.add(ranking, order, accounts=owners)
        before.add(ranking, accounts=owners)
        best = np.argsort(-rows.scores, kind="stable")
        place = np.empty(len(rows), dtype=np.int64)
        place[best] = np.arange(len(rows))
        taus.append(kendall_tau(rows.scores, order))
        precisions.append(ap_quality(place[order], min(attention.positions, len(rows))))
        groups.update(zip(owners, rows.groups, strict=False))
        if judged:
            lists.append((rows.query_id or rows.ranking_id, [rows.object_ids[each] for each in order.tolist()]))
    return MeasuredRun(
        after.course(),
        before.course(),
        float(np.mean(taus)),
        float(np.mean(precisions)),
        judge(lists, judged, measures) if judged else {},
        groups,
    )


def read_judgements(path: str, common: Common) -> list[tuple[str, str, int]]:
    """Relevance judgements of a TREC file, or any table that `aidos ingest` reads as such."""
    from aidos.ingest.options import ReadOptions
    from aidos.ingest.reading import read_files

    with open_engine(common) as engine:
        table = read_files(engine, [path], ReadOptions(format="trec-qrels")).table
        rows = table.fetch("select query_id, object_id, relevance from {table}").to_pylist()
    return [(row["query_id"], row["object_id"], row["relevance"]) for row in rows]


def _served_order(rows: RankingRows) -> Ints:
    """By position where the file has one, else as the rows stand."""
    if rows.positions is None:
        return np.arange(len(rows))
    return np.argsort(rows.positions, kind="stable")
