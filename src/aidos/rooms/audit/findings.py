"""What an audit found, as values that can be shown, kept and compared: truth about one account, for its owner.

Nothing here computes. As JSON findings are kept, shown again and compared later: `finding.json` in the directory of an
audit. A finding holds queries and results of an account as evidence, so it belongs in a file that only its owner can
read; whoever writes it sees to that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aidos.core.jsontext import parse_json
from aidos.engine.inputs import read_text
from aidos.errors import InputError
from aidos.rooms.audit.conclusion import Conclusion
from aidos.rooms.audit.topics.space import AuditTopic, TopicSpace

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "FINDING",
    "FORMAT",
    "AuditFinding",
    "ListDifference",
    "PowerPlan",
    "Span",
    "Suspicion",
    "TopicFinding",
    "TopicReason",
    "WatchedQuery",
    "WatchedResult",
    "finding_from_json",
    "finding_to_json",
    "read_finding",
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
    """Against the typical topic: above 0 its results are lifted, below 0 they are sunk."""
    deviation: float
    """Standard error of the weight."""
    shift: float
    """Rank shift, normalised: the simple measure beside the model's."""
    p_value: float
    """How likely so large a weight is where the service treats the topic as it treats the typical one."""
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
    """Whether the conclusion is that the service personalises by topic."""
    conclusion: Conclusion
    level: float
    """The rate of false alarms that the verdict keeps."""
    p_value: float
    """Of all tests together, whether the lists of the account differ from those without."""
    controlled: bool
    """Whether a second vanilla fetch was there to compare with."""
    confidence: float
    """Of the intervals."""
    topics: tuple[TopicFinding, ...]
    """Found ones first, then by how clearly they stand out; one for each topic of the space."""
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

    @property
    def found(self) -> tuple[TopicFinding, ...]:
        """Topics that are more than chance; none where nothing was detected."""
        return tuple(each for each in self.topics if each.found)


FINDING = "finding.json"
"""The file of a directory that holds everything that was found."""
LARGEST = 1 << 28
"""Bytes of it."""
FORMAT = 2
"""Of what is written; another number is another shape."""


def read_finding(place: Path) -> AuditFinding:
    """The finding of a directory, or of its finding.json."""
    path = place / FINDING if place.is_dir() else place
    hint = "name a directory that `aidos audit learn -o` wrote"
    try:
        content = parse_json(read_text(path, most=LARGEST, hint=hint))
    except ValueError as error:
        raise InputError(f"{path} is no JSON", hint=hint) from error
    return finding_from_json(content, str(path))


def finding_to_json(finding: AuditFinding) -> dict[str, Any]:
    """Everything in it, as values that JSON can hold."""
    return {"format": FORMAT, **_shape().dump_python(finding, mode="json")}


def finding_from_json(content: object, name: str) -> AuditFinding:
    """The finding that `finding_to_json` gave; InputError where it is damaged, which says so of ``name``."""
    from pydantic import ValidationError

    if not isinstance(content, dict) or "format" not in content:
        raise InputError(f"{name} is no finding of an audit", hint="give a file that aidos audit learn wrote")
    if content["format"] != FORMAT:
        raise InputError(
            f"{name} is a finding in another format than this version of aidos reads",
            hint="audit the pairs again",
        )
    try:
        # By way of text, since only there a list may stand for a tuple and nothing else for anything else.
        finding = _shape().validate_json(json.dumps(content, allow_nan=False), strict=True)
    except ValidationError as error:
        places = [".".join(map(str, problem["loc"])) or "the whole" for problem in error.errors()]
        raise _damaged(name, f"{places[0]}{f' and {len(places) - 1} more' if places[1:] else ''}") from None
    except (ValueError, TypeError, RecursionError):
        raise _damaged(name, "numbers that are not finite, or no JSON") from None
    _check(finding, name)
    return finding


def _check(finding: AuditFinding, name: str) -> None:
    """What types do not say."""
    ids = finding.space.ids
    if not ids or len(set(ids)) < len(ids) or sorted(ids) != sorted(each.topic.id for each in finding.topics):
        raise _damaged(name, "topics that are not those of its space, each once")
    if not (0 < finding.level < 1 and 0 < finding.confidence < 1 and 0 <= finding.p_value <= 1):
        raise _damaged(name, "level, confidence or p-value out of their limits")
    if finding.found and not finding.detected:
        raise _damaged(name, "topics found where nothing was detected")
    if finding.detected != (finding.conclusion.kind == "topic") or finding.p_value != finding.conclusion.p_value:
        raise _damaged(name, "a conclusion that its numbers contradict")


def _damaged(name: str, where: str) -> InputError:
    return InputError(f"{name} is a damaged finding: {where}", hint="audit the pairs again")


@cache
def _shape() -> TypeAdapter[AuditFinding]:
    from pydantic import TypeAdapter

    return TypeAdapter(AuditFinding)
