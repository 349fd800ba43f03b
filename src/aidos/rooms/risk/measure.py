"""What a risk measure is: parameters that give every person a number for a sensitive topic; and those of the thesis.

The topical measures of the thesis (section 6.3.3): how near entries come to a topic, how focused, how often.

    plain   strength, the cosine of the topic and the entry nearest to it
    D       (strength + 1 - breadth) / 2, where breadth is the ceil(k |D|)-th largest strength over the other topics of
            the domain D, each with the entry nearest to it; a topic alone in its domain has breadth 0
    T       the mean strength of the m best time buckets; where there are fewer, the missing ones count 0, since only
            interest in as many buckets as that is high by the thesis
    DT      (T + 1 - breadth) / 2, with breadth over the whole history

The thesis takes k = 0.3 and weeks; m = 3 is what separates best in the sample world, where 2 and 4 are nearly as good.

They need no data of the community: somebody can compute her own number and keep everything else to herself.

How near is near enough: below a least nearness a number says nothing about a person, whatever place it gives her. The
formulas of the thesis give everybody a number. Measures with D give about one half to somebody who is near nothing,
and by any measure somebody comes first, also for a topic that nobody wrote about. So beside every rank stands the plain
topical part of its risk, which is the nearness of her nearest entry to the topic; ranks of people who do not come
nearer than `LEAST_NEARNESS` are computed like all others, and told as *no evidence*.

    bow, lda   0.1. In the sample world 99 of 100 people who have no word of a topic are below 0.02 by lda, and nearly
               all who have one word of it; a post with one of twenty words, and no word of another topic, is at 0.22.
    w2v        0.7. Word vectors find everything a little like everything: people without a word of a topic are near
               0.6, and 0.9 takes several. It depends on the vectors more than in the other spaces.

For the baselines, which count words, evidence is one word of the topic. Nothing is known of measures of third parties:
their numbers are taken as they are. This is a rule of thumb against reading noise; it is no test of significance.

The two baselines of the thesis (sections 6.3.1 and 6.3.2) tell what somebody's words change about the community.
Attributes of a person are the words of the topic, each 1 if she ever used it and 0 if not. P_U(x) is the share of
people who have word x, P_U'(x) that without her. Both look at each word alone, and know no words that mean the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.rooms.risk.evidence import Evidence, gather, gather_redrawn, refuse_without_times
from aidos.rooms.risk.formulas import (
    breadth_of_interest,
    entropy_risk,
    privacy_loss_risk,
    recurring_interest,
    strength_of_interest,
)
from aidos.rooms.risk.knowledge import RiskModels, make_presence, make_space, refuse_unheard
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import Layout, PresenceSpace, SpaceName

__all__ = [
    "LEAST_NEARNESS",
    "BaselineRisk",
    "DifferentialPrivacyRisk",
    "EntropyRisk",
    "RiskMeasure",
    "RiskQuestion",
    "TopicalRisk",
    "least_nearness",
]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskQuestion:
    """Who is ranked, by which topics, with which knowledge."""

    people: People
    topics: tuple[str, ...]
    """Names of sensitive topics."""
    models: RiskModels


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskMeasure(ABC):
    """What maps a person and a topic to a number. A subclass has a ``name`` and says what the two methods do."""

    zero_is_silence: ClassVar[bool] = False
    """Whether a number of 0 says that there is no evidence; unknown of measures of third parties."""

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called when printed."""

    @property
    def needs_times(self) -> bool:
        """Whether it cannot be computed from entries without times."""
        return False

    @abstractmethod
    def about(self) -> str:
        """What it measures, in one sentence."""

    @abstractmethod
    def risk(self, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
        """A row for every person and a column for every topic."""

    @abstractmethod
    def redrawn(self, people: People, person: int, topics: Sequence[str], models: RiskModels, draws: Longs) -> Floats:
        """The risks of one person had she other entries, a row for every row of ``draws``, and all others the same.

        A row of draws names entries of hers, counted from 0, each as often as it is drawn.
        """

    def settings(self) -> dict[str, object]:
        """The parameters that matter for it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        said = ",".join(f"{key}={value}" for key, value in self.settings().items())
        return f"{self.name}:{said}" if said else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicalRisk(RiskMeasure):
    """How near somebody's entries come to a topic, how focused on it, and how often over time."""

    space: SpaceName = "lda"
    """Where entries and topics are compared: bow (words), lda (latent topics) or w2v (word vectors)."""
    domain: bool = False
    """Whether broad interest in the topic's domain lowers the risk (D)."""
    time: bool = False
    """Whether interest must come again over time (T)."""
    breadth: Annotated[float, Gt(0), Le(1)] = 0.3
    """The share of a domain's topics that makes interest broad (k)."""
    recurring: Annotated[int, Ge(1), Le(366)] = 3
    """The number of time buckets that must show interest (m)."""
    bucket_days: Annotated[int, Ge(1), Le(3660)] = 7
    """Days of a bucket; buckets are counted from a Monday."""

    def __post_init__(self) -> None:
        check_parameters(self)
        # Measures that mean the same compare equal: what does not matter is as by default.
        for field in fields(self):
            if field.name in {"breadth", "recurring", "bucket_days"} - set(self.settings()):
                object.__setattr__(self, field.name, field.default)

    @property
    def name(self) -> str:
        form = "d" * self.domain + "t" * self.time
        return f"{self.space}-{form}" if form else self.space

    @property
    def needs_times(self) -> bool:
        return self.time

    def settings(self) -> dict[str, object]:
        said: dict[str, object] = {"breadth": self.breadth} if self.domain else {}
        return said | ({"recurring": self.recurring, "bucket_days": self.bucket_days} if self.time else {})

    def about(self) -> str:
        nearest = f"the {self.recurring} best time buckets are" if self.time else "her nearest entry is"
        broad = f", lowered for those who cover {self.breadth:.0%} of its domain" if self.domain else ""
        return f"How near {nearest} to the topic{broad} (cosine in the space {self.space})."

    @property
    def buckets(self) -> dict[int, int]:
        """How many time buckets have to be kept, by their days."""
        return {self.bucket_days: self.recurring} if self.time else {}

    def of_evidence(self, evidence: Evidence, layout: Layout) -> Floats:
        """The risks from what is remembered; the layout has domains if the measure needs them."""
        if self.time:
            found = recurring_interest(evidence.highest[self.bucket_days], self.recurring)
        else:
            found = strength_of_interest(evidence.best, layout)
        if self.domain:
            return 0.5 * (found + 1.0 - breadth_of_interest(evidence.best, layout, self.breadth))
        return found

    def risk(self, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
        refuse_without_times(people, self.buckets, str(self))
        space = make_space(self.space, topics, models, people.analyser, domains=self.domain)
        if self.space == "bow":
            refuse_unheard(topics, models, people.analyser, people.vocabulary)
        return self.of_evidence(gather(people, space, self.buckets), space.layout)

    def redrawn(self, people: People, person: int, topics: Sequence[str], models: RiskModels, draws: Longs) -> Floats:
        refuse_without_times(people, self.buckets, str(self))
        space = make_space(self.space, topics, models, people.analyser, domains=self.domain)
        evidence = gather_redrawn(people.alone(person), space, self.buckets, draws)
        return self.of_evidence(evidence, space.layout)


LEAST_NEARNESS: Mapping[SpaceName, float] = {"bow": 0.1, "lda": 0.1, "w2v": 0.7}
"""What the nearest entry must exceed to be evidence, by space."""


def least_nearness(measure: RiskMeasure) -> float:
    """What somebody's nearness must exceed for a rank to say anything about her."""
    return LEAST_NEARNESS[measure.space] if isinstance(measure, TopicalRisk) else 0.0


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
