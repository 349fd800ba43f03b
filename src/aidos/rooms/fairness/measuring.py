"""The job that measures rankings as they were served: one run after another, whoever chose the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.errors import ParameterError, Problem
from aidos.ingest.options import HowToReadRankings
from aidos.jobs.answer import Finding, cell, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section, Short
from aidos.rooms.fairness.equity import Attending

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.ingest.rankings.rows import RankingRows
    from aidos.report.page import Block, Page
    from aidos.rooms.fairness.course import Course
    from aidos.rooms.fairness.rankings import Ints

__all__ = ["MeasureRankings", "MeasuredRankings", "MeasuredRun", "measure_run"]

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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MeasuredRankings(Finding):
    """What each run was like: unfairness, quality, and standard measures where there are judgements."""

    about: str = "the ranked subjects"
    runs: tuple[MeasuredRun, ...]
    attention: str
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """Every run with its measures."""
        return {"attention": self.attention, "runs": [each.row() for each in self.runs]}

    def table(self) -> pa.Table:
        """A row for each run."""
        import pyarrow as pa

        return pa.Table.from_pylist([each.row() for each in self.runs])

    def blocks(self) -> tuple[Block, ...]:
        """A column for each run: there are more measures than fit side by side."""
        from aidos.report.page import DataTable

        rows = [each.row() for each in self.runs]
        first, *lines = [(name.replace("_", " "), *(row[name] for row in rows)) for name in rows[0]]
        caption, columns = f"served rankings, attention {self.attention}", tuple(map(str, first))
        return (DataTable(caption=caption, columns=columns, rows=tuple(tuple(map(cell, line)) for line in lines)),)

    def page(self) -> Page:
        """A page about the last run."""
        from aidos.rooms.fairness.page import FairnessStory, fairness_page

        last = self.runs[-1]
        story = FairnessStory(
            title="Attention as it was served",
            lead=f"{len(last.course.quality):,} rankings, measured in the order in which they were served.",
            courses=(*(each.course for each in self.runs), last.before),
            chosen=last.course,
            before=last.before,
            attention=self.attention,
            groups=last.groups,
            source=self,
            command=self.asked,
        )
        return fairness_page(story)


@dataclass(frozen=True, slots=True)
class MeasureRankings:
    """Measure rankings as they were served, whoever chose their order.

    Every file is one run, in the order in which its rankings were served. Tells
    unfairness, quality against the order by relevance, Kendall's tau and
    AP-quality; with judgements also standard measures of retrieval.

    For example:
        aidos fair measure served.jsonl
        aidos fair measure before.run after.run --judgements qrels.txt
        aidos fair measure served.parquet -o page.html
    """

    runs: tuple[str, ...]
    """Files of served rankings: position is where a subject stood, score its relevance."""
    _: KW_ONLY
    judgements: str = ""
    """A file of relevance judgements (TREC qrels)."""
    measures: str = "nDCG@10,P@10,AP"
    """Standard measures for them, with commas between."""
    output: Annotated[Path | None, Short("-o")] = None
    """A page about the last run (a finding: it names subjects)."""
    attending: Annotated[Attending, Section("Attention and quality")] = field(default_factory=Attending)
    how: Annotated[HowToReadRankings, Section("How to read the rankings")] = field(default_factory=HowToReadRankings)

    def run(self, desk: Desk) -> MeasuredRankings:
        """Measure one run after the other."""
        from aidos.rooms.fairness.reranking import tell_left_out

        judged = _judgements(self.judgements, desk) if self.judgements else ()
        measures = [word.strip() for word in self.measures.split(",") if word.strip()]
        found: list[MeasuredRun] = []
        for run in self.runs:
            problems: list[Problem] = []
            found.append(measure_run(run, self.how.read([run], problems), self.attending, judged, measures))
            tell_left_out(problems, desk)
        if not found:
            raise ParameterError("no run was named", hint="see: aidos fair measure --help")
        answer = MeasuredRankings(runs=tuple(found), attention=self.attending.attention, asked=desk.asked)
        if self.output is not None:
            save_page(answer.page(), self.output)
        return answer


def measure_run(
    name: str, rankings: Iterable[RankingRows], attending: Attending, judged: Judgements, measures: Sequence[str]
) -> MeasuredRun:
    """Count every ranking as it was served."""
    import numpy as np

    from aidos.model.attention import find_attention
    from aidos.rooms.fairness.course import Recorder
    from aidos.rooms.fairness.measures import ap_quality, judge, kendall_tau
    from aidos.rooms.fairness.reranking import subject_ranking

    attention = find_attention(attending.attention)
    after, before = (
        Recorder(label, attention, attending.gain, half_life=attending.half_life)
        for label in (Path(name).name, "relevance")
    )
    taus, precisions, lists = [], [], []
    groups: dict[str, str] = {}
    for rows in rankings:
        ranking, order = subject_ranking(rows), _served_order(rows)
        owners = ranking.actors if attending.level == "actor" else ranking.subject_ids
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


def _judgements(path: str, desk: Desk) -> list[tuple[str, str, int]]:
    """Relevance judgements of a TREC file, or any table that `aidos ingest` reads as such."""
    from aidos.ingest.options import ReadOptions
    from aidos.ingest.reading import read_files

    with desk.engine() as engine:
        table = read_files(engine, [path], ReadOptions(format="trec-qrels")).table
        rows = table.fetch("select query_id, object_id, relevance from {table}").to_pylist()
    return [(row["query_id"], row["object_id"], row["relevance"]) for row in rows]


def _served_order(rows: RankingRows) -> Ints:
    """By position where the file has one, else as the rows stand."""
    import numpy as np

    if rows.positions is None:
        return np.arange(len(rows))
    return np.argsort(rows.positions, kind="stable")
