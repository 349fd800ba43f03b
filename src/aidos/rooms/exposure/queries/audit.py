"""Which kinds of query expose most people, and most sensitively: the operator's view, without any member in it.

Exposure is counted by kind: how much of the query the post holds, how many posts hold all of it, and which sensitive
topics its words belong to. No query and no post is told, except single words of the lexicon of sensitive topics, which
is public. A kind that concerns fewer than ``least`` members is told by its name alone; numbers of members are rounded
down to multiples of ``least``, other counts to two digits, so that no difference of two counts points at somebody.

This is a threshold, no proof: who can add members or compares audits of two days learns more than one audit tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures

__all__ = ["NONE", "ORDINARY", "Audit", "Kind", "Lexicon", "count_exposures"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Masks = NDArray[np.bool_]
HELD = (
    (1, 1, "one post holds it"),
    (2, 10, "2 to 10 posts"),
    (11, 100, "11 to 100 posts"),
    (101, None, "more than 100 posts"),
)
MATCHES = ("one word", "two words, both in the post", "two words, one in the post")
ORDINARY = "no sensitive topic"
"""The kind of queries without a word of a sensitive topic."""
NONE = -1
"""The category of a word that points to nothing sensitive."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """What is known of the words, by their numbers."""

    sensitivity: Floats
    """Topical sensitivity of every word, from 0 to 1."""
    categories: Sequence[str]
    """The sensitive categories."""
    category: NDArray[np.int8]
    """For every word the place of the category that it points to most; NONE for words of no sensitive topic."""
    texts: Callable[[Longs], list[str]]
    """The words of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of query, and whom it exposes."""

    group: str
    name: str
    members: int | None
    """Members who are exposed by it, rounded down; None where there are too few to tell."""
    queries: int | None
    """Queries whose first result is of this kind."""
    exposures: int | None
    sensitivity: float | None
    """Mean topical sensitivity of its queries, over exposures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All kinds, and the words of sensitive topics that expose most members."""

    members: int
    queries: int
    exposures: int
    least: int
    kinds: tuple[Kind, ...]
    words: tuple[tuple[str, str, int], ...]
    """Word, category and members exposed by queries with it; most members times sensitivity first."""


@dataclass(slots=True)
class _Count:
    members: int = 0
    queries: int = 0
    exposures: int = 0
    sensitivity: float = 0.0

    def add(self, rows: Exposures, mask: Masks, sensitivity: Floats) -> None:
        """Count the rows of a mask; no other chunk has rows of the same members."""
        self.members += len(np.unique(rows.members[mask]))
        self.queries += int(np.count_nonzero(rows.ranks[mask] == 1))
        self.exposures += int(np.count_nonzero(mask))
        self.sensitivity += float(sensitivity[mask].sum())


@dataclass(slots=True)
class _Tally:
    kinds: dict[tuple[str, str], _Count] = field(default_factory=dict)
    words: dict[int, int] = field(default_factory=dict)

    def add(self, rows: Exposures, lexicon: Lexicon) -> None:
        second = np.where(rows.second == NO_WORD, rows.first, rows.second)
        one = rows.second == NO_WORD
        sensitivity = np.maximum(lexicon.sensitivity[rows.first], lexicon.sensitivity[second])
        sides = (lexicon.category[rows.first], lexicon.category[second])
        masks: dict[tuple[str, str], Masks] = {("all", "all queries"): np.ones(len(rows), dtype=np.bool_)}
        masks |= {
            ("match", name): mask
            for name, mask in zip(MATCHES, (one, ~one & rows.whole, ~one & ~rows.whole), strict=True)
        }
        for low, high, name in HELD:
            masks["held by", name] = (rows.documents >= low) & (rows.documents <= (high or rows.documents))
        for place, name in enumerate(lexicon.categories):
            masks["topic", name] = (sides[0] == place) | (sides[1] == place)
        masks["topic", ORDINARY] = (sides[0] == NONE) & (sides[1] == NONE)
        for kind, mask in masks.items():
            self.kinds.setdefault(kind, _Count()).add(rows, mask, sensitivity)
        self._add_words(rows, lexicon, (rows.first, second))

    def _add_words(self, rows: Exposures, lexicon: Lexicon, sides: tuple[NDArray[np.int32], ...]) -> None:
        """Members by sensitive word; the post need not hold it, the query does."""
        pairs = []
        for words in sides:
            named = lexicon.category[words] != NONE
            pairs.append((words[named].astype(np.int64) << 32) | rows.members[named])
        found, members = np.unique(np.unique(np.concatenate(pairs)) >> 32, return_counts=True)
        for word, number in zip(found.tolist(), members.tolist(), strict=True):
            self.words[word] = self.words.get(word, 0) + number


def count_exposures(  # noqa: PLR0913 (what is counted, what is told of it, and how far it has come)
    chunks: Iterable[Exposures],
    lexicon: Lexicon,
    *,
    least: int,
    words: int,
    total: int | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Count all exposures of some members each; no member is in two of the chunks."""
    tally = _Tally()
    with progress.task("counting", total=total, unit="exposures") as task:
        for rows in chunks:
            tally.add(rows, lexicon)
            task.advance(len(rows))
    everything = tally.kinds.get(("all", "all queries"), _Count())
    if everything.members < least:
        raise InputError(
            f"fewer than {least} members are exposed: any number about so few would point at somebody",
            hint="lower it with --least if that is acceptable, or look at single members instead",
        )
    return Audit(
        members=everything.members // least * least,
        queries=_rounded(everything.queries),
        exposures=_rounded(everything.exposures),
        least=least,
        kinds=tuple(_kind(*kind, count, least) for kind, count in tally.kinds.items() if kind[0] != "all"),
        words=_words(tally.words, lexicon, least, words),
    )


def _kind(group: str, name: str, count: _Count, least: int) -> Kind:
    if count.members < least:
        return Kind(group=group, name=name, members=None, queries=None, exposures=None, sensitivity=None)
    return Kind(
        group=group,
        name=name,
        members=count.members // least * least,
        queries=_rounded(count.queries),
        exposures=_rounded(count.exposures),
        sensitivity=round(count.sensitivity / count.exposures, 2),
    )


def _words(found: dict[int, int], lexicon: Lexicon, least: int, most: int) -> tuple[tuple[str, str, int], ...]:
    enough = {word: number for word, number in found.items() if number >= least}
    weights = {word: number * float(lexicon.sensitivity[word]) for word, number in enough.items()}
    chosen = sorted(enough, key=lambda word: (-weights[word], word))[:most]
    texts = lexicon.texts(np.array(chosen, dtype=np.int64))
    return tuple(
        (text, lexicon.categories[int(lexicon.category[word])], enough[word] // least * least)
        for text, word in zip(texts, chosen, strict=True)
    )


def _rounded(number: int) -> int:
    """To two significant digits."""
    scale = int("1" + "0" * max(0, len(str(number)) - 2))
    return round(number / scale) * scale
