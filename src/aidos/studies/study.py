"""A study: an experiment of a paper that anybody can run again, on its setting or on data of their own.

Each is a package of measuring functions and declarations. Its job is what can be asked; it measures what is not on the
shelf yet (`aidos.studies.shelf`) and gives an `Outcome`: measured rows, the tables and claims that are read from them,
and the chapters of the page. Everything else is here, once: the files of a directory, the page, what a terminal and a
machine are told.

A study of somebody's own data is about people: its files and its page are for their owner alone. The sample world is
about nobody.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import SEED
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding, as_path
from aidos.jobs.job import RequiredInTerminal, Short

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Chapter, Page

__all__ = ["FINDINGS", "PAGE", "Basis", "Claim", "InParts", "Makers", "OnWorld", "Outcome", "Reader", "choose_parts"]

PAGE = "report.html"
FINDINGS = "these are findings about the people of the log: not for release"
"""What is said of a log of somebody's own."""
Makers: TypeAlias = "Mapping[str, tuple[str, Callable[[pa.Table], pa.Table]]]"
"""Tables by name: the measured rows that each is made of, and how."""
Reader: TypeAlias = "Callable[[list[dict[str, Any]], float], Iterator[Claim]]"
"""What reads claims from the rows of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that should be so, and whether it is."""

    finding: str
    """What a paper or the spec says."""
    holds: bool | None
    """None where it cannot be told from these data and settings."""
    values: Mapping[str, float] = field(default_factory=dict)
    """The numbers it is read from."""
    key: str = ""
    """A short name that stays the same on all data."""
    paper: str = ""
    """What the paper found, with its figures."""
    here: str = ""
    """What was found here, in words."""
    space: str = ""
    """The space of the measures that it is about; empty where it is about all."""

    @property
    def verdict(self) -> str:
        """Whether it holds, in a word."""
        return {True: "yes", False: "no", None: "cannot be told"}[self.holds]

    def numbers(self, most: int) -> str:
        """So many of the numbers that it is read from."""
        # Rounded, as sums leave a dust of 1e-17 behind.
        return ", ".join(f"{name}: {round(value, 6):.4g}" for name, value in list(self.values.items())[:most])


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a study was run on. Each study adds what else is to be known."""

    about: str
    """The people, the world and the truth, in words."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Outcome(Finding):
    """What a study found. A study says in its own class what is made of the rows that it measured."""

    about: str = "the people of the study"
    basis: Basis
    rows: Mapping[str, pa.Table]
    """Measured rows, by the name that they are kept under."""
    synthetic: bool = True
    """Whether they are about nobody."""
    output: Path | None = None
    """The directory of results."""
    asked: str = ""
    """The question as it was asked."""

    heading: ClassVar[str] = ""
    """Of the page."""
    says: ClassVar[str] = "has every table and chart"
    """What the page has."""
    numbers_told: ClassVar[int] = 6
    """Numbers of a claim that are shown."""

    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The rows of each part of a study that has parts."""

    def has(self, part: str) -> bool:
        """Whether a part was run."""
        return all(name in self.rows for name in self.parts[part])

    def makers(self) -> Makers:
        """Which rows each table is made of, and how."""
        return {}

    def summaries(self) -> dict[str, pa.Table]:
        """The tables that can be made of the rows at hand, by the name of their file."""
        return {name: make(self.rows[raw]) for name, (raw, make) in self.makers().items() if raw in self.rows}

    @abstractmethod
    def chapters(self) -> list[Chapter]:
        """The chapters of the page."""

    def read_claims(self) -> list[Claim]:
        """What papers and spec say, as far as it can be read from the rows at hand."""
        return []

    def claims_by_table(self, readers: Mapping[str, Reader], limit: float) -> list[Claim]:
        """Claims that are read from one table each, given the limit or the level that they are about."""
        tables = {name: self.tables[name].to_pylist() for name in readers if name in self.tables}
        return [claim for name, rows in tables.items() for claim in readers[name](rows, limit)]

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The tables, made once."""
        return self.summaries()

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims, read once."""
        return self.read_claims()

    def told_rows(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of all tables, for machines."""
        from aidos.studies.tables import plain

        return {name: plain(table.to_pylist()) for name, table in self.tables.items()}

    def facts(self) -> Mapping[str, object]:
        """Where results are, what they are of, every table, and what holds."""
        from aidos.studies.tables import plain

        claims = [{name: getattr(each, name) for name in ("finding", "holds", "values")} for each in self.claims]
        return {**self.place(), "facts": plain(asdict(self.basis)), **self.told_rows(), "claims": claims}

    def place(self) -> dict[str, object]:
        """Where results are."""
        return {"output": str(self.output or "")}

    def table(self) -> pa.Table:
        """The first of the tables."""
        return next(iter(self.tables.values()))

    def blocks(self) -> Sequence[Block]:
        """What holds, with the numbers."""
        from aidos.report.page import DataTable

        rows = tuple((each.finding, each.verdict, each.numbers(self.numbers_told)) for each in self.claims)
        return (DataTable(caption=self.basis.about, columns=("finding", "holds", "numbers"), rows=rows),)

    def remarks(self) -> Sequence[str]:
        """Where to read on."""
        return (f"{self.output / PAGE} {self.says}",) if self.output is not None else ()

    def checks(self) -> tuple[Block, ...]:
        """What holds, for the page."""
        from aidos.report.page import Check, CheckList, Prose

        told = self.numbers_told
        checks = tuple(
            Check(label=each.finding, outcome="passed" if each.holds else "failed", detail=each.numbers(told))
            for each in self.claims
        )
        return (Prose("What should be so, and whether it is:"), CheckList(checks)) if checks else ()

    def title(self) -> str:
        """Of the page."""
        return self.heading

    def lead(self) -> str:
        """The first sentence of the page."""
        return self.basis.about

    def page(self) -> Page:
        """All chapters, and how to ask the same again."""
        from aidos.report.page import Chapter, Code, Page

        again = Chapter(title="The same again", blocks=(Code(text=self.asked, language="command"),))
        return Page(
            title=self.title(),
            lead=self.lead(),
            chapters=(*self.chapters(), *([again] if self.asked else ())),
            source=None if self.synthetic else self,
        )

    def save(self, path: str | Path) -> None:
        """Write the page (.html), the facts (.json) or the first table; a directory gets every table and the page."""
        if as_path(path).suffix:
            super().save(path)
        else:
            self.write(as_path(path))

    def kept(self) -> Self:
        """The same, with its tables and its page in its directory, if it has one."""
        if self.output is not None:
            self.write(self.output)
        return self

    def write(self, directory: Path) -> None:
        """Every table, and the page."""
        import pyarrow.parquet as pq

        from aidos.engine.files import make_directories, replace_when_done, write_text
        from aidos.report.page import render

        private = not self.synthetic
        make_directories(directory, private=private)
        for name, table in self.tables.items():
            if table.num_columns:
                with replace_when_done(directory / f"{name}.parquet", private=private) as partial:
                    pq.write_table(table, partial)
        write_text(directory / PAGE, render(self.page()), private=private)

    def _values(self) -> dict[str, Any]:
        """For the one line that Python shows."""
        held = {"claims that hold": f"{sum(bool(each.holds) for each in self.claims)} of {len(self.claims)}"}
        return {"about": self.basis.about, **(held if self.claims else {})}


@dataclass(frozen=True, kw_only=True)
class OnWorld:
    """A study on the sample world."""

    size: str = "small"
    """The size of the sample world: tiny, small or a number of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InParts(OnWorld):
    """A study of several parts on the sample world."""

    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory for results: tables and a page."""
    part: tuple[str, ...] = ()
    """A part to run; may be repeated; all if unset."""
    seed: Annotated[int, Ge(0), SEED] = 7
    """Of the world, and of everything that is drawn."""

    def __post_init__(self) -> None:
        check_parameters(self)


def choose_parts(asked: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The parts of a study that were named, each once; all where none are."""
    if unknown := [part for part in asked if part not in known]:
        raise ParameterError(f"there is no part {unknown[0]!r}", hint=f"parts are {', '.join(known)}")
    return tuple(dict.fromkeys(asked)) or tuple(known)
