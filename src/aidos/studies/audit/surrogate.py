"""Surrogates of a personalising engine: one small enough to look inside, and one that follows the model to the letter.

*Unique matching* over documents with shared words.
The paper trains such an engine on pages of some topics and asks whether the learner finds these topics again. A profile
is a weight for each term, its frequency in the pages that were read over the logarithm of the number of documents
that hold it; a result scores the sum of the weights of its distinct terms, if wished over ln(2 + vanilla rank), and
results are sorted by that, equal ones staying in vanilla order.

Words are shared between topics, and documents are about several. Where all results of a query are about one topic, none
can be lifted over another, and there is nothing to learn: `topics_per_document` far below 1 makes such a world, and
`aidos.rooms.audit.shifts` sees it. The model of `aidos.rooms.audit.inference` is wrong for this engine in every detail,
which is the point.

*Drawn from the model* are lists that satisfy every assumption it makes; a real engine does not, so what is measured on
them is a best case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.densities import draw_places

__all__ = [
    "HiddenProfile",
    "SampledAudit",
    "SurrogateWorld",
    "UniqueMatching",
    "WorldSettings",
    "build_world",
    "sample_audit",
    "train_engine",
]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

TOP_WORDS = 10
"""Queries are made of so many of the likeliest words of a topic."""
READ_ABOVE = 0.2
"""Pages with more than this of a topic count as read by somebody with that topic."""
FOLDING_STEPS = 30
LETTERS = "bcdfghjklmnpqrtv"
LEAST_SHARE = 0.01
"""Shares of a topic map below this are taken as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSettings:
    """How large a world is, and how far its topics share words."""

    topics: Annotated[int, Ge(2)] = 50
    words_per_topic: Annotated[int, Ge(TOP_WORDS)] = 60
    shared_by: Annotated[int, Ge(1)] = 5
    """How many topics use a word, on average."""
    documents: Annotated[int, Ge(10)] = 4000
    document_words: Annotated[int, Ge(1)] = 40
    topics_per_document: Annotated[float, Gt(0), Le(50)] = 2.0
    """How many topics a document is about, roughly: the sum of its Dirichlet parameters."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurrogateWorld:
    """Documents of known topics, and a search over them."""

    topic_words: Floats
    """How likely each topic uses each word: topics by words, rows sum to 1."""
    mixtures: Floats
    """What each document is about: documents by topics."""
    counts: NDArray[np.int32]
    """How often each document holds each word."""

    def frequencies(self) -> Longs:
        """In how many documents each word stands."""
        found: Longs = (self.counts > 0).sum(axis=0)
        return found

    def texts(self) -> list[str]:
        """The documents as texts, with words of letters that no stemmer takes for endings."""
        words = [
            "x" + "".join(LETTERS[int(digit, 16)] for digit in f"{word:04x}") for word in range(self.counts.shape[1])
        ]
        return [" ".join(words[at] for at in np.repeat(np.arange(len(row)), row)) for row in self.counts]

    def search(self, words: ArrayLike, length: int = 10) -> Longs:
        """The documents that match best, best first; equal ones by number."""
        asked = np.unique(np.asarray(words, dtype=np.int64))
        counts = self.counts[:, asked]
        rarity = np.log(1 + len(counts) / (1 + (counts > 0).sum(axis=0)))
        scores = (counts / (counts + 1.0)) @ rarity
        best = np.argsort(-scores, kind="stable")[:length]
        found: Longs = best[scores[best] > 0]
        return found

    def draw_query(self, topic: int, generator: np.random.Generator) -> Longs:
        """Two or three of the ten likeliest words of a topic."""
        top = np.argsort(-self.topic_words[topic], kind="stable")[:TOP_WORDS]
        found: Longs = generator.choice(top, int(generator.integers(2, 4)), replace=False)
        return found

    def topic_maps(self) -> TopicMaps:
        """Topics of the documents as told from their words alone, by folding them into the topics."""
        likely = self.topic_words.T + 1e-12
        shares = np.full(self.mixtures.shape, 1 / self.mixtures.shape[1])
        for _ in range(FOLDING_STEPS):
            shares *= (self.counts / (shares @ likely.T)) @ likely
            shares /= shares.sum(axis=1, keepdims=True)
        return TopicMaps.from_dense(np.where(shares < LEAST_SHARE, 0, shares))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UniqueMatching:
    """An engine that knows what somebody read."""

    world: SurrogateWorld
    term_weights: Floats
    rate: float = 1.0
    """The share of queries that it personalises."""
    rank_matters: bool = False
    """Whether scores are divided by ln(2 + vanilla rank)."""

    def personalise(self, vanilla: Longs) -> Longs:
        """The same results in the order that the profile suggests."""
        scores = (self.world.counts[vanilla] > 0) @ self.term_weights
        if self.rank_matters:
            scores = scores / np.log(2 + np.arange(1, len(vanilla) + 1))
        found: Longs = vanilla[np.argsort(-scores, kind="stable")]
        return found

    def ask(self, maps: TopicMaps, generator: np.random.Generator, *, queries: int, length: int = 10) -> PairArrays:
        """Pairs of lists for queries from random topics; those with fewer than two results are left out."""
        vanilla: list[list[int]] = []
        personalised: list[list[int]] = []
        while len(vanilla) < queries:
            topic = int(generator.integers(len(self.world.topic_words)))
            found = self.world.search(self.world.draw_query(topic, generator), length)
            if len(found) >= 2:
                vanilla.append(found.tolist())
                lifted = self.personalise(found) if generator.random() < self.rate else found
                personalised.append(lifted.tolist())
        return PairArrays.from_lists(vanilla, personalised, maps)


def build_world(settings: WorldSettings, generator: np.random.Generator) -> SurrogateWorld:
    """Draw topics, documents and their words."""
    size = max(settings.topics * settings.words_per_topic // settings.shared_by, settings.words_per_topic)
    likely = 1 / np.arange(2, settings.words_per_topic + 2)
    topic_words = np.zeros((settings.topics, size))
    for topic in range(settings.topics):
        own = np.arange(topic, topic + 1) * settings.words_per_topic + np.arange(settings.words_per_topic)
        words = own % size if settings.shared_by == 1 else generator.choice(size, len(likely), replace=False)
        topic_words[topic, words] = likely / likely.sum()
    prior = np.full(settings.topics, settings.topics_per_document / settings.topics)
    mixtures = generator.dirichlet(prior, settings.documents)
    counts = generator.multinomial(settings.document_words, mixtures @ topic_words).astype(np.int32)
    return SurrogateWorld(topic_words=topic_words, mixtures=mixtures, counts=counts)


def train_engine(
    world: SurrogateWorld, topics: ArrayLike, *, rate: float = 1.0, rank_matters: bool = False
) -> UniqueMatching:
    """What an engine knows of somebody who read the pages of some topics."""
    chosen = np.asarray(topics, dtype=np.int64)
    read = (world.mixtures[:, chosen] > READ_ABOVE).any(axis=1)
    weights = world.counts[read].sum(axis=0) / np.log(np.maximum(world.frequencies(), 2))
    return UniqueMatching(world=world, term_weights=weights, rate=rate, rank_matters=rank_matters)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenProfile:
    """What an engine that follows the model would do."""

    topics: Annotated[int, Ge(1)] = 50
    favoured: Annotated[int, Ge(0)] = 5
    """How many topics have a weight; the others have none."""
    weight: Annotated[float, Gt(0)] = 6.0
    """eta of a favoured topic, give or take a third."""
    rate: Annotated[float, Ge(0), Le(1)] = 0.5
    """phi: the share of queries that are personalised."""
    mix: Annotated[float, Ge(0), Le(1)] = 0.8
    """gamma."""
    concentration: Annotated[float, Gt(0)] = 2.0
    """lambda."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledAudit:
    """Pairs, and the truth behind them."""

    pairs: PairArrays
    weights: Floats
    switches: NDArray[np.bool_]


