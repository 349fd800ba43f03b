"""What a ranker sees of an exposure: some two hundred numbers for each triple of member, post and query.

By the thesis (section 5.4.2), in this order:

    semantic      category_...           1 where a word of the query is in the category (see `categories`)
    uniqueness    selectivity            ln(1 + posts that hold all words of the query)
                  entropy                entropy of the softmax of the scores of the results, as a share of its maximum
    surprisal     user_surprisal         -ln P(q|u) per word; document_surprisal: -ln P(d|u) per word (see `Language`)
    neighbour     proximity, rank        ln P(q|d) per word; the place of the post among the results
    post          has_...                how the post is written (see `syntactic_marks`)
    sensitivity   topical_sensitivity    of the words of the query, summed (see `aidos.model.sensitivity`)

Counts of posts enter as logarithms, since they span six orders of magnitude and a linear ranker would see only the
largest. Entropy is a share because lists of less than k results have a smaller maximum, which says nothing more than
selectivity does. What depends on a word, a post or the member is computed once each and looked up by row.

Features describe; they judge nobody, and which of them matter is learned, not decided here.

How a post is written shows signs of emotion and of content that its author may not want to be found by: the thesis'
seven marks (section 5.4), each true or false for a post. They are found by patterns over the text, so they see what
stands there and not what is meant: "XIII" has a vowel three times in a row.

How expected a query or a post is from a member, and a query from a post, is told by language models. A member's
language is that of all her posts, mixed with that of the community (Dirichlet smoothing, thesis, section 5.4):

    P(w|u) = (count of w in her posts + mu P(w|C)) / (words of her posts + mu),      mu = words of the average member

User surprisal of a query is -ln P(q|u) divided by the words of q; document surprisal is -ln P(d|u) divided by the
words of d. Both are per word: otherwise queries of two words would always surprise more than those of one, and long
posts more than short ones. Her language includes the post in question, as in the thesis.

**Deviation.** The thesis also lists a proximity ln P(q|u), which is the user surprisal with the other sign: a linear
ranker cannot tell them apart, and the weight would be split between them at random. Proximity here is ln P(q|d) per
word, the likelihood of the query in the post that is returned, smoothed by words of the average post. It still says how
near the neighbour is, and nothing else says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.categories import CATEGORIES, Forms, Lexicon, category_label
from aidos.rooms.exposure.critical.community import Community, Ints, Longs, Material, gather
from aidos.rooms.exposure.queries.records import Exposures

__all__ = [
    "ADDRESSES",
    "DESCRIBED",
    "FEATURES",
    "MARKS",
    "MENTIONS",
    "Feature",
    "Group",
    "Language",
    "MemberFeatures",
    "WordSensitivity",
    "feature_matrix",
    "syntactic_marks",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """What a member's language and the community's say of the words of queries, and of her posts."""

    background: Floats
    """P(w|C) of each word of the queries."""
    unexpected: Floats
    """-ln P(w|u) of each word of the queries, and 0 behind, where there is no word."""
    surprisals: Floats
    """-ln P(d|u) per word, of each post; 0 for a post without words."""
    smoothing: float
    """Words of the average post, which the community's language adds to a post."""

    @classmethod
    def of(cls, store: Community, material: Material) -> Self:
        """Of one member."""
        reference = store.reference
        tokens = max(reference.tokens, 1)
        smoothing = max(tokens / max(store.facts.members, 1), 1.0)

        def unexpected(words: Ints) -> tuple[Floats, Floats]:
            # Words that are newer than the reference count as if they stood in it once, as in its search.
            background = np.maximum(store.counts_of(words), 1) / tokens
            likely = (_counts(material, words) + smoothing * background) / (material.said_counts.sum() + smoothing)
            return background, -np.log(likely)

        background, asked = unexpected(material.terms)
        held, inverse = np.unique((material.keys & 0xFFFFFFFF) - 1, return_inverse=True)
        _, written = unexpected(held.astype(np.int32))
        summed = np.bincount(
            material.keys >> 32, weights=written[inverse] * material.frequencies, minlength=len(material.posts)
        )
        return cls(
            background=background,
            unexpected=np.append(asked, 0.0),
            surprisals=summed / np.maximum(material.lengths, 1),
            smoothing=max(reference.mean_length, 1.0),
        )

    def query_surprisals(self, first: Longs, second: Longs) -> Floats:
        """-ln P(q|u) per word of queries, given by the places of their words (see `Material.term_places`)."""
        surprisals: Floats = (self.unexpected[first] + self.unexpected[second]) / self._sizes(second)
        return surprisals

    def proximities(self, material: Material, posts: Longs, first: Longs, second: Longs) -> Floats:
        """Ln P(q|d) per word of each row, given by the places of its post and words."""
        lengths = material.lengths[posts] + self.smoothing
        total = np.zeros(len(posts))
        for places in (first, second):
            there = np.flatnonzero(places < len(material.terms))
            words, background = material.terms[places[there]], self.background[places[there]]
            counts = material.frequencies_of(posts[there], words)
            total[there] += np.log((counts + self.smoothing * background) / lengths[there])
        return total / self._sizes(second)

    def _sizes(self, second: Longs) -> Longs:
        """Words of each query."""
        return np.where(second < len(self.background), 2, 1)


