"""Mediator accounts: queries issued from shared accounts (Biega et al. 2017; thesis, chapter 7).

A proxy issues each object from one of many accounts. With ``pools`` the topic alone decides which
(`aidos.rooms.shield.mediator.pools`), and of that something can be proven. The other heuristics look at who asks.

The original heuristic tosses a coin for each object: with
probability alpha the account is any, otherwise the one where the object fits best:

    P(m) = alpha / |M| + (1 - alpha) [m has the best coherence],  coherence = sum of similarities with m's objects / |m|

An object that fits nowhere goes to any account. Coherence divides by the account's size, as defined: an account with
one object that matches beats a large one with fifty matching among sixty. A chunk therefore moves on to small accounts
where chance has dropped one of its objects, and what it leaves behind keeps losing coherence.

The heuristic ``commons`` does not, and gives more entropy for the same loss of coherence. Three observations led to it:

- For a given entropy, one large piece and single objects elsewhere keep the most coherence (the sum of squares is
  largest); even pieces keep the least. So a chunk stays at one home for good, and scattered objects of a person go
  where she has not been: no object is scattered in vain.
- A scattered object harms the coherence of the account that it enters. So a part of the accounts, the commons, takes
  scattered objects, somewhat more densely than the others: the homes stay small, which is what coherence asks for.
- Topics that a person shows late are mostly small. So a topic that comes after her first fifteen objects gets its home
  in the commons, and large chunks share the remaining accounts with few others: the emptiest of four is taken.

At equal entropy, on worlds other than the one on which its constants were chosen, it loses 72 % less coherence with
alpha 0, 27 % less with 0.2, 9 % less with 0.6 and nothing less where all is random; rankings change 1 to 2 % less (9 %
with alpha 0). It is not better in every way: the account nearest to a person is nearer (least divergence 15 % lower
with alpha 0.6, 38 % with 0.8). Scattering to commons that lean to the object's topic was tried and changed rankings
more, not less.

Not promised: any bound on what an observer learns. Entropy counts how far objects are spread, not how much each of them
tells; somebody with one interest cannot hide it. Original and commons need to know which accounts a person and topic
went to, for as long as they run; with pools, ``cosine`` and ``jaccard`` people play no part, and nothing about them is
kept.

`Mediator` is a mediator at work: objects come one at a time and get an account each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.objects import MOST_NUMBER, Objects, TopicVectors
from aidos.rooms.shield.mediator.pools import Pools, form_pools
from aidos.rooms.shield.mediator.states import ChunkState, CommonsState, CosineState, JaccardState, PoolState, State

__all__ = ["Assignment", "Mediator", "assign_objects", "one_account", "own_accounts"]

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assignment:
    """Where each object went."""

    accounts: int
    """How many accounts there are, empty ones included."""
    chosen: Longs
    """Number of the account, by object, in the order in which the objects were given."""
    noise_source: str
    """Where the randomness came from; who knows a seed can undo the scattering."""


NOT_RANDOM = "nothing is random"


def own_accounts(objects: Objects) -> Assignment:
    """Nothing is mediated: everybody has an account of her own."""
    return Assignment(accounts=max(objects.people_count, 1), chosen=objects.people, noise_source=NOT_RANDOM)


def one_account(objects: Objects) -> Assignment:
    """One account for everybody."""
    return Assignment(accounts=1, chosen=np.zeros(len(objects), dtype=np.int64), noise_source=NOT_RANDOM)


def assign_objects(objects: Objects, asked: MediatorAccounts, noise: Noise) -> Assignment:
    """Assign all objects, from empty accounts; pools are formed from the objects themselves."""
    if asked.heuristic == "pools":
        pools = form_pools(objects, asked.people_per_pool, asked.accounts)
        chosen = Mediator(asked, noise=noise, pools=pools).assign_all(objects)
        return Assignment(accounts=pools.accounts, chosen=chosen, noise_source=NOT_RANDOM)
    mediator = Mediator(asked, people=objects.people_count, noise=noise)
    chosen = np.empty(len(objects), dtype=np.int64)
    order = np.arange(len(objects)) if asked.order == "arrival" else _shuffled(len(objects), noise)
    chosen[order] = mediator.assign_all(_taken(objects, order) if asked.order == "shuffled" else objects)
    return Assignment(accounts=mediator.accounts, chosen=chosen, noise_source=noise.source)


def _shuffled(objects: int, noise: Noise) -> Longs:
    """A random order; equal random words, of probability objects^2 / 2^65, would stay in order."""
    words = np.frombuffer(noise.bits.getrandbits(64 * objects).to_bytes(8 * objects, "little"), dtype=np.uint64)
    return np.argsort(words, kind="stable").astype(np.int64)


def _taken(objects: Objects, order: Longs) -> Objects:
    alphas = None if objects.alphas is None else objects.alphas[order]
    topics = objects.topics[order] if isinstance(objects.topics, np.ndarray) else objects.topics.taken(order)
    return Objects(people=objects.people[order], topics=topics, alphas=alphas)


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

    def __init__(
        self, mechanism: MediatorAccounts, *, noise: Noise, people: int | None = None, pools: Pools | None = None
    ) -> None:
        """Start with empty accounts: the mechanism's number, one for each of so many people, or those of the pools."""
        if (mechanism.heuristic == "pools") != (pools is not None):
            raise ParameterError(
                "a mediator with pools needs pools, and no other mediator takes any",
                hint="form them from an earlier log: Mediator(..., pools=form_pools(objects, people_per_pool=10))",
            )
        accounts = pools.accounts if pools else mechanism.accounts or people
        if not accounts or accounts < 1:
            raise ParameterError(
                "a mediator needs at least one account", hint="give the number of accounts, or people to count"
            )
        self.mechanism = mechanism
        self.accounts = accounts
        self._noise = noise
        self._words: list[Words] = []
        self.state: State | PoolState = PoolState(pools) if pools else _empty_state(mechanism, accounts)

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
        if isinstance(self.state, PoolState):
            return self.state.place(objects)
        alphas = objects.alphas if objects.alphas is not None else np.full(len(objects), self.mechanism.scattered)
        return self.state.assign(objects, alphas, _draw(self._noise, len(objects)))

    def _assign_quickly(self, state: ChunkState | CommonsState, person: int, topic: int, alpha: float | None) -> int:
        """The same without arrays, which take longer to make than to use."""
        chance = self.mechanism.scattered if alpha is None else alpha
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
            share = LEAST_COMMONS + MORE_COMMONS * mechanism.scattered
            return CommonsState(accounts, min(max(round(share * accounts), 1), accounts - 1))


def _vector(weights: Mapping[int, float]) -> TopicVectors:
    if not isinstance(weights, Mapping):
        raise InputError("an object has one topic number, or weights by topic number")
    return TopicVectors(
        starts=np.array([0, len(weights)]),
        topics=np.array(list(weights), dtype=np.int64),
        weights=np.array(list(weights.values()), dtype=np.float64),
    )
