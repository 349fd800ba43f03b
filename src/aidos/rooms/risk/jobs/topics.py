"""The job that lists sensitive topics: their domains and words, and where the model has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Section
from aidos.rooms.risk.jobs.options import Knowing

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.latent.matching import Match
    from aidos.model.sensitive import SensitiveTopic
    from aidos.report.page import Block

__all__ = ["ListTopics", "SensitiveTopics"]

WORDS = 8
"""Words of a topic that a table shows."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SensitiveTopics(Finding):
    """Topics, each with the latent topic that it is matched with."""

    about: str = "the models"
    topics: tuple[tuple[SensitiveTopic, Match], ...]
    warnings: tuple[str, ...] = ()
    """What is doubtful about the matching."""
    file: Path | None = None
    """Where they were written."""

    def facts(self) -> Mapping[str, object]:
        """Every topic with all of its words."""
        return {"topics": [{**asdict(topic), "match": asdict(match)} for topic, match in self.topics]}

    def table(self) -> pa.Table:
        """A row for each topic."""
        import pyarrow as pa

        columns, rows = self._rows(words=None)
        return pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows])

    def blocks(self) -> Sequence[Block]:
        """The list, or where it was written."""
        from aidos.report.page import DataTable, Facts

        number = len(self.topics)
        if self.file is not None:
            return (Facts((("file", str(self.file)), ("topics", number))),)
        columns, rows = self._rows(words=WORDS)
        title = f"{number} sensitive topic{'s' if number > 1 else ''}"
        return (DataTable(caption=title, columns=columns, rows=tuple(rows)),)

    def remarks(self) -> Sequence[str]:
        """What is doubtful about the matching, beside the list."""
        return self.warnings if self.file is None else ()

    def _rows(self, words: int | None) -> tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]:
        columns = ("topic", "domain", "words", "latent topic", "confidence")
        return columns, [
            (topic.name, topic.domain, " ".join(topic.words[:words]), match.latent, round(match.confidence, 2))
            for topic, match in self.topics
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTopics:
    """List the sensitive topics, their domains and words, and where the model has them.

    For example:
        aidos risk topics
        aidos risk topics --export topics.tsv
        aidos risk topics --import topics.tsv --model models
        aidos risk rank posts.parquet --topics topics.tsv -o ranks --i-am-the-operator
    """

    export: Path | None = None
    """Write the topics to this file (tab-separated) instead of listing them, to be changed and used with --topics."""
    import_file: Annotated[Path | None, Named("--import")] = None
    """Look at the topics of this file instead, and say everything that is wrong with it."""
    knowing: Annotated[Knowing, Section("What the adversary knows")] = field(default_factory=Knowing)

    def run(self, desk: Desk) -> SensitiveTopics:  # noqa: ARG002
        """Read the topics and match them with the model."""
        from aidos.model.sensitive import write_topics

        known = self.knowing.silently(self.import_file)
        if self.export is not None:
            write_topics(known.topics, self.export)
        found = tuple(zip(known.topics, known.matches.found, strict=True))
        return SensitiveTopics(topics=found, warnings=tuple(known.matches.warnings), file=self.export)
