"""Which kinds of query expose most people, and most sensitively: the operator's view, without any member in it.

Exposure is counted by kind: how much of the query the post holds, how many posts hold all of it, and which sensitive
topics it gives away. Under a topic counts only what a word of the query gives away in a post that is about the topic
(its sense there is at least 0.35, see `aidos.model.senses`): by words alone nearly everybody would be under nearly
every topic. No query and no post is told, except single words of the lexicon of sensitive topics, which is public.
A kind that concerns fewer than ``least`` members is told by its name alone; numbers of members are rounded
down to multiples of ``least``, other counts to two digits, so that no difference of two counts points at somebody.

The share of members has a 95 % interval (Wilson's), as if these members were drawn from many: with few members the
order of kinds is chance. It is computed from the rounded numbers.

This is a threshold, no proof: who can add members or compares audits of two days learns more than one audit tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError
from aidos.model.senses import ABOUT
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures

__all__ = ["ORDINARY", "Audit", "Kind", "Lexicon", "count_exposures", "wilson"]

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
"""The kind of queries that give nothing sensitive away."""
NORMAL = 1.959963984540054
"""Deviations of a normal distribution within which 95 % lie."""


class Lexicon(Protocol):
    """What is known of the words."""

    @property
    def categories(self) -> Sequence[str]:
        """The sensitive categories."""

    def senses(self, posts: NDArray[np.int32], words: NDArray[np.int32]) -> Floats:
        """How much each word is about each category (a column) in the post beside it; 0 where there is no word."""

    def texts(self, words: Longs) -> list[str]:
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
    """The largest sense of a word of its queries, on average over exposures."""
    share: float | None
    """Of the exposed members, those who are exposed by it."""
    low: float | None
    """Where the 95 % interval of the share begins."""
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All kinds, and the words of sensitive topics that expose most members."""

    members: int
    queries: int
    exposures: int
    least: int
    kinds: tuple[Kind, ...]
    words: tuple[tuple[str, str, int], ...]
    """Word, category and members exposed by queries with it, in posts about that; most members first."""


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
    """Members by word and category, as one number."""

    def add(self, rows: Exposures, lexicon: Lexicon) -> None:
        sides = [lexicon.senses(rows.posts, words) for words in (rows.first, rows.second)]
        senses = np.maximum(*sides)
        about, sensitivity = senses >= ABOUT, senses.max(axis=1, initial=0.0)
        one = rows.second == NO_WORD
        masks: dict[tuple[str, str], Masks] = {("all", "all queries"): np.ones(len(rows), dtype=np.bool_)}
        masks |= {
            ("match", name): mask
            for name, mask in zip(MATCHES, (one, ~one & rows.whole, ~one & ~rows.whole), strict=True)
        }
        for low, high, name in HELD:
            masks["held by", name] = (rows.documents >= low) & (rows.documents <= (high or rows.documents))
        for place, name in enumerate(lexicon.categories):
            masks["topic", name] = about[:, place]
        masks["topic", ORDINARY] = ~np.any(about, axis=1)
        for kind, mask in masks.items():
            self.kinds.setdefault(kind, _Count()).add(rows, mask, sensitivity)
        self._add_words(rows, sides)

    def _add_words(self, rows: Exposures, sides: list[Floats]) -> None:
        """Members by word and the category that it gives away most."""
        pairs = []
        for words, senses in zip((rows.first, rows.second), sides, strict=True):
            told = np.flatnonzero(senses.max(axis=1, initial=0.0) >= ABOUT)
            names = words[told].astype(np.int64) * senses.shape[1] + senses[told].argmax(axis=1)
            pairs.append((names << 32) | rows.members[told])
        found, members = np.unique(np.unique(np.concatenate(pairs)) >> 32, return_counts=True)
        for name, number in zip(found.tolist(), members.tolist(), strict=True):
            self.words[name] = self.words.get(name, 0) + number


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
            hint="members can be looked at one by one; --least may be as low as 10",
        )
    return Audit(
        members=everything.members // least * least,
        queries=_rounded(everything.queries),
        exposures=_rounded(everything.exposures),
        least=least,
        kinds=tuple(
            _kind(*kind, count, least, everything.members) for kind, count in tally.kinds.items() if kind[0] != "all"
        ),
        words=_words(tally.words, lexicon, least, words),
    )


def _kind(group: str, name: str, count: _Count, least: int, everybody: int) -> Kind:
    if count.members < least:
        unknown = dict.fromkeys(("members", "queries", "exposures", "sensitivity", "share", "low", "high"))
        return Kind(group=group, name=name, **unknown)
    members, all_members = count.members // least * least, everybody // least * least
    low, high = wilson(members, all_members)
    return Kind(
        group=group,
        name=name,
        members=members,
        queries=_rounded(count.queries),
        exposures=_rounded(count.exposures),
        sensitivity=round(count.sensitivity / count.exposures, 2),
        share=round(members / all_members, 3),
        low=round(low, 3),
        high=round(high, 3),
    )


def wilson(some: int, number: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share, square = some / number, NORMAL * NORMAL / number
    centre, reach = share + square / 2, NORMAL * math.sqrt(share * (1 - share) / number + square / (4 * number))
    return max((centre - reach) / (1 + square), 0.0), min((centre + reach) / (1 + square), 1.0)


def _words(found: dict[int, int], lexicon: Lexicon, least: int, most: int) -> tuple[tuple[str, str, int], ...]:
    enough = {name: number for name, number in found.items() if number >= least}
    chosen = sorted(enough, key=lambda name: (-enough[name], name))[:most]
    categories = lexicon.categories
    texts = lexicon.texts(np.array([name // len(categories) for name in chosen], dtype=np.int64))
    return tuple(
        (text, categories[name % len(categories)], enough[name] // least * least)
        for text, name in zip(texts, chosen, strict=True)
    )


def _rounded(number: int) -> int:
    """To two significant digits."""
    scale = int("1" + "0" * max(0, len(str(number)) - 2))
    return round(number / scale) * scale