def sample_audit(
    profile: HiddenProfile, generator: np.random.Generator, *, queries: int = 500, length: int = 10
) -> SampledAudit:
    """Lists of new items about a few topics each, and what the engine makes of them."""
    maps = TopicMaps.from_dense(generator.dirichlet(np.full(profile.topics, 0.05), queries * length))
    weights = np.zeros(profile.topics)
    chosen = generator.choice(profile.topics, min(profile.favoured, profile.topics), replace=False)
    weights[chosen] = profile.weight * generator.uniform(2 / 3, 4 / 3, len(chosen))
    vanilla = PairArrays(
        starts=np.arange(queries + 1, dtype=np.int64) * length,
        items=np.arange(queries * length),
        ranks=np.tile(np.arange(1, length + 1), queries),
        maps=maps,
    )
    switches = generator.random(queries) < profile.rate
    lifted = profile.mix * maps.dot(weights) - (1 - profile.mix) * vanilla.ranks
    utilities = np.where(switches[vanilla.query_of], lifted, -profile.concentration * vanilla.ranks)
    places = draw_places(vanilla, utilities, generator)
    pairs = PairArrays(starts=vanilla.starts, items=vanilla.items[places], ranks=vanilla.ranks[places], maps=maps)
    return SampledAudit(pairs=pairs, weights=weights, switches=switches)
