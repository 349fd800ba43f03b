"""Topics by vectors of a language model, for people who have one on their disk.

An `Encoder` is any function from texts to vectors, such as the ``encode`` of a sentence model or a pipeline of
scikit-learn. A topic stands where the text with its names, description and words stands, and a text is about the topics
whose direction is closest. aidos ships no model, fetches none, and does not know what one has learned: what it finds is
as good, and as fair, as the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.errors import ParameterError

__all__ = ["Encoder", "TopicVectors"]

Floats = NDArray[np.float64]
Places = NDArray[np.int32]
Longs = NDArray[np.int64]


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
