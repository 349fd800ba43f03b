"""Every job by the words that ask it: ``fair rerank`` is a command, a verb, a recipe and a page of the reference.

Adding a job is one file in its room and one line here. Jobs load when they are asked for, so that listing them costs
nothing. Packages of third parties join through entry points of the group ``aidos.jobs``; they cannot take over a name
of aidos.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

__all__ = ["COMMANDS", "GROUPS", "JOBS", "VERBS", "Group", "find_job", "first_words", "jobs_of", "parts_of", "places"]

COMMANDS = (
    "check",
    "ingest",
    "publish",
    "plan",
    "verify",
    "suggest",
    "rank",
    "calibrate",
    "ledger",
    "explain",
    "attack",
    "mediate",
    "expose",
    "risk",
    "fair",
    "taxonomy",
    "shield",
    "audit",
    "evaluate",
    "run",
    "describe",
    "sample",
    "demo",
    "doctor",
)
"""The first words, in the order in which help lists them."""

JOBS: Mapping[str, str] = {
    # data
    "check": "aidos.rooms.data.checking:CheckFiles",
    "ingest": "aidos.rooms.data.reading:ReadData",
    "taxonomy show": "aidos.rooms.data.taxonomy:ShowTaxonomy",
    "taxonomy find": "aidos.rooms.data.taxonomy:FindTopics",
    "taxonomy import": "aidos.rooms.data.taxonomy:ImportTaxonomy",
    # shield
    "mediate assign": "aidos.rooms.shield.mediator.mixing:AssignQueries",
    "mediate measure": "aidos.rooms.shield.mediator.mixing:MeasureMixing",
    "shield profile build": "aidos.rooms.shield.profile.building:BuildProfile",
    "shield profile show": "aidos.rooms.shield.profile.showing:ShowProfile",
    "shield profile edit": "aidos.rooms.shield.profile.changing:EditProfile",
    "shield profile forget": "aidos.rooms.shield.profile.changing:ForgetTopics",
    "shield explain": "aidos.rooms.shield.profile.explaining:ExplainQuery",
    "shield rerank": "aidos.rooms.shield.profile.reranking:RerankResults",
    "shield rules export": "aidos.rooms.shield.profile.siterules:ExportRules",
    # exposure
    "expose compute": "aidos.rooms.exposure.computing:ComputeExposure",
    "expose member": "aidos.rooms.exposure.member:ShowMember",
    "expose query": "aidos.rooms.exposure.looking:AskQuery",
    "expose draft": "aidos.rooms.exposure.looking:TryDraft",
    "expose add": "aidos.rooms.exposure.computing:AddPosts",
    "expose delete": "aidos.rooms.exposure.computing:DeletePosts",
    "expose forget": "aidos.rooms.exposure.forgetting:ForgetMembers",
    "expose audit": "aidos.rooms.exposure.auditing:AuditCommunity",
    "expose train": "aidos.rooms.exposure.training:TrainRanker",
    # publish
    "publish": "aidos.rooms.publish.jobs.publish:Publish",
    "plan": "aidos.rooms.publish.jobs.plan:PlanRelease",
    "verify": "aidos.rooms.publish.jobs.received:VerifyRelease",
    "suggest": "aidos.rooms.publish.jobs.received:SuggestQueries",
    "rank": "aidos.rooms.publish.jobs.received:RankAddresses",
    "calibrate": "aidos.rooms.publish.jobs.calibrate:Calibrate",
    "ledger open": "aidos.rooms.publish.jobs.ledger:OpenLedger",
    "ledger show": "aidos.rooms.publish.jobs.ledger:ShowLedger",
    "ledger extend": "aidos.rooms.publish.jobs.ledger:ExtendLedger",
    "ledger verify": "aidos.rooms.publish.jobs.ledger:VerifyLedger",
    "ledger close": "aidos.rooms.publish.jobs.ledger:CloseLedger",
    "explain impossibility": "aidos.rooms.publish.jobs.calibrate:ExplainImpossibility",
    "attack sybil": "aidos.rooms.publish.jobs.attack:MakeSybils",
    "attack distinguish": "aidos.rooms.publish.jobs.attack:DistinguishPerson",
    "attack uniques": "aidos.rooms.publish.jobs.attack:ScanUniques",
    # risk
    "risk rank": "aidos.rooms.risk.jobs.rank:RankCommunity",
    "risk person": "aidos.rooms.risk.jobs.person:ShowPerson",
    "risk add": "aidos.rooms.risk.jobs.change:AddEntries",
    "risk forget": "aidos.rooms.risk.jobs.change:ForgetEntries",
    "risk local": "aidos.rooms.risk.jobs.local:MeasureLocally",
    "risk topics": "aidos.rooms.risk.jobs.topics:ListTopics",
    "risk annotate": "aidos.rooms.risk.jobs.annotate:JudgeTopics",
    "risk train": "aidos.rooms.risk.jobs.train:TrainModels",
    "risk audit": "aidos.rooms.risk.jobs.audit:AuditCommunity",
    # fairness
    "fair rerank": "aidos.rooms.fairness.reranking:Rerank",
    "fair simulate": "aidos.rooms.fairness.comparing:SimulateRankings",
    "fair measure": "aidos.rooms.fairness.measuring:MeasureRankings",
    "fair store": "aidos.rooms.fairness.storing:ShowStore",
    "fair export": "aidos.rooms.fairness.storing:ExportAccounts",
    "fair import": "aidos.rooms.fairness.storing:ImportAccounts",
    # the sample world
    "sample": "aidos.world.sample:MakeSample",
    # audit
    "audit collect": "aidos.rooms.audit.jobs.collect:CollectLists",
    "audit bookmarklet": "aidos.rooms.audit.jobs.collect:MakeBookmarklet",
    "audit plan": "aidos.rooms.audit.jobs.plan:PlanSearches",
    "audit check": "aidos.rooms.audit.jobs.check:CheckPairs",
    "audit learn": "aidos.rooms.audit.jobs.learn:AuditAccount",
    "audit evidence": "aidos.rooms.audit.jobs.evidence:ShowEvidence",
    "audit compare": "aidos.rooms.audit.jobs.compare:CompareAudits",
    "audit rehearse": "aidos.studies.audit.rehearsal:RehearseAudit",
    # every job
    "run": "aidos.surfaces.running:RunRecipe",
    "describe": "aidos.surfaces.running:DescribeJob",
    "demo": "aidos.demo.showing:ShowDemo",
    "doctor": "aidos.surfaces.doctor:ExamineInstallation",
    # studies
    "evaluate mediator": "aidos.studies.mediator.study:MediatorStudy",
    "evaluate exposure": "aidos.studies.exposure.study:ExposureStudy",
    "evaluate risk": "aidos.studies.risk.study:RiskStudy",
    "evaluate ups": "aidos.studies.ups.study:UpsStudy",
    "evaluate audit": "aidos.studies.audit.study:AuditStudy",
    "evaluate utility": "aidos.studies.utility.study:UtilityStudy",
    "evaluate statistics": "aidos.studies.utility.study:StatisticsStudy",
    "evaluate caching": "aidos.studies.utility.study:CachingStudy",
    "evaluate substitution": "aidos.studies.utility.study:SubstitutionStudy",
    "evaluate retrieval": "aidos.studies.utility.study:RetrievalStudy",
    "evaluate mechanisms": "aidos.studies.utility.study:MechanismsStudy",
}
"""Words to module and class; jobs of one group stand in the order in which help lists them."""

VERBS: Mapping[str, str] = {
    "read": "ingest",
    "check": "check",
    "mediate": "mediate assign",
    "exposure": "expose compute",
    "publish": "publish",
    "plan": "plan",
    "verify": "verify",
    "suggest": "suggest",
    "rerank": "fair rerank",
    "sample": "sample",
    "shield": "shield profile show",
    "simulate": "fair simulate",
    "risk": "risk rank",
    "study": "evaluate *",
    "ask": " *",
    "audit": "audit learn",
    "rehearse": "audit rehearse",
}
"""Names at the package root (``aidos.rerank``), and the jobs that they ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Words that several jobs begin with."""

    help: str
    """What they are for, with examples: the group's help."""
    missing: str = "what to do is missing"
    """What is told when no job of the group is named."""


