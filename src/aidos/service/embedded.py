"""aidos' own index as a search service: in this process, memory-mapped, nothing leaves the machine.

The index keeps counts of terms and no texts, so results have an id and a score, but neither title nor snippet. Scores
of query likelihood are logarithms, so that they are below zero; greater is better all the same. A query of words that
no document holds finds nothing.
"""

from __future__ import annotations

from pathlib import Path

from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import Scorer
from aidos.model.retrieval.search import search
from aidos.service.base import Result, SearchService, check_request

__all__ = ["Embedded"]


class Embedded(SearchService):
    """An index of aidos, searched with one scorer."""

    def __init__(self, index: Index, scorer: Scorer | None = None, *, place: str = "memory") -> None:
        """Query likelihood scores unless another scorer is given; ``place`` is what messages call the index."""
        self._index = index
        self._scorer = scorer
        self._place = place

    @classmethod
    def open(cls, directory: Path, scorer: Scorer | None = None) -> Embedded:
        """Open an index that was saved."""
        return cls(Index.open(directory), scorer, place=str(directory))

    @property
    def name(self) -> str:
        """The kind of service and the directory."""
        return f"index:{self._place}"

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The documents with any of the words, by the scorer; equal scores in the order of the documents."""
        words = check_request(query, size)
        hits = search(self._index, words, self._scorer, size)
        return [
            Result(object_id=object_id, title="", snippet="", url="", score=float(score), position=position)
            for position, (object_id, score) in enumerate(zip(hits.ids, hits.scores, strict=True), start=1)
        ]

    def close(self) -> None:
        """Nothing to do: the maps go with the index."""
