"""The job at home: somebody measures her own texts, without any community, and only numbers come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import SHOWN
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Private, Section
from aidos.rooms.risk.jobs.options import Knowing, Timeless

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block
    from aidos.report.values import Value
    from aidos.rooms.risk.local import LocalRisk, QuantileTable

__all__ = ["MeasureLocally", "OwnRisks"]

WITH_TIMES, WITHOUT_TIMES = "lda-dt", "lda-d"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OwnRisks(Finding):
    """One person's risks by topic and measure, from her own entries alone."""

    about: str = "one person"
    value: tuple[LocalRisk, ...]
    entries: int
    quantiles: QuantileTable | None = None
    """What an operator published about a community."""
    top: int = 10
    """How many topics are shown by each measure."""

    def facts(self) -> Mapping[str, object]:
        """Every number."""
        return {"entries": self.entries, "risks": [asdict(each) for each in self.value]}

    def table(self) -> pa.Table:
        """A row for each topic and measure."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(each) for each in self.value])

    def blocks(self) -> Sequence[Block]:
        """The highest risks, of what there is evidence for."""
        from aidos.report.page import DataTable, Prose
        from aidos.report.values import counted

        rows, near = list[tuple["Value", ...]](), self._near()
        for name in dict.fromkeys(one.measure for one in near):
            own = sorted((one for one in near if one.measure == name), key=lambda one: (-one.risk, one.topic))
            rows += [
                (one.topic, name.partition(":")[0], one.risk, float(f"{one.nearness:.3g}"), _between(one.percentile))
                for one in own[: self.top]
            ]
        columns = ("topic", "measure", "risk", "nearness", "percentile there")
        wide = 5 if any(row[4] for row in rows) else 4
        said = counted(self.entries, "entry", "entries")
        if not rows:
            return (Prose(f"{said}; no evidence: nothing is near any of these topics"),)
        title = f"{said}; the highest risks:"
        return (DataTable(caption=title, columns=columns[:wide], rows=tuple(row[:wide] for row in rows)),)

    def remarks(self) -> Sequence[str]:
        """What the numbers do not say."""
        from aidos.report.values import counted

        told, near = [], self._near()
        if self.quantiles is not None and all(each.percentile is None for each in self.value):
            kept = ", ".join(dict.fromkeys(row.measure.partition(":")[0] for row in self.quantiles.rows))
            told.append(f"the table says nothing of these topics and measures; it is about {kept}")
        others = len({one.topic for one in self.value} - {one.topic for one in near})
        if near and others:
            told.append(f"no evidence for {counted(others, 'other topic', 'other topics')}")
        return (*told, "a high number says what a reader who goes by words may think, not what is")

    def _near(self) -> list[LocalRisk]:
        return [one for one in self.value if one.evidence]


@dataclass(frozen=True, slots=True)
class MeasureLocally(Timeless):
    """Measure your own texts at home: no community, and only numbers come out.

    Texts (.txt, .md) are cut into paragraphs, each an entry without a time;
    tables of posts or queries are read as everywhere, and must be of one
    person. Nothing is kept.

    For example:
        aidos risk local diary.txt
        aidos risk local my-posts.csv --topic debt --measure lda-t
        aidos risk local my-posts.csv --quantiles community.json
    """

    files: tuple[str, ...]
    """Your own texts, posts or queries."""
    _: KW_ONLY
    topics: Annotated[tuple[str, ...], Named("--topic"), Private("names")] = ()
    """A sensitive topic, see `aidos risk topics`; may be repeated; all if unset."""
    measures: Annotated[tuple[str, ...], Named("--measure")] = ()
    """How risk is measured; may be repeated; lda-dt if unset, and lda-d where entries have no times."""
    top: Annotated[int, Ge(1), SHOWN] = 10
    """How many topics are shown by each measure, the highest first."""
    quantiles: Path | None = None
    """What an operator published with `aidos risk audit --quantiles`: tells what your numbers mean there."""
    knowing: Annotated[Knowing, Section("What the adversary knows")] = field(default_factory=Knowing)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> OwnRisks:
        """Measure her entries; nothing is kept."""
        from aidos.rooms.risk.local import QuantileTable, find_local
        from aidos.rooms.risk.models import choose_measures, choose_topics
        from aidos.rooms.risk.people import read_people
        from aidos.rooms.risk.sources import read_own_texts

        knowledge = self.knowing.knowledge(desk)
        table = QuantileTable.read(self.quantiles) if self.quantiles is not None else None
        with desk.engine() as engine:
            entries = read_own_texts(engine, self.files, self.how.options(), without_times=self.without_times)
            timed = bool(entries.rows("select count(timestamp) = count(*) from {table}")[0][0])
            measures = choose_measures(self.measures or (WITH_TIMES if timed else WITHOUT_TIMES,), knowledge)
            mine = read_people(entries, analyser=knowledge.analyser(measures))
        topics = choose_topics(self.topics, knowledge, measures)
        found = find_local(mine, topics, measures, knowledge.models(), table=table)
        return OwnRisks(value=found.value, about=found.about, entries=mine.entries, quantiles=table, top=self.top)


def _between(share: tuple[float, float] | None) -> str | None:
    return None if share is None else f"{100 * share[0]:.0f} to {100 * share[1]:.0f}"
