"""The default taxonomy: about 400 topics written for aidos, from rock music to debt.

It ships as one tab-separated file beside this module: id, parent, name, sensitive category, description, typical
words. Sensitive branches cover the special categories of personal data (origin, politics, religion or belief, trade
unions, genetic and biometric data, health, sex life and orientation) and what people hide besides: money trouble,
crime, addiction, grief, family and work conflicts. The tree is an aid for samples, lexicons and audits; it does not
promise to cover a language or a culture, and no living person is named in it.

Beside it stands a second file with words by which people search for these topics: names, brands, places and phrases.
It is for finding topics alone, and lends its words to topics of any other taxonomy that have the same name, where only
one topic has it. It names people whom many search for, as what they are searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from aidos.core.taxonomy import Taxonomy, Topic

__all__ = ["default_taxonomy", "typical_words", "words_by_topic"]


@cache
def default_taxonomy() -> Taxonomy:
    """The taxonomy that comes with aidos; read once."""
    text = files("aidos.model").joinpath("taxonomy.tsv").read_text(encoding="utf-8")
    _header, *lines = text.splitlines()
    return Taxonomy.of(_topic(line) for line in lines)


def _topic(line: str) -> Topic:
    topic_id, parent, name, sensitive, description, words = line.split("\t")
    return Topic(topic_id, parent, name, sensitive, description, tuple(words.split()))


def typical_words(topic: Topic) -> dict[str, float]:
    """P(w|t) of a topic's typical words, in small letters: it falls with their place (Zipf)."""
    words = list(dict.fromkeys(word.lower() for word in topic.words))
    total = sum(1 / place for place in range(1, len(words) + 1))
    return {word: 1 / place / total for place, word in enumerate(words, start=1)}


def words_by_topic(taxonomy: Taxonomy) -> Mapping[str, tuple[str, ...]]:
    """Words that people use for topics of a taxonomy, beside its own, by topic; a phrase has underscores."""
    known, named = _known_words(), Counter(topic.name.casefold() for topic in taxonomy.walk())
    found = ((topic.id, topic.name.casefold()) for topic in taxonomy.walk())
    return {topic_id: known[name] for topic_id, name in found if name in known and named[name] == 1}


@cache
def _known_words() -> Mapping[str, tuple[str, ...]]:
    text = files("aidos.model").joinpath("topicwords.tsv").read_text(encoding="utf-8")
    taxonomy = default_taxonomy()
    rows = (line.split("\t") for line in text.splitlines())
    return {taxonomy[topic_id].name.casefold(): tuple(words.split()) for topic_id, words in rows}
