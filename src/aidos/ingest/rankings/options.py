"""How rankings are read, as options of every job that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.errors import Problem
    from aidos.ingest.rankings.rows import RankingRows

__all__ = ["HowToReadRankings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReadRankings:
    """How to read rankings."""

    format: str = ""
    """The format, if it should not be recognised: jsonl, trec, parquet, csv or tsv."""

    column: tuple[str, ...] = ()
    """What the file calls a column of aidos, for example object_id=listing; may be repeated."""

    system: str = ""
    """Only the rankings of this system, where a file holds several."""

    skip_bad_rankings: bool = False
    """Leave out rankings that cannot be read, and say how many."""

    def read(self, files: Sequence[str], problems: list[Problem]) -> Iterator[RankingRows]:
        """The rankings, one at a time."""
        from aidos.ingest.rankings.reading import read_rankings

        renames = dict(_pair(text) for text in self.column)
        return read_rankings(
            files,
            format=self.format,
            columns=renames,
            system=self.system,
            skip_bad=self.skip_bad_rankings,
            problems=problems,
        )


def _pair(text: str) -> tuple[str, str]:
    """Theirs, ours: the reader asks by the name in the file."""
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise ParameterError("--column takes OURS=THEIRS", hint="for example --column object_id=listing")
    return theirs, ours
