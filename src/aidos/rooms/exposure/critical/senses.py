"""The order that is used unless a model is given: most sensitive first, where the post is about it.

    score = mean over the words of the query of their sense in the post  +  half of how much the post is about a topic

where the sense of a word is its largest over the sensitive categories (see `aidos.model.senses`), and the second part
counts only where the first is not 0. Nothing is learned from anybody, so there is nothing to distrust but the lexicon.
Reasons name the word, the topic, and the words of the post that speak for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.model.senses import ABOUT, PostSenses, WordSenses
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.community import Community, Longs, Material, gather
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = ["CommunitySenses", "MemberSenses", "Sense", "sensitivity_order"]

Floats = NDArray[np.float64]

OF_THE_POST = 0.5
"""What the post counts beside the query."""
MOST_COMPANY = 3
"""Words of the post that a reason names."""
COMPANION = 0.3
"""A word of less share in the category is no companion to name, though it counts."""
LEAST = 0.01
"""A word of less sense gives no reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """What one word of a query says about a post."""

    word: str
    category: str
    company: tuple[str, ...]
    """Other words of the post about the same, the strongest first."""
    sense: float

    def sentence(self) -> str:
        """It in half a sentence."""
        said = f"“{self.word}” {'is' if self.sense >= ABOUT else 'may be'} about {self.category.replace('-', ' ')}"
        if not self.company:
            return said
        *others, last = (f"“{word}”" for word in self.company)
        return f"{said}, like {', '.join(others)}{' and ' if others else ''}{last} beside it"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberSenses:
    """What one member's posts are about. Make it with `of`, then ask for rows of hers."""

    material: Material
    numbers: Longs
    """The words of her posts and of the queries, each once, rising."""
    spelled: tuple[str, ...]
    """The same as text."""
    places: Longs
    """Where each stands among the senses of words; behind them where there is no word."""
    posts: PostSenses

    @classmethod
    def of(cls, store: Community, material: Material, words: WordSenses | None = None) -> Self:
        """Of one member; without senses of words, those of the taxonomy that comes with aidos."""
        words = words or WordSenses.default(Analyser.parse(store.settings.analyser))
        numbers = np.union1d((material.keys & 0xFFFFFFFF) - 1, material.terms.astype(np.int64))
        spelled = tuple(store.words(numbers.astype(np.int32)))
        places = np.append(words.places(spelled), len(words.numbers))
        held = places[np.searchsorted(numbers, (material.keys & 0xFFFFFFFF) - 1)]
        posts = PostSenses.of(words, len(material.posts), material.keys >> 32, held)
        return cls(material=material, numbers=numbers, spelled=spelled, places=places, posts=posts)

    def scores(self, exposures: Exposures) -> Floats:
        """How sensitive each row is."""
        posts = self.material.post_places(exposures)
        total = sum(self._senses(posts, words).max(axis=1) for words in (exposures.first, exposures.second))
        mean = total / np.where(exposures.second == NO_WORD, 1, 2)
        about = self.posts.abouts().max(axis=1)[posts]
        scores: Floats = (mean + np.where(mean > 0, OF_THE_POST * about, 0)).astype(np.float64)
        return scores

    def told(self, exposures: Exposures) -> list[list[Sense]]:
        """For each row the senses of its words that say something, the strongest first."""
        posts = self.material.post_places(exposures)
        sides = [(words, self._senses(posts, words)) for words in (exposures.first, exposures.second)]
        found: list[list[Sense]] = []
        for row, post in enumerate(posts.tolist()):
            said = []
            for words, senses in sides:
                column, word = int(senses[row].argmax()), int(words[row])
                if senses[row, column] >= LEAST:
                    said.append(
                        Sense(
                            word=self.spelled[int(np.searchsorted(self.numbers, word))],
                            category=self.posts.words.categories[column],
                            company=self._company(post, column, word),
                            sense=float(senses[row, column]),
                        )
                    )
            found.append(sorted(said, key=lambda each: -each.sense))
        return found

    def _senses(self, posts: Longs, words: NDArray[np.int32]) -> NDArray[np.float32]:
        """Senses of words by number, which may stand in the post or not; 0 where there is no word."""
        there = words != NO_WORD
        places = np.full(len(words), self.places[-1])
        places[there] = self.places[np.searchsorted(self.numbers, words[there])]
        return self.posts.senses(posts, places, self.material.frequencies_of(posts, words) > 0)

    def _company(self, post: int, column: int, word: int) -> tuple[str, ...]:
        """Other words of a post about a category."""
        begin, end = np.searchsorted(self.material.keys >> 32, [post, post + 1])
        numbers = (self.material.keys[begin:end] & 0xFFFFFFFF) - 1
        places = np.searchsorted(self.numbers, numbers)
        shares = self.posts.words.shares[self.places[places], column]
        best = [
            at for at in np.argsort(-shares, kind="stable").tolist() if shares[at] >= COMPANION and numbers[at] != word
        ]
        return tuple(self.spelled[places[at]] for at in best[:MOST_COMPANY])


def sensitivity_order(store: Community, exposures: Exposures) -> Floats:
    """How sensitive each row of any members is, in the order of the rows."""
    words = WordSenses.default(Analyser.parse(store.settings.analyser))
    scores = np.zeros(len(exposures))
    order = np.argsort(exposures.members, kind="stable")
    _, starts = np.unique(exposures.members[order], return_index=True)
    for rows in np.split(order, starts[1:]):
        own = exposures.take(rows)
        scores[rows] = MemberSenses.of(store, gather(store, own), words).scores(own)
    return scores


PORTION = 100_000
"""Posts whose words are in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommunitySenses:
    """What all posts of a community are about, for counting over everybody."""

    store: ExposureStore
    places: Longs
    """Where each word stands among the senses of words."""
    posts: PostSenses

    @classmethod
    def of(cls, store: ExposureStore) -> Self:
        """Of all posts that are there."""
        words = WordSenses.default(Analyser.parse(store.settings.analyser))
        places = words.places(store.words(np.arange(store.state.words)))
        number = store.state.posts
        weights = [np.zeros((0, words.shares.shape[1]), dtype=np.float32)]
        for begin in range(0, number, PORTION):
            asked = np.arange(begin, min(begin + PORTION, number))
            starts, held, _ = store.terms_of(asked)
            owners = np.repeat(np.arange(len(asked)), np.diff(starts))
            weights.append(PostSenses.of(words, len(asked), owners, places[held]).weights)
        return cls(store=store, places=places, posts=PostSenses(words=words, weights=np.concatenate(weights)))

    @property
    def categories(self) -> tuple[str, ...]:
        """The sensitive categories."""
        return self.posts.words.categories

    def senses(self, posts: NDArray[np.int32], words: NDArray[np.int32]) -> Floats:
        """How much each word is about each category in the post beside it; 0 where there is no word."""
        places = np.where(words == NO_WORD, len(self.posts.words.numbers), self.places[words])
        return self.posts.senses(posts.astype(np.int64), places, np.ones(len(words), dtype=np.bool_)).astype(np.float64)

    def texts(self, words: Longs) -> list[str]:
        """The words of numbers."""
        return self.store.words(words)
