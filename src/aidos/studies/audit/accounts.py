"""Accounts of the sample world, audited by topics of the taxonomy, and the loop of audit, shield and audit.

The service of this world is not the model: it pulls results up by ranks, has noise of its own, and its topics are told
from words by retrieval. A true topic counts for the audit's topic at or above it, where rare topics were rolled up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.auditing import describe_pairs
from aidos.rooms.audit.conclusion import GRANTS
from aidos.rooms.audit.findings import AuditFinding
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.studies.audit.loop import LoopOutcome, Rehearsal, sensitive_found
from aidos.studies.audit.plan import AuditExperiment
from aidos.studies.audit.service import SampleService
from aidos.world.results import account_count

__all__ = ["MARKED", "UNMARKED", "measure_accounts", "measure_loops", "standing_for"]

MARKED, UNMARKED = "what was found is marked", "nothing is marked"


def measure_accounts(
    asked: AuditExperiment, service: SampleService, search: TopicSearch, *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each account: the pairs of the sample, audited."""
    number = min(asked.accounts, account_count(service.world))
    rows = []
    with progress.task("auditing accounts", total=number, unit="accounts") as task:
        for account in range(number):
            pairs = service.sampled_pairs(account)
            finding = _auditor(asked).run(describe_pairs(pairs, TaxonomyTopics(search), GRANTS))
            rows.append({"account": account, **_compared(finding, service, search, account)})
            task.advance(1)
    return pa.Table.from_pylist(rows)


def measure_loops(
    asked: AuditExperiment, service: SampleService, search: TopicSearch, *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each account, shield and topic of the profile; marked ones are named in both runs of an account."""
    number = min(asked.loop_accounts, account_count(service.world))
    rows: list[dict[str, Any]] = []
    with progress.task("going round the loop", total=number, unit="accounts") as task:
        for account in range(number):
            first = Rehearsal.of(service, account, search, _auditor(asked), queries=asked.loop_queries)
            private = sensitive_found(first.finding, search)
            for shield, mark in ((MARKED, private), (UNMARKED, ())):
                outcome = first.shielded(ProfileGeneralisation(), mark)
                about = {"account": account, "shield": shield}
                rows += [{**about, **row, "marked": row["audited_as"] in private} for row in _changes(outcome, search)]
            task.advance(1)
    return pa.Table.from_pylist(rows)


def standing_for(topics: Iterable[str], finding: AuditFinding, search: TopicSearch) -> dict[str, str | None]:
    """For each topic the one of the audit at or above it; None where the audit has none."""
    known = set(finding.space.ids)
    return {
        topic: next((step.id for step in reversed(search.taxonomy.path(topic)) if step.id in known), None)
        for topic in topics
    }


def _auditor(asked: AuditExperiment) -> ProfileAudit:
    return ProfileAudit(method="learning", level=asked.level, seed=asked.seed)


def _compared(finding: AuditFinding, service: SampleService, search: TopicSearch, account: int) -> dict[str, Any]:
    """What was found beside the truth."""
    truth = service.account(account)
    stands = standing_for(service.true_weights(truth), finding, search)
    true = {topic for topic in stands.values() if topic is not None}
    by_weight = sorted(finding.topics, key=lambda each: -each.weight.value / max(each.deviation, 1e-9))[: len(true)]
    by_shift = sorted(finding.topics, key=lambda each: -each.shift)[: len(true)]
    found = {each.topic.id for each in finding.found if each.is_lifted}
    private = {stand for topic, stand in stands.items() if stand and search.taxonomy.sensitive_category(topic)}
    return {
        "queries": finding.queries,
        "topics": len(finding.space),
        "true_topics": len(true),
        "r_precision": float(np.mean([each.topic.id in true for each in by_weight])),
        "r_precision_of_shift": float(np.mean([each.topic.id in true for each in by_shift])),
        "detected": finding.detected,
        "p_value": finding.p_value,
        "found": len(found),
        "found_true": len(found & true),
        "sensitive_found": bool(found & private),
        "rate": finding.rate.value,
        "true_rate": truth.rate,
    }


def _changes(outcome: LoopOutcome, search: TopicSearch) -> Iterator[dict[str, Any]]:
    """What became of each topic of the profile."""
    before = {each.topic.id: each for each in outcome.before.topics}
    after = {each.topic.id: each for each in outcome.after.topics}
    changed = dict(zip(outcome.before.space.ids, outcome.comparison.changed.tolist(), strict=True))
    queries = outcome.before.queries
    for topic, stand in standing_for(outcome.truth, outcome.before, search).items():
        if stand is None:
            continue
        yield {
            "topic": topic,
            "audited_as": stand,
            "sensitive": bool(search.taxonomy.sensitive_category(topic)),
            "true_weight": outcome.truth[topic],
            "before": before[stand].weight.value,
            "after": after[stand].weight.value,
            "found_before": before[stand].found,
            "found_after": after[stand].found,
            "changed": changed[stand],
            "p_before": outcome.before.p_value,
            "p_after": outcome.after.p_value,
            "sent": outcome.sent / queries,
            "hidden": outcome.hidden / queries,
        }