GROUPS: Mapping[str, Group] = {
    "taxonomy": Group(
        help="""Look at trees of topics, find topics by words, and import trees that others publish.

        For example:
            aidos taxonomy show health --depth 3
            aidos taxonomy find saxophone lessons
            aidos taxonomy import /usr/share/wordnet -o wordnet.taxonomy --index
        """
    ),
    "shield": Group(
        help="""Keep a profile of your interests at home, and decide there what of it is worth showing.

        For example:
            aidos shield profile build ~/.mozilla/firefox/*.default-release
            aidos shield profile edit --sensitive debt=3
            aidos shield explain - < query.txt
            aidos shield rerank results.json --query "patch" --rules rules.toml
            aidos shield rules export rules.toml --format goggles
        """
    ),
    "shield profile": Group(
        help="""Build, show, edit and forget the profile of your interests, a private file on this machine.

        For example:
            aidos shield profile build bookmarks.html notes/ -o profile.json
            aidos shield profile show profile.json
            aidos shield profile edit profile.json --sensitive debt=3
            aidos shield profile forget profile.json --topic health
        """,
        missing="what to do with the profile is missing",
    ),
    "shield rules": Group(
        help="""Take your rules about sites to other search tools.

        For example:
            aidos shield rules export rules.toml --format goggles
        """,
        missing="what to do with the rules is missing",
    ),
    "mediate": Group(
        help="""Spread the queries of many people over shared accounts, so that no account looks like a person.

        For example:
            aidos mediate assign log.tsv -o mixed
            aidos mediate measure log.tsv --alphas 0,0.5,1 -o page.html
        """
    ),
    "expose": Group(
        help="""Find every query that exposes a member of a community, the most critical first.

        For example:
            aidos expose compute posts.parquet -o exposure
            aidos expose member ID --in exposure -o page.html
            aidos expose draft - --as ID --in exposure < draft.txt
            aidos expose audit --in exposure -o audit.html
        """
    ),
    "ledger": Group(
        help="""Keep the privacy budget of a source of data: one file that every release is charged to.

        For example:
            aidos ledger open log.tsv --epsilon 3 --delta 1e-5 -o log.ledger
            aidos ledger show log.ledger
            aidos ledger verify log.ledger release
            aidos ledger close log.ledger
        """,
        missing="what to do with the ledger is missing",
    ),
    "explain": Group(
        help="""Put numbers into a result of the theory.

    For example:
        aidos explain impossibility --people 1000000 --items-per-person 10 --epsilon 1 --threshold 50 --domain 5.3e35
        """,
        missing="what is to be explained is missing",
    ),
    "attack": Group(
        help="""Attack releases and mechanisms, and tell how far one gets.

        The exit code is 1 when a promise was broken or a leak was found. That a
        mechanism without a promise falls is no failure of it.

        For example:
            aidos attack sybil --mechanism k-query-anonymity
            aidos attack sybil
            aidos attack distinguish --mechanism count-gaussian --trials 4000
            aidos attack uniques release/ log.tsv
        """,
        missing="which attack is missing",
    ),
    "risk": Group(
        help="""Find where people rank when somebody looks for the vulnerable, and tell each her own rank.

        For example:
            aidos risk local my-posts.txt
            aidos risk rank posts.parquet --topic depression -o ranks --i-am-the-operator
            aidos risk person ID --in ranks -o page.html
            aidos risk audit --in ranks -o audit.html
        """
    ),
    "fair": Group(
        help="""Share attention by relevance over time, and keep every single ranking good.

        For example:
            aidos fair rerank rankings.jsonl -o served.jsonl --store attention.store
            aidos fair simulate --shape linear --attention singular -o page.html
            aidos fair measure served.jsonl -o page.html
        """
    ),
    "evaluate": Group(
        help="""Run an experiment of the papers again, on their setting or on data of your own.

        For example:
            aidos evaluate mediator -o results
            aidos evaluate mediator --posts Posts.xml --least-questions 20 -o results
            aidos evaluate exposure -o results
            aidos evaluate exposure --in exposure --judgements judged.csv -o results
            aidos evaluate risk -o results
            aidos evaluate risk --posts posts.parquet --judgements judged.csv -o results
            aidos evaluate ups -o results
            aidos evaluate audit -o results
            aidos evaluate utility log.tsv -o results
            aidos evaluate statistics -o results
            aidos evaluate caching log.tsv --documents pages.parquet -o results
            aidos evaluate substitution log.tsv -o results
            aidos evaluate retrieval log.tsv -o results
            aidos evaluate mechanisms --size medium -o results
        """,
        missing="which experiment is missing",
    ),
    "audit": Group(
        help="""Find out which profile a search service holds of you, from result lists that you saved.

        Ask the same searches with your account and without it, and save the
        lists: by hand, or with a browser that aidos drives where the service
        allows it.

        For example:
            aidos audit plan --weight 4
            aidos audit collect site.toml --queries queries.txt --account profile -o lists --i-may-automate
            aidos audit check pairs.jsonl
            aidos audit learn pairs.jsonl -o audit
            aidos audit learn pairs.jsonl -o audit --mark-sensitive profile.json
            aidos audit compare before after -o page.html
            aidos audit rehearse -o rehearsal
        """
    ),
}


def first_words() -> tuple[str, ...]:
    """What a command begins with; third parties come last."""
    return tuple(dict.fromkeys([*COMMANDS, *(words.split()[0] for words in places())]))


def find_job(words: str) -> type[Any]:
    """The job of these words."""
    module, _, name = places()[words].partition(":")
    found: type[Any] = getattr(import_module(module), name)
    return found


def jobs_of(group: str) -> tuple[str, ...]:
    """The jobs of a group, by what their words say after it; every job where no group is named."""
    start = f"{group} " if group else ""
    return tuple(words.removeprefix(start) for words in places() if words.startswith(start))


def parts_of(group: str) -> Iterator[str]:
    """The next words below these, each once, in order."""
    start = f"{group} "
    yield from dict.fromkeys(words.removeprefix(start).split()[0] for words in places() if words.startswith(start))


@cache
def places() -> Mapping[str, str]:
    """Every job, those of third parties too."""
    theirs = {entry.name.replace(".", " "): entry.value for entry in entry_points(group="aidos.jobs")}
    return {words: place for words, place in theirs.items() if words not in COMMANDS} | dict(JOBS)
