"""Stages for attacks: many independent copies of one small story, planted into one log.

In each copy (a *trial*) there is a victim, a guess about her, and sybils: accounts that the attacker made. Sybils ask
for what was guessed; the victim did so in every second trial. People and guesses of different trials have nothing in
common, so one run of a mechanism gives as many independent observations as there are trials, for every mechanism that
treats items alike and people apart.

The victim has nothing in the log but what was guessed. That is the worst case for her: no limit on contributions
hides the item behind others.

A `Stage` is where an attack is played: a mechanism as its audience sees it, a story, the crowd, and randomness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import md5
from itertools import permutations
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aidos.core.noise import Noise
from aidos.core.table import Table

__all__ = ["SEPARATOR", "ClickScene", "PairScene", "Publisher", "QueryScene", "Scene", "Scores", "Stage", "asked"]

SEPARATOR = chr(31)
"""Between the parts of an item that has several."""

Scores = npt.NDArray[np.float64]

ACTION = """
    select person as client_id, timestamp '2024-03-05 12:00:00' + to_seconds(place * 60) as "timestamp",
        {query} as user_query, person || '-1' as session_id, cast(null as varchar) as query_id, '{action}' as action,
        {result} as object_id, cast(null as integer) as position
"""
"""A planted row of the search log, from (person, item, place)."""

KNOWN = "known"
"""The query that everybody may ask, where the guess is a click."""

COLUMNS = 'client_id, "timestamp", user_query, session_id, query_id, action, object_id, position'


class Scene(Protocol):
    """A story that can be planted and looked for."""

    @property
    def trials(self) -> int:
        """How often it is told."""
        ...

    def plant(self, log: Table, sybils: int) -> Table:
        """The log with so many sybils for each guess, and with the victims of every second trial."""
        ...

    def ladder(self, log: Table, most: int) -> Table:
        """The log with guess number n asked by n sybils, n = 1, ..., most, and no victim."""
        ...

    def observe(self, released: Mapping[str, float]) -> Scores:
        """What was released of each trial's guesses, trials x items; minus infinity for what was not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryScene:
    """The guess is one query (or several) that nobody else asks: a route, an address, a name."""

    trials: int
    items: int = 1
    """Queries that a victim asked."""
    decoy: bool = False
    """Whether a victim who did not ask the guess asked something else (replace one) or nothing (remove one)."""

    def plant(self, log: Table, sybils: int) -> Table:
        """The log with so many sybils for each guess, and with the victims of every second trial."""
        return _planted(log, _story(self.trials, self.items, sybils, decoy=self.decoy))

    def ladder(self, log: Table, most: int) -> Table:
        """The log with guess number n asked by n sybils, n = 1, ..., most, and no victim."""
        return _planted(log, _rungs(most))

    def observe(self, released: Mapping[str, float]) -> Scores:
        """What was released of each trial's guesses, trials x items; minus infinity for what was not."""
        return _looked_up(released, self.guesses()).reshape(self.trials, self.items)

    def guesses(self) -> tuple[str, ...]:
        """All queries that are guessed, trial by trial."""
        return tuple(_guess_text(trial, item) for trial in range(self.trials) for item in range(self.items))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickScene:
    """The guess is a click on one result of a query that everybody may ask."""

    trials: int

    def plant(self, log: Table, sybils: int) -> Table:
        """The log with so many sybils for each guess, and with the victims of every second trial."""
        return _planted(log, _story(self.trials, 1, sybils, decoy=False), clicks=True)

    def ladder(self, log: Table, most: int) -> Table:
        """The log with guess number n clicked by n sybils, n = 1, ..., most, and no victim."""
        return _planted(log, _rungs(most), clicks=True)

    def observe(self, released: Mapping[str, float]) -> Scores:
        """What was released of each trial's click, trials x 1; minus infinity for what was not."""
        return _looked_up(released, map(SEPARATOR.join, self.results())).reshape(self.trials, 1)

    def results(self) -> tuple[tuple[str, str], ...]:
        """The public list: the query and every result that a guess is about."""
        return tuple((KNOWN, _guess_text(trial, 0)) for trial in range(self.trials))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScene:
    """The guess is that a victim asked one well-known query right after another; nobody else did."""

    trials: int
    crowd: int
    """People who ask each of the well-known queries, so that it is released."""

    def plant(self, log: Table, sybils: int) -> Table:
        """The log with the crowd, so many sybils for each pair, and the victims of every second trial."""
        pairs, sybil = f"({self._pairs(self.trials)}) as p", f"range({sybils}) as s(sybil)"
        return _planted(
            log,
            f"""
            select 'sybil-' || trial || '-' || sybil as person, item, place from {pairs}, {sybil}
            union all select 'victim-' || trial, item, place from {pairs} where trial % 2 = 1
            union all {self._crowd()}
            """,
        )

    def ladder(self, log: Table, most: int) -> Table:
        """The log with the crowd and pair number n asked by n sybils, and no victim."""
        most = min(most, self.trials)
        return _planted(
            log,
            f"""
            select 'sybil-' || trial || '-' || sybil as person, item, place
            from ({self._pairs(most)}) as p, range({most}) as s(sybil) where sybil <= trial
            union all {self._crowd()}
            """,
        )

    def observe(self, released: Mapping[str, float]) -> Scores:
        """What was released of each trial's pair, trials x 1; minus infinity for what was not."""
        names = (SEPARATOR.join(pair) for pair in self._named_pairs())
        return _looked_up(released, names).reshape(self.trials, 1)

    def known_queries(self) -> tuple[str, ...]:
        """The well-known queries: enough of them for every trial to have a pair of its own."""
        number = next(n for n in range(2, self.trials + 3) if n * (n - 1) >= self.trials)
        # Every word is in two of them: the pool release as published drops queries with a word of their own.
        return tuple(f"known{place} known{(place + 1) % number}" for place in range(number))

    def _named_pairs(self) -> list[tuple[str, str]]:
        return list(permutations(self.known_queries(), 2))[: self.trials]

    def _pairs(self, number: int) -> str:
        """Two rows for each trial: the first query of its pair and the second."""
        numbered = enumerate(self._named_pairs()[:number])
        values = ", ".join(f"({t}, '{a}', 0), ({t}, '{b}', 1)" for t, (a, b) in numbered)
        return f"select * from (values {values}) as v(trial, item, place)"

    def _crowd(self) -> str:
        known = ", ".join(f"('{query}')" for query in self.known_queries())
        return f"""
            select 'crowd-' || known || '-' || member, known, 0
            from (values {known}) as k(known), range({self.crowd}) as m(member)
        """