def _counts(material: Material, words: Ints) -> Longs:
    """How often the member used each word."""
    if not len(material.said):
        return np.zeros(len(words), dtype=np.int64)
    found = np.minimum(np.searchsorted(material.said, words), len(material.said) - 1)
    return np.where(material.said[found] == words, material.said_counts[found], 0)


ADDRESSES = r"(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"]+"
"""Addresses on the web as people write them; for compiled code (RE2)."""
MENTIONS = r"(^|[^\pL\pN_@.])@[\pL\pN_]+"
"""A name after an at sign, but no e-mail address. The first group is what stands before."""

APART = r"(?:^|[^\pL\pN_])"
"""What an emoticon does not follow: a letter or a number, as in 10:30."""
FACES = (
    r"[<>]?[:;=][-o'^*]{0,2}[)(\]\[DPpOo/\\|3*$@]+",
    r"\([-'^]?[:;=]",
    r"[xX]D+",
    r"\^[_.-]?\^",
    r"[oO][_.][oO]",
    r"-[_.]-",
    r"<3+",
    r"\\o/",
)
PICTURES = r"[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]"

MARKS: Mapping[str, str] = MappingProxyType(
    {
        "has_url": ADDRESSES,
        "has_at_mention": MENTIONS,
        "has_hashtag": r"(?:^|[^\pL\pN_#&/])#[\pN_]*\pL",
        "has_emoticon": rf"{APART}(?:{'|'.join(FACES)})(?:$|[^\pL\pN_])|{PICTURES}",
        "has_repeated_punctuation": r"(?:!!|\?\?|\.\.\.|\x{2026})(?:\s|$)",
        "has_repeated_vowels": r"(?i)aaa|eee|iii|ooo|uuu",
        "has_laughter": r"(?i)haha|hehe|hihi|hoho|huhu",
    }
)
"""What is looked for, by the name of the mark. A hashtag has a letter; a token ends where a blank follows."""


def syntactic_marks(texts: pa.LargeStringArray) -> NDArray[np.bool_]:
    """Which marks each text has: a row a text, a column a mark, in the order of `MARKS`."""
    without = pc.replace_substring_regex(texts, ADDRESSES, " ")
    # An address may end in dots that trail off; what else stands in it was not written by the author.
    whole = {"has_url", "has_repeated_punctuation"}
    columns = [_has(texts if name in whole else without, pattern) for name, pattern in MARKS.items()]
    return np.stack(columns, axis=1)


def _has(texts: pa.LargeStringArray, pattern: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(np.bool_)
    return found


Group = Literal["semantic", "uniqueness", "surprisal", "neighbour", "post", "sensitivity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One number of a triple, with words for people who never heard of it."""

    name: str
    group: Group
    high: str
    """What it means when it is large, as half a sentence about the query or the post."""
    low: str
    """What it means when it is small."""


NUMBERS: tuple[tuple[str, Group, str, str], ...] = (
    ("selectivity", "uniqueness", "many posts hold these words", "few posts hold these words"),
    ("entropy", "uniqueness", "all results fit the query about equally well", "a few results fit far better"),
    ("user_surprisal", "surprisal", "you rarely use these words", "you often use these words"),
    ("document_surprisal", "surprisal", "the post is unlike your others", "the post is like your others"),
    ("proximity", "neighbour", "the post is largely about these words", "the post is about other things as well"),
    ("rank", "neighbour", "the post stands low among the results", "the post stands high among the results"),
)
STYLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "has_url": ("the post holds a web address", "the post holds no web address"),
        "has_at_mention": ("the post mentions another account", "the post mentions no other account"),
        "has_hashtag": ("the post holds a hashtag", "the post holds no hashtag"),
        "has_emoticon": ("the post holds an emoticon", "the post holds no emoticon"),
        "has_repeated_punctuation": ("the post ends a word with !!, ?? or ...", "the post repeats no punctuation"),
        "has_repeated_vowels": ("the post draws out a vowel, as in sooo", "the post draws out no vowel"),
        "has_laughter": ("the post laughs, as in haha", "the post does not laugh"),
    }
)
TOPICAL = Feature(
    name="topical_sensitivity",
    group="sensitivity",
    high="these words are typical of topics that people keep to themselves",
    low="these words are not typical of topics that people keep to themselves",
)


