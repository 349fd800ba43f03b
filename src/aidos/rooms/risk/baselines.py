"""The two baselines of the thesis (sections 6.3.1 and 6.3.2): what somebody's words change about the community.

Attributes of a person are the words of the topic, each 1 if she ever used it and 0 if not. P_U(x) is the share of
people who have word x, P_U'(x) that without her. Both look at each word alone, and know no words that mean the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from aidos.rooms.risk.evidence import gather, gather_redrawn
from aidos.rooms.risk.formulas import entropy_risk, privacy_loss_risk
from aidos.rooms.risk.knowledge import RiskModels, make_presence, refuse_unheard
from aidos.rooms.risk.measure import RiskMeasure
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import PresenceSpace

__all__ = ["BaselineRisk", "DifferentialPrivacyRisk", "EntropyRisk"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Presence: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRisk(RiskMeasure):
    """What both share: who has which word, and smoothing.

    Smoothing s adds s people who have a word and s who have not, to the community with her and to that without, so that
    a word that only she has counts much, but not infinitely: P_U = (c + s) / (n + 2s).
    """

    smoothing: Annotated[float, Gt(0)] = 0.01
    """People who are added with the word and without it (s); the smaller, the more a word counts that nobody shares."""

    def risk(self, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
        space = make_presence(topics, models, people.analyser)
        refuse_unheard(topics, models, people.analyser, people.vocabulary)
        return self.of_presence(gather(people, space, {}).best, space)

    def of_presence(self, has: Presence, space: PresenceSpace) -> Floats:
        """The risks of everybody, from who has which word."""
        return self.among(has, has.sum(axis=0, dtype=np.float64), len(has), space)

    @abstractmethod
    def among(self, has: Presence, counts: Floats, people: int, space: PresenceSpace) -> Floats:
        """Risks of people among so many of whom ``counts`` have each word, each of ``has`` counted among them."""

    def redrawn(self, people: People, person: int, topics: Sequence[str], models: RiskModels, draws: Longs) -> Floats:
        space = make_presence(topics, models, people.analyser)
        refuse_unheard(topics, models, people.analyser, people.vocabulary)
        has = gather(people, space, {}).best
        others = has.sum(axis=0, dtype=np.float64) - has[person]
        drawn = gather_redrawn(people.alone(person), space, {}, draws).best
        return self.among(drawn, others + 1, len(people), space)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyRisk(BaselineRisk):
    """The mean relative entropy KL(P_U || P_U') of a topic's words that she has, in bits; after t-closeness."""

    name: ClassVar[str] = "entropy"

    def about(self) -> str:
        return "How much her use of the topic's words changes how common they are, on average over the words (bits)."

    def among(self, has: Presence, counts: Floats, people: int, space: PresenceSpace) -> Floats:
        return entropy_risk(has, counts, people, space.topic_columns, self.smoothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialPrivacyRisk(BaselineRisk):
    """The smallest epsilon (base 2) that holds for the shares of the topic's words without any noise.

    All words of the topic count, also those she lacks: her presence makes them rarer, by the same little for everybody.
    """

    name: ClassVar[str] = "differential-privacy"

    def about(self) -> str:
        return "The largest factor, as a power of 2, by which her presence changes how common a word of the topic is."

    def among(self, has: Presence, counts: Floats, people: int, space: PresenceSpace) -> Floats:
        return privacy_loss_risk(has, counts, people, space.topic_columns, self.smoothing)
