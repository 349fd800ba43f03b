"""A member's exposing queries, the most critical first, with reasons: what her page shows.

    ranked = rank_member(store, store.member(number))

Unless a model is given, the order is that of topical sensitivity where the post is about the topic (see `senses`); the
model that comes with aidos knows a made-up world, and is asked for by name.

Rows that cleaning marks and partial matches are left out, and counted by reason; both can be kept. Of the posts that
one query returns only the most critical is shown. A post with twenty words is found by two hundred pairs of them, which
would fill the list with one post; therefore posts with the same words are shown at most ``rows_per_post`` times until
every other post has had its turn, and only then again, so that no row is lost, only moved back.

Rows of one score keep the order in which they are given: by post, then by word, as they are stored. It is a finding
about one person, for that person: no release.

Reasons say why a query stands where it stands, in words a member understands. Those of sensitivity name the word, its
topic and the company it keeps in the post. Those of a model come from its features: what one adds to a score is
compared with what it adds on average over the member's own queries. The list is hers alone, so what all her queries
share (say, that she rarely writes) explains nothing about their order; against the mean of the training data it would
be named every time. What remains sums to how far the query is above or below her average one. The largest parts are
told, upwards and downwards, each as half a sentence.

A reason says what moved the score. It is not the reason why anybody would mind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aidos.engine.inputs import open_input
from aidos.errors import ParameterError
from aidos.rooms.exposure.critical.cleaning import Dictionary, clean_member
from aidos.rooms.exposure.critical.community import Community, Longs, Material, gather
from aidos.rooms.exposure.critical.features import DESCRIBED, FEATURES, MemberFeatures
from aidos.rooms.exposure.critical.model import CriticalityModel, Ranker
from aidos.rooms.exposure.critical.senses import MemberSenses
from aidos.rooms.exposure.queries.records import Exposures

__all__ = ["MOST_REASONS", "Ranked", "Reason", "Reasons", "load_ranker", "rank_member", "reasons"]

Floats = NDArray[np.float64]

CHUNK = 1 << 13
"""Rows whose features are in memory at a time: about 14 MB."""
COMPARED = 4096
"""Rows that a member's average is taken over, evenly spaced."""
DECIMALS = 9
"""Scores that differ by less are equal: the last bits depend on how rows are cut into chunks."""


BEGINNING = 200
"""Characters of a model's file within which it says what it is."""


def load_ranker(path: Path | None, *, learned: bool = False) -> Ranker | None:
    """The ranker of a file, or the learned one that comes with aidos; None, for sensitivity, where neither is asked."""
    if path is None:
        return CriticalityModel.default() if learned else None
    if learned:
        raise ParameterError("two models are asked for", hint="give either --model or --learned")
    from aidos.rooms.exposure.critical.lambdarank import TREES_KIND, TreeModel

    with open_input(path) as file:
        trees = TREES_KIND.encode() in file.read(BEGINNING)
    return TreeModel.load(path) if trees else CriticalityModel.load(path)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """The most critical rows of one member, best first."""

    rows: Exposures
    """The rows."""
    places: Longs
    """Where they stand among the rows given."""
    scores: Floats
    """How critical they are; comparable within the member only."""
    reasons: tuple[Reasons, ...]
    """Why, for each."""
    given: int
    """How many rows there were."""
    dropped: Mapping[str, int]
    """How many of them were left out, by reason."""
    queries: int
    """Different queries among the rest."""

    def __len__(self) -> int:
        return len(self.rows)


def rank_member(  # noqa: PLR0913 (what, by what, and what to leave out)
    store: Community,
    exposures: Exposures,
    model: Ranker | None = None,
    *,
    top: int = 20,
    clean: bool = True,
    partial: bool = False,
    rows_per_post: int | None = 3,
    dictionary: Dictionary | None = None,
) -> Ranked:
    """The ``top`` rows of one member; ``rows_per_post=None`` does not spread posts."""
    if top < 1 or (rows_per_post is not None and rows_per_post < 1):
        raise ParameterError("top and rows_per_post must be at least 1")
    described = _described(store, exposures, model)
    kept, dropped = np.arange(len(exposures)), {}
    if clean:
        cleaned = clean_member(store, exposures, described.material, dictionary=dictionary, partial=partial)
        kept, dropped = np.flatnonzero(cleaned.kept), cleaned.counts()
    elif not partial:
        kept = np.flatnonzero(exposures.whole)
        dropped = {"partial match": len(exposures) - len(kept)} if len(kept) < len(exposures) else {}
    own = exposures.take(kept)
    scores = np.round(described.scores(own), DECIMALS)
    order = _one_a_query(own, np.argsort(-scores, kind="stable"))
    queries = len(order)
    if rows_per_post is not None:
        order = _spread(described.material, own, order, rows_per_post)
    best = order[:top]
    return Ranked(
        rows=own.take(best),
        places=kept[best],
        scores=scores[best],
        reasons=described.reasons(own, best) if len(best) else (),
        given=len(exposures),
        dropped=dropped,
        queries=queries,
    )


class _Described(Protocol):
    """One member's rows as a ranker sees them."""

    @property
    def material(self) -> Material:
        """What was gathered for her."""

    def scores(self, rows: Exposures) -> Floats:
        """How critical each row is, in memory that does not grow with the rows."""

    def reasons(self, rows: Exposures, best: Longs) -> tuple[Reasons, ...]:
        """Why some of the rows stand where they do among all of them."""


