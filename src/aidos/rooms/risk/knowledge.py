"""What the adversary knows beforehand, and the spaces that are made of it.

Knowledge is the sensitive topics with their words and domains, a topic model whose latent topics were matched to them,
and word vectors. None of it is about the people who are ranked.

A topic that was asked for and that the knowledge says nothing of is refused by name. Other topics of its domain that
are not known are left out of the domain and listed in the layout of the space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.latent.model import TopicModel
from aidos.model.sensitive import TopicSet
from aidos.model.text.analyser import Analyser
from aidos.model.text.vocabulary import Vocabulary
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.spaces import BowSpace, LatentSpace, Layout, PresenceSpace, SpaceName, VectorSpace

__all__ = ["RiskModels", "make_presence", "make_space", "refuse_unheard"]

Floats: TypeAlias = NDArray[np.float64]
MOST_NAMED = 12
"""Topics that a message names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskModels:
    """Topics, and models where the measures need them."""

    topics: TopicSet
    latent: TopicModel | None = None
    """Needed by the measures in the space lda, with ``dimensions``."""
    dimensions: Mapping[str, int] | None = None
    """The latent topic that was matched to a sensitive one, by the name of the latter."""
    vectors: WordVectors | None = None
    """Needed by the measures in the space w2v."""


def make_presence(topics: Sequence[str], models: RiskModels, analyser: Analyser) -> PresenceSpace:
    """The words of topics, for the baselines."""
    asked = _find(topics, models.topics)
    terms = {topic: tuple(models.topics[topic].analysed(analyser)) for topic in asked}
    known = [topic for topic in asked if terms[topic]]
    _refuse_unknown(asked, asked, known, models.topics, f"the analyser {analyser} leaves out all of its words")
    return PresenceSpace([terms[topic] for topic in asked])


def refuse_unheard(topics: Sequence[str], models: RiskModels, analyser: Analyser, vocabulary: Vocabulary) -> None:
    """Refuse topics none of whose words anybody uses: their numbers would be all the same, and mean nothing."""
    terms = {topic: list(models.topics[models.topics.find(topic)].analysed(analyser)) for topic in topics}
    unheard = [topic for topic, own in terms.items() if own and not (vocabulary.ids(own) >= 0).any()]
    if unheard:
        more = f" and {len(unheard) - MOST_NAMED:,} more" if len(unheard) > MOST_NAMED else ""
        raise ParameterError(
            f"the risk of {', '.join(unheard[:MOST_NAMED])}{more} cannot be measured: nobody uses any of "
            f"{'its' if len(unheard) == 1 else 'their'} words",
            hint="look whether topics and entries are of one language, or choose another topic",
        )


def make_space(
    name: SpaceName, topics: Sequence[str], models: RiskModels, analyser: Analyser, *, domains: bool
) -> BowSpace | LatentSpace | VectorSpace:
    """The space in which topics are compared with entries that were read by an analyser."""
    asked = _find(topics, models.topics)
    others = [models.topics.domain_of(topic) if domains else () for topic in topics]
    wanted = list(dict.fromkeys([*asked, *(topic for group in others for topic in group)]))
    match name:
        case "bow":
            return _bow(asked, others, wanted, models.topics, analyser)
        case "lda":
            return _latent(asked, others, wanted, models, analyser)
        case "w2v":
            return _vector(asked, others, wanted, models, analyser)


def _find(names: Sequence[str], topics: TopicSet) -> list[int]:
    if not names:
        raise ParameterError("no topic was named", hint=f"there are {', '.join(topics.names[:8])} ...")
    return [topics.find(name) for name in names]


def _layout(
    asked: Sequence[int], others: Sequence[Sequence[int]], columns: Mapping[int, int], left_out: Sequence[str] = ()
) -> Layout:
    """Columns of topics; topics that share one are the same, and those without are left out."""
    own = [columns[topic] for topic in asked]
    groups = [
        sorted({columns[topic] for topic in group if topic in columns} - {mine})
        for mine, group in zip(own, others, strict=True)
    ]
    return Layout(
        columns=max(columns.values()) + 1,
        asked=np.array(own, dtype=np.int64),
        domains=tuple(np.array(group, dtype=np.int64) for group in groups),
        left_out=tuple(left_out),
    )


