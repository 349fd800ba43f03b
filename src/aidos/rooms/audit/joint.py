"""Topics and profile learned together: how an engine moves results says something about what they are about.

Usually topics come first (from texts or a taxonomy) and the profile is learned over them. Here both are learned in one
climb, as section 4.4 of the paper has it: words of texts are shared out among topics, topic maps are Gaussian, and the
order of the lists pulls on the maps as the words do (`aidos.rooms.audit.jointbound` has the bound). The climb starts
from several models of the texts alone (LDA with different seeds) and goes on from the one with the highest bound; it
draws nothing itself, so that the same texts and lists give the same result.

What it is worth: lists tell of each map only how far it lies along the profile, so that the topics' words change little
by them. But the bound tells good starts from bad ones. On made-up worlds of 300 results with ten or twenty words each
and 200 queries, words and weights come out as in two steps from the best of the same starts, which nobody knows
beforehand, and better than from a start taken at random (words apart by 0.21 instead of 0.25, weights correlated with
the truth by 0.98 instead of 0.93). With six words the lists bend maps to wrong topics: the words are still better, the
weights worse (0.87 instead of 0.90). It is for small data: maps are held whole.

What it does NOT give: a test. The maps have seen the lists, so that p-values of tests with these maps on these lists
come out too small. Judge on other lists, or with the maps that ``model`` infers from the texts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError, ParameterError
from aidos.model.latent.model import TopicModel
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.inference import LearnedProfile, LearningSettings
from aidos.rooms.audit.jointbound import ItemWords, JointAscent, JointSpreads, softmax
from aidos.rooms.audit.learning import learn_profile, update_concentration
from aidos.rooms.audit.numerics import digamma
from aidos.rooms.audit.topics.latent import learn_topics, name_topics
from aidos.rooms.audit.topics.space import DescribedItems, TopicSpace

__all__ = ["JointProfile", "JointSettings", "learn_jointly"]

Floats = NDArray[np.float64]

LARGEST = 10_000_000
"""Items times topics: the climb holds some twenty times as many numbers."""
FIRST_ROUNDS = 6
"""After so many, the starts that will end lower can be told."""
LEAST_MAP = 0.01
"""Shares of a start below this are taken for this: maps are logarithms."""
LEAST_SHARE = 0.05
"""Smaller shares of a topic in an item are dropped from what is described."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointSettings:
    """What is fixed before learning."""

    profile: LearningSettings = field(default_factory=LearningSettings)
    """What holds for the profile; its rounds and tolerance are those of the starts."""
    map_deviation: Annotated[float, Gt(0)] = 3.0
    """Standard deviation of the prior of a topic map (u0): 3 lets texts be about few topics."""
    map_spread: Annotated[float, Gt(0), Lt(1)] = 0.05
    """Standard deviation of the posterior of a topic map (u)."""
    word_prior: Annotated[float, Gt(0)] = 0.1
    """Prior of a word in a topic (e)."""
    starts: Annotated[int, Ge(1)] = 4
    """Models of the texts to start from."""
    tolerance: Annotated[float, Gt(0)] = 1e-5
    """Learning ends where a round gains less than this for each query and item."""
    rounds: Annotated[int, Ge(1)] = 60
    """It ends after so many in any case."""
    seed: Annotated[int, Ge(1)] = 1
    """Of the first model of the texts; the next ones have the next seeds."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.profile.spread * self.map_spread >= 1:
            raise ParameterError(
                "JointSettings: the spreads of weights and maps must multiply to less than 1", hint="take smaller ones"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointProfile:
    """Topics, maps and profile that explain texts and lists together."""

    profile: LearnedProfile
    """Its weights belong to ``maps``, and its bound counts the words too."""
    maps: Floats = field(repr=False)
    """mu, a row an item and a column a topic: logarithms of shares, but for a constant of each item."""
    described: DescribedItems
    """The topics with names and words, and the maps as shares: for everything that takes topics of an audit."""
    model: TopicModel
    """The words of the topics, to describe other items by their texts alone."""


def learn_jointly(  # noqa: PLR0913 (the texts, both lists, and how to learn)
    texts: Sequence[str],
    vanilla: Sequence[Sequence[int]],
    personalised: Sequence[Sequence[int]],
    *,
    topics: int = 20,
    settings: JointSettings | None = None,
    start: TopicModel | None = None,
) -> JointProfile:
    """Learn topics of the items' texts and the profile behind the lists together.

    Lists have the items of each query by their place in ``texts``; both lists of a query hold the same items, as
    `aidos.rooms.audit.items.PairItems` has them. ``start`` is a model of the texts to start from instead of LDA's.
    """
    chosen = settings or JointSettings()
    number = topics if start is None else len(start)
    if number < 2:
        raise ParameterError(f"at least 2 topics are needed, got {number}")
    if len(texts) * number > LARGEST:
        raise InputError(
            f"{len(texts):,} items and {number} topics are too many to learn together",
            hint="learn topics from the texts first, or fewer topics",
        )
    seeds = range(chosen.seed, chosen.seed + chosen.starts)
    models = [start] if start is not None else [learn_topics(texts, number, seed) for seed in seeds]
    climbs = [_Climb(model, texts, (vanilla, personalised), chosen) for model in models]
    first = min(FIRST_ROUNDS, chosen.rounds)
    for climb in climbs:
        climb.go_on(first)
    best = max(climbs, key=lambda climb: climb.elbo[-1])
    best.go_on(chosen.rounds - first)
    return best.result()


class _Climb:
    """A climb from one model of the texts."""

    def __init__(
        self,
        model: TopicModel,
        texts: Sequence[str],
        lists: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]],
        settings: JointSettings,
    ) -> None:
        self.model = model
        self.settings = settings
        words = _read(model, texts)
        shares = model.infer(words.starts, words.words, np.ones(len(words.words), dtype=np.int32))
        maps = np.log(np.maximum(shares.astype(np.float64), LEAST_MAP))
        maps -= maps.mean(axis=1, keepdims=True)
        pairs = PairArrays.from_lists(*lists, TopicMaps.from_dense(maps))
        begun = learn_profile(pairs, settings.profile)
        spreads = JointSpreads(
            weights=settings.profile.spread,
            maps=settings.map_spread,
            prior=settings.map_deviation,
            words=settings.word_prior,
        )
        self.ascent = JointAscent(
            pairs=pairs,
            settings=settings.profile,
            counts=np.ones(len(pairs)),
            weights=begun.weights.copy(),
            mix=begun.mix,
            concentration=begun.concentration,
            odds=float(digamma(begun.personalised) - digamma(begun.vanilla)),
            texts=words,
            spreads=spreads,
            maps=maps,
            topics=settings.word_prior + model.phi.T.astype(np.float64) * model.shares * len(words.words),
        )
        self.elbo = [self.ascent.elbo()]
        self.converged = False

    def go_on(self, rounds: int) -> None:
        """At most so many rounds more; none of the updates lowers the bound."""
        ascent = self.ascent
        least = self.settings.tolerance * (len(ascent.pairs) + len(ascent.maps))
        for _ in range(0 if self.converged else rounds):
            ascent.update_topics()
            ascent.update_maps()
            update_concentration(ascent)
            ascent.update_weights(with_mix=True)
            ascent.update_switches()
            self.elbo.append(ascent.elbo())
            self.converged = self.elbo[-1] - self.elbo[-2] < least
            if self.converged:
                break

    def result(self) -> JointProfile:
        """Where the climb stands, as a value."""
        ascent = self.ascent
        _, shares = softmax(ascent.maps)
        sizes = ascent.item_counts.sum(axis=0)
        model = replace(
            self.model,
            phi=(ascent.topics / ascent.topics.sum(axis=0)).T.astype(np.float32),
            shares=(sizes / sizes.sum()).astype(np.float32),
            coherences=np.zeros(0, dtype=np.float32),
            note="learned together with a profile",
        )
        number = len(ascent.maps)
        space = TopicSpace(
            kind="latent", topics=name_topics(model), source=f"learned from {number:,} results and their order"
        )
        maps = TopicMaps.from_dense(np.where(shares >= LEAST_SHARE, shares, 0))
        silent = int((ascent.texts.lengths == 0).sum())
        note = f"{silent:,} of {number:,} results have no known word: their topics come from their places alone"
        return JointProfile(
            profile=ascent.result(self.elbo, converged=self.converged),
            maps=ascent.maps,
            described=DescribedItems(space=space, maps=maps, notes=(note,) if silent else ()),
            model=model,
        )


def _read(model: TopicModel, texts: Sequence[str]) -> ItemWords:
    """The words of the texts that the model knows."""
    vocabulary = Vocabulary()
    read = analyse(texts, vocabulary, analyser=model.analyser)
    words = model.numbers(vocabulary.terms(np.arange(len(vocabulary))))[read.terms]
    known = words >= 0
    if not known.any():
        raise InputError("no result has a word that the topics know", hint="learn topics from these results")
    before = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
    return ItemWords(starts=before[read.starts], words=words[known].astype(np.int32), word_count=len(model.words))
