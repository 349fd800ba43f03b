"""All measures once more, an entry at a time and straight from the formulas: slow, and what the fast ones must equal.

Nothing is shared with the fast computation but the people, the knowledge, and the latter's choice of topics. Tests
compare the two; the benchmark takes the time of these loops as what somebody would write who follows the thesis line
by line, with NumPy for the vectors of one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, log2, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.latent.model import STEPS
from aidos.rooms.risk.entries import BUCKET_ORIGIN
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.measure import BaselineRisk, EntropyRisk, RiskMeasure, TopicalRisk
from aidos.rooms.risk.people import People

__all__ = ["plain_entries", "plain_risk", "plain_similarity"]

Floats: TypeAlias = NDArray[np.float64]
Entry: TypeAlias = Mapping[str, int]
"""How often each word stands in an entry."""
Compare: TypeAlias = Callable[[Entry], list[float]]
"""The similarities of an entry to some topics."""


def plain_entries(people: People, person: int) -> list[Entry]:
    """The entries of one person, by their words."""
    found: list[Entry] = []
    for entry in range(people.person_starts[person], people.person_starts[person + 1]):
        here = slice(people.bags.starts[entry], people.bags.starts[entry + 1])
        terms = people.vocabulary.terms(people.bags.words[here].astype(np.int64))
        found.append(dict(zip(terms, people.bags.frequencies[here].tolist(), strict=True)))
    return found


def plain_similarity(space: str, topics: Sequence[str], models: RiskModels, people: People) -> Compare:
    """What compares one entry with topics, by their names."""
    match space:
        case "bow":
            return _bow(topics, models, people)
        case "lda":
            return _latent(topics, models)
        case _:
            return _vector(topics, models, people)


def plain_risk(measure: RiskMeasure, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
    """The risk of everybody by one of the fourteen measures."""
    if isinstance(measure, BaselineRisk):
        return _baseline(measure, people, topics, models)
    if not isinstance(measure, TopicalRisk):
        raise ParameterError(f"{measure} is none of the fourteen measures")
    found = np.zeros((len(people), len(topics)))
    for column, topic in enumerate(topics):
        domain = _domain(measure.space, topic, models, people)
        compare = plain_similarity(measure.space, [topic, *domain], models, people)
        for person in range(len(people)):
            found[person, column] = _topical(measure, people, person, compare)
    return found


def _baseline(measure: BaselineRisk, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
    words = [set().union(*plain_entries(people, person)) for person in range(len(people))]
    found = np.zeros((len(people), len(topics)))
    for column, topic in enumerate(topics):
        terms = list(models.topics[models.topics.find(topic)].analysed(people.analyser))
        for person in range(len(people)):
            parts = []
            for term in terms:
                all_with = sum(term in own for own in words)
                others_with = sum(term in own for number, own in enumerate(words) if number != person)
                p = (all_with + measure.smoothing) / (len(people) + 2 * measure.smoothing)
                q = (others_with + measure.smoothing) / (len(people) - 1 + 2 * measure.smoothing)
                if not isinstance(measure, EntropyRisk):
                    parts.append(max(log2(p / q), log2(q / p)))
                elif term in words[person]:
                    parts.append(p * log2(p / q) + (1 - p) * log2((1 - p) / (1 - q)))
            found[person, column] = sum(parts) / len(terms) if isinstance(measure, EntropyRisk) else max(parts)
    return found


def _topical(measure: TopicalRisk, people: People, person: int, compare: Compare) -> float:
    """From the similarities of all entries to the topic, which comes first, and to the others of its domain."""
    found = [compare(entry) for entry in plain_entries(people, person)]
    strength = max(row[0] for row in found)
    if measure.time:
        buckets: dict[int, float] = {}
        for row, bucket in zip(found, _buckets(people, person, measure.bucket_days), strict=True):
            buckets[bucket] = max(row[0], buckets.get(bucket, 0.0))
        strength = sum(sorted(buckets.values(), reverse=True)[: measure.recurring]) / measure.recurring
    if not measure.domain:
        return strength
    others = sorted((max(row[place] for row in found) for place in range(1, len(found[0]))), reverse=True)
    place = ceil(measure.breadth * (len(others) + 1) - 1e-9)
    breadth = others[min(place, len(others)) - 1] if others else 0.0
    return (strength + 1 - breadth) / 2


def _buckets(people: People, person: int, days: int) -> Iterator[int]:
    if people.times is None:
        raise ParameterError("buckets of time need times")
    for entry in range(people.person_starts[person], people.person_starts[person + 1]):
        yield int((people.times[entry] - BUCKET_ORIGIN) // (days * 86_400))


def _domain(space: str, topic: str, models: RiskModels, people: People) -> list[str]:
    """The other topics of the domain that the model knows, each latent one once."""
    others = [models.topics.names[place] for place in models.topics.domain_of(topic)]
    if space == "bow":
        return [name for name in others if models.topics[models.topics.find(name)].analysed(people.analyser)]
    if space == "w2v":
        return [name for name in others if _topic_vector(name, models, people).any()]
    dimensions = dict(models.dimensions or {})
    matched = {dimensions[name]: name for name in others if name in dimensions}
    return [name for dimension, name in matched.items() if dimension != dimensions[topic]]


def _bow(topics: Sequence[str], models: RiskModels, people: People) -> Compare:
    features = {term for topic in models.topics for term in topic.analysed(people.analyser)}
    own = [set(models.topics[models.topics.find(topic)].analysed(people.analyser)) for topic in topics]

    def compare(entry: Entry) -> list[float]:
        length = sqrt(sum(count * count for term, count in entry.items() if term in features))
        products = [sum(count for term, count in entry.items() if term in terms) for terms in own]
        return [
            product / (length * sqrt(len(terms))) if product else 0.0
            for product, terms in zip(products, own, strict=True)
        ]

    return compare


def _latent(topics: Sequence[str], models: RiskModels) -> Compare:
    model, dimensions = models.latent, models.dimensions
    if model is None or dimensions is None:
        raise ParameterError("the space lda needs a topic model with matched topics")
    own = [dimensions[topic] for topic in topics]
    phi, prior = model.phi.astype(np.float64), model.prior.astype(np.float64)

    def compare(entry: Entry) -> list[float]:
        numbers = model.numbers(list(entry))
        known = [number for number in numbers if number >= 0 and phi[:, number].any()]
        counts = np.array([count for number, count in zip(numbers, entry.values(), strict=True) if number in known])
        if not known:
            return [0.0] * len(own)
        likely, theta = phi[:, known].T, prior.copy()
        for _ in range(STEPS):
            theta = theta * ((counts / (likely @ theta)) @ likely) + prior
        length = float(np.linalg.norm(theta))
        return [float(theta[dimension]) / length for dimension in own]

    return compare


def _topic_vector(topic: str, models: RiskModels, people: People) -> Floats:
    vectors = models.vectors
    if vectors is None:
        raise ParameterError("the space w2v needs word vectors")
    total = np.zeros(vectors.dimensions)
    for term, weight in models.topics[models.topics.find(topic)].analysed(people.analyser).items():
        number = int(vectors.numbers([term])[0])
        if number >= 0:
            total += weight * vectors.matrix[number]
    length = float(np.linalg.norm(total))
    return total / length if length > 1e-6 else np.zeros_like(total)


def _vector(topics: Sequence[str], models: RiskModels, people: People) -> Compare:
    own = [_topic_vector(topic, models, people) for topic in topics]
    vectors = models.vectors
    if vectors is None:
        raise ParameterError("the space w2v needs word vectors")

    def compare(entry: Entry) -> list[float]:
        numbers = vectors.numbers(list(entry))
        words = vectors.matrix[numbers[numbers >= 0]].astype(np.float64)
        found = []
        for topic in own:
            total = np.zeros(len(topic))
            for word in words:
                total += (word @ topic) * word
            length = float(np.linalg.norm(total))
            found.append(float(total @ topic) / length if length > 0 else 0.0)
        return found

    return compare
