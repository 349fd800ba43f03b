"""Which topics of the taxonomy a world uses, and which belong to one domain.

Forty ordinary topics and twelve sensitive ones by default: those with the richest vocabulary first, taken in turn
from all branches. The domain of a sensitive topic is what a professional of the field also reads about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, zip_longest

from aidos.core.taxonomy import Taxonomy, Topic

__all__ = ["choose_topics", "domain_of"]

SENSITIVE_SHARE = 12 / 52
RICH = 40
"""Words of a topic that was written to be in use by default."""

DOMAIN = 3
"""The fewest topics that make a domain."""


def choose_topics(taxonomy: Taxonomy, number: int) -> tuple[tuple[Topic, ...], tuple[Topic, ...]]:
    """That many leaves of the taxonomy: ordinary ones, and sensitive ones."""
    leaves = taxonomy.leaves()
    sensitive = [topic for topic in leaves if taxonomy.sensitive_category(topic.id)]
    ordinary = [topic for topic in leaves if not taxonomy.sensitive_category(topic.id)]
    wanted = max(1, round(number * SENSITIVE_SHARE), number - len(ordinary))
    return _first(taxonomy, ordinary, number - wanted), _first(taxonomy, sensitive, wanted)


def domain_of(taxonomy: Taxonomy, topic_id: str) -> tuple[Topic, ...]:
    """The leaves below the nearest ancestor that has at least three, the topic itself among them."""
    for ancestor in reversed(taxonomy.path(topic_id)[:-1]):
        leaves = taxonomy.leaves(ancestor.id)
        if len(leaves) >= DOMAIN:
            return leaves
    return (taxonomy[topic_id],)


def _first(taxonomy: Taxonomy, topics: Iterable[Topic], number: int) -> tuple[Topic, ...]:
    """Rich topics before poor ones, and among each the branches in turn."""
    listed = list(topics)
    rich = [topic for topic in listed if len(topic.words) >= RICH]
    poor = [topic for topic in listed if len(topic.words) < RICH]
    return tuple(chain(_in_turn(taxonomy, rich), _in_turn(taxonomy, poor)))[:number]


def _in_turn(taxonomy: Taxonomy, topics: list[Topic]) -> list[Topic]:
    branches: dict[str, list[Topic]] = defaultdict(list)
    for topic in topics:
        branches[taxonomy.path(topic.id)[1].id].append(topic)
    return [topic for row in zip_longest(*branches.values()) for topic in row if topic is not None]
