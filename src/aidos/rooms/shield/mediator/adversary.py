"""The profile-linking adversary: who knows what a person is interested in looks for the account that she uses.

The adversary knows the true topics of one person, as counts, and sees the topics of every account. She ranks accounts
by KL(person || account) or by the likelihood that the account's topics produced the person's objects, and is right when
an account that holds most of the person's objects (any of them, where several hold equally many) is among her first
guesses. Beside it stands what a blind guess would achieve, and how much of the person is in the guessed accounts.

A stronger adversary knows words, times and devices as well; what this one fails at, others may not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError
from aidos.rooms.shield.mediator.assignment import Assignment
from aidos.rooms.shield.mediator.measures import AT_ONCE, divergences, smoothed_topics, topic_counts
from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["Linked", "ProfileLinking"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Z = 1.959963984540054
"""95 % of a normal variable is within so many standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linked:
    """What the adversary found, by person; NaN for people without objects."""

    guesses: int
    ranks: Floats
    """Where the first account with most of the person stands, counted from 1."""
    chances: Floats
    """How likely a blind choice of as many accounts contains one with most of the person."""
    exposed: Floats
    """Share of the person's objects in the accounts guessed."""

    @property
    def success(self) -> float:
        """Share of people who were found."""
        return float(np.mean(self.found))

    @property
    def chance(self) -> float:
        """The share that blind guesses would find."""
        return float(np.nanmean(self.chances)) if len(self.found) else float("nan")

    @property
    def found(self) -> NDArray[np.bool_]:
        """Of the people who have objects: who was found."""
        return self.ranks[~np.isnan(self.ranks)] <= self.guesses

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the success rate, people being the sample."""
        people = len(self.found)
        centre = (self.success + Z**2 / (2 * people)) / (1 + Z**2 / people)
        half = Z / (1 + Z**2 / people) * sqrt(self.success * (1 - self.success) / people + (Z / (2 * people)) ** 2)
        return centre - half, centre + half


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLinking:
    """Guess which account is whose, from topics alone."""

    guesses: Annotated[int, Ge(1)] = 1
    """How many accounts the adversary may name."""

    ranked_by: Literal["divergence", "likelihood"] = "divergence"
    """How she ranks accounts: by divergence of topics, or by the likelihood of the person's objects."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def attack(self, objects: Objects, assignment: Assignment) -> Linked:
        """Look for everybody."""
        if len(objects) != len(assignment.chosen):
            raise InputError(f"{len(objects)} objects but {len(assignment.chosen)} accounts")
        people, number = topic_counts(objects.people, objects, objects.people_count), assignment.accounts
        accounts = topic_counts(assignment.chosen, objects, number, people.shape[1])
        ranks, chances, exposed = (np.full(len(people), np.nan) for _ in range(3))
        step = max(1, AT_ONCE // number)
        for start in range(0, len(people), step):
            some = slice(start, min(start + step, len(people)))
            held = _held(objects, assignment, some)
            seen = held.sum(axis=1) > 0
            order = np.argsort(self._distances(people[some], accounts), axis=1, kind="stable")
            in_order = np.take_along_axis(held, order, axis=1)
            most = held.max(axis=1, keepdims=True)
            ranks[some][seen] = (in_order == most).argmax(axis=1)[seen] + 1
            chances[some][seen] = _blind((held == most).sum(axis=1), number, min(self.guesses, number))[seen]
            exposed[some][seen] = in_order[seen, : self.guesses].sum(axis=1) / held.sum(axis=1)[seen]
        return Linked(guesses=self.guesses, ranks=ranks, chances=chances, exposed=exposed)

    def _distances(self, people: Floats, accounts: Floats) -> Floats:
        if self.ranked_by == "divergence":
            return divergences(people, accounts)
        return -people @ np.log(smoothed_topics(accounts)).T


def _held(objects: Objects, assignment: Assignment, some: slice) -> Longs:
    """People by accounts: how many objects."""
    mine = (objects.people >= some.start) & (objects.people < some.stop)
    cells = (objects.people[mine] - some.start) * assignment.accounts + assignment.chosen[mine]
    shape = some.stop - some.start, assignment.accounts
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _blind(right: Longs, accounts: int, guesses: int) -> Floats:
    """Chance that at least one of so many accounts drawn without replacement is right."""
    missed = np.ones(len(right))
    for drawn in range(guesses):
        missed *= np.maximum(accounts - right - drawn, 0) / (accounts - drawn)
    return 1.0 - missed
