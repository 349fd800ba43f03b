"""What everybody has received and earned so far, in memory: two numbers per account, whatever the number of rankings.

An account belongs to a subject, or to the actor behind several subjects. Who is new starts at zero, who leaves keeps
her account. With a half-life, old attention and old relevance fade alike: what counts is the recent past. Fading is
one factor for all, so that a ranking touches only the accounts of its own subjects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

import numpy as np

from aidos.errors import ParameterError
from aidos.rooms.fairness.rankings import Floats, Ints

__all__ = ["Accounts", "Answer", "Keeper", "MemoryKeeper", "Searcher", "Served"]

SMALLEST_SCALE = 1e-100
"""Below it the fading factor is multiplied into the numbers, long before it would vanish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was served under a name, so that the same question gets the same answer."""

    content: str
    placed_ids: tuple[str, ...]
    quality: float
    unfairness: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Served:
    """One ranking as it is counted: everything that changes accounts, and the answer that was given."""

    ranking_id: str
    content: str
    """Digest of what was asked, so that the same name with other content is noticed; empty without a name."""
    slots: Ints
    """Account of each subject, by relevance."""
    relevance: Floats
    """Of each subject in the same order; sums to 1."""
    placed: Ints
    """Who got the positions with attention: indices into `slots`."""
    attention: Floats
    """What these positions receive."""
    placed_ids: tuple[str, ...]
    """The names of those subjects."""
    searcher_id: str
    quality: float

    def answer(self, unfairness: float) -> Answer:
        """What is remembered of it, once it is counted."""
        return Answer(content=self.content, placed_ids=self.placed_ids, quality=self.quality, unfairness=unfairness)


@dataclass(slots=True)
class Searcher:
    """How good one searcher's rankings were."""

    rankings: int = 0
    quality: float = 0.0
    """Sum over the rankings."""


