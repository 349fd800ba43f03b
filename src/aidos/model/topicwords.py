"""From texts to the words by which topics are found: phrases stay together, what says nothing is left out.

Terms are singulars without function words (`aidos.model.text`). Two terms that some topic has side by side, in its name
or as a phrase among its words, become one: "guinea pigs" are not pigs. How people ask ("what is the best way to get")
and what any page could be of ("pictures", "free", "review") is left out after that. A term that no topic has is tried
in other forms of the verb, so that "swim" finds what only knows "swimming". Numbers that no topic has say nothing.

A text counts as foreign, and gets no word at all, where at least one in four of its words is a function word of another
language, or stands in another script: words that two languages share by chance would be all that it is judged by.
A word that is a topic's whole name is never left out, and a taxonomy that is not in English itself is asked in any
language.

Topics by vectors of a language model, for people who have one on their disk. An `Encoder` is any function from texts to
vectors, such as the ``encode`` of a sentence model or a pipeline of scikit-learn. A topic stands where the text with
its names, description and words stands, and a text is about the topics whose direction is closest. aidos ships no
model, fetches none, and does not know what one has learned: what it finds is as good, and as fair, as the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.core.taxonomy import Topic
from aidos.errors import ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.search import Queries, known_terms
from aidos.model.text.analyser import ENGLISH, Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.inflection import inflections
from aidos.model.text.language import FOREIGN, HEAVY, LIGHT, foreign_marks
from aidos.model.text.vocabulary import Vocabulary

__all__ = ["ANALYSER", "COMMON", "JOINT", "Asked", "Encoder", "TopicVectors", "TopicWords", "is_english", "phrased"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

ANALYSER = Analyser(stop_words="english", stemmer="lemmas")
JOINT = "'"
"""Between the words of a phrase: it stands between letters of one term, and English has no such terms."""
FOREIGN_SHARE = 0.25
UNKNOWN, SAYS_NOTHING = -1, -2
"""Of a word that no topic has, and of one that is left out."""

WORDS = """
a ability able about above accept accepted access across act action activity actual actually add additional address
advance advice affect after again age ago agree ahead allow allowed almost alone along already alternative always
amount annual another answer any anybody anyone anything anyway anywhere apart appear apply appropriate area around
arrange ask asked asking available average avoid away back bad based basic be become before begin beginner behind
being believe below best better between beyond big bit both bring build buy buying call called came case cause certain
certainly chance change changed changing cheap cheapest check choice choose claim clear close collection com come
comes common compare compared complete concern condition conditions confirm consider contact contain contest continue
correct cost count couple course current currently daily date day deal decide default depend describe detail details
determine difference different difficult direct directly does done down due during each early easiest easily easy
effect effective either else end enjoy enough enter entire especially even ever every everybody everyone everything
exact exactly example except exist expect experience explain extra fact false famous faq far fast fastest favourite
few figure final finally find finding fine first five follow following form forum found four free frequently full fun
further general generally get gets getting give given gives giving go goes going gone good got great group guide guy
guys half handle happen happened happens hard have hear held hello help helpful here high higher history hold hour
however htm html http https huge idea identify image images important improve include included includes including
increase index info information inside instead interest interesting involve issue item itself keep kept kind know
known large larger largest last late later latest lead learn least leave left length less let level like likely limit
limited line link list little live local location long longer look looking lose lot low lower made main major make
makes making manage many matter maximum maybe mean means meant meet mention method methods middle mind minimum minute
miss model modern moment month more most mostly move much multiple must name near nearly necessary need needed needs
net never new next nice non none normal normally note nothing now number object off offer official often ok okay old
older one ones online only open option options order ordinary org original other others otherwise out outside over
overview own page part particular particularly pass past pay people per perfect perhaps period permanent person
personal php phrase pic pics picture pictures piece place places plan planning play please point poor popular position
possible possibly practical practice prefer preferred present pretty prevent previous previously price prices pro
probably problem problems process product program project proper properly prove provide public purchase purpose put
quality question questions quick quickest quickly quite random range rate rather re read ready real really reason
reasonable receive recent recently recommend recommended related relevant remain remember remove request require
required requirement requirements requires reserve resource result results return review reviews rid right role rule
rules safe said sale same save say says search second section see seem seems seen sell send sense separate serious
service session set several share short shortest show showing side sign significant similar simple simplest simply
since single site situation size small smaller smallest so solution solve some somebody someone something sometimes
somewhere soon sort source special specific specify spend standard start started starting state stay step steps still
stop strange strict strictly strong stuff style such suggest suggested suggestion suggestions suitable summary supply
support suppose sure system take taken takes taking talk target tell ten term terms test thing things think third
though three through throughout time times tip tips today together told tomorrow tonight top total toward towards
track trick tricks try trying turn twice two type types typical typically ultimate unable under unique until unusual
up upcoming update upon use used useful user users uses using usual usually valid value various version versus very
via video videos view visit visiting vs wait want wanted wants watch way ways web website well went what whatever
wherever whether while whole why wide willing wish within without wonder word words work works world worst worth write
wrong www year years yes yesterday yet you young
"""
COMMON = frozenset(WORDS.split())
"""Words that say little in a query, whatever they say in a sentence."""


def phrased(text: str) -> str:
    """A name or a word of a topic, and behind it the one term that two terms make."""
    text = text.replace("_", " ")
    if " " not in text and "-" not in text:
        return text
    terms = ANALYSER.terms(text)
    joins = len(terms) == 2 and all(len(term) > 1 and term.isalnum() for term in terms)
    return f"{text} {JOINT.join(terms)}" if joins else text


def is_english(texts: Iterable[str]) -> bool:
    """Whether texts have more function words of English, all together, than of other languages."""
    words = [word for text in texts for word in text.casefold().split()]
    return sum(word in ENGLISH for word in words) > foreign_marks(words).count(FOREIGN)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """Texts as terms of an index, and how much each has to say."""

    queries: Queries
    weights: Floats
    """Of all terms of each text, known or not: what a topic would have to explain."""


class TopicWords:
    """Reads texts for an index of topics. Any number of threads may read."""

    def __init__(self, index: Index, topics: Sequence[Topic], *, weights: Floats, unknown: float) -> None:
        """``weights`` are those of the terms of the index, and ``unknown`` that of a term which is none."""
        self._index = index
        self._english = is_english(text for topic in topics for text in (topic.name, topic.description))
        self._weights = np.concatenate([weights, [0.0, unknown]])  # ends with what SAYS_NOTHING and UNKNOWN point to
        common = COMMON if self._english else COMMON | HEAVY | LIGHT
        self._common = common - {topic.name.casefold() for topic in topics}
        self._phrases: dict[str, list[tuple[str, int]]] = {}
        known = index.vocabulary.terms(np.arange(len(index.vocabulary))) if len(index.vocabulary) else []
        joint = [term for term in known if JOINT in term]
        for term, number in zip(joint, known_terms(index, joint).tolist(), strict=True):
            first, _, second = term.partition(JOINT)
            self._phrases.setdefault(first, []).append((second, number))

    def read(self, texts: Sequence[str]) -> Asked:
        """The terms of texts."""
        spelled, terms, bounds = self._split(texts)
        owners = np.repeat(np.arange(len(texts)), np.diff(bounds))
        numbers = self._numbers(spelled)[terms]
        self._join(spelled, terms, owners, numbers)
        if self._english:
            numbers[_foreign(spelled, terms, owners, len(texts))[owners]] = SAYS_NOTHING
        there = numbers >= 0
        starts = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owners[there], minlength=len(texts)), out=starts[1:])
        return Asked(
            queries=Queries(starts=starts, terms=numbers[there], unknown={}),
            weights=np.bincount(owners, self._weights[numbers], len(texts)).astype(np.float64),
        )

    def _split(self, texts: Sequence[str]) -> tuple[list[str], Longs, Longs]:
        """Distinct terms, the terms of all texts as their places, and where each text begins."""
        if len(texts) == 1:  # compiled code is set up for many: for one it takes longer than the text
            plain = self._index.analyser.terms(texts[0])
            places = {term: place for place, term in enumerate(dict.fromkeys(plain))}
            terms = np.array([places[term] for term in plain], dtype=np.int64)
            return list(places), terms, np.array([0, len(terms)])
        words = Vocabulary()
        found = analyse(texts, words, analyser=self._index.analyser)
        spelled = words.terms(np.arange(len(words))) if len(words) else []
        return spelled, found.terms.astype(np.int64), found.starts

    def _numbers(self, spelled: Sequence[str]) -> Longs:
        """The number in the index of each word, of its first form that is known, or what it is instead."""
        numbers = known_terms(self._index, spelled)
        forms, owners = list[str](), list[int]()
        for place, (word, number) in enumerate(zip(spelled, numbers.tolist(), strict=True)):
            if word in self._common or len(word) == 1 or (number == UNKNOWN and not any(map(str.isalpha, word))):
                numbers[place] = SAYS_NOTHING
            elif number == UNKNOWN:
                tried = [form for form in inflections(word) if form not in self._common]
                forms += tried
                owners += [place] * len(tried)
        for place, number in zip(owners, known_terms(self._index, forms).tolist() if forms else (), strict=True):
            if numbers[place] == UNKNOWN:
                numbers[place] = number
        return numbers

    def _join(self, spelled: Sequence[str], terms: Longs, owners: Longs, numbers: Longs) -> None:
        """Put phrases in place of their two terms, from the left."""
        places = {word: place for place, word in enumerate(spelled)}
        pairs = sorted(
            (place * len(spelled) + places[second], number)
            for word, place in places.items()
            for second, number in self._phrases.get(word, ())
            if second in places
        )
        if not pairs or len(terms) < 2:
            return
        keys, meant = np.array(pairs, dtype=np.int64).T
        asked = terms[:-1] * len(spelled) + terms[1:]
        nearest = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        last = -2
        for at in np.flatnonzero((keys[nearest] == asked) & (owners[:-1] == owners[1:])).tolist():
            if at > last + 1:
                last = at
                numbers[at], numbers[at + 1] = meant[nearest[at]], SAYS_NOTHING


def _foreign(spelled: Sequence[str], terms: Longs, owners: Longs, texts: int) -> Bools:
    """Which texts are of another language than English."""
    marks = np.array(foreign_marks(spelled), dtype=np.int64)
    if not marks.any():
        return np.zeros(texts, dtype=np.bool_)
    mine = marks[terms]
    foreign = np.bincount(owners[mine == FOREIGN], minlength=texts)
    marked = np.bincount(owners[mine > 0], minlength=texts)
    return (foreign > 0) & (marked >= FOREIGN_SHARE * np.bincount(owners, minlength=texts))


Places = NDArray[np.int32]


class Encoder(Protocol):
    """What turns texts into vectors of one length, one row a text."""

    def __call__(self, texts: Sequence[str], /) -> ArrayLike:
        """The vectors; a text that the model knows nothing of may have one of zeros."""


class TopicVectors:
    """The directions of topics, and which of them are closest to that of a text."""

    def __init__(self, topics: Sequence[str], encode: Encoder, *, closeness: float) -> None:
        """``topics`` are texts; a text needs a cosine of at least ``closeness`` to be about one."""
        if not 0 < closeness <= 1:
            raise ParameterError(f"closeness must be above 0 and at most 1, got {closeness}", hint="0.3 is usual")
        self.encode = encode
        self.closeness = closeness
        self._topics: Floats = np.zeros((0, 0))
        self._topics = self._directions(topics)

    def best(self, texts: Sequence[str], most: int) -> tuple[Places, Floats, Longs]:
        """Numbers of the closest topics of each text, their cosines, and how many are close enough."""
        cosines = self._directions(texts) @ self._topics.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :most]
        scores = np.take_along_axis(cosines, order, axis=1)
        return order.astype(np.int32), scores, (scores >= self.closeness).sum(axis=1)

    def _directions(self, texts: Sequence[str]) -> Floats:
        found = np.asarray(self.encode(texts), dtype=np.float64)
        if (
            found.ndim != 2
            or len(found) != len(texts)
            or (len(self._topics) and found.shape[1] != self._topics.shape[1])
        ):
            raise ParameterError(
                f"the encoder made an array of shape {found.shape} from {len(texts)} texts",
                hint="it must give one vector a text, all of one length",
            )
        found = np.where(np.isfinite(found), found, 0.0)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.maximum(lengths, np.finfo(np.float64).tiny), dtype=np.float64)