def asked(trials: int) -> npt.NDArray[np.bool_]:
    """In which trials the victim did what the attacker guesses."""
    odd: npt.NDArray[np.bool_] = np.arange(trials) % 2 == 1
    return odd


def _planted(log: Table, rows: str, *, clicks: bool = False) -> Table:
    if clicks:
        action = ACTION.format(query=f"'{KNOWN}'", result="item", action="click")
    else:
        action = ACTION.format(query="item", result="cast(null as varchar)", action="query")
    return log.select(f"select {COLUMNS} from {{table}} union all {action} from ({rows})")


def _story(trials: int, items: int, sybils: int, *, decoy: bool) -> str:
    """Rows (person, item, place): sybils who each do one thing, victims who did all of a trial, or something else."""
    told = f"range({trials}) as a(trial), range({items}) as b(item)"
    guess, other = _guess("trial", "item"), _guess("trial", "item", "decoy")
    return f"""
        select 'sybil-' || trial || '-' || item || '-' || sybil as person, {guess} as item, 0 as place
        from {told}, range({sybils}) as c(sybil)
        union all select 'victim-' || trial, {guess}, item from {told} where trial % 2 = 1
        union all select 'victim-' || trial, {other}, item from {told} where trial % 2 = 0 and {decoy}
    """


def _rungs(most: int) -> str:
    """Rows (person, item, place): rung number n with n sybils."""
    return f"""
        select 'sybil-' || rung || '-' || sybil as person, {_guess("rung", "0")} as item, 0 as place
        from range({most}) as a(rung), range({most}) as b(sybil) where sybil <= rung
    """


def _guess(trial: str, item: str, salt: str = "guess") -> str:
    """A made-up word for each trial and item, in SQL; words share hardly more than a first letter."""
    return f"substr(md5('{salt}/' || {trial} || '/' || {item}), 1, 12)"


def _guess_text(trial: int, item: int) -> str:
    return md5(f"guess/{trial}/{item}".encode(), usedforsecurity=False).hexdigest()[:12]


def _looked_up(released: Mapping[str, float], names: Iterable[str]) -> Scores:
    return np.array([released.get(name, -np.inf) for name in names])


Publisher = Callable[[Table, Noise], Mapping[str, float]]
"""A log goes in, released items and their counts come out.

Items of several columns are joined by `aidos.rooms.publish.attacks.scenes.SEPARATOR`; items without a count have 1.
"""


MOST_SYBILS = 400
"""How many accounts the attacker makes for one guess, at most."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that an attack needs."""

    publish: Publisher
    scene: Scene
    crowd: Table
    """The log of everybody else."""
    noise: Noise
    """What the mechanism draws from, anew in every run."""

    def play(self, sybils: int) -> Scores:
        """One run: what was released of each trial's guesses, trials x items; minus infinity for what was not."""
        return self._seen(self.scene, self.scene.plant(self.crowd, sybils))

    def edge(self) -> int:
        """How many sybils a guess can have before it comes out (half of the time, where there is noise)."""
        # One item a trial is enough to see how many sybils each needs.
        scene = replace(self.scene, items=1) if isinstance(self.scene, QueryScene) else self.scene
        most = min(MOST_SYBILS, scene.trials)
        return int(np.isneginf(self._seen(scene, scene.ladder(self.crowd, most))[:most, 0]).sum())

    def tactics(self) -> tuple[int, ...]:
        """Numbers of sybils worth a try: the edge, where one more tips the scale, and well beyond it.

        Beyond the edge the guess comes out in any case, and the victim's mark is on its count.
        """
        edge = self.edge()
        return (edge, min(2 * edge + 2, MOST_SYBILS))

    def _seen(self, scene: Scene, planted: Table) -> Scores:
        # Mechanisms read the log more than once; it need not be made up each time.
        with planted.held() as log:
            return scene.observe(self.publish(log, self.noise))
