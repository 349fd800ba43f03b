"""The job that makes a part of the sample world: a table to compute with, or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, NoGuarantee
from aidos.core.progress import SILENT, Progress
from aidos.jobs.answer import Release
from aidos.jobs.desk import Desk
from aidos.jobs.job import RequiredInTerminal, Section, Short
from aidos.world.size import World

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block

__all__ = ["MakeSample", "Sample"]

Part = Literal["log", "posts", "documents", "results", "rankings", "truth"]
NOBODY = NoGuarantee("there is nobody to protect: the data are synthetic")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sample(Release):
    """A part of a synthetic world, made when it is looked at; equal worlds have equal parts."""

    guarantee: Guarantee = NOBODY
    part: Part
    world: World
    output: Path | None = None
    """Where it was written."""
    written: int = 0
    """How many rows of it."""
    progress: Progress = SILENT

    def facts(self) -> Mapping[str, object]:
        """What it is a part of, and its number of rows."""
        world = self.world
        return {
            "part": self.part,
            "file": str(self.output or ""),
            "rows": self.written if self.output is not None else self._rows.num_rows,
            "size": world.size,
            "seed": world.seed,
            "topics": world.topics,
        }

    def table(self) -> pa.Table:
        """All rows of the part."""
        return self._rows

    def blocks(self) -> Sequence[Block]:
        """The facts, where no file was written."""
        return () if self.output is not None else super().blocks()

    def remarks(self) -> Sequence[str]:
        """What was written."""
        if self.output is None:
            return ()
        world = self.world
        return (f"{self.output}: {self.written:,} rows, synthetic (size {world.size}, seed {world.seed})",)

    def save(self, path: str | Path) -> None:
        """Write the part (.parquet, .csv, .tsv, .jsonl; text also packed), a page (.html) or the facts (.json)."""
        from aidos.world.write import write_sample

        if Path(path).suffix in {".html", ".json"}:
            super().save(path)
        else:
            write_sample(self.part, self.world, Path(path), self.progress)

    @cached_property
    def _rows(self) -> pa.Table:
        from aidos.world.write import make_sample

        return make_sample(self.part, self.world, self.progress)


@dataclass(frozen=True, slots=True)
class MakeSample:
    """Write a part of the sample world: synthetic, seeded, with the truth known.

    The same size, seed and topics give the same bytes, on any number of
    threads. The file says that it is synthetic and how to make it again.

    For example:
        aidos sample log --size small --seed 7 -o log.parquet
        aidos sample log --size medium -o log.tsv        (the layout of the AOL log)
        aidos sample posts -o posts.parquet
        aidos sample truth -o truth.parquet              (who is afflicted, professional, curious)
    """

    part: Part
    """What to write."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The file to write; its ending chooses the format."""
    world: Annotated[World, Section("The world")] = field(default_factory=World)

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> Sample:
        """Make it, and write it where that is asked for."""
        if self.output is None:
            return Sample(part=self.part, world=self.world, progress=desk.progress)
        import pyarrow as pa

        from aidos.world.write import write_sample

        pa.array([])  # with its first array it loads pandas, where that is installed; not to be counted as work
        rows = write_sample(self.part, self.world, self.output, desk.progress)
        return Sample(part=self.part, world=self.world, output=self.output, written=rows, progress=desk.progress)
