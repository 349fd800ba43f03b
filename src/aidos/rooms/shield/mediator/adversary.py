"""The informed adversary: she knows texts that people wrote elsewhere, and looks for them behind the accounts.

People write in public: questions, posts, reviews. Here a part of everybody's texts, drawn at random, is known with its
author; of the rest the adversary sees words, topic and account, as a search service does. She has two ways:

- *By account*: she takes the queries on one topic in one account for one person's, as they are where topics are kept
  together, and names the author for all of them at once. Person i has for each word w the score
  ln[(c_iw + 500 p_w) / (N_i + 500)], with c_iw uses of w among the N_i words known of her and p_w the share of w among
  everybody's, and starts at the logarithm of how often she is known to ask about the topic. The largest sum is named.
- *By words*: she names an author for every single query by the same sum, as she could without any accounts.

A query is re-linked when its true author is named. What the first way finds beyond the second is what accounts give
away. Who can try both takes the better, so that is what is told. From the first way follows a person's main account:
the one with most of the queries that were taken for hers, or with the group that came closest to be, where none was.

What she fails at others may not: she uses neither times nor the order of queries, and only texts of this kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError
from aidos.rooms.shield.mediator.assignment import Assignment
from aidos.rooms.shield.mediator.kernels.mixing import Gains, Suspects, name_authors
from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["Informed", "InformedAdversary", "Relinked", "Texts"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNSEEN = 0.5
"""Added to every count of a word, a topic and a person, so that none is impossible."""
ANY_TOPIC = 2.0
"""How many queries everybody's topics count for beside a person's own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Texts:
    """Texts as numbers of words: those of text i stand from starts[i] to starts[i + 1]."""

    starts: Longs
    words: Longs

    def __len__(self) -> int:
        return len(self.starts) - 1

    def taken(self, order: Longs) -> Texts:
        """These texts, in this order."""
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(starts[-1]) - np.repeat(starts[:-1] - self.starts[:-1][order], lengths)
        return Texts(starts=starts, words=self.words[places])

    def grouped(self, groups: Longs) -> Texts:
        """One text for each group of texts that follow each other."""
        ends = np.flatnonzero(np.append(np.diff(groups) != 0, len(groups) > 0))
        return Texts(starts=self.starts[np.append(0, ends + 1)], words=self.words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relinked:
    """What the adversary found, by person; NaN for people of whom she saw no query."""

    by_account: Floats
    """Share of the person's queries whose author she named, topic by topic and account by account."""
    by_words: Floats
    """The same, query by query, accounts playing no part."""
    main_account: Floats
    """1 where she named an account with most of the person's queries, else 0."""
    main_chance: Floats
    """How often a blind choice among all accounts names one."""

    @property
    def best(self) -> Floats:
        """The shares of the way that finds more in all."""
        return self.by_account if np.nansum(self.by_account) > np.nansum(self.by_words) else self.by_words


@dataclass(frozen=True, slots=True, kw_only=True)
class InformedAdversary:
    """Name the authors of queries by texts that they wrote elsewhere."""

    known: Annotated[float, Gt(0), Lt(1)] = 0.5
    """Share of each person's texts that is known, rounded down; the rest are looked for."""

    smoothing: Annotated[float, Gt(0)] = 500.0
    """How many words everybody's language counts for beside a person's own."""

    seed: int = 0
    """Which texts are known."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def learn(self, objects: Objects, asked: Texts, written: Texts | None = None) -> Informed:
        """Learn what is known, of the queries themselves or of the whole texts from which they were made."""
        written = asked if written is None else written
        if not len(objects) == len(asked) == len(written):
            raise InputError(f"{len(objects)} objects but {len(asked)} and {len(written)} texts")
        known = self._known(objects.people)
        seen = np.flatnonzero(~known)
        suspects = self._suspects(objects, written, np.flatnonzero(known), _width(asked, written))
        return Informed(suspects=suspects, objects=objects, seen=seen, asked=asked.taken(seen))

    def _known(self, people: Longs) -> Bools:
        order = np.lexsort((np.random.default_rng(self.seed).random(len(people)), people))
        places, counts = _places(people[order]), np.bincount(people)
        known = np.zeros(len(people), dtype=np.bool_)
        known[order] = places < np.floor(self.known * counts[people[order]])
        return known

    def _suspects(self, objects: Objects, written: Texts, known: Longs, width: int) -> Suspects:
        number, authors, topics = objects.people_count, objects.people[known], objects.labels[known]
        texts = written.taken(known)
        owners = np.repeat(authors, np.diff(texts.starts))
        used = np.bincount(texts.words, minlength=width) + UNSEEN
        words, who, uses = _counted(texts.words, owners, number)
        gains = np.log1p(uses / (self.smoothing * (used / used.sum())[words]))
        asked, kinds = np.bincount(authors, minlength=number), int(objects.labels.max(initial=0)) + 1
        popular = np.bincount(topics, minlength=kinds) + UNSEEN
        held, holders, times = _counted(topics, authors, number)
        known_for = np.log1p(times / (ANY_TOPIC * (popular / popular.sum())[held]))
        return Suspects(
            words=Gains(_starts(words, width), who, gains),
            topics=Gains(_starts(held, kinds), holders, known_for),
            base=np.log((asked + UNSEEN) / (asked + ANY_TOPIC)),
            costs=np.log(np.bincount(owners, minlength=number) + self.smoothing),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Informed:
    """The adversary who has read what is known."""

    suspects: Suspects
    objects: Objects
    seen: Longs
    """Numbers of the objects that she looks for."""
    asked: Texts
    """Their words."""

    def attack(self, assignment: Assignment) -> Relinked:
        """Name authors and main accounts under an assignment of all objects."""
        if len(self.objects) != len(assignment.chosen):
            raise InputError(f"{len(self.objects)} objects but {len(assignment.chosen)} accounts")
        people, topics = self.objects.people[self.seen], self.objects.labels[self.seen]
        accounts = assignment.chosen[self.seen]
        order = np.lexsort((topics, accounts))
        cells = np.unique(accounts * (topics.max(initial=0) + 1) + topics, return_inverse=True)[1]
        firsts = order[_places(cells[order]) == 0]
        texts = self.asked.taken(order).grouped(cells[order])
        authors, closest = name_authors(self.suspects, texts.starts, texts.words, topics[firsts])
        single, _ = name_authors(self.suspects, self.asked.starts, self.asked.words, topics)
        number, named = self.objects.people_count, authors[cells]
        guessed = accounts[firsts][closest]
        for account, person in zip(*_most(accounts, named, assignment.accounts), strict=True):
            guessed[person] = account
        found, chance = _main(people, accounts, guessed, assignment.accounts)
        return Relinked(
            by_account=_share(named == people, people, number),
            by_words=_share(single == people, people, number),
            main_account=found,
            main_chance=chance,
        )


def _width(*texts: Texts) -> int:
    return max(int(each.words.max(initial=0)) for each in texts) + 1


def _places(sorted_values: Longs) -> Longs:
    """The place of each value among its equals."""
    return np.arange(len(sorted_values)) - np.searchsorted(sorted_values, sorted_values)


def _counted(rows: Longs, columns: Longs, width: int) -> tuple[Longs, Longs, Longs]:
    """Row, column and count of every pair that occurs, by row."""
    pairs, counts = np.unique(rows.astype(np.int64) * width + columns, return_counts=True)
    return pairs // width, pairs % width, counts


def _starts(sorted_rows: Longs, rows: int) -> Longs:
    return np.searchsorted(sorted_rows, np.arange(rows + 1)).astype(np.int64)


def _most(accounts: Longs, people: Longs, number: int) -> tuple[Longs, Longs]:
    """The account with most of each person, the lowest of equals; and the person."""
    who, where, counts = _counted(people, accounts, number)
    order = np.lexsort((where, -counts, who))
    first = order[_places(who[order]) == 0]
    return where[first], who[first]


def _main(people: Longs, accounts: Longs, guessed: Longs, number: int) -> tuple[Floats, Floats]:
    """Whether each guess holds most of its person, and how often a blind one does."""
    who, where, counts = _counted(people, accounts, number)
    most = np.zeros(len(guessed), dtype=np.int64)
    np.maximum.at(most, who, counts)
    right = counts == most[who]
    found = np.bincount(who, weights=right & (where == guessed[who]), minlength=len(guessed))
    chance = np.bincount(who, weights=right, minlength=len(guessed)) / number
    return np.where(most > 0, found, np.nan), np.where(most > 0, chance, np.nan)


def _share(right: Bools, people: Longs, number: int) -> Floats:
    """The share of each person's queries that were found."""
    seen = np.bincount(people, minlength=number)
    return np.where(seen > 0, np.bincount(people, weights=right, minlength=number) / np.maximum(seen, 1), np.nan)
