"""What a state is kept for: topics, measures and knowledge, and everything that follows from them.

A state is bound to its plan: numbers of another model, of other words or of another analyser do not compare. The
`fingerprints` say in a few letters each what it is bound to, so that a state of something else is refused by name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.text.analyser import Analyser
from aidos.rooms.risk.evidence import refuse_without_times
from aidos.rooms.risk.formulas import strength_of_interest
from aidos.rooms.risk.kept.traces import KeptSpace, Traces
from aidos.rooms.risk.knowledge import RiskModels, make_presence, make_space
from aidos.rooms.risk.measure import BaselineRisk, RiskMeasure, TopicalRisk
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import SPACES, Layout, PresenceSpace

__all__ = ["PRESENCE", "RiskPlan"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
PRESENCE = "words"
"""The name under which it is kept who has which words."""
ONE_BUCKET = {1: 1}
"""Time matters, whatever the buckets."""


class RiskPlan:
    """Topics, measures and knowledge that belong together; checked when made."""

    def __init__(
        self, topics: Sequence[str], measures: Sequence[RiskMeasure], models: RiskModels, analyser: Analyser
    ) -> None:
        self.topics = tuple(dict.fromkeys(topics))
        self.measures = tuple(dict.fromkeys(measures))
        self.models = models
        self.analyser = analyser
        self.topical = tuple(measure for measure in self.measures if isinstance(measure, TopicalRisk))
        self.baselines = tuple(measure for measure in self.measures if isinstance(measure, BaselineRisk))
        self.others = tuple(measure for measure in self.measures if measure not in (*self.topical, *self.baselines))
        """Measures of third parties: nothing is known of how an entry changes them, so they are computed again."""
        if not self.topics or not self.measures:
            raise ParameterError("at least one topic and one measure are needed")
        self.presence: PresenceSpace | None = None
        self.kept = self._kept()

    def _kept(self) -> dict[str, KeptSpace]:
        found: dict[str, KeptSpace] = {}
        for name in SPACES:
            group = [measure for measure in self.topical if measure.space == name]
            if group:
                wide = any(measure.domain for measure in group)
                space = make_space(name, self.topics, self.models, self.analyser, domains=wide)
                recurring: dict[int, int] = {}
                for measure in group:
                    for days, number in measure.buckets.items():
                        recurring[days] = max(number, recurring.get(days, 0))
                found[name] = KeptSpace(space=space, layout=space.layout, recurring=recurring)
        if self.baselines:
            self.presence = make_presence(self.topics, self.models, self.analyser)
            words = len(self.presence.terms)
            # Every word is asked for, so that the entry is known that has it.
            layout = Layout(columns=words, asked=np.arange(words, dtype=np.int64), domains=())
            found[PRESENCE] = KeptSpace(space=self.presence, layout=layout, recurring={})
        return found

    def find_topic(self, name: str) -> int:
        """The place of a topic among those that are kept."""
        if name not in self.topics:
            self.models.topics.find(name)  # says the nearest name where there is no such topic at all
            raise ParameterError(f"{name} is not kept here", hint=f"there are {', '.join(self.topics)}")
        return self.topics.index(name)

    def columns_of_words(self, topic: int) -> Longs:
        """Where the words of a topic stand among those that are kept for the baselines."""
        return self.presence.topic_columns[topic] if self.presence is not None else np.zeros(0, dtype=np.int64)

    def check_measure(self, measure: RiskMeasure) -> None:
        """Refuse a measure that is not kept."""
        if measure not in self.measures:
            raise ParameterError(f"{measure} is not kept here", hint=f"there are {', '.join(map(str, self.measures))}")

    def check_people(self, people: People) -> None:
        """Refuse people who were read otherwise, or lack times that a measure needs."""
        if people.analyser != self.analyser:
            raise ParameterError(
                f"the entries were read with {people.analyser}, the state keeps those read with {self.analyser}",
                hint=f"read them with {self.analyser}",
            )
        for measure in self.topical:
            refuse_without_times(people, measure.buckets, str(measure))
        for other in self.others:
            refuse_without_times(people, ONE_BUCKET if other.needs_times else {}, str(other))

    def nearness(self, traces: Mapping[str, Traces], measure: RiskMeasure) -> Floats | None:
        """How near people come to each topic: the plain part of a topical risk, 1 for a word; None where unknown."""
        if isinstance(measure, TopicalRisk):
            return strength_of_interest(traces[measure.space].evidence.best, self.kept[measure.space].layout)
        if isinstance(measure, BaselineRisk) and self.presence is not None:
            has = traces[PRESENCE].evidence.best
            return np.stack([has[:, own].max(axis=1) for own in self.presence.topic_columns], axis=1).astype(np.float64)
        return None

    def risks(self, traces: Mapping[str, Traces]) -> dict[TopicalRisk, Floats]:
        """The risks of people by the topical measures: a row a person, a column a topic."""
        return {
            measure: measure.of_evidence(traces[measure.space].evidence, self.kept[measure.space].layout)
            for measure in self.topical
        }

    def fingerprints(self) -> dict[str, str]:
        """What numbers depend on, by its name in a sentence."""
        models = self.models
        sensitive = [
            (topic.name, topic.domain, topic.words, [weight.hex() for weight in topic.weights])
            for topic in models.topics
        ]
        found = {
            "measures": "; ".join(map(str, self.measures)),
            "topics": ", ".join(self.topics),
            "analyser": str(self.analyser),
            "words of topics": _digest(repr(sensitive)),
        }
        if "lda" in self.kept and models.latent is not None:
            matched = sorted((models.dimensions or {}).items())
            latent = models.latent
            found["topic model"] = _digest("\n".join(latent.words), latent.phi, latent.prior)
            found["matching of topics"] = _digest(repr(matched))
        if "w2v" in self.kept and models.vectors is not None:
            found["word vectors"] = _digest("\n".join(models.vectors.words), models.vectors.matrix)
        return found


def _digest(text: str, *arrays: NDArray[np.float32]) -> str:
    made = hashlib.blake2b(text.encode("utf-8"), digest_size=12)
    for array in arrays:
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()
