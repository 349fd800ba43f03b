"""Entries that arrive: a few texts of people as `People`, without an engine, and numbered so that numbers repeat.

Sums over the words of an entry are taken in the order of the words' numbers, and numbers go by first appearance: the
same entry read among others may differ in its last digit. A state that lives for years must not depend on what was
read beside what, so it renumbers words by the alphabet (`in_order`) before anything is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.text.analyser import Analyser
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.risk.entries import Bags, bags_of
from aidos.rooms.risk.people import People, PeopleFacts

__all__ = ["Arrival", "in_order", "people_of_arrivals"]

Longs: TypeAlias = NDArray[np.int64]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One new post or query."""

    person: str
    """Whose it is."""
    text: str
    when: datetime | None = None
    """Times without a zone are taken as UTC, as everywhere in aidos."""
    entry: str = ""
    """The name of the entry, such as its post_id; empty where it has none."""


def people_of_arrivals(arrivals: Sequence[Arrival], *, analyser: Analyser) -> People:
    """Arrivals as people, as reading a table of them would give them; words are numbered by the alphabet."""
    if not arrivals:
        raise ParameterError("there are no entries", hint="give at least one post or query")
    if not all(arrival.person for arrival in arrivals):
        raise ParameterError("an entry has no person", hint="say whose it is")
    seconds = [None if arrival.when is None else _seconds(arrival.when) for arrival in arrivals]
    without_time = seconds.count(None)
    order = sorted(range(len(arrivals)), key=lambda at: (arrivals[at].person, seconds[at] or 0, arrivals[at].entry, at))
    known = [arrivals[at] for at in order]
    names = list(dict.fromkeys(arrival.person for arrival in known))
    firsts = np.searchsorted(np.array([arrival.person for arrival in known], dtype=object), names)
    starts = np.append(firsts, len(known)).astype(np.int64)
    vocabulary = Vocabulary()
    bags = bags_of([arrival.text for arrival in known], vocabulary, analyser)
    named = any(arrival.entry for arrival in known)
    times = None if without_time else np.array([seconds[at] for at in order], dtype=np.int64)
    return in_order(
        People(
            ids=pa.array(names, type=pa.large_string()),
            entry_ids=pa.array([arrival.entry for arrival in known], type=pa.large_string()) if named else None,
            person_starts=starts,
            times=times,
            bags=bags,
            vocabulary=vocabulary,
            analyser=analyser,
            facts=_facts(starts, bags, len(vocabulary), without_time),
        )
    )


def in_order(people: People) -> People:
    """The same people with words numbered by the alphabet; an entry's numbers then rise whatever is read beside it."""
    words = people.vocabulary.terms(np.arange(len(people.vocabulary)))
    # By code points, which is also the order of the bytes.
    order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
    if np.array_equal(order, np.arange(len(order))):
        return people
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    renumbered = numbers[people.bags.words]
    entries = np.repeat(np.arange(len(people.bags.starts) - 1), np.diff(people.bags.starts))
    turn = np.lexsort((renumbered, entries))
    return People(
        ids=people.ids,
        entry_ids=people.entry_ids,
        person_starts=people.person_starts,
        times=people.times,
        bags=Bags(people.bags.starts, renumbered[turn], people.bags.frequencies[turn]),
        vocabulary=Vocabulary([words[at] for at in order.tolist()]),
        analyser=people.analyser,
        facts=people.facts,
    )


def _seconds(when: datetime) -> int:
    moment = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return int((moment - EPOCH).total_seconds() // 1)


def _facts(starts: Longs, bags: Bags, words: int, without_time: int) -> PeopleFacts:
    return PeopleFacts(
        people=len(starts) - 1,
        entries=int(starts[-1]),
        words=words,
        people_with_one_entry=int((np.diff(starts) == 1).sum()),
        people_without_words=int((np.diff(bags.starts[starts]) == 0).sum()),
        entries_without_words=int((np.diff(bags.starts) == 0).sum()),
        entries_without_time=without_time,
    )
