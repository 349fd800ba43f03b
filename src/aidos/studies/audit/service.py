"""The sample world's personalising service, asked as an auditor asks it: pairs of result lists whose truth is known.

An account's queries and profile are the world's own (see `aidos.world.results`). Any number of queries can be asked,
with the whole profile known to the service or with any other weights, and each may be asked without an account a second
time: that list differs from the first by the service's noise alone.

The sample world's service behind the shield: it knows of the searcher only what is sent with each query. Profile
generalisation decides for every query which topics of the searcher's profile go out. What she has at a topic that the
query is about counts for the lowest topic sent at or above it, and the service spreads that evenly over all topics of
the world at or below. Where nothing is sent the service knows nothing, and only its noise is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.profile import KeptProfile, SessionMemory, tree_digest
from aidos.core.resultpairs import Fetch, Result, ResultPair
from aidos.errors import InputError, ParameterError
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.shield.profile.decision import Decision
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.world.documents import document_blocks
from aidos.world.results import (
    DEPTH,
    Account,
    SearchIndex,
    account_audit,
    account_count,
    account_stream,
    answer_query,
    build_index,
    draw_account,
    draw_query,
)
from aidos.world.size import World
from aidos.world.streams import Floats, Ints, fresh_stream
from aidos.world.vocabulary import Vocabulary, build_vocabulary

__all__ = ["DOCUMENTS", "SampleService", "ShieldedSearcher", "WorldQuery", "own_profile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldQuery:
    """One query of an account, and whether the service looks at the profile for it."""

    words: tuple[int, ...]
    """Numbers of words in the vocabulary."""
    text: str
    switched: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleService:
    """Everything that the service knows but the accounts' profiles."""

    world: World
    vocabulary: Vocabulary = field(repr=False)
    index: SearchIndex = field(repr=False)
    results: tuple[Result, ...] = field(repr=False)
    """What it shows of each document, by number."""

    @classmethod
    def of(cls, world: World) -> Self:
        """Index the documents of a world."""
        vocabulary = build_vocabulary(world)
        table = pa.concat_tables(document_blocks(world))
        shown = (table[name].to_pylist() for name in ("object_id", "title", "snippet"))
        return cls(
            world=world,
            vocabulary=vocabulary,
            index=build_index(world, vocabulary),
            results=tuple(
                Result(url=url, title=title, snippet=snippet) for url, title, snippet in zip(*shown, strict=True)
            ),
        )

    def account(self, number: int) -> Account:
        """The truth about an account, counted from 0."""
        if not 0 <= number < account_count(self.world):
            raise ParameterError(
                f"the world has the accounts 0 to {account_count(self.world) - 1}, not {number}",
                hint="take one of these, or a larger world",
            )
        return draw_account(self.vocabulary, account_stream(self.world, number))

    def stream(self, purpose: str, number: int) -> np.random.Generator:
        """Randomness for something that is done with an account."""
        return fresh_stream(self.world.seed, purpose, number)

    def draw_queries(self, account: Account, number: int, stream: np.random.Generator) -> tuple[WorldQuery, ...]:
        """Queries of the kind that the account asks, half of them about what it likes."""
        found = []
        for _ in range(number):
            words = draw_query(self.vocabulary, account.liked, stream)
            switched = bool(stream.random() < account.rate)
            found.append(WorldQuery(words=words, text=self._text(words), switched=switched))
        return tuple(found)

    def ask(self, query: WorldQuery, weights: Floats, stream: np.random.Generator, *, twice: bool = True) -> ResultPair:
        """Both lists, and where asked ``twice`` a second one without an account; ``weights`` are what is known."""
        vanilla, personalised = answer_query(self.index, query.words, weights if query.switched else None, stream)
        again = answer_query(self.index, query.words, None, stream)[1] if twice else None
        return ResultPair(
            query=query.text,
            vanilla=self._shown(vanilla),
            personalised=self._shown(personalised),
            again=None if again is None else self._shown(again),
            fetches=_by_lot(stream, 3 if twice else 2),
        )

    def look(self, query: WorldQuery) -> tuple[Result, ...]:
        """The list without an account."""
        return self._shown(self.index.best(query.words, DEPTH))

    def sampled_pairs(self, number: int) -> tuple[ResultPair, ...]:
        """The pairs of an account as they stand in the sample."""
        audit = account_audit(self.world, self.vocabulary, self.index, number)
        return tuple(
            ResultPair(query=self._text(words), vanilla=self._shown(vanilla), personalised=self._shown(personalised))
            for words, vanilla, personalised in zip(audit.queries, audit.vanilla, audit.personalised, strict=True)
        )

    def true_weights(self, account: Account) -> dict[str, float]:
        """The profile of an account by ids of topics."""
        return {self.vocabulary.topics[topic].id: float(account.weights[topic]) for topic in account.liked.tolist()}

    def _text(self, words: tuple[int, ...]) -> str:
        return " ".join(self.vocabulary.words[word] for word in words)

    def _shown(self, documents: Ints) -> tuple[Result, ...]:
        return tuple(self.results[number] for number in documents.tolist())


def _by_lot(stream: np.random.Generator, lists: int) -> tuple[Fetch, ...]:
    """Asked at one place, of one variant, in a random order; this takes nothing from what the stream draws."""
    turns = stream.spawn(1)[0].permutation(lists) + 1
    return tuple(Fetch(place="sample world", turn=turn, bucket="only") for turn in turns.tolist())


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
