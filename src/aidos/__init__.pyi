from pathlib import Path
from typing import Literal

from aidos.account.ledger import MemoryLedger as MemoryLedger
from aidos.engine.embedded import EmbeddedEngine as EmbeddedEngine
from aidos.ingest.options import ReadOptions as ReadOptions
from aidos.ingest.reading import check_files as check_files
from aidos.ingest.reading import read_files as read_files
from aidos.jobs.answer import Answer as Answer
from aidos.jobs.desk import Desk as Desk
from aidos.jobs.inputs import Data as Data
from aidos.jobs.release import release as release
from aidos.model.topics import default_taxonomy as default_taxonomy
from aidos.rooms.audit.audited import AuditedAccount as AuditedAccount
from aidos.rooms.data.checking import CheckedFiles as CheckedFiles
from aidos.rooms.data.reading import DataRead as DataRead
from aidos.rooms.exposure.computing import CommunityExposure as CommunityExposure
from aidos.rooms.fairness.comparing import ComparedMethods as ComparedMethods
from aidos.rooms.fairness.equity import EquityOfAttention as EquityOfAttention
from aidos.rooms.fairness.reranking import Reranked as Reranked
from aidos.rooms.publish.directory import PublishedLog as PublishedLog
from aidos.rooms.publish.jobs.plan import PlannedRelease as PlannedRelease
from aidos.rooms.publish.jobs.received import SuggestedQueries as SuggestedQueries
from aidos.rooms.publish.jobs.received import VerifiedRelease as VerifiedRelease
from aidos.rooms.publish.ledger import Ledger as Ledger
from aidos.rooms.risk.jobs.rank import RankedCommunity as RankedCommunity
from aidos.rooms.shield.mediator.mixing import MixedLog as MixedLog
from aidos.rooms.shield.profile.showing import Shield as Shield
from aidos.studies.audit.rehearsal import RehearsedAudit as RehearsedAudit
from aidos.world.sample import Sample as Sample
from aidos.world.size import World as World
from aidos.world.write import write_sample as write_sample

__version__: str

def read(
    files: Data,
    /,
    *,
    output: str | Path | None = ...,
    normalise: str = ...,
    session_gap: float | None = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    desk: Desk | None = ...,
) -> DataRead:
    """Read search logs, posts or runs of any known format into one Parquet file."""

def check(
    files: Data,
    /,
    *,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    desk: Desk | None = ...,
) -> CheckedFiles:
    """Say what a file is, what is in it, and everything that is wrong with it."""

def mediate(
    files: Data,
    /,
    *,
    topics: str | Path | None = ...,
    depth: int | None = ...,
    normalise: str = ...,
    seed: int | None = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    output: str | Path | None = ...,
    finding: str | Path | None = ...,
    accounts: int | None = ...,
    people_per_pool: int = ...,
    alpha: float | None = ...,
    similarity: Literal["same-topic", "cosine", "jaccard"] = ...,
    heuristic: Literal["pools", "original", "commons"] = ...,
    order: Literal["arrival", "shuffled"] = ...,
    desk: Desk | None = ...,
) -> MixedLog:
    """Assign every query of a log to a mediator account."""

def exposure(
    files: Data,
    /,
    *,
    largest_spill: str = ...,
    output: str | Path | None = ...,
    k: int = ...,
    scorer: str = ...,
    semantics: Literal["or", "and"] = ...,
    ties: Literal["newest", "oldest", "id"] = ...,
    analyser: str = ...,
    longest_post: int = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    desk: Desk | None = ...,
) -> CommunityExposure:
    """Find every query of one or two words that returns a post among the first."""

def publish(
    files: Data = ...,
    /,
    *,
    output: str | Path | None = ...,
    items: list[str] | tuple[str, ...] = ...,
    mechanism: str = ...,
    epsilon: float = ...,
    delta: float = ...,
    items_per_person: int = ...,
    shares: list[float] | tuple[float, ...] = ...,
    set: list[str] | tuple[str, ...] = ...,
    people: int | None = ...,
    person: str = ...,
    item: list[str] | tuple[str, ...] = ...,
    sets: int = ...,
    results: str = ...,
    recipe: str | Path | None = ...,
    ledger: str | Path | None = ...,
    without_ledger: bool = ...,
    accept_large_delta: bool = ...,
    yes: bool = ...,
    seed: int | None = ...,
    finding: str | Path | None = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    desk: Desk | None = ...,
) -> PublishedLog:
    """Release a search log with a guarantee that holds."""

