"""The sample world's service behind the shield: it knows of the searcher only what is sent with each query.

Profile generalisation decides for every query which topics of the searcher's profile go out. What she has at a topic
that the query is about counts for the lowest topic sent at or above it, and the service spreads that evenly over all
topics of the world at or below. Where nothing is sent the service knows nothing, and only its noise is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import KeptProfile, SessionMemory, tree_digest
from aidos.errors import InputError
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.shield.profile.decision import Decision
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.holder import HeldProfile
from aidos.rooms.shield.profile.requirement import CostLayer
from aidos.studies.audit.service import SampleService
from aidos.world.results import Account

__all__ = ["DOCUMENTS", "ShieldedSearcher", "own_profile"]

Floats = NDArray[np.float64]
DOCUMENTS = 10.0
"""Documents that the searcher has at a topic for each unit of the weight that the service gives it."""


def own_profile(service: SampleService, account: Account, search: TopicSearch, *, taxonomy: str) -> KeptProfile:
    """What the person behind an account keeps for herself: the same topics, in the same proportions."""
    ids = [service.vocabulary.topics[topic].id for topic in account.liked.tolist()]
    if unknown := [topic for topic in ids if topic not in search.tree.places]:
        raise InputError(
            f"the taxonomy does not have {len(unknown)} topics of the sample world", hint="use the default taxonomy"
        )
    weights = account.weights[account.liked].tolist()
    supports = {topic: DOCUMENTS * weight for topic, weight in zip(ids, weights, strict=True)}
    return KeptProfile(taxonomy=taxonomy, digest=tree_digest(search.tree), supports=supports)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShieldedSearcher:
    """Somebody who sends with each query what the shield lets through."""

    search: TopicSearch = field(repr=False)
    shield: ProfileGeneralisation
    held: HeldProfile = field(repr=False)
    layer: CostLayer = field(repr=False)
    below: tuple[NDArray[np.int64], ...] = field(repr=False)
    """For each topic of the tree, the topics of the world at and below it."""
    topics: int
    """Topics of the world."""

    @classmethod
    def of(
        cls, service: SampleService, search: TopicSearch, profile: KeptProfile, shield: ProfileGeneralisation
    ) -> Self:
        """With her own profile and her marks."""
        tree, held = search.tree, HeldProfile.of(search.tree, profile.profile)
        places = np.array([tree.place(topic.id) for topic in service.vocabulary.topics])
        return cls(
            search=search,
            shield=shield,
            held=held,
            layer=CostLayer.of(tree, held, profile.requirement),
            below=tuple(
                np.flatnonzero((places >= place) & (places < place + tree.sizes[place])) for place in range(len(tree))
            ),
            topics=len(places),
        )

    def decide(self, text: str, memory: SessionMemory | None) -> Decision:
        """What the shield says about one query."""
        hits = self.search.find(text)
        data = QueryAndProfile(tree=self.search.tree, held=self.held, layer=self.layer, hits=hits, memory=memory)
        return self.shield.run(data)

    def told(self, decision: Decision) -> Floats:
        """The weights of the world's topics, as far as the service can tell from what was sent."""
        found = np.zeros(self.topics)
        sent, tree = set(decision.sent.tolist()), self.search.tree
        for topic in decision.topics if sent else ():
            if not topic.asked:
                continue
            place = tree.place(topic.topic)
            held = float(decision.basis.supports[place]) / DOCUMENTS
            while place not in sent:
                place = int(tree.parents[place])
            found[self.below[place]] += held / len(self.below[place])
        return found
