"""The jobs that make a community's exposure and keep it current; what comes back answers further questions.

From Python ``aidos.exposure(posts)`` computes, and ``aidos.exposure(directory)`` opens what was computed. Without a
directory to write, the exposure lives in a private one, for as long as the answer does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from aidos.engine.scratch import Scratch
from aidos.errors import ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.asking import ask_job
from aidos.jobs.desk import Desk
from aidos.jobs.inputs import Data, as_files
from aidos.jobs.job import Given, Job, Named, Private, RequiredInTerminal, Section, Short
from aidos.rooms.exposure.queries.settings import LARGEST, LARGEST_CHANGE, MEMORY, SearchExposure

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block
    from aidos.report.values import Value
    from aidos.rooms.exposure.auditing import CommunityAudit
    from aidos.rooms.exposure.forgetting import ForgottenMembers
    from aidos.rooms.exposure.looking import DraftExposure, QueryResults
    from aidos.rooms.exposure.member import MemberExposure
    from aidos.rooms.exposure.queries.changes import Change
    from aidos.rooms.exposure.queries.estimate import Estimate, Room
    from aidos.rooms.exposure.queries.forgetting import Forgotten
    from aidos.rooms.exposure.queries.manifest import Facts
    from aidos.rooms.exposure.queries.store import ExposureStore
    from aidos.rooms.exposure.training import TrainedRanker

__all__ = [
    "AddPosts",
    "ChangedCommunity",
    "ChangedPosts",
    "CommunityExposure",
    "ComputeExposure",
    "DeletePosts",
    "InExposure",
    "Spilling",
    "room_for",
]

LARGE = 10**9
"""Bytes that are worth a word."""
COUNTS = ("posts", "members", "words", "queries", "exposures")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CommunityExposure(Finding):
    """By which queries the members of a community are found: ask it."""

    about: str = "the members of a community"
    value: Facts
    """Settings and counts."""
    directory: Path
    """Where it is kept."""
    estimated_bytes: int | None = None
    """What it was estimated to take while it was made."""
    desk: Desk = field(default_factory=Desk)
    scratch: Scratch | None = None
    """Keeps the directory, where none was named."""

    def facts(self) -> Mapping[str, object]:
        """Settings, counts, and what it was estimated to take."""
        return {
            "directory": str(self.directory),
            "settings": asdict(self.value.settings),
            **self._counts(),
            "cut_posts": self.value.cut_posts,
            "estimated_bytes": self.estimated_bytes,
        }

    def blocks(self) -> Sequence[Block]:
        """Settings and counts."""
        return (_told({"directory": str(self.directory), **asdict(self.value.settings), **self._counts()}),)

    def table(self) -> pa.Table:
        """A row for each member: how many of their posts are searched, and how often one of them is returned."""
        from aidos.rooms.exposure.queries.store import ExposureStore

        return ExposureStore.open(self.directory).members()

    def member(self, author_id: str, **parameters: Any) -> MemberExposure:
        """By which queries a member's posts are found, the most critical first; parameters of `ShowMember`."""
        from aidos.rooms.exposure.member import ShowMember

        return self._ask("member", ShowMember, author_id=author_id, **parameters)

    def query(self, text: str) -> QueryResults:
        """Which posts and members a query of one word or two returns."""
        from aidos.rooms.exposure.looking import AskQuery

        return self._ask("query", AskQuery, text=text)

    def draft(self, text: str, **parameters: Any) -> DraftExposure:
        """Which queries would return a text, if it were posted; parameters of `TryDraft`."""
        from aidos.rooms.exposure.looking import TryDraft

        return self._ask("draft", TryDraft, text=text, **parameters)

    def audit(self, **parameters: Any) -> CommunityAudit:
        """Which kinds of query expose most members, and most sensitively; parameters of `AuditCommunity`."""
        from aidos.rooms.exposure.auditing import AuditCommunity

        return self._ask("audit", AuditCommunity, **parameters)

    def train(self, **parameters: Any) -> TrainedRanker:
        """Learn which queries are critical from signals of one's own; parameters of `TrainRanker`."""
        from aidos.rooms.exposure.training import TrainRanker

        return self._ask("train", TrainRanker, **parameters)

    def add(self, posts: Data, **parameters: Any) -> ChangedPosts:
        """Add new posts, from files or a table; parameters of `AddPosts`."""
        with as_files(posts) as files:
            return self._ask("add", AddPosts, files=files, **parameters)

    def delete(self, post_ids: Sequence[str]) -> ChangedPosts:
        """Delete posts by their ids."""
        return self._ask("delete", DeletePosts, post_ids=post_ids)

    def forget(self, author_ids: Sequence[str], **parameters: Any) -> ForgottenMembers:
        """Forget members: no byte of theirs is left in any file; parameters of `ForgetMembers`."""
        from aidos.rooms.exposure.forgetting import ForgetMembers

        return self._ask("forget", ForgetMembers, author_ids=author_ids, **parameters)

    def _counts(self) -> dict[str, int]:
        return {name: getattr(self.value, name) for name in COUNTS}

    def _ask(self, method: str, job: type[Job[Given]], **given: Any) -> Given:
        """The answer of a job that looks into this directory."""
        question: Job[Given] = ask_job(job, {"directory": self.directory, **given}, called=method)
        # What a page tells of the question: everything but the text of a draft.
        told = ", ".join(f"{name}={'...' if name == 'text' else repr(value)}" for name, value in given.items())
        source = "posts" if self.scratch else repr(str(self.directory))
        return question.run(replace(self.desk, asked=f"aidos.exposure({source}).{method}({told})"))