def _semantic(category: str) -> Feature:
    label = category_label(category)
    high, low = f"the query has a word about {label}", f"the query has no word about {label}"
    return Feature(name=f"category_{category}", group="semantic", high=high, low=low)


DESCRIBED = (
    *map(_semantic, CATEGORIES),
    *(Feature(name=name, group=group, high=high, low=low) for name, group, high, low in NUMBERS),
    *(Feature(name=name, group="post", high=STYLES[name][0], low=STYLES[name][1]) for name in MARKS),
    TOPICAL,
)
"""Every feature with its words, in order."""
FEATURES = tuple(feature.name for feature in DESCRIBED)
"""Names of the columns of a feature matrix."""


class WordSensitivity(Protocol):
    """How sensitive terms are, from 0 to 1."""

    def words(self, words: list[str]) -> Floats:
        """The sensitivity of each term of the community's analyser."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberFeatures:
    """All that the features of one member's rows are made of. Make it with `of`, then ask for rows of hers."""

    material: Material
    forms: Forms
    language: Language
    marks: NDArray[np.bool_]
    """How each post is written."""
    sensitivities: Floats
    """Of each word of the queries, and 0 behind, where there is no word."""

    @classmethod
    def of(
        cls,
        store: Community,
        exposures: Exposures,
        *,
        lexicon: Lexicon | None = None,
        sensitivity: WordSensitivity | None = None,
    ) -> Self:
        """Read what the rows of one member need. Without a lexicon Empath's is taken, likewise for sensitivity."""
        material = gather(store, exposures)
        analyser = Analyser.parse(store.settings.analyser)
        sensitive = sensitivity or TopicalSensitivity.default(analyser=analyser)
        return cls(
            material=material,
            forms=Forms.of(store, material, lexicon or Lexicon.default()),
            language=Language.of(store, material),
            marks=syntactic_marks(material.texts),
            sensitivities=np.append(sensitive.words(list(material.spelled)), 0.0),
        )

    def matrix(self, exposures: Exposures) -> Floats:
        """The features of rows: one row each, a column a feature, in the order of `FEATURES`."""
        posts = self.material.post_places(exposures)
        first, second = self.material.term_places(exposures.first), self.material.term_places(exposures.second)
        matrix = np.empty((len(exposures), len(FEATURES)))
        semantic = len(CATEGORIES)
        marks = self.forms.marks
        matrix[:, :semantic] = marks(self.material, posts, first) | marks(self.material, posts, second)
        matrix[:, semantic:-1] = self._numbers(exposures, posts, first, second)
        matrix[:, -1] = self.sensitivities[first] + self.sensitivities[second]
        return matrix

    def _numbers(self, exposures: Exposures, posts: Longs, first: Longs, second: Longs) -> Floats:
        columns = (
            np.log1p(exposures.documents),
            exposures.evenness / 100.0,
            self.language.query_surprisals(first, second),
            self.language.surprisals[posts],
            self.language.proximities(self.material, posts, first, second),
            exposures.ranks.astype(np.float64),
        )
        return np.concatenate([np.stack(columns, axis=1), self.marks[posts]], axis=1)


def feature_matrix(
    store: Community,
    exposures: Exposures,
    *,
    lexicon: Lexicon | None = None,
    sensitivity: WordSensitivity | None = None,
) -> Floats:
    """The features of rows of any members, in the order of the rows; see `MemberFeatures`."""
    matrix = np.empty((len(exposures), len(FEATURES)))
    order = np.argsort(exposures.members, kind="stable")
    _, starts = np.unique(exposures.members[order], return_index=True)
    # Read once, not once a member.
    words = lexicon or Lexicon.default()
    sensitive = sensitivity or TopicalSensitivity.default(analyser=Analyser.parse(store.settings.analyser))
    for rows in np.split(order, starts[1:]):
        own = exposures.take(rows)
        if len(own):
            matrix[rows] = MemberFeatures.of(store, own, lexicon=words, sensitivity=sensitive).matrix(own)
    return matrix
