"""One audit from the command line: topics for the results, the profile learned, everything kept in a directory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aidos.app.audit.topics import ChosenTopics
from aidos.core.noise import Noise
from aidos.errors import InputError
from aidos.ingest.results.checks import Remark, examine_pairs, find_remarks
from aidos.rooms.audit.findings import AuditFinding, TopicFinding
from aidos.rooms.audit.items import PairItems
from aidos.rooms.audit.profileaudit import DescribedPairs, ProfileAudit, describe_pairs
from aidos.rooms.audit.topics.latent import LatentTopics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aidos.core.resultpairs import ResultPair
    from aidos.model.latent.model import TopicModel

__all__ = ["Described", "describe", "finding_facts", "learn"]

SAID_BY_THE_AUDIT = frozenset({"few-queries", "identical-lists", "single-result"})
"""Remarks on pairs that the finding makes itself."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Described:
    """Pairs whose results have topics."""

    pairs: DescribedPairs
    remarks: tuple[Remark, ...]
    """What should be known of the pairs, and the audit does not say itself."""
    model: TopicModel | None
    """The topic model, where there is one."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The topics."""
        return self.pairs.described.space.ids


def describe(pairs: Sequence[ResultPair], chosen: ChosenTopics, *, seed: int = 0) -> Described:
    """Say what results are about; InputError where nothing can be learned, or topics are not those of before."""
    found = find_remarks(examine_pairs(pairs))
    if stops := next((remark for remark in found if remark.stops), None):
        raise InputError(f"nothing can be learned: {stops.sentence}", hint=stops.remedy)
    source = chosen.source if chosen.jointly is None else _learned_jointly(pairs, chosen.jointly, seed)
    described = describe_pairs(pairs, source)
    ids = described.described.space.ids
    if chosen.ids is not None and ids != chosen.ids:
        raise InputError("the topics are not those of the earlier audit", hint="use the same taxonomy, model or table")
    model = source.model if isinstance(source, LatentTopics) else None
    remarks = tuple(remark for remark in found if remark.kind not in SAID_BY_THE_AUDIT)
    return Described(pairs=described, remarks=remarks, model=model)


def learn(described: Described, audit: ProfileAudit) -> AuditFinding:
    """Run the audit."""
    return audit.run(described.pairs, Noise())


def finding_facts(finding: AuditFinding) -> Mapping[str, Any]:
    """Topics and numbers of a finding, without any search or result, for machines."""
    from aidos.rooms.audit.wording import verdict_words

    return {
        "verdict": verdict_words(finding),
        "detected": finding.detected,
        "p_value": finding.p_value,
        "level": finding.level,
        "controlled": finding.controlled,
        "queries": finding.queries,
        "changed": finding.changed,
        "method": finding.method,
        "rate": asdict(finding.rate) if finding.detected else None,
        "mix": asdict(finding.mix),
        "concentration": asdict(finding.concentration),
        "confidence": finding.confidence,
        "topics_from": finding.space.source,
        "topics": [_topic_facts(each) for each in finding.topics],
        "differences": [asdict(each) for each in finding.differences],
        "queries_needed": {
            "topic": finding.power.topic.id,
            "fewest": finding.power.fewest,
            "queries": finding.power.queries,
            "chance_of_as_many": finding.power.chance,
        },
        "exchanged": asdict(finding.suspicion),
        "evidence": len(finding.evidence),
        "warnings": list(finding.warnings),
    }


def _topic_facts(each: TopicFinding) -> dict[str, Any]:
    return {
        "id": each.topic.id,
        "name": each.topic.name,
        "found": each.found,
        "weight": asdict(each.weight),
        "p_value": each.p_value,
        "rank_shift": each.shift,
    }


def _learned_jointly(pairs: Sequence[ResultPair], number: int, seed: int) -> LatentTopics:
    """Topics that texts and orders tell together; results are then described by their texts alone.

    Maps that have seen the orders would make a test of these orders say too much.
    """
    from aidos.rooms.audit.joint import JointSettings, learn_jointly

    items = PairItems.of(pairs)
    texts = [item.text for item in items.items]
    settings = JointSettings(seed=seed + 1)
    found = learn_jointly(texts, items.vanilla, items.personalised, topics=number, settings=settings)
    return LatentTopics(model=found.model)
