"""An answer: what comes back, as one value that prints, saves, travels as JSON, opens as a page and loads as a table.

`Release` and `Finding` are the only kinds. A release carries its promise and may leave the building. A finding holds
truth about people, is written for its owner alone, and cannot be handed to a public surface: that takes a `Release` in
its signature, so a leak is a type error.

Subclasses give facts; what people and programs see follows from them. They say more where there is more: a table,
blocks for people to read, a page, files.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aidos.core import mechanism
from aidos.core.checks import wrong_kind
from aidos.core.guarantee import Guarantee
from aidos.errors import AidosError, ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from aidos.report.page import Block, Facts, Page

__all__ = ["Answer", "Finding", "Release", "as_path", "cell", "facts_block", "json_text", "save_page"]

LONGEST = 100
"""Letters of a text, where an answer is told in one line."""
ROWS_SHOWN = 10
"""Of a table, in a notebook."""


class Answer(ABC):
    """What comes back from a job."""

    @property
    def exit_code(self) -> int:
        """What the command line exits with: 1 where a requested threshold failed, 2 where the input is wrong."""
        return 0

    @abstractmethod
    def facts(self) -> Mapping[str, object]:
        """What was found, by name, in the order in which it is told; what `--json` prints."""

    def table(self) -> pa.Table:
        """What one computes with; the facts that are single values, in one row, where an answer has no rows."""
        import pyarrow as pa

        return pa.Table.from_pylist([self._values()])

    def blocks(self) -> Sequence[Block]:
        """What people read in a terminal and in a notebook: the facts, without counts of nothing."""
        return (facts_block(self._values()),)

    def remarks(self) -> Sequence[str]:
        """What is worth knowing beside it; a terminal tells it after the blocks, apart from the result."""
        return ()

    def page(self) -> Page:
        """The answer as a page that opens anywhere."""
        from aidos.report.page import Chapter, Page

        source = self if isinstance(self, mechanism.Release | mechanism.Finding) else None
        chapter = Chapter(title="The answer", blocks=tuple(self.blocks()))
        return Page(title=type(self).__name__, lead=self._words(), chapters=(chapter,), source=source)

    def save(self, path: str | Path) -> None:
        """Write it, whole or not at all: .html is the page, .json the facts, .parquet and .csv the table."""
        from aidos.engine.files import replace_when_done, write_text

        path, private = as_path(path), isinstance(self, mechanism.Finding)
        match path.suffix:
            case ".html":
                save_page(self.page(), path)
            case ".json":
                write_text(path, self.to_json() + "\n", private=private)
            case ".parquet":
                import pyarrow.parquet as pq

                with replace_when_done(path, private=private) as partial:
                    pq.write_table(self.table(), partial)
            case ".csv":
                from aidos.report.values import write_sheet

                with replace_when_done(path, private=private) as partial:
                    write_sheet(self.table(), partial)
            case _:
                raise ParameterError(
                    f"the name {path.name} does not say what to write", hint="end it in .html, .json, .parquet or .csv"
                )

    def to_arrow(self) -> pa.Table:
        """The table for Arrow."""
        return self.table()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table for whoever takes Arrow's streams: another verb, Polars, DuckDB."""
        held: Any = self.table()
        return held.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """The table for pandas, which must be installed."""
        try:
            return self.table().to_pandas()
        except ImportError as error:
            raise AidosError("a table for pandas needs the package pandas", hint="pip install pandas") from error

    def to_polars(self) -> pl.DataFrame:
        """The table for Polars, which must be installed."""
        try:
            polars = import_module("polars")
        except ImportError as error:
            raise AidosError("a table for Polars needs the package polars", hint="pip install polars") from error
        frame: pl.DataFrame = polars.DataFrame(self.table())
        return frame

    def to_json(self) -> str:
        """The facts for machines, as `--json` prints them."""
        return json_text(self.facts())

    def _values(self) -> dict[str, Any]:
        """The facts that are single values."""
        return {name: value for name, value in self.facts().items() if isinstance(value, str | int | float | None)}

    def _words(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in self._values().items())

    def __repr__(self) -> str:
        """One line."""
        from aidos.report.values import fit

        told = ", ".join(f"{name}={fit(_short(value), LONGEST)}" for name, value in self._values().items())
        return f"<{type(self).__name__}: {told}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the blocks."""
        from aidos.report.page import render_blocks

        return render_blocks(self.blocks())


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Release(Answer, mechanism.Release[Any]):
    """An answer that may leave the building, with its promise."""

    value: Any = None
    guarantee: Guarantee
    mechanism: object = None
    noise_source: str = "none"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Finding(Answer, mechanism.Finding[Any]):
    """An answer that holds truth about people: for the one who asked, written for its owner alone."""

    value: Any = None
    about: str = "people"


def as_path(path: str | Path) -> Path:
    """The name of a file, as somebody gave it in Python."""
    if words := wrong_kind(path, Path):
        raise ParameterError(f"the name must be {words}, got a {type(path).__name__}", hint="give the name of a file")
    return Path(path)


def save_page(page: Page, path: Path) -> None:
    """Write a page; one that holds a finding can be read by its owner alone."""
    from aidos.engine.files import write_text
    from aidos.report.page import render

    write_text(path, render(page), private=bool(page.findings()))


def json_text(facts: Mapping[str, object]) -> str:
    """Facts as JSON that machines read, in which nothing acts on a terminal."""
    from aidos.core.plaintext import ACTING

    text = json.dumps(facts, indent=2, default=str, ensure_ascii=False)
    return ACTING.sub(lambda found: json.dumps(found.group())[1:-1], text)


def facts_block(facts: Mapping[str, object]) -> Facts:
    """Facts with their names for people, without counts of nothing."""
    from aidos.report.page import Facts

    told = {name: value for name, value in facts.items() if isinstance(value, float) or value not in (0, "")}
    return Facts(tuple((name.replace("_", " "), cell(value)) for name, value in told.items()))


def cell(value: object) -> str | int:
    """A value as a cell of a table: numbers short, a dash where there is nothing."""
    match value:
        case None:
            return "\u2013"
        case int() | str():
            return value
        case float():
            return f"{value:.4g}" if abs(value) < 10 else f"{value:,.1f}"
        case _:
            return str(value)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