def plan(
    files: Data = ...,
    /,
    *,
    output: str | Path | None = ...,
    items: list[str] | tuple[str, ...] = ...,
    mechanism: str = ...,
    epsilon: float = ...,
    delta: float = ...,
    items_per_person: int = ...,
    shares: list[float] | tuple[float, ...] = ...,
    set: list[str] | tuple[str, ...] = ...,
    people: int | None = ...,
    person: str = ...,
    item: list[str] | tuple[str, ...] = ...,
    sets: int = ...,
    results: str = ...,
    recipe: str | Path | None = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    desk: Desk | None = ...,
) -> PlannedRelease:
    """Show what each choice of epsilon and items per person would release, and spend nothing."""

def verify(
    directory: Data,
    /,
    *,
    desk: Desk | None = ...,
) -> VerifiedRelease:
    """Check the files of a release against its manifest, and its promise against its recipe."""

def suggest(
    release: Data,
    query: str,
    /,
    *,
    most: int = ...,
    least_ratio: float = ...,
    desk: Desk | None = ...,
) -> SuggestedQueries:
    """Suggest other ways to ask a query, from what a released log says."""

def rerank(
    rankings: Data,
    /,
    *,
    output: str | Path | None = ...,
    store: str | Path | None = ...,
    method: str = ...,
    report: str | Path | None = ...,
    attention: str = ...,
    gain: Literal["paper", "linear", "exponential-1", "exponential-5"] = ...,
    level: Literal["subject", "actor"] = ...,
    half_life: float | None = ...,
    short_rankings: Literal["refuse", "share"] = ...,
    quality_floor: float = ...,
    unfairness_ceiling: float | None = ...,
    objective: Literal["adaptive", "absolute", "squared"] = ...,
    searcher_floor: float | None = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    system: str = ...,
    skip_bad_rankings: bool = ...,
    desk: Desk | None = ...,
) -> Reranked:
    """Re-rank a stream of rankings, one after the other."""

def sample(
    part: Literal["log", "posts", "documents", "results", "rankings", "truth"],
    /,
    *,
    output: str | Path | None = ...,
    size: str | int = ...,
    seed: int = ...,
    topics: int = ...,
    desk: Desk | None = ...,
) -> Sample:
    """Write a part of the sample world: synthetic, seeded, with the truth known."""

def shield(
    file: Data = ...,
    /,
    *,
    taxonomy: str | Path | None = ...,
    depth: int | None = ...,
    desk: Desk | None = ...,
) -> Shield:
    """Show a profile as a tree: documents at and below each topic, and which topics are sensitive."""

def simulate(
    *,
    output: str | Path | None = ...,
    methods: str = ...,
    floors: str = ...,
    rankings: int = ...,
    bound: bool = ...,
    shape: Literal["", "uniform", "linear", "exponential"] = ...,
    subjects: int = ...,
    ratings: str = ...,
    id_column: str = ...,
    rating: str = ...,
    group_column: str = ...,
    actor_column: str = ...,
    attention: str = ...,
    gain: Literal["paper", "linear", "exponential-1", "exponential-5"] = ...,
    level: Literal["subject", "actor"] = ...,
    half_life: float | None = ...,
    short_rankings: Literal["refuse", "share"] = ...,
    desk: Desk | None = ...,
) -> ComparedMethods:
    """Serve the same queries again and again, and see how unfairness and quality develop."""

def risk(
    files: Data,
    /,
    *,
    output: str | Path | None = ...,
    topics: list[str] | tuple[str, ...] = ...,
    measures: list[str] | tuple[str, ...] = ...,
    top: int | None = ...,
    without_times: bool = ...,
    i_am_the_operator: bool = ...,
    model: str | Path | None = ...,
    topic_file: str | Path | None = ...,
    vectors: str | Path | None = ...,
    match: list[str] | tuple[str, ...] = ...,
    column: list[str] | tuple[str, ...] = ...,
    format: str = ...,
    delimiter: str = ...,
    quotes: str = ...,
    header: bool | None = ...,
    encoding: str = ...,
    time_format: str = ...,
    earliest: str = ...,
    latest: str = ...,
    skip_bad_rows: bool = ...,
    accept: list[str] | tuple[str, ...] = ...,
    desk: Desk | None = ...,
) -> RankedCommunity:
    """Rank the people of a community, or of a query log, by their exposure to sensitive topics."""

