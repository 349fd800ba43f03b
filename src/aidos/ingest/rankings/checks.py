"""The door between the formats and whoever asked for rankings: nothing comes through that is not in order.

Every ranking is to come once, with all its rows together. Which ones came before is remembered by a hash of 64 bits
and a place, about 150 bytes a ranking; two names out of ten million share a hash with a chance of one in 300,000.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from aidos.errors import Problem
from aidos.ingest.rankings.rows import Floats, Ints, RankingRows, RawRanking
from aidos.ingest.rankings.troubles import Complaints, tell

__all__ = ["Door", "Origin", "bad_positions"]

Bools = NDArray[np.bool_]
LINE_BITS = 40
LINE_MASK = (1 << LINE_BITS) - 1
LARGEST_WHOLE = 2.0**53
"""The whole numbers up to here are exact among the floating ones."""


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

    def problem(self, slug: str, line: int, column: str = "", **words: object) -> Problem:
        """A problem in that line or row."""
        return tell(slug, self.file, lines=(line,), column=self.names.get(column, column), place=self.unit, **words)


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
