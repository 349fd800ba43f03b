"""The words of the world: what each topic is spoken of with, and how often.

A topic has 64 words: its own, then those of its ancestors, then words of related topics, by falling Zipf weight. So
a word belongs to two or three topics on average, and a query is seldom clear from one word. Background words belong
to none. Rare tokens (``rare.py``) come on top.

A world uses some topics of the taxonomy, of which some belong to one domain: forty ordinary topics and twelve sensitive
ones by default: those with the richest vocabulary first, taken in turn from all branches. The domain of a sensitive
topic is what a professional of the field also reads about.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.model.topics import default_taxonomy
from aidos.world.size import World
from aidos.world.streams import Floats, Ints

__all__ = ["WORDS_PER_TOPIC", "Vocabulary", "build_vocabulary", "choose_topics", "domain_of", "pick", "zipf_cumulative"]

WORDS_PER_TOPIC = 64
OWN_WORDS = 32
TYPICAL_WORDS = 20
WITH_ANCESTORS = 44
RELATED_TOPICS = 4
MOST_TYPICAL = 20

BACKGROUND = """
how to what is the in for best free near my when does can why online new a of cheap good with where buy top list
about from vs without between review reviews meaning guide easy first old big open which do is it normal after
before during long much many should i need want find get make use help info information website page site official
number address map directions hours today now this year week cost price costs examples example different types type
kinds difference compare ideas tips facts questions answers explained simple quick better worse safe bad really
still again always never every another other own same something someone people person man woman men women kids
family friends home city street country world time day night morning evening summer winter weekend way thing things
part half whole small large short high low right left early late please thanks anyone else think know tell ask feel
told going go come take
"""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Topics in use (ordinary, then sensitive), then topics only professionals use, and the words of each."""

    topics: tuple[Topic, ...]
    ordinary: int
    """How many of the topics are ordinary: they come first."""
    in_use: int
    """How many are in use by everybody: the ordinary ones and the sensitive ones after them."""
    words: tuple[str, ...]
    """All words; background words last."""
    topic_words: Ints
    """A row a topic: its words as numbers, most typical first."""
    background: Ints
    """The background words as numbers, most frequent first."""
    domains: Mapping[int, Ints]
    """For each sensitive topic in use, the topics of its domain."""

    @property
    def sensitive(self) -> range:
        """The sensitive topics in use, as numbers."""
        return range(self.ordinary, self.in_use)


def build_vocabulary(world: World) -> Vocabulary:
    """The vocabulary of a world; the seed does not matter for it."""
    taxonomy = default_taxonomy()
    ordinary, sensitive = choose_topics(taxonomy, world.topics)
    in_use = (*ordinary, *sensitive)
    domains = {topic.id: domain_of(taxonomy, topic.id) for topic in sensitive}
    known = {topic.id for topic in in_use}
    extra = {topic.id: topic for domain in domains.values() for topic in domain if topic.id not in known}
    topics = (*in_use, *extra.values())
    lists = _word_lists(taxonomy, topics, in_use)
    words = list(dict.fromkeys(word for listed in lists for word in listed))
    taken = set(words)
    background = [word for word in dict.fromkeys(BACKGROUND.split()) if word not in taken]
    numbers = {word: number for number, word in enumerate((*words, *background))}
    places = {topic.id: place for place, topic in enumerate(topics)}
    return Vocabulary(
        topics=topics,
        ordinary=len(ordinary),
        in_use=len(in_use),
        words=(*words, *background),
        topic_words=np.array([[numbers[word] for word in listed] for listed in lists], dtype=np.int64),
        background=np.array([numbers[word] for word in background], dtype=np.int64),
        domains={
            places[topic_id]: np.array([places[topic.id] for topic in domain], dtype=np.int64)
            for topic_id, domain in domains.items()
        },
    )


def zipf_cumulative(number: int, *, shift: float = 2.0, exponent: float = 1.2) -> Floats:
    """Cumulative Zipf-Mandelbrot weights of that many ranks; the last is 1."""
    weights = (np.arange(number) + 1.0 + shift) ** -exponent
    cumulative: Floats = np.cumsum(weights) / weights.sum()
    cumulative[-1] = 1.0
    return cumulative


def pick(cumulative: Floats, units: Floats) -> Ints:
    """Ranks for fractions in [0, 1): an inverse of the cumulative weights."""
    ranks: Ints = np.searchsorted(cumulative, units, side="right").astype(np.int64)
    return ranks


def _word_lists(taxonomy: Taxonomy, topics: Sequence[Topic], in_use: Sequence[Topic]) -> list[list[str]]:
    """The words of every topic. What is shared between topics is preferred once the typical words are in."""
    shared = Counter(word for topic in in_use for word in topic.words)
    lists = [_own(topic, shared) for topic in topics]
    for topic, listed in zip(topics, lists, strict=True):
        inherited = [word for ancestor in reversed(taxonomy.path(topic.id)[:-1]) for word in ancestor.words]
        _extend(listed, inherited, WITH_ANCESTORS)
    complete = []
    for topic, listed in zip(topics, lists, strict=True):
        nearby = _related(taxonomy, topic, listed, list(zip(in_use, lists, strict=False)))
        _extend(full := list(listed), nearby, WORDS_PER_TOPIC)
        complete.append(full)
    return complete


def _own(topic: Topic, shared: Counter[str]) -> list[str]:
    typical, rest = topic.words[:TYPICAL_WORDS], topic.words[TYPICAL_WORDS:]
    return [*typical, *sorted(rest, key=lambda word: shared[word] < 2)][:OWN_WORDS]


def _extend(listed: list[str], candidates: Sequence[str], length: int) -> None:
    present = set(listed)
    fresh = [word for word in dict.fromkeys(candidates) if word not in present]
    listed.extend(fresh[: max(0, length - len(listed))])


def _related(
    taxonomy: Taxonomy, topic: Topic, listed: Sequence[str], others: Sequence[tuple[Topic, list[str]]]
) -> list[str]:
    """Words of the topics that share most of the path and of the words, in turn, but not their most typical ones."""
    path = {step.id for step in taxonomy.path(topic.id)}
    mine = set(listed)

    def nearness(other: tuple[Topic, list[str]]) -> int:
        on_path = sum(step.id in path for step in taxonomy.path(other[0].id))
        return 20 * on_path + len(mine.intersection(other[1]))

    nearest = sorted((other for other in others if other[0].id != topic.id), key=nearness, reverse=True)
    lists = [words[MOST_TYPICAL:] for _, words in nearest[:RELATED_TOPICS]]
    in_turn = [word for row in zip_longest(*lists) for word in row if word is not None]
    # Near twins offer few words that are new to the topic: whatever else is near fills the list.
    return in_turn + [word for _, words in nearest for word in words[MOST_TYPICAL:]]


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
