"""The whole loop in the sample world: audit, mark what was found and is sensitive, shield, audit again.

Before, the service holds the searcher's whole profile and uses it for every query that it personalises. Afterwards it
holds nothing: with each query goes what profile generalisation allows, and the service personalises with that alone
(`aidos.studies.audit.service`). Queries, switches and documents are the same both times, the noise is new.

Two things change at once: what is marked is hidden, and of the rest only what a query is about is sent, so that all
weights fall somewhat. With ``mark=()`` nothing is marked, which tells the two apart. The service of this world believes
what it is sent and remembers nothing; a real one that knows an account already would have to forget first.

Which queries to ask next: those whose results would tell most about what is still undecided. Queries that anybody might
ask tell little about one topic: few of their lists hold it beside others. So some are asked first, as a pilot, and the
rest is chosen by it. A topic counts by the square of how far it has risen so far; what has sunk need not be hidden, and
counts nothing. A query tells about a topic as much as its list mixes it with others: the variance of the topic's shares
among the results, which are looked up without an account, so that the look feeds no profile. Half of the queries are
chosen for topics that the taxonomy calls sensitive, half for all. Topics take turns by what they count, less what was
chosen for them already.

The pilot chose the queries, so it must not judge by them: what is audited are the chosen queries alone. Whether the
service personalised a chosen query does not depend on the choice, so that the tests keep their rate of false alarms.

Accounts of the sample world, audited by topics of the taxonomy, and the loop of audit, shield and audit. The service of
this world is not the model: it pulls results up by ranks, has noise of its own, and its topics are told from words by
retrieval. A true topic counts for the audit's topic at or above it, where rare topics were rolled up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.profile import KeptProfile, SessionMemory
from aidos.core.progress import SILENT, Progress
from aidos.core.resultpairs import Result, ResultPair
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.auditing import DescribedPairs, describe_pairs
from aidos.rooms.audit.chance import TINY
from aidos.rooms.audit.comparison import AuditComparison, compare_audits
from aidos.rooms.audit.conclusion import GRANTS
from aidos.rooms.audit.findings import AuditFinding
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.studies.audit.plan import AuditExperiment
from aidos.studies.audit.service import SampleService, ShieldedSearcher, WorldQuery, own_profile
from aidos.world.results import Account, account_count

__all__ = [
    "MARKED",
    "QUERIES",
    "UNMARKED",
    "LoopOutcome",
    "Rehearsal",
    "choose_queries",
    "measure_accounts",
    "measure_loops",
    "sensitive_found",
    "standing_for",
]

QUERIES = 300
"""Queries that are asked each time unless more or fewer are wanted."""
CANDIDATES = 5
"""Queries that are looked at for each that is chosen."""
TAXONOMY = "the taxonomy that comes with aidos"
"""What the taxonomy of the sample world is called in the searcher's profile."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoopOutcome:
    """Both audits of one account, and the shield between them."""

    before_pairs: tuple[ResultPair, ...] = field(repr=False)
    pilot: tuple[ResultPair, ...] = field(repr=False)
    """Pairs that the queries of both audits were chosen by."""
    after_pairs: tuple[ResultPair, ...] = field(repr=False)
    profile: KeptProfile = field(repr=False)
    """The searcher's own profile, with the marks."""
    marked: tuple[str, ...]
    """Topics that the first audit found and that were marked as sensitive, by id."""
    truth: Mapping[str, float] = field(repr=False)
    """The weights that the service held before, by topic."""
    before: AuditFinding = field(repr=False)
    after: AuditFinding = field(repr=False)
    comparison: AuditComparison = field(repr=False)
    sent: int
    """Queries that a profile was sent with."""
    hidden: int
    """Queries with which something was hidden."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rehearsal:
    """An account that was audited once; it can be shielded and audited again in several ways."""

    service: SampleService = field(repr=False)
    number: int
    """The account, counted from 0."""
    account: Account = field(repr=False)
    search: TopicSearch = field(repr=False)
    audit: ProfileAudit
    asked: tuple[WorldQuery, ...] = field(repr=False)
    pairs: tuple[ResultPair, ...] = field(repr=False)
    finding: AuditFinding = field(repr=False)
    pilot: tuple[ResultPair, ...] = field(default=(), repr=False)
    """Pairs that the queries were chosen by; they are not audited."""

    @classmethod
    def of(  # noqa: PLR0913 - who, by what, and how much of it
        cls,
        service: SampleService,
        number: int,
        search: TopicSearch,
        audit: ProfileAudit,
        *,
        queries: int = QUERIES,
        pilot: int = 0,
        progress: Progress = SILENT,
    ) -> Self:
        """Ask the queries of an account, and audit it; the first ``pilot`` of them choose the others."""
        account = service.account(number)
        asked = service.draw_queries(account, queries, service.stream("loop queries", number))
        stream, pairs, tried = service.stream("loop before", number), list[ResultPair](), list[ResultPair]()
        with progress.task("asking with the profile known", total=queries, unit="queries") as task:
            for query in asked[:pilot]:
                tried.append(service.ask(query, account.weights, stream))
                task.advance(1)
            if pilot:
                more = service.stream("loop candidates", number)
                candidates = service.draw_queries(account, CANDIDATES * (queries - pilot), more)
                lists = [service.look(query) for query in candidates]
                asked = tuple(candidates[each] for each in choose_queries(tried, lists, search, queries - pilot))
            for query in asked:
                pairs.append(service.ask(query, account.weights, stream))
                task.advance(1)
        finding = audit.run(describe_pairs(pairs, TaxonomyTopics(search)))
        return cls(
            service=service,
            number=number,
            account=account,
            search=search,
            audit=audit,
            asked=asked,
            pairs=tuple(pairs),
            finding=finding,
            pilot=tuple(tried),
        )

    def shielded(
        self, shield: ProfileGeneralisation, mark: Sequence[str], *, progress: Progress = SILENT
    ) -> LoopOutcome:
        """Mark topics as sensitive, ask the same queries behind the shield, and audit again by the same topics."""
        tree, profile = self.search.tree, own_profile(self.service, self.account, self.search, taxonomy=TAXONOMY)
        for topic in mark:
            profile = profile.with_sensitivity(tree, topic, 1.0, merge=True)
        searcher = ShieldedSearcher.of(self.service, self.search, profile, shield)
        stream, memory = self.service.stream("loop after", self.number), SessionMemory()
        decisions, pairs = [], []
        with progress.task("asking behind the shield", total=len(self.asked), unit="queries") as task:
            for query in self.asked:
                decisions.append(searcher.decide(query.text, memory))
                memory = decisions[-1].remembered(memory)
                pairs.append(self.service.ask(query, searcher.told(decisions[-1]), stream))
                task.advance(1)
        topics = TaxonomyTopics(self.search, self.finding.space.ids)
        after = self.audit.run(describe_pairs(pairs, topics))
        return LoopOutcome(
            before_pairs=self.pairs,
            pilot=self.pilot,
            after_pairs=tuple(pairs),
            profile=profile.remembering(tree, memory),
            marked=tuple(profile.sensitivities),
            truth=self.service.true_weights(self.account),
            before=self.finding,
            after=after,
            comparison=compare_audits(self.finding, after),
            sent=sum(decision.is_sent for decision in decisions),
            hidden=sum(bool(decision.hidden) for decision in decisions),
        )


def sensitive_found(finding: AuditFinding, search: TopicSearch) -> tuple[str, ...]:
    """Topics that an audit found lifted, and that the taxonomy calls sensitive, by id."""
    taxonomy = search.taxonomy
    return tuple(
        each.topic.id for each in finding.found if each.is_lifted and taxonomy.sensitive_category(each.topic.id)
    )


Floats = NDArray[np.float64]


def choose_queries(
    pilot: Sequence[ResultPair], candidates: Sequence[Sequence[Result]], search: TopicSearch, number: int
) -> list[int]:
    """The numbers of the candidates to ask, by their lists without an account; at most as many as there are."""
    asked = describe_pairs(pilot, TaxonomyTopics(search))
    ids = asked.described.space.ids
    risen = np.maximum(_scores(asked), 0.0) ** 2
    private = np.array([bool(search.taxonomy.sensitive_category(topic)) for topic in ids])
    told = _mixing(candidates, TaxonomyTopics(search, ids))
    left, chosen = np.ones(len(candidates), dtype=np.bool_), list[int]()
    for counts, part in ((risen * private, number // 2), (risen, number - number // 2)):
        had = np.zeros(len(ids))
        for _ in range(min(part, int(left.sum()))):
            best = int(np.argmax(np.where(left, told @ (counts / (1 + had)), -1.0)))
            left[best] = False
            had += told[best] / max(float(told[best].max()), TINY)
            chosen.append(best)
    return chosen


def _scores(asked: DescribedPairs) -> Floats:
    """By how many standard deviations each topic rose, beyond the second list without an account."""
    maps, design = asked.described.maps, asked.design
    queries = design.account.queries
    shifts = shifts_by_query(asked.items.arrays(maps).take(queries))
    if design.controlled:
        shifts -= shifts_by_query(asked.items.control(maps, queries, design.second))
    lengths = np.sqrt((shifts**2).sum(axis=0))
    found: Floats = np.divide(shifts.sum(axis=0), lengths, out=np.zeros_like(lengths), where=lengths > TINY)
    return found


def _mixing(lists: Sequence[Sequence[Result]], topics: TaxonomyTopics) -> Floats:
    """The variance of each topic's shares among the results of each list."""
    numbers: dict[str, int] = {}
    results: list[Result] = []
    numbered = []
    for shown in lists:
        for result in shown:
            if numbers.setdefault(result.identity, len(results)) == len(results):
                results.append(result)
        numbered.append([numbers[result.identity] for result in shown])
    maps = topics.describe(results, numbered).maps
    rows = np.array([maps.row(item) for item in range(len(results))])
    return np.array([rows[items].var(axis=0) for items in numbered])


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
