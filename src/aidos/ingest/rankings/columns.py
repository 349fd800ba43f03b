"""What a ranking consists of: its columns, what they are called in the wild, and which of a file's columns is which.

The number of a ranking within its system (``ranking``) is not the same as a name of its own (``ranking_id``): it is
told from the same number of another system by the system's name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from aidos.errors import ParameterError, Problem
from aidos.ingest.columns import match_columns, plain_name
from aidos.ingest.problems import RANKINGS

__all__ = ["BODY", "HEAD", "check_given", "find_columns", "missing_columns", "name_ranking", "naming_column"]

ALIASES: Mapping[str, tuple[str, ...]] = {
    "ranking_id": (),
    "ranking": (),
    "query_id": ("qid",),
    "searcher_id": (),
    "system": (),
    "object_id": ("docno", "docid", "subjectid"),
    "score": ("relevance",),
    "position": ("rank",),
    "group": ("subjectgroup",),
    "actor": (),
    "subjects": (),
}
"""Our columns, and other names that are understood; ``subjects`` is the list inside a nested JSON line."""
HEAD = ("ranking_id", "ranking", "query_id", "searcher_id", "system")
"""What a row says of its ranking."""
BODY = ("object_id", "score", "position", "group", "actor")
"""What a row says of who or what is ranked."""
MEANINGS = {
    "query_id": "query_id (which query was ranked for; or ranking_id, which ranking it is)",
    "object_id": "object_id (who or what is ranked)",
    "score": "score (how relevant it is)",
    "system": "system (which system ranked)",
}
NAMES_SHOWN = 12
CLOSE = 0.6


def check_given(given: Mapping[str, str]) -> None:
    """Refuse ``--column`` names that rankings do not have."""
    if strange := sorted(set(given) - set(ALIASES)):
        raise ParameterError(
            f"rankings have no column called {', '.join(strange)}", hint=f"the columns are {', '.join(ALIASES)}"
        )


def find_columns(names: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """Our column to the file's: as given, or else of its own name, or else of an alias."""
    return {**given, **match_columns([name for name in names if name not in given.values()], ALIASES, given)}


def missing_columns(
    file: str, names: Sequence[str], found: Mapping[str, str], required: Sequence[str], *, lines: Sequence[int] = ()
) -> list[Problem]:
    """Columns that must be there and are not, and columns of a rename that the file does not have."""
    absent = [column for column, name in found.items() if name not in names]
    if not any(key in found for key in ("query_id", "ranking_id", "ranking")):
        absent.append("query_id")
    absent += [column for column in required if column not in found]
    if lines and not set(found.values()) & set(names):  # the line may be data: its cells are nobody's column names
        return [RANKINGS.tell("no-header", file, lines=lines, columns=", ".join(("query_id", "object_id", "score")))]
    free = [name for name in names if name not in found.values()]
    shown = ", ".join(names[:NAMES_SHOWN]) + (" ..." if len(names) > NAMES_SHOWN else "")
    return [
        RANKINGS.tell(
            "missing-column",
            file,
            lines=lines,
            column=column,
            meaning=MEANINGS.get(column, column),
            columns=shown,
            candidate=_nearest(column, free) or "NAME",
        )
        for column in dict.fromkeys(absent)
    ]


def name_ranking(ranking_id: str | None, ranking: str | None, query_id: str, system: str) -> str:
    """The name of a ranking: its own, or its number within the system, or else its query's; empty when blank.

    None stands for a column that the file does not have.
    """
    name = query_id if ranking_id is None else ranking_id
    if ranking_id is None and ranking is not None:
        name = f"{system}/{ranking}" if system and ranking.strip() else ranking
    return name if name.strip() else ""


def naming_column(found: Mapping[str, str]) -> str:
    """Our column that names the rankings of a file."""
    return next((column for column in ("ranking_id", "ranking") if column in found), "query_id")


def _nearest(column: str, free: Sequence[str]) -> str:
    plain = {plain_name(name): name for name in reversed(free)}
    for wanted in (plain_name(column), *ALIASES[column]):
        if close := difflib.get_close_matches(wanted, plain, n=1, cutoff=CLOSE):
            return plain[close[0]]
    return ""