def study(
    name: Literal[
        "mediator",
        "exposure",
        "risk",
        "ups",
        "audit",
        "utility",
        "statistics",
        "caching",
        "substitution",
        "retrieval",
        "mechanisms",
    ],
    /,
    *data: Data,
    desk: Desk | None = ...,
    **parameters: object,
) -> Answer:
    """Run an experiment of the papers again, on their setting or on data of your own."""

def ask(
    name: Literal[
        "check",
        "ingest",
        "taxonomy show",
        "taxonomy find",
        "taxonomy import",
        "mediate assign",
        "mediate measure",
        "shield profile build",
        "shield profile show",
        "shield profile edit",
        "shield profile forget",
        "shield explain",
        "shield rerank",
        "shield rules export",
        "expose compute",
        "expose member",
        "expose query",
        "expose draft",
        "expose add",
        "expose delete",
        "expose forget",
        "expose audit",
        "expose train",
        "publish",
        "plan",
        "verify",
        "suggest",
        "rank",
        "calibrate",
        "ledger open",
        "ledger show",
        "ledger extend",
        "ledger verify",
        "ledger close",
        "explain impossibility",
        "attack sybil",
        "attack distinguish",
        "attack uniques",
        "risk rank",
        "risk person",
        "risk add",
        "risk forget",
        "risk local",
        "risk topics",
        "risk annotate",
        "risk train",
        "risk audit",
        "fair rerank",
        "fair simulate",
        "fair measure",
        "fair store",
        "fair export",
        "fair import",
        "sample",
        "audit collect",
        "audit bookmarklet",
        "audit plan",
        "audit check",
        "audit learn",
        "audit evidence",
        "audit compare",
        "audit rehearse",
        "run",
        "describe",
        "demo",
        "doctor",
        "evaluate mediator",
        "evaluate exposure",
        "evaluate risk",
        "evaluate ups",
        "evaluate audit",
        "evaluate utility",
        "evaluate statistics",
        "evaluate caching",
        "evaluate substitution",
        "evaluate retrieval",
        "evaluate mechanisms",
    ],
    /,
    *data: Data,
    desk: Desk | None = ...,
    **parameters: object,
) -> Answer:
    """Ask any job by the words of its command."""

def audit(
    pairs: Data = ...,
    /,
    *,
    output: str | Path | None = ...,
    column: list[str] | tuple[str, ...] = ...,
    vanilla: list[str] | tuple[str, ...] = ...,
    personalised: list[str] | tuple[str, ...] = ...,
    again: list[str] | tuple[str, ...] = ...,
    documents: list[str] | tuple[str, ...] = ...,
    account: str = ...,
    results_at: str = ...,
    query_at: str = ...,
    skip_bad_pairs: bool = ...,
    taxonomy: str | Path | None = ...,
    topics: Literal["taxonomy", "lda"] | None = ...,
    number: int | None = ...,
    topic_maps: str | Path | None = ...,
    topic_model: str | Path | None = ...,
    joint: bool = ...,
    same_topics: str | Path | None = ...,
    method: Literal["inference", "learning"] = ...,
    level: float = ...,
    confidence: float = ...,
    evidence: int = ...,
    seed: int = ...,
    granted: list[Literal["place", "order", "bucket"]] | tuple[Literal["place", "order", "bucket"], ...] = ...,
    mark_sensitive: str | Path | None = ...,
    mark: Literal["sensitive", "all"] = ...,
    sensitivity: float = ...,
    desk: Desk | None = ...,
) -> AuditedAccount:
    """Learn which topics a search service lifts or sinks for an account, and how surely."""

def rehearse(
    *,
    size: str = ...,
    seed: int = ...,
    output: str | Path | None = ...,
    account: int | None = ...,
    queries: int = ...,
    pilot: float = ...,
    desk: Desk | None = ...,
) -> RehearsedAudit:
    """Rehearse the whole loop on a made-up account: audit, mark, shield, audit again."""
