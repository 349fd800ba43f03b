"""Rankings as readers hand them out, and the door they come through: nothing passes that is not in order.

Rows are neutral: they know names and numbers, and nothing of who shares attention among the ranked. Cells are turned
into ids and numbers in bulk. What is no number becomes one that the checks refuse, so that good rankings pay for no
closer look.

Every ranking is to come once, with all its rows together. Which ones came before is remembered by a hash of 64 bits
and a place, about 150 bytes a ranking; two names out of ten million share a hash with a chance of one in 300,000.

What a ranking consists of: its columns, what they are called in the wild, and which of a file's columns is which. The
number of a ranking within its system (``ranking``) is not the same as a name of its own (``ranking_id``): it is told
from the same number of another system by the system's name.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError, Problem
from aidos.ingest.columns import match_columns, plain_name
from aidos.ingest.formats.fields import text
from aidos.ingest.problems import RANKINGS, Complaints
from aidos.ingest.rows import Floats

__all__ = [
    "BODY",
    "HEAD",
    "Door",
    "Ints",
    "Origin",
    "RankingRows",
    "RawRanking",
    "bad_positions",
    "check_given",
    "find_columns",
    "ids_of",
    "labels_of",
    "missing_columns",
    "name_ranking",
    "naming_column",
    "numbers_of_values",
]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
LINE_BITS = 40
LINE_MASK = (1 << LINE_BITS) - 1
LARGEST_WHOLE = 2.0**53
"""The whole numbers up to here are exact among the floating ones."""


@dataclass(frozen=True, slots=True, eq=False)
class RankingRows:
    """One ranking as it was read, checked: ids that are not blank and differ, scores that can be relevance."""

    ranking_id: str
    query_id: str
    """Empty when the file names the ranking but not its query."""
    searcher_id: str
    """Empty when the file does not say who searched."""
    system: str
    """Empty when the file does not say which system ranked."""
    object_ids: tuple[str, ...]
    """Those ranked, in the order of the file."""
    scores: Floats = field(repr=False)
    """One per object: finite, not negative, not all 0."""
    positions: Ints | None = field(repr=False)
    """As written; None when the file has none for one of the objects."""
    groups: tuple[str, ...] = field(repr=False)
    """One per object, empty for who has none; () when nobody has one."""
    actors: tuple[str, ...] = field(repr=False)
    """One per object, empty for who has none; () when nobody has one."""
    place: str
    """Where it begins: "file, line 12" or "file, row 12"."""

    def __len__(self) -> int:
        return len(self.object_ids)


@dataclass(slots=True, kw_only=True)
class RawRanking:
    """The rows of one ranking, not yet checked."""

    ranking_id: str
    query_id: str = ""
    searcher_id: str = ""
    system: str = ""
    object_ids: Sequence[str]
    """Empty texts where the file has none."""
    scores: Floats
    """Not a number where the file has none, or something else."""
    positions: Floats | Ints | None = None
    """Whole numbers that were found in order already; or not a number where the file has none, infinite where it has
    something else."""
    groups: Sequence[str] = ()
    actors: Sequence[str] = ()
    lines: Sequence[int]
    """The line or row of each object; a single one where the whole ranking stands in one line."""
    sound: bool = False
    """Scores and positions were found in order already, those of many rankings at once."""
    spoiled: bool = False
    """A row that could not be read touches it: the trouble was told, and the ranking is not whole."""


NUMBERS = ({int}, {float}, {int, float})


def ids_of(values: Sequence[object]) -> Sequence[str]:
    """Ids as texts: numbers are written out, and what can be no id is empty."""
    if set(map(type, values)) == {str}:
        return values  # type: ignore[return-value]
    return [text(value) or "" for value in values]


def labels_of(values: Sequence[object]) -> Sequence[str]:
    """Groups or actors as texts; () when nobody has one."""
    return ids_of(values) if any(values) else ()


def numbers_of_values(values: Sequence[object], *, otherwise: float = math.nan) -> Floats:
    """Numbers of JSON; not a number where there is null, ``otherwise`` where there is something else."""
    if set(map(type, values)) in NUMBERS:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:  # a whole number of hundreds of digits
            pass
    return np.array([_value(value, otherwise) for value in values], dtype=np.float64)


def _value(value: object, otherwise: float) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    try:
        return float(value)
    except OverflowError:
        return math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where rankings come from, for messages."""

    file: str
    unit: str = "line"
    """What is counted: lines or rows."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Our columns and what the file calls them."""
    whole: bool = False
    """Whether each line holds a whole ranking."""

    def problem(self, slug: str, line: int, column: str = "", **words: Any) -> Problem:
        """A problem in that line or row."""
        return RANKINGS.tell(
            slug, self.file, lines=(line,), column=self.names.get(column, column), place=self.unit, **words
        )