class Accounts:
    """Received attention and earned relevance of every account."""

    def __init__(self, *, half_life: float | None = None) -> None:
        if half_life is not None and not (isfinite(half_life) and half_life > 0):
            raise ParameterError(
                f"half_life must be greater than 0 and finite, got {half_life!r}",
                hint="it is a number of rankings; leave it out to forget nothing",
            )
        self.fading = 1.0 if half_life is None else 0.5 ** (1.0 / half_life)
        self.names: list[str] = []
        self.searchers: dict[str, Searcher] = {}
        self.rankings = 0
        self.unfairness = 0.0
        """Sum of |received - earned| over all accounts."""
        self._slots: dict[str, int] = {}
        self._scale = 1.0
        self._received = np.zeros(0)
        self._earned = np.zeros(0)
        self._asked: tuple[Sequence[str], Ints] = ((), np.zeros(0, dtype=np.int64))
        self._counted = (self._asked[1], self._asked[1])

    def __len__(self) -> int:
        return len(self.names)

    def slots(self, names: Sequence[str]) -> Ints:
        """Where these accounts are; opens those that are new."""
        if names is self._asked[0] and isinstance(names, tuple):
            return self._asked[1]  # the same subjects again, as in a repeated query
        try:
            found = self._find(names)  # mostly nobody is new, and looking once is twice as fast
        except KeyError:
            self._open(names)
            found = self._find(names)
        found.flags.writeable = False  # it is handed out again
        self._asked = (names, found)
        return found

    def received(self, slots: Ints | None = None) -> Floats:
        """Attention of these accounts; of all unless given."""
        kept = self._received[: len(self)] if slots is None else self._received[slots]
        return kept * self._scale

    def earned(self, slots: Ints | None = None) -> Floats:
        """Relevance of these accounts; of all unless given."""
        kept = self._earned[: len(self)] if slots is None else self._earned[slots]
        return kept * self._scale

    def fade(self) -> None:
        """One ranking's worth of forgetting."""
        if self.fading == 1.0:
            return
        self._scale *= self.fading
        self.unfairness *= self.fading
        if self._scale < SMALLEST_SCALE:
            self._received *= self._scale
            self._earned *= self._scale
            self._scale = 1.0

    def count(self, served: Served) -> None:
        """Add one ranking, or raise and add nothing."""
        if len(served.slots) != len(served.relevance) or len(served.placed) != len(served.attention):
            raise ValueError("a served ranking has one relevance per slot and one attention per placed subject")
        placed, touched = served.slots[served.placed], self._distinct(served.slots)
        if len(touched) and not 0 <= touched[0] <= touched[-1] < len(self):
            raise ValueError("a served ranking names an account that was never opened")
        self.fade()
        before = self._distance(touched)
        np.add.at(self._earned, served.slots, served.relevance / self._scale)
        np.add.at(self._received, placed, served.attention / self._scale)
        self.unfairness = max(self.unfairness + self._distance(touched) - before, 0.0)
        self.rankings += 1
        if served.searcher_id:
            searcher = self.searchers.setdefault(served.searcher_id, Searcher())
            searcher.rankings += 1
            searcher.quality += served.quality

    def kept(self) -> tuple[Floats, Floats, float]:
        """Attention and relevance as they are kept, and the factor that fading has left to multiply them by."""
        return self._received[: len(self)], self._earned[: len(self)], self._scale

    def load(self, names: Sequence[str], received: Floats, earned: Floats, *, rankings: int) -> None:
        """Set every account, as a store does; what was there before is gone, searchers included."""
        self.names = list(names)
        self._slots = {name: slot for slot, name in enumerate(self.names)}
        if not len(self._slots) == len(self.names) == len(received) == len(earned):
            raise ValueError("every account has one name of its own, one attention and one relevance")
        self._received, self._earned = np.array(received, dtype=np.float64), np.array(earned, dtype=np.float64)
        self._scale, self.rankings, self.searchers = 1.0, rankings, {}
        self._asked = ((), np.zeros(0, dtype=np.int64))
        self.unfairness = float(np.abs(self._received - self._earned).sum())

    def resume(self, *, scale: float, unfairness: float, searchers: Mapping[str, Searcher]) -> None:
        """After loading what `kept` gave: go on with the very bits that were there, not with a new sum."""
        self._scale, self.unfairness, self.searchers = scale, unfairness, dict(searchers)

    def _find(self, names: Sequence[str]) -> Ints:
        return np.fromiter(map(self._slots.__getitem__, names), dtype=np.int64, count=len(names))

    def _open(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._slots:
                self._slots[name] = len(self.names)
                self.names.append(name)
        self._make_room()

    def _distinct(self, slots: Ints) -> Ints:
        """The accounts of a ranking, each once and in order: sorted only when they are not those counted last."""
        if slots is not self._counted[0] or slots.flags.writeable:
            self._counted = (slots, np.unique(slots))
        return self._counted[1]

    def _distance(self, slots: Ints) -> float:
        return float(np.abs(self._received[slots] - self._earned[slots]).sum()) * self._scale

    def _make_room(self) -> None:
        if len(self.names) > len(self._received):
            room = max(len(self.names), 2 * len(self._received), 1024) - len(self._received)
            self._received = np.concatenate([self._received, np.zeros(room)])
            self._earned = np.concatenate([self._earned, np.zeros(room)])


class Keeper(Protocol):
    """Who keeps accounts: one turn at a time, and what is recorded in a turn lasts when the turn ends."""

    def turn(self) -> AbstractContextManager[Accounts]:
        """Accounts as they are now, for one caller alone."""
        ...

    def answer(self, ranking_id: str) -> Answer | None:
        """What was served under that name before; only within a turn."""
        ...

    def record(self, served: Served) -> None:
        """Count a ranking; only within a turn."""
        ...


class MemoryKeeper:
    """Accounts that live as long as the process. Not for threads."""

    def __init__(self, *, half_life: float | None = None) -> None:
        self.accounts = Accounts(half_life=half_life)
        self._answers: dict[str, Answer] = {}

    @contextmanager
    def turn(self) -> Iterator[Accounts]:
        """The accounts."""
        yield self.accounts

    def answer(self, ranking_id: str) -> Answer | None:
        """What was served under that name before."""
        return self._answers.get(ranking_id)

    def record(self, served: Served) -> None:
        """Count a ranking."""
        if served.ranking_id in self._answers:
            raise RuntimeError("a ranking of that name was counted before: ask for its answer first")
        self.accounts.count(served)
        if served.ranking_id:
            self._answers[served.ranking_id] = served.answer(self.accounts.unfairness)
