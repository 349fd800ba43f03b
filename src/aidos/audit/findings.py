"""What an audit found, as values that can be shown, kept and compared: truth about one account, for its owner.

Nothing here computes. A finding holds queries and results as evidence, so it is written only where its owner can read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from aidos.audit.topics.space import AuditTopic, TopicSpace

__all__ = [
    "AuditFinding",
    "ListDifference",
    "PowerPlan",
    "Span",
    "Suspicion",
    "TopicFinding",
    "TopicReason",
    "WatchedQuery",
    "WatchedResult",
]

Method = Literal["inference", "learning"]


@dataclass(frozen=True, slots=True)
class Span:
    """A number and the interval around it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFinding:
    """One topic: how the engine treats it for this account."""

    topic: AuditTopic
    weight: Span
    """Above 0 its results are lifted, below 0 they are sunk."""
    deviation: float
    """Standard deviation of the weight over the bootstrap draws."""
    shift: float
    """Rank shift, normalised: the simple measure beside the model's."""
    p_value: float
    found: bool
    """Whether it is more than chance, at the false discovery rate of the audit."""

    @property
    def is_lifted(self) -> bool:
        """Whether results about it are lifted rather than sunk."""
        return self.weight.value > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicReason:
    """Why a result moved, as the model sees it."""

    topic: AuditTopic
    push: float
    """How far it pushed; below 0 it pushed down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedResult:
    """One result of a query, where it stood and where it stands."""

    title: str
    address: str
    vanilla_rank: int
    personalised_rank: int
    shown_in: Literal["both", "vanilla", "personalised"] = "both"
    """Which of the lists held it; in the other its rank is one behind the end, where it was appended."""
    reason: TopicReason | None = None
    """None where it did not move, or no topic explains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedQuery:
    """One query as evidence: both lists side by side."""

    query: str
    strength: float
    """How much better the profile explains the personalised list than chance does: rho (ln g - ln f)."""
    switch: float
    """How likely it was personalised."""
    results: tuple[WatchedResult, ...]
    """In personalised order; sort by ``vanilla_rank`` for the other list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDifference:
    """How far the lists differ by one measure, whatever the reason."""

    measure: Literal["jaccard", "kendall", "rbo", "earth-mover"]
    mean: float
    noise: float | None
    """The same of two vanilla fetches; None where there was only one."""
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerPlan:
    """How many queries would be needed."""

    topic: AuditTopic
    """The topic that stands out most."""
    chance: float
    """How likely as many queries again would detect it, by the careful estimate that ``queries`` comes from."""
    fewest: int | None
    """How many queries in all would detect it with 80 % if it is as strong as it looks; None where nothing moved.

    It looks stronger than it is, since of all topics it stands out most."""
    queries: int | None
    """The same less what chance would give; None where nothing but chance was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Pairs whose two lists were probably exchanged."""

    whole_file: bool
    pairs: tuple[int, ...]
    """Numbers of single pairs, counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditFinding:
    """One audit, whole."""

    queries: int
    changed: int
    """Queries whose lists differ."""
    method: Method
    space: TopicSpace
    detected: bool
    """The verdict: whether personalisation was detected."""
    level: float
    """The rate of false alarms that the verdict keeps."""
    p_value: float
    controlled: bool
    """Whether a second vanilla fetch was there to compare with."""
    confidence: float
    """Of the intervals."""
    topics: tuple[TopicFinding, ...]
    """Found ones first, then by the size of the weight; one for each topic of the space."""
    rate: Span
    """The share of queries that the engine personalises."""
    mix: Span
    concentration: Span
    evidence: tuple[WatchedQuery, ...]
    """The strongest first."""
    differences: tuple[ListDifference, ...]
    power: PowerPlan
    suspicion: Suspicion
    warnings: tuple[str, ...] = ()
    """What should be known before anybody believes it, in sentences."""
    drawn_rates: tuple[float, ...] = field(default=(), repr=False)
    """Rates of the bootstrap draws, to compare audits by."""

    @property
    def found(self) -> tuple[TopicFinding, ...]:
        """Topics that are more than chance; none where nothing was detected."""
        return tuple(each for each in self.topics if each.found)
