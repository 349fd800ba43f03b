"""Small services with a known reason for lists that differ: nothing, place, time, churn, variants, or a profile.

Results are drawn from a pool of documents on many sites, each mostly about one topic, so that they return in several
searches. A list is the same order of relevance with noise of its own, and with what the reason adds:

- *place*: some topics stand higher at the account's place;
- *drift*: some topics rise with every list that is asked;
- *churn*: with every list the order is shaken further, in no direction;
- *variant by site* and *by topic*: the account is always in a trial of another ranking, which prefers some sites at
  random, or some topics;
- *shuffled*: the list of the account is in no order at all;
- *profile*: some topics stand higher for the account.

How the lists were asked is a plan of its own, as somebody would collect them: who was asked first, from where the lists
without an account come, and what was written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aidos.core.resultpairs import SIDES, Fetch, Result, ResultPair
from aidos.rooms.audit.topics.space import GivenTopics

__all__ = ["PLANS", "REASONS", "Collecting", "NullWorld", "Reason"]

Floats = NDArray[np.float64]
Reason = Literal["nothing", "place", "drift", "churn", "variant by site", "variant by topic", "shuffled", "profile"]
REASONS: tuple[Reason, ...] = (
    "nothing", "place", "drift", "churn", "variant by site", "variant by topic", "shuffled", "profile"
)  # fmt: skip
DOCUMENTS, SITES, TOPICS, LENGTH = 400, 60, 20, 10
MAIN = 0.8
"""Share of a document that its own topic has."""
NOISE = 1.5
"""Ranks, of every list."""
SHAKEN = 1.5
"""Ranks, by every list that was asked before."""
PULL = 3.0
"""Ranks, by place, drift, variant or profile."""
RATE = 0.6
"""Share of the searches that the profile changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collecting:
    """How somebody collects lists."""

    account_last: bool = False
    """Always, and not by lot."""
    recorded: bool = True
    """Whether place, turn and variant are written down."""
    second_at_home: bool = True
    """Whether one list without an account is from the account's place, where places count."""


PLANS: dict[str, Collecting] = {
    "by lot, written down": Collecting(),
    "account last, written down": Collecting(account_last=True),
    "by lot, all lists without account from elsewhere": Collecting(second_at_home=False),
    "nothing written down": Collecting(account_last=True, recorded=False, second_at_home=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NullWorld:
    """A service, and the reason why its lists differ."""

    reason: Reason
    plan: Collecting
    queries: int = 100
    pull: float = PULL

    def draw(self, stream: np.random.Generator) -> tuple[tuple[ResultPair, ...], GivenTopics]:
        """The pairs that somebody gets, and what results are about."""
        topics, sites = stream.integers(TOPICS, size=DOCUMENTS), stream.integers(SITES, size=DOCUMENTS)
        others = stream.integers(TOPICS, size=DOCUMENTS)
        liked = (stream.choice(TOPICS, 3, replace=False)[:, None] == topics).any(axis=0)
        by_site = stream.normal(0, 1, SITES)[sites]
        documents = [
            Result(url=f"https://site{site}.example/{number}", title=f"topic {topic}")
            for number, (site, topic) in enumerate(zip(sites.tolist(), topics.tolist(), strict=True))
        ]
        shares = [
            {f"t{one:02}": MAIN, f"t{two:02}": 1 - MAIN} if one != two else {f"t{one:02}": 1.0}
            for one, two in zip(topics.tolist(), others.tolist(), strict=True)
        ]
        pairs = tuple(
            self._pair(f"search {number}", documents, liked, by_site, stream) for number in range(self.queries)
        )
        return pairs, GivenTopics({each.url: share for each, share in zip(documents, shares, strict=True)})

    def _pair(
        self,
        query: str,
        documents: list[Result],
        liked: NDArray[np.bool_],
        by_site: Floats,
        stream: np.random.Generator,
    ) -> ResultPair:
        found = stream.choice(DOCUMENTS, LENGTH, replace=False)
        turns = stream.permutation(3) + 1
        if self.plan.account_last:
            turns = np.array([1, 3, 2])
        home = bool(stream.integers(2)) if self.plan.second_at_home else None
        switched = stream.random() < RATE
        lists, fetches, shake = [], [], np.zeros(LENGTH)
        shakes = [shake := shake + stream.normal(0, SHAKEN, LENGTH) for _ in SIDES]
        for number, side in enumerate(SIDES):
            mine, turn = side == "personalised", int(turns[number])
            near = mine or self.reason != "place" or (home is not None and home == (side == "vanilla"))
            raised = -np.arange(LENGTH) + stream.normal(0, NOISE, LENGTH)
            if self.reason == "place" and near:
                raised += self.pull * liked[found]
            if self.reason == "drift":
                raised += (turn - 1) * self.pull / 2 * liked[found]
            if self.reason == "churn":
                raised += shakes[turn - 1]
            if mine and self.reason == "variant by site":
                raised += self.pull * by_site[found]
            if mine and (self.reason == "variant by topic" or (self.reason == "profile" and switched)):
                raised += self.pull * liked[found]
            if mine and self.reason == "shuffled":
                raised = stream.random(LENGTH)
            order = np.argsort(-raised, kind="stable")
            lists.append(tuple(documents[place] for place in found[order].tolist()))
            bucket = "trial" if mine and self.reason.startswith("variant") else "usual"
            fetches.append(Fetch(place="home" if near else "elsewhere", turn=turn, bucket=bucket))
        return ResultPair(
            query=query,
            vanilla=lists[0],
            personalised=lists[1],
            again=lists[2],
            fetches=tuple(fetches) if self.plan.recorded else (),
        )