@dataclass(frozen=True, kw_only=True)
class Spilling:
    """A job that computes every exposure, which takes room on disk."""

    largest_spill: str = LARGEST
    """How much may be written, temporary files included, for example 60GB. It is estimated first."""


@dataclass(frozen=True, slots=True)
class ComputeExposure(Spilling):
    """Find every query of one or two words that returns a post among the first.

    The directory can be asked afterwards: see `aidos expose member`, `query`,
    `draft` and `audit`. It holds people's words and is for its owner only. A
    run that was cut off goes on where it was when it is started again.

    For example:
        aidos expose compute posts.parquet -o exposure
        aidos expose compute "posts/*.jsonl" -k 20 --scorer bm25 -o exposure
        aidos expose compute posts.csv --column author_id=user --semantics and -o exposure
        aidos expose compute posts.parquet --recipe our-search.toml -o exposure
    """

    recipe_for: ClassVar[str] = "search"

    files: tuple[str, ...]
    """The community's posts: files or glob patterns."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory to write, or to go on with."""
    search: Annotated[SearchExposure, Section("How the community's search ranks")] = field(
        default_factory=SearchExposure
    )
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> CommunityExposure:
        """Read the posts and compute, or go on; one directory alone that was computed is opened."""
        if self.output is None and len(self.files) == 1 and Path(self.files[0]).is_dir():
            return self._opened(Path(self.files[0]), desk)
        from aidos.ingest.reading import read_files
        from aidos.rooms.exposure.queries.compute import compute
        from aidos.rooms.exposure.queries.manifest import is_finished

        scratch = Scratch() if self.output is None else None
        target = scratch.path / "exposure" if scratch else Path(cast("Path", self.output))
        room, expected = room_for(self.largest_spill, desk)
        was_done = is_finished(target)
        with desk.engine() as engine:
            posts = read_files(engine, self.files, self.how.options()).table
            with desk.remark_if_slow("the first run also compiles; the next will find it ready"):
                facts = compute(
                    posts,
                    self.search,
                    target,
                    memory=desk.memory or MEMORY,
                    threads=desk.threads,
                    progress=desk.progress,
                    room=room,
                )
        if was_done:
            desk.remark(f"{target} was finished already: nothing was done")
        if facts.cut_posts:
            longest = self.search.longest_post
            desk.remark(f"{facts.cut_posts:,} posts are longer than {longest:,} words and were cut there")
        estimated = expected[0].bytes if expected else None
        return CommunityExposure(value=facts, directory=target, estimated_bytes=estimated, desk=desk, scratch=scratch)

    def _opened(self, directory: Path, desk: Desk) -> CommunityExposure:
        from aidos.rooms.exposure.queries.manifest import check_settings, read

        facts = read(directory)
        if self.search != SearchExposure():
            check_settings(directory, facts, self.search)
        return CommunityExposure(value=facts, directory=directory, desk=desk)


