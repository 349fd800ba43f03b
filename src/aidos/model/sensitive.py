"""Sensitive topics: what people would rather not be found with, each with its telling words and its domain.

The thesis (section 6.5) asked judges whether a post with the 20 most salient words of a topic can be sensitive, and to
which of six domains it belongs. The default set stands in for such judges: the sensitive branches of the taxonomy that
comes with aidos, which are the special categories of article 9 GDPR (origin, politics, belief, trade unions, genetic
and biometric data, health, sex life and orientation) and what people hide besides (money trouble, crime, addiction,
grief, trouble in family and at work). Topics may share words, and an inner topic stands beside its parts.

A word's weight says how telling it is for its topic; only ratios count. Where none are given they fall with the place
of the word (1, 1/2, 1/3 ...), as in `aidos.model.sensitivity`.

A set of topics is what somebody thought of, in one language. That a text has none of its words does not say that the
text is harmless.

In files that people read and write, topics stand a line each, with tabs between columns. Columns are topic, title,
category, domain, sensitive (from 0 to 1) and words. Words stand in one cell with blanks between them, the most telling
first. A weight may stand behind each word (``debt:0.4 owe:0.2``); where a topic has none, weights fall with the place.
Tabs, since words and titles may have commas, and since every spreadsheet opens them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.taxonomy import Taxonomy, Topic
from aidos.engine.files import write_text
from aidos.errors import InputError, ParameterError
from aidos.model.rows import Troubles, read_rows
from aidos.model.text.analyser import Analyser
from aidos.model.topics import default_taxonomy

__all__ = [
    "COLUMNS",
    "DOMAINS",
    "SALIENT",
    "Domains",
    "SensitiveTopic",
    "TopicSet",
    "falling_weights",
    "read_topics",
    "write_topics",
]

SALIENT = 20
"""Words of a topic, as the judges of the thesis saw them."""
DOMAINS = (
    "law and politics",
    "humanities",
    "psychiatry and psychology",
    "health and medicine",
    "economy and finance",
    "other",
)
"""The domains of the thesis."""
Domains = Literal["fields", "branches"]
"""How topics of a taxonomy are grouped: by the six domains of the thesis, or by its branches, which are narrower."""

FIELDS = {
    "addiction": "psychiatry and psychology",
    "biometric": "law and politics",
    "crime": "law and politics",
    "family": "other",
    "genetic": "health and medicine",
    "grief": "psychiatry and psychology",
    "health": "health and medicine",
    "mental-health": "psychiatry and psychology",
    "money": "economy and finance",
    "orientation": "humanities",
    "origin": "law and politics",
    "politics": "law and politics",
    "religion": "humanities",
    "sex-life": "health and medicine",
    "trade-union": "economy and finance",
    "work": "economy and finance",
}
"""The domain of each sensitive category."""
BRANCH = 3
"""The fewest sensitive leaves that make a branch a domain."""
PART = ":"
"""Parts a word from its weight in files, so that no word may have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveTopic:
    """One topic and the words that point to it."""

    name: str
    """A short name without blanks, such as ``depression``."""
    category: str = ""
    """Why it is sensitive: ``health``, ``money`` ...; may be empty."""
    domain: str = "other"
    """The group of related topics; one of `DOMAINS`, or any other name."""
    words: tuple[str, ...]
    """Telling words in small letters, the most telling first."""
    weights: tuple[Annotated[float, Gt(0)], ...] = ()
    """How telling each word is, above 0; falling with the place where none are given."""
    sensitive: Annotated[float, Ge(0), Le(1)] = 1.0
    """How sensitive it is: 0 not at all, 1 fully, such as the share of judges who say so."""
    title: str = ""
    """The name for people to read; the short name where none is given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self.weights or falling_weights(len(self.words)))
        object.__setattr__(self, "title", self.title or self.name)
        check_parameters(self)
        if problems := _problems(self):
            raise ParameterError(f"SensitiveTopic: {'; '.join(problems)}")

    def analysed(self, analyser: Analyser) -> dict[str, float]:
        """Terms as the analyser writes them, with the weights of their words added; words it leaves out are gone."""
        found: dict[str, float] = {}
        for term, weight in zip(analyser.meanings(self.words), self.weights, strict=True):
            if term:
                found[term] = found.get(term, 0.0) + weight
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSet:
    """Sensitive topics in a fixed order; a topic's number is its place."""

    topics: tuple[SensitiveTopic, ...]
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {topic.name: place for place, topic in enumerate(self.topics)})
        if len(self._places) < len(self.topics):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ParameterError(f"topics must have different names; more than one has: {', '.join(twice[:5])}")
        if not self.topics:
            raise ParameterError("a set of topics needs at least one topic")

    @classmethod
    def of_taxonomy(cls, taxonomy: Taxonomy, *, words: int = SALIENT, domains: Domains = "fields") -> Self:
        """The sensitive topics of a taxonomy that have words, with as many of their typical words as are asked for."""
        if words < 1:
            raise ParameterError(f"words must be at least 1, got {words}")
        if domains not in ("fields", "branches"):
            raise ParameterError(f"domains must be fields or branches, got {domains!r}")
        found = [topic for topic in taxonomy.walk() if topic.words and taxonomy.sensitive_category(topic.id)]
        return cls(topics=tuple(_of_topic(taxonomy, topic, words, domains) for topic in found))

    @classmethod
    def default(cls, *, words: int = SALIENT, domains: Domains = "fields") -> Self:
        """The sensitive topics of the taxonomy that comes with aidos."""
        return cls.of_taxonomy(default_taxonomy(), words=words, domains=domains)

    def __len__(self) -> int:
        return len(self.topics)

    def __iter__(self) -> Iterator[SensitiveTopic]:
        return iter(self.topics)

    def __getitem__(self, place: int) -> SensitiveTopic:
        return self.topics[place]

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(topic.name for topic in self.topics)

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains in use, each once, in the order of their first topics."""
        return tuple(dict.fromkeys(topic.domain for topic in self.topics))

    def find(self, name: str) -> int:
        """The number of a topic, by its name."""
        if name in self._places:
            return self._places[name]
        written = {**{topic.title.lower(): topic.name for topic in self.topics}, **{n.lower(): n for n in self.names}}
        close = get_close_matches(name.lower(), written, n=1)
        hint = f"the nearest name is {written[close[0]]}" if close else f"there are {', '.join(self.names[:8])} ..."
        raise ParameterError(f"there is no topic {name!r}", hint=hint)

    def domain_of(self, name: str) -> tuple[int, ...]:
        """The numbers of the other topics of its domain."""
        here = self.find(name)
        domain = self.topics[here].domain
        return tuple(place for place, topic in enumerate(self.topics) if topic.domain == domain and place != here)

    def select(self, names: tuple[str, ...]) -> Self:
        """Only the topics with these names, in this order."""
        return replace(self, topics=tuple(self.topics[self.find(name)] for name in names))


def falling_weights(number: int) -> tuple[float, ...]:
    """Weights 1, 1/2, 1/3 ... of so many words, scaled to sum to 1."""
    total = sum(1 / place for place in range(1, number + 1))
    return tuple(1 / place / total for place in range(1, number + 1))


def _of_topic(taxonomy: Taxonomy, topic: Topic, words: int, domains: Domains) -> SensitiveTopic:
    category = taxonomy.sensitive_category(topic.id)
    return SensitiveTopic(
        name=topic.id,
        category=category,
        domain=_branch(taxonomy, topic) if domains == "branches" else FIELDS.get(category, "other"),
        words=tuple(dict.fromkeys(word.lower() for word in topic.words))[:words],
        title=topic.name,
    )


def _branch(taxonomy: Taxonomy, topic: Topic) -> str:
    """The nearest topic on the way up, itself among them, with enough sensitive leaves below."""

    def is_wide(step: Topic) -> bool:
        return sum(bool(taxonomy.sensitive_category(leaf.id)) for leaf in taxonomy.leaves(step.id)) >= BRANCH

    return next((step.id for step in reversed(taxonomy.path(topic.id)) if is_wide(step)), taxonomy.root)


def _problems(topic: SensitiveTopic) -> list[str]:
    problems = []
    if not topic.name or any(character.isspace() for character in topic.name):
        problems.append("a name is needed, without blanks")
    if not topic.domain.strip():
        problems.append("a domain is needed")
    if any(separator in text for text in (topic.category, topic.domain, topic.title) for separator in "\t\r\n"):
        problems.append("texts must be of one line, without tabs")
    if not topic.words:
        problems.append("at least one word is needed")
    if len(set(topic.words)) < len(topic.words):
        problems.append("words must differ")
    if not all(_is_word(word) for word in topic.words):
        problems.append(f"words must be in small letters, without blanks and without {PART!r}")
    if len(topic.weights) != len(topic.words):
        problems.append(f"there are {len(topic.weights)} weights for {len(topic.words)} words")
    return problems


def _is_word(word: str) -> bool:
    return bool(word) and word == word.lower() and PART not in word and not any(mark.isspace() for mark in word)


COLUMNS = ("topic", "title", "category", "domain", "sensitive", "words")


def read_topics(path: str | Path) -> TopicSet:
    """The topics of a file; InputError with all problems that it has."""
    troubles = Troubles(str(path))
    found: dict[str, SensitiveTopic] = {}
    for line, cells in read_rows(Path(path), COLUMNS, troubles, delimiter="\t"):
        topic = _topic(cells, line, troubles)
        if topic is None:
            continue
        if topic.name in found:
            troubles.add(line, "repeated-topic", "the topic has a line already", "topic")
        found[topic.name] = topic
    troubles.refuse()
    if not found:
        raise InputError(f"{path} has no topic", hint="write a line for each topic below the header")
    return TopicSet(topics=tuple(found.values()))


def write_topics(topics: TopicSet, path: str | Path) -> None:
    """Write topics so that `read_topics` gives the same ones, whole or not at all."""
    made = io.StringIO()
    csv.writer(made, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *map(_cells, topics)])
    write_text(Path(path), made.getvalue())


def _cells(topic: SensitiveTopic) -> tuple[str, ...]:
    falling = topic.weights == falling_weights(len(topic.words))
    weighed = (f"{word}{PART}{weight!r}" for word, weight in zip(topic.words, topic.weights, strict=True))
    words = " ".join(topic.words if falling else weighed)
    return (topic.name, topic.title, topic.category, topic.domain, repr(topic.sensitive), words)


def _topic(cells: dict[str, str], line: int, troubles: Troubles) -> SensitiveTopic | None:
    """The topic of a line; None where something is wrong with it, which is told."""
    before = len(troubles.found)
    pairs = [part.partition(PART) for part in cells["words"].split()]
    weighed = [bool(separator) for _, separator, _ in pairs]
    if any(weighed) and not all(weighed):
        troubles.add(line, "missing-weight", "some words have a weight and some have none", "words")
        return None
    sensitive = _number(cells["sensitive"], line, "sensitive", troubles)
    weights = [_number(weight, line, "words", troubles) for _, _, weight in pairs] if any(weighed) else []
    if len(troubles.found) > before or sensitive is None:
        return None
    try:
        return SensitiveTopic(
            name=cells["topic"],
            title=cells["title"],
            category=cells["category"],
            domain=cells["domain"],
            words=tuple(word for word, _, _ in pairs),
            weights=tuple(weight for weight in weights if weight is not None),
            sensitive=sensitive,
        )
    except ParameterError as error:
        # Its words speak of the fields' limits and never of the content of a cell, but for a number.
        troubles.add(line, "bad-topic", error.message.removeprefix("SensitiveTopic: "))
        return None


def _number(text: str, line: int, column: str, troubles: Troubles) -> float | None:
    try:
        return float(text)
    except ValueError:
        troubles.add(line, "bad-number", "a number is expected", column)
        return None
