"""A mediator at work: objects come one at a time and get an account each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.shield.mediator.assignment import MediatorAccounts
from aidos.shield.mediator.objects import MOST_NUMBER, Objects, TopicVectors
from aidos.shield.mediator.states import ChunkState, CommonsState, CosineState, JaccardState, State

__all__ = ["Mediator"]

Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

PAIRS_AT_ONCE = 1024
"""Pairs of random words drawn ahead for objects that come one at a time."""

LEAST_COMMONS, MORE_COMMONS = 0.04, 0.8
"""Share of the accounts that are common: so much, and so much more for each unit of alpha.

Fewer commons keep more coherence but crowd the accounts where scattered queries are answered: with a slope of 0.36 the
rankings of a synthetic community got no better than with the original, with 0.6, 0.8 and 0.95 they did.
"""


class Mediator:
    """Accounts, and the memory that it takes to choose among them; not for several threads at a time."""

    def __init__(self, mechanism: MediatorAccounts, *, noise: Noise, people: int | None = None) -> None:
        """Start with empty accounts: the mechanism's number, or one for each of so many people."""
        accounts = mechanism.accounts or people
        if not accounts or accounts < 1:
            raise ParameterError(
                "a mediator needs at least one account", hint="give the number of accounts, or people to count"
            )
        self.mechanism = mechanism
        self.accounts = accounts
        self._noise = noise
        self._words: list[Words] = []
        self.state = _empty_state(mechanism, accounts)

    @property
    def sizes(self) -> Longs:
        """Objects in each account so far."""
        return self.state.sizes.copy()

    def assign(self, person: int, topics: int | Mapping[int, float], alpha: float | None = None) -> int:
        """The account for one object, with its topic or its weights by topic, and with an alpha of its own if given."""
        if isinstance(self.state, ChunkState | CommonsState) and isinstance(topics, int | np.integer):
            return self._assign_quickly(self.state, person, int(topics), alpha)
        held = np.array([topics]) if isinstance(topics, int | np.integer) else _vector(topics)
        alphas = None if alpha is None else np.array([alpha])
        return int(self.assign_all(Objects(people=np.array([person]), topics=held, alphas=alphas))[0])

    def assign_all(self, objects: Objects) -> Longs:
        """The accounts of several objects, assigned one after the other in the order given."""
        alphas = objects.alphas if objects.alphas is not None else np.full(len(objects), float(self.mechanism.alpha))
        return self.state.assign(objects, alphas, _draw(self._noise, len(objects)))

    def _assign_quickly(self, state: ChunkState | CommonsState, person: int, topic: int, alpha: float | None) -> int:
        """The same without arrays, which take longer to make than to use."""
        chance = self.mechanism.alpha if alpha is None else alpha
        if not 0 <= chance <= 1:
            raise InputError(f"alpha must be between 0 and 1, got {chance!r}")
        if not (0 <= person < MOST_NUMBER and 0 <= topic < MOST_NUMBER):
            raise InputError(f"people and topics must be numbered from 0 to below {MOST_NUMBER}")
        if not self._words:
            self._words = list(_draw(self._noise, PAIRS_AT_ONCE))
        return state.assign_one(person, topic, float(chance), self._words.pop())


def _draw(noise: Noise, pairs: int) -> Words:
    """Pairs of random words of 64 bits."""
    drawn = noise.bits.getrandbits(128 * pairs) if pairs else 0
    return np.frombuffer(drawn.to_bytes(16 * pairs, "little"), dtype=np.uint64).reshape(-1, 2)


def _empty_state(mechanism: MediatorAccounts, accounts: int) -> State:
    match mechanism.similarity:
        case "cosine":
            return CosineState(accounts)
        case "jaccard":
            return JaccardState(accounts)
        case "same-topic":
            if mechanism.heuristic == "original":
                return ChunkState(accounts)
            share = LEAST_COMMONS + MORE_COMMONS * mechanism.alpha
            return CommonsState(accounts, min(max(round(share * accounts), 1), accounts - 1))


def _vector(weights: Mapping[int, float]) -> TopicVectors:
    if not isinstance(weights, Mapping):
        raise InputError("an object has one topic number, or weights by topic number")
    return TopicVectors(
        starts=np.array([0, len(weights)]),
        topics=np.array(list(weights), dtype=np.int64),
        weights=np.array(list(weights.values()), dtype=np.float64),
    )