@dataclass(frozen=True, slots=True, kw_only=True)
class InExposure:
    """A job that looks into a directory, or changes it."""

    directory: Annotated[Path, Named("--in")]
    """The directory that `aidos expose compute` wrote."""

    def store(self, desk: Desk) -> ExposureStore:
        """The directory, with a remark when it has grown old."""
        from aidos.rooms.exposure.queries.store import ExposureStore

        store = ExposureStore.open(Path(self.directory))
        if hint := store.drift.hint:
            desk.remark(hint)
        return store


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ChangedCommunity(Finding):
    """What a change did, in counts."""

    about: str = "the members of a community"
    value: Change | Forgotten

    def facts(self) -> Mapping[str, object]:
        """How many of everything."""
        return asdict(self.value)

    def blocks(self) -> Sequence[Block]:
        """The same, but for what a remark tells."""
        return (_told({name: value for name, value in self.facts().items() if name != "hidden"}),)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ChangedPosts(ChangedCommunity):
    """What an addition or a deletion did."""

    value: Change

    def remarks(self) -> Sequence[str]:
        """What a deletion leaves behind."""
        if not self.value.hidden:
            return ()
        texts = (
            "the text of 1 post stays" if self.value.hidden == 1 else f"the texts of {self.value.hidden:,} posts stay"
        )
        return (f"{texts} in the files, hidden, until the next compute or aidos expose forget",)


@dataclass(frozen=True, slots=True)
class AddPosts(InExposure):
    """Add new posts: only the queries of their words are ranked again.

    The statistics of the language stay those of the last `compute`.

    For example:
        aidos expose add new-posts.jsonl --in exposure
    """

    files: tuple[str, ...]
    """Posts whose ids are not there yet: files or glob patterns."""
    _: KW_ONLY
    largest_spill: str = LARGEST_CHANGE
    """How much may be written, for example 5GB; posts of some 3,700 different words need 2GB."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> ChangedPosts:
        """Add all of them or none."""
        from aidos.ingest.reading import read_files
        from aidos.rooms.exposure.queries.store import ExposureStore

        store = ExposureStore.open(Path(self.directory))
        room, _ = room_for(self.largest_spill, desk, remedy="shorten the posts")
        with desk.engine() as engine:
            posts = read_files(engine, self.files, self.how.options()).table.fetch()
        change = store.add(posts, room=room, skip_taken=self.how.skip_bad_rows)
        if left := posts.num_rows - change.posts:
            desk.remark(f"{left:,} posts were left out: their post_id is there already")
        return ChangedPosts(value=change)


@dataclass(frozen=True, slots=True)
class DeletePosts(InExposure):
    """Delete posts: only the queries of their words are ranked again.

    For example:
        aidos expose delete p17 p18 --in exposure
        aidos expose delete - --in exposure < deleted.txt
        aidos expose delete --file deleted.txt --in exposure
    """

    post_ids: Annotated[tuple[str, ...], Private("names")] = ()
    """The ids of posts, or - for the standard input, one a line."""
    _: KW_ONLY
    file: Path | None = None
    """A file with one id a line, instead of or beside those named."""

    def run(self, desk: Desk) -> ChangedPosts:  # noqa: ARG002  # every job is asked at a desk
        """Delete all of them or none."""
        from aidos.engine.inputs import read_text
        from aidos.engine.scratch import sweep_scratch
        from aidos.rooms.exposure.queries.store import ExposureStore

        sweep_scratch()
        text = read_text(self.file, hint="name a file in utf-8 with one id a line") if self.file else ""
        named = [*self.post_ids, *(line.strip() for line in text.splitlines() if line.strip())]
        if not named:
            raise ParameterError("no post is named", hint="name post ids, or a file of them with --file")
        return ChangedPosts(value=ExposureStore.open(Path(self.directory)).delete(named))


def room_for(largest: str, desk: Desk, **remedy: str) -> tuple[Room, list[Estimate]]:
    """What may be written; how much it will be is told where that is much, and kept."""
    from aidos.rooms.exposure.queries.estimate import Room, in_words

    expected: list[Estimate] = []

    def told(estimate: Estimate) -> None:
        expected.append(estimate)
        if estimate.bytes >= LARGE:
            temporary = f", {in_words(estimate.spill)} of it temporarily" if estimate.spill else ""
            written = f"{in_words(estimate.bytes)} written{temporary}"
            desk.remark(f"about {estimate.queries:,} queries will be ranked and {written}")

    return Room(largest=largest, tell=told, **remedy), expected


def _told(facts: Mapping[str, object]) -> Block:
    """Facts for people to read, all of them: a count of nothing says something here."""
    from aidos.report.page import Facts as Told

    return Told(tuple((name.replace("_", " "), cast("Value", value)) for name, value in facts.items()))