def _bow(
    asked: Sequence[int], others: Sequence[Sequence[int]], wanted: Sequence[int], topics: TopicSet, analyser: Analyser
) -> BowSpace:
    terms = [tuple(topic.analysed(analyser)) for topic in topics]
    features = tuple(dict.fromkeys(term for words in terms for term in words))
    known = [topic for topic in wanted if terms[topic]]
    left_out = _refuse_unknown(asked, wanted, known, topics, f"the analyser {analyser} leaves out all of its words")
    layout = _layout(asked, others, {topic: column for column, topic in enumerate(known)}, left_out)
    return BowSpace(layout, [terms[topic] for topic in known], features)


def _latent(
    asked: Sequence[int], others: Sequence[Sequence[int]], wanted: Sequence[int], models: RiskModels, analyser: Analyser
) -> LatentSpace:
    if models.latent is None or models.dimensions is None:
        raise ParameterError(
            "measures in the space lda need a topic model whose topics were matched to the sensitive ones",
            hint="train or load one, or choose a measure in the space bow",
        )
    _check_analyser(models.latent.analyser, analyser, "the topic model")
    matched = {
        topic: models.dimensions[models.topics.names[topic]]
        for topic in wanted
        if models.topics.names[topic] in models.dimensions
    }
    if wrong := [topic for topic, dimension in matched.items() if not 0 <= dimension < len(models.latent)]:
        raise ParameterError(
            f"{models.topics.names[wrong[0]]} is matched to latent topic {matched[wrong[0]]}, which does not exist",
            hint=f"the model's topics are numbered from 0 to {len(models.latent) - 1}",
        )
    left_out = _refuse_unknown(asked, wanted, list(matched), models.topics, "no latent topic was matched to it")
    dimensions = list(dict.fromkeys(matched.values()))
    columns = {topic: dimensions.index(dimension) for topic, dimension in matched.items()}
    return LatentSpace(_layout(asked, others, columns, left_out), models.latent, dimensions)


def _vector(
    asked: Sequence[int], others: Sequence[Sequence[int]], wanted: Sequence[int], models: RiskModels, analyser: Analyser
) -> VectorSpace:
    if models.vectors is None:
        raise ParameterError(
            "measures in the space w2v need word vectors",
            hint="train or load some, or choose a measure in the space bow",
        )
    _check_analyser(models.vectors.analyser, analyser, "the word vectors")
    found = {topic: _topic_vector(models.topics[topic].analysed(analyser), models.vectors) for topic in wanted}
    known = [topic for topic in wanted if found[topic].any()]
    left_out = _refuse_unknown(asked, wanted, known, models.topics, "none of its words has a vector")
    layout = _layout(asked, others, {topic: column for column, topic in enumerate(known)}, left_out)
    return VectorSpace(layout, models.vectors, np.stack([found[topic] for topic in known]).astype(np.float32))


def _topic_vector(terms: Mapping[str, float], vectors: WordVectors) -> Floats:
    """The weighted sum of the words that have a vector, scaled to length 1; 0 where it has no direction."""
    numbers = vectors.numbers(list(terms))
    weights = np.array(list(terms.values()), dtype=np.float64)[numbers >= 0]
    total: Floats = weights @ vectors.matrix[numbers[numbers >= 0]].astype(np.float64)
    length = float(np.sqrt((total * total).sum()))
    # Lengths below rounding are of words that cancel each other out.
    return total / length if length > 1e-6 * max(float(weights.sum()), 1e-300) else np.zeros_like(total)


def _check_analyser(trained: Analyser, read: Analyser, what: str) -> None:
    if trained != read:
        raise ParameterError(
            f"{what} was made from texts read with {trained}, but the entries were read with {read}",
            hint=f"read the entries with {trained}",
        )


def _refuse_unknown(
    asked: Sequence[int], wanted: Sequence[int], known: Sequence[int], topics: TopicSet, reason: str
) -> tuple[str, ...]:
    """The names of topics that are not known, unless one of them was asked for."""
    unknown = [topic for topic in wanted if topic not in known]
    if refused := [topics.names[topic] for topic in unknown if topic in asked]:
        raise ParameterError(
            f"the risk of {', '.join(refused)} cannot be measured: {reason}", hint="choose another topic or measure"
        )
    return tuple(topics.names[topic] for topic in unknown)
