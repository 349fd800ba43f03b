"""Small tables that people write by hand, in tab- or comma-separated files, with every problem told by its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aidos.engine.inputs import LARGEST, read_text
from aidos.errors import InputError, Problem

__all__ = ["Troubles", "read_rows"]

LINES_SHOWN = 5
"""How many line numbers a problem names."""
MEND = "mend the line, or take it out"
LONGEST = 1 << 20
"""Characters of a cell, beyond which the file is none that people wrote."""


@dataclass(slots=True)
class Troubles:
    """What is wrong with a file, one problem for all lines with the same trouble."""

    file: str
    found: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)

    def add(self, line: int, kind: str, sentence: str, column: str = "") -> None:
        """One more line with that trouble."""
        self.found.setdefault((kind, sentence, column), []).append(line)

    def refuse(self) -> None:
        """Raise InputError with all of them, if there are any."""
        problems = [
            Problem(
                kind=kind,
                file=self.file,
                sentence=sentence,
                remedy=MEND,
                column=column,
                count=len(lines),
                lines=tuple(lines[:LINES_SHOWN]),
            )
            for (kind, sentence, column), lines in self.found.items()
        ]
        if problems:
            more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
            raise InputError(f"{problems[0]}{more}", hint=MEND, problems=problems)


def read_rows(
    path: Path, columns: Sequence[str], troubles: Troubles, *, delimiter: str, most: int = LARGEST
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows below a header that names the columns, with their line numbers; blank lines are passed over.

    A file that cannot be read, or whose header lacks a column, is refused at once; rows with too few or too many cells
    are told and left out.
    """
    lines = csv.reader(io.StringIO(read_text(path, most=most), newline=""), delimiter=delimiter, strict=True)
    csv.field_size_limit(LONGEST)
    try:
        header = [name.strip().lower() for name in next(lines, [])]
        missing = [name for name in columns if name not in header]
        if missing or len(set(header)) < len(header):
            raise InputError(
                f"{path}, line 1: " + (f"columns are missing: {', '.join(missing)}" if missing else "columns repeat"),
                hint=f"the first line names the columns: {', '.join(columns)}",
            )
        for row in lines:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                sentence = f"the header has {len(header)} columns, the line has another number"
                troubles.add(lines.line_num, "cell-count", sentence)
                continue
            yield lines.line_num, {name: cell.strip() for name, cell in zip(header, row, strict=True)}
    except csv.Error:
        troubles.add(lines.line_num, "broken-quoting", "quotation marks do not match, or a cell is too long")
