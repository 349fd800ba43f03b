"""Mediator accounts: queries issued from shared accounts (Biega et al. 2017; thesis, chapter 7).

A proxy issues each object from one of many accounts. The original heuristic tosses a coin for each object: with
probability alpha the account is any, otherwise the one where the object fits best:

    P(m) = alpha / |M| + (1 - alpha) [m has the best coherence],  coherence = sum of similarities with m's objects / |m|

An object that fits nowhere goes to any account. Coherence divides by the account's size, as defined: an account with
one object that matches beats a large one with fifty matching among sixty. A chunk therefore moves on to small accounts
where chance has dropped one of its objects, and what it leaves behind keeps losing coherence.

The heuristic ``commons`` does not, and gives more privacy for the same loss of coherence. Three observations led to it:

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
with alpha 0.6, 38 % with 0.8), and in a small community its homes were found more often by the profile-linking
adversary. Scattering to commons that lean to the object's topic was tried and changed rankings more, not less.

Not promised: any bound on what an observer learns. Entropy counts how far objects are spread, not how much each of them
tells; somebody with one interest cannot hide it. Both heuristics need to know which accounts a person and topic went
to, for as long as they run; with ``cosine`` and ``jaccard`` people play no part, and nothing about them is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.errors import ParameterError
from aidos.shield.mediator.objects import Objects

__all__ = ["Assignment", "MediatorAccounts"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorAccounts:
    """Spread the queries of many people over shared accounts, so that no account looks like a person."""

    accounts: Annotated[int, Ge(1)] | None = None
    """How many accounts there are (|M|); as many as people if unset."""

    alpha: Annotated[float, Ge(0), Le(1)] = 0.3
    """Chance that an object is scattered at random: 0 keeps topics together, 1 is all random; may differ by object."""

    similarity: Literal["same-topic", "cosine", "jaccard"] = "same-topic"
    """What fits together: the same person and topic, or the cosine or weighted Jaccard of topic vectors of anybody."""

    heuristic: Literal["original", "commons"] = "original"
    """How accounts are chosen: as in the thesis, or with commons for what is scattered (same-topic only)."""

    order: Literal["arrival", "shuffled"] = "arrival"
    """Assign objects as they arrive (online), or in random order where all are known before (offline)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.heuristic == "commons" and self.similarity != "same-topic":
            raise ParameterError(
                f"MediatorAccounts: the heuristic commons needs the similarity same-topic, got {self.similarity}",
                hint="take the original heuristic for topic vectors",
            )

    def guarantee(self, facts: PublicFacts) -> NoGuarantee:  # noqa: ARG002 - nothing is promised on any data
        """None: how well people are hidden in accounts is measured, not proven."""
        return NoGuarantee(
            "how well people are hidden among mediator accounts is measured on the data and proven for nobody; "
            "a rare or focused interest stays visible in whichever account it is"
        )

    def run(self, data: Objects, noise: Noise) -> Assignment:
        """Assign all objects, from empty accounts."""
        from aidos.shield.mediator.mediator import Mediator

        mediator = Mediator(self, people=data.people_count, noise=noise)
        chosen = np.empty(len(data), dtype=np.int64)
        order = np.arange(len(data)) if self.order == "arrival" else _shuffled(len(data), noise)
        chosen[order] = mediator.assign_all(_taken(data, order) if self.order == "shuffled" else data)
        return Assignment(accounts=mediator.accounts, chosen=chosen, noise_source=noise.source)


def _shuffled(objects: int, noise: Noise) -> Longs:
    """A random order; equal random words, of probability objects^2 / 2^65, would stay in order."""
    words = np.frombuffer(noise.bits.getrandbits(64 * objects).to_bytes(8 * objects, "little"), dtype=np.uint64)
    return np.argsort(words, kind="stable").astype(np.int64)


def _taken(objects: Objects, order: Longs) -> Objects:
    alphas = None if objects.alphas is None else objects.alphas[order]
    topics = objects.topics[order] if isinstance(objects.topics, np.ndarray) else objects.topics.taken(order)
    return Objects(people=objects.people[order], topics=topics, alphas=alphas)
