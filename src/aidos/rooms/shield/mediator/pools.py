"""Person-blind pools: an account for every topic that is asked often, one for all others, whoever asks.

A query's account follows from its topic. Which topics have an account of their own follows from how often each is
asked: those asked at least so many times, the least power of two (1, 2, 4, ...) for which every account has at least k
people. The rest share one account, and so do all if no topic is asked so often.

*Promised:* given the queries' topics and that one number, the accounts are the same whoever asked what. So the accounts
of the whole log tell no more about who asked than the number does, which has at most 2 + log2(n) values if no topic is
asked more than n times: at most ln(2 + log2 n) nats for all people and queries together. Pools formed from an earlier
log tell nothing at all about who asks later (epsilon 0). `docs/theory/mediator-accounts` has the proof.

A rule that looks at every topic's people, such as "topics with fewer than k people are pooled", is not used: whoever
knows it reads off each pooled topic that all its queries come from fewer than k people.

*Not promised:* anything about the queries. Their words and topics name people as they would without any accounts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["Pools", "form_pools"]

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pools:
    """The account of every topic."""

    account_of: Longs
    """By topic."""
    rest: int
    """The account of topics that were never asked when the pools were formed."""
    accounts: int
    """How many there are."""
    least_queries: int
    """Topics that are asked less often share an account."""

    def of(self, topics: Longs) -> Longs:
        """The accounts of queries on these topics."""
        known = topics < len(self.account_of)
        return np.where(known, self.account_of[np.where(known, topics, 0)], self.rest)


def form_pools(objects: Objects, people_per_pool: int, most: int | None = None) -> Pools:
    """The most pools, but not more than ``most``, of which each has so many people."""
    if most is not None and most < 1:
        raise ParameterError(f"there must be at least one pool, got {most}")
    people = len(np.unique(objects.people))
    if people < people_per_pool:
        raise InputError(
            f"{people} people cannot fill a pool, which needs {people_per_pool}",
            hint="lower people_per_pool (--people-per-pool), or mix more people",
        )
    topics = objects.labels
    asked, least = np.bincount(topics), 1
    while True:
        pools = _pooled(asked, least)
        if min(_people(pools.of(topics), objects)) >= people_per_pool and pools.accounts <= (most or pools.accounts):
            return pools
        least *= 2


def _pooled(asked: Longs, least: int) -> Pools:
    """An account for every topic asked at least so often, and one for all others that are asked."""
    own, others = asked >= least, (asked > 0) & (asked < least)
    accounts = np.cumsum(own) - 1
    rest = int(own.sum()) if others.any() else int(accounts[asked.argmax()])
    return Pools(
        account_of=np.where(own, accounts, rest).astype(np.int64),
        rest=rest,
        accounts=int(own.sum() + others.any()),
        least_queries=least,
    )


def _people(accounts: Longs, objects: Objects) -> Longs:
    """How many people there are in each account."""
    number = objects.people_count
    return np.bincount(np.unique(accounts * number + objects.people) // number)