@dataclass(slots=True)
class Door:
    """Lets good rankings through and tells what is wrong with the others."""

    complaints: Complaints
    passed: int = 0
    _seen: dict[int, int] = field(default_factory=dict)
    _origins: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _last: str = ""

    def admit(self, raw: RawRanking, origin: Origin) -> RankingRows | None:
        """The ranking, checked; None when it is to be left out."""
        if self._has_come(raw, origin) or raw.spoiled:
            return None
        found = _find_trouble(raw, origin)
        if found is not None:
            self.complaints.add(*found)
            return None
        self.passed += 1
        return RankingRows(
            raw.ranking_id,
            raw.query_id,
            raw.searcher_id,
            raw.system,
            tuple(raw.object_ids),
            raw.scores,
            _whole(raw.positions),
            tuple(raw.groups) if any(raw.groups) else (),
            tuple(raw.actors) if any(raw.actors) else (),
            f"{origin.file}, {origin.unit} {raw.lines[0]}",
        )

    def _has_come(self, raw: RawRanking, origin: Origin) -> bool:
        """Whether the ranking came before, which is told; if not, it has come now."""
        number = self._origins.setdefault((origin.file, origin.unit, raw.system), len(self._origins))
        line, name = raw.lines[0], hash(raw.ranking_id)
        last, self._last = self._last, raw.ranking_id
        before = self._seen.get(name)
        if before is None:
            self._seen[name] = number << LINE_BITS | line
            return False
        file, unit, system = list(self._origins)[before >> LINE_BITS]
        slug = "repeated-ranking" if origin.whole else "out-of-order"
        if system != raw.system:
            slug = "several-systems"
        elif last == raw.ranking_id and not origin.whole and file == origin.file:
            slug = "mixed-ranking"
        first = f"{unit} {before & LINE_MASK}" + (f" of {file}" if file != origin.file else "")
        self.complaints.add(origin.problem(slug, line), f" (the first are in {first})")
        return True


def _whole(positions: Floats | Ints | None) -> Ints | None:
    if positions is None or positions.dtype == np.int64:
        return cast("Ints | None", positions)
    return None if np.isnan(positions).any() else positions.astype(np.int64)


def bad_positions(positions: Floats | Ints) -> Bools:
    """Which positions are there and are no whole numbers."""
    bad: Bools = (np.abs(positions) > LARGEST_WHOLE) | (np.floor(positions) != positions)
    bad &= ~np.isnan(positions)
    return bad


def _find_trouble(raw: RawRanking, origin: Origin) -> tuple[Problem, str] | None:
    """What is wrong with the rows, and which of them it is when they share a line."""
    ids, scores = raw.object_ids, raw.scores
    if len(set(ids)) != len(ids):
        return _duplicate(raw, origin)
    if not all(map(str.strip, ids)):
        return _at(raw, origin, "empty-id", next(i for i, name in enumerate(ids) if not name.strip()), "object_id")
    if raw.sound:
        return None
    # One pass says that everything is in order; only what is not is looked at closely.
    least, most = float(scores.min()), float(scores.max())
    if not (least >= 0 and 0 < most * len(ids) < math.inf):
        return _bad_score(raw, origin)
    if raw.positions is not None:
        bad = bad_positions(raw.positions)
        if bad.any():
            return _at(raw, origin, "bad-position", int(bad.argmax()), "position")
    return None


def _at(
    raw: RawRanking, origin: Origin, slug: str, index: int, column: str = "", **words: object
) -> tuple[Problem, str]:
    line = raw.lines[0 if origin.whole else index]
    detail = f" (subject {index + 1} of {len(raw.object_ids)})" if origin.whole else ""
    return origin.problem(slug, line, column, **words), detail


def _duplicate(raw: RawRanking, origin: Origin) -> tuple[Problem, str]:
    seen: dict[str, int] = {}
    for index, name in enumerate(raw.object_ids):
        first = seen.setdefault(name, index)
        if first != index:
            if not name.strip():
                return _at(raw, origin, "empty-id", first, "object_id")
            place = f"subject {first + 1}" if origin.whole else f"{origin.unit} {raw.lines[first]}"
            problem, detail = _at(raw, origin, "duplicate-object", index, "object_id")
            return problem, f"{detail}, first as {place}" if origin.whole else f", first in {place}"
    raise AssertionError("only called when two are the same")


def _bad_score(raw: RawRanking, origin: Origin) -> tuple[Problem, str]:
    scores = raw.scores
    for bad, words in (
        (np.isnan(scores), "missing or not a number"),
        (np.isinf(scores), "infinite"),
        (scores < 0, "negative"),
    ):
        if bad.any():
            return _at(raw, origin, "bad-score", int(bad.argmax()), "score", reason=words)
    if scores.any():
        return _at(raw, origin, "bad-score", int(scores.argmax()), "score", reason="too large to add to the others")
    return origin.problem("no-relevance", raw.lines[0]), ""


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