def _described(store: Community, exposures: Exposures, model: Ranker | None) -> _Described:
    if model is None:
        return _BySenses(MemberSenses.of(store, gather(store, exposures)))
    if model.features != FEATURES:
        raise ParameterError("the model is for other features", hint="train it again with this version of aidos")
    return _ByFeatures(MemberFeatures.of(store, exposures), model)


@dataclass(frozen=True, slots=True)
class _BySenses:
    """By what words mean in the posts."""

    senses: MemberSenses

    @property
    def material(self) -> Material:
        return self.senses.material

    def scores(self, rows: Exposures) -> Floats:
        return np.concatenate([np.zeros(0), *(self.senses.scores(part) for part in _chunks(rows))])

    def reasons(self, rows: Exposures, best: Longs) -> tuple[Reasons, ...]:
        return tuple(
            Reasons(
                up=tuple(Reason(feature="sense", words=sense.sentence(), part=sense.sense) for sense in told), down=()
            )
            for told in self.senses.told(rows.take(best))
        )


@dataclass(frozen=True, slots=True)
class _ByFeatures:
    """By features and a model."""

    features: MemberFeatures
    model: Ranker

    @property
    def material(self) -> Material:
        return self.features.material

    def scores(self, rows: Exposures) -> Floats:
        parts = [self.model.score(self.features.matrix(part)) for part in _chunks(rows)]
        return np.concatenate([np.zeros(0), *parts])

    def reasons(self, rows: Exposures, best: Longs) -> tuple[Reasons, ...]:
        spaced = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), COMPARED)).astype(np.int64))
        compared = self.features.matrix(rows.take(spaced))
        return tuple(reasons(self.model, self.features.matrix(rows.take(best)), compared))


def _chunks(exposures: Exposures) -> Iterator[Exposures]:
    for start in range(0, len(exposures), CHUNK):
        yield exposures.take(np.arange(start, min(start + CHUNK, len(exposures))))


def _one_a_query(own: Exposures, order: Longs) -> Longs:
    """Of the rows of each query the first, in the order given."""
    queries = (own.first[order].astype(np.int64) << 32) + (own.second[order].astype(np.int64) + 1)
    _, first = np.unique(queries, return_index=True)
    left: Longs = order[np.sort(first)]
    return left


def _spread(material: Material, own: Exposures, order: Longs, most: int) -> Longs:
    """The same rows, in rounds: in each a post (with all that have the same words) comes at most so often."""
    kinds = _kinds(material)[material.post_places(own)[order]]
    by_kind = np.argsort(kinds, kind="stable")
    _, starts, sizes = np.unique(kinds[by_kind], return_index=True, return_counts=True)
    turn = np.empty(len(order), dtype=np.int64)
    turn[by_kind] = np.arange(len(order)) - np.repeat(starts, sizes)
    moved: Longs = order[np.argsort(turn // most, kind="stable")]
    return moved


def _kinds(material: Material) -> Longs:
    """A number for each post, the same for posts with the same words."""
    starts = np.searchsorted(material.keys >> 32, np.arange(len(material.posts) + 1))
    words = (material.keys & 0xFFFFFFFF).astype(np.int64)
    numbers: dict[bytes, int] = {}
    return np.array(
        [
            numbers.setdefault(
                words[begin:end].tobytes() + b"/" + material.frequencies[begin:end].tobytes(), len(numbers)
            )
            for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ],
        dtype=np.int64,
    )


MOST_REASONS = 3
NEGLIGIBLE = 0.05
"""Parts below this share of the largest part of the row are not worth a word."""
WORDS = {feature.name: feature for feature in DESCRIBED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One feature's part in a place."""

    feature: str
    """Its name."""
    words: str
    """What it says about the query or the post."""
    part: float
    """What it adds to the score, beyond the average of the member's queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """What moved one query most."""

    up: tuple[Reason, ...]
    """What makes it more critical, the strongest first."""
    down: tuple[Reason, ...]
    """What makes it less so, the strongest first."""

    def sentence(self) -> str:
        """What speaks for it in one sentence; that nothing stands out, where nothing does."""
        if not self.up:
            return "Nothing stands out: it is much like your other queries."
        words = "; ".join(reason.words for reason in self.up)
        return f"{words[0].upper()}{words[1:]}."


def reasons(ranker: Ranker, matrix: Floats, own: Floats, *, most: int = MOST_REASONS) -> list[Reasons]:
    """For each row of a feature matrix; ``own`` holds the features of the member's rows, or of a sample of them."""
    if most < 1 or not len(own):
        raise ParameterError("give at least one row to compare with, and ask for at least one reason")
    parts = ranker.contributions(matrix) - ranker.contributions(own).mean(axis=0)
    above = matrix > own.mean(axis=0)
    return [_told(ranker.features, parts[row], above[row], most) for row in range(len(matrix))]


def _told(features: tuple[str, ...], parts: Floats, above: NDArray[np.bool_], most: int) -> Reasons:
    least = NEGLIGIBLE * float(np.abs(parts).max(initial=0.0))

    def strongest(signed: Floats, sign: int) -> tuple[Reason, ...]:
        places = np.argsort(-signed, kind="stable")[:most]
        return tuple(
            Reason(feature=features[place], words=_words(features[place], high=bool(above[place])), part=sign * value)
            for place, value in zip(places.tolist(), signed[places].tolist(), strict=True)
            if value > 0 and value >= least
        )

    return Reasons(up=strongest(parts, 1), down=strongest(-parts, -1))


def _words(feature: str, *, high: bool) -> str:
    described = WORDS[feature]
    return described.high if high else described.low
