"""Which topic of a taxonomy a text is about, by retrieval: topics are documents, a text is a query.

A topic is described by its name, its typical words and its description. The text goes to the topic under which its
words are most likely; without a known word it goes to none. It is a rough map: short texts are ambiguous, and the
taxonomy covers what its author thought of. Nothing is promised about any single text.
"""

from __future__ import annotations

from collections.abc import Sequence

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import QueryLikelihood
from aidos.model.retrieval.search import search_batch
from aidos.model.text.analyser import Analyser

__all__ = ["NO_TOPIC", "TopicMap"]

NO_TOPIC = ""
"""Of a text without any word that a topic knows."""
ANALYSER = Analyser(stop_words="english", stemmer="english")


class TopicMap:
    """Maps texts to the topics of a taxonomy, each text to one."""

    def __init__(self, taxonomy: Taxonomy, *, analyser: Analyser = ANALYSER, depth: int | None = None) -> None:
        """With ``depth`` topics further down count as their ancestor at that depth."""
        if depth is not None and depth < 0:
            raise ParameterError(f"depth must be at least 0, got {depth}", hint="1 tells the main branches apart")
        self.taxonomy = taxonomy
        self.depth = depth
        self._index = Index.build(((topic.id, _words(topic)) for topic in taxonomy.walk()), analyser=analyser)

    def topics(self, texts: Sequence[str]) -> list[str]:
        """The topic of each text, NO_TOPIC where there is none."""
        found = search_batch(self._index, texts, QueryLikelihood(), size=1)
        return [self._settle(hits.ids[0]) if hits.ids else NO_TOPIC for hits in found]

    def _settle(self, topic_id: str) -> str:
        if self.depth is None:
            return topic_id
        path = self.taxonomy.path(topic_id)
        return path[min(self.depth, len(path) - 1)].id


def _words(topic: Topic) -> str:
    # The name says most, so it counts twice.
    return " ".join((topic.name, topic.name, *topic.words, topic.description))
