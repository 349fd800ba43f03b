"""The job that opens a profile: what it says as a tree, and from Python everything one does with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import LEVELS
from aidos.core.profile import KeptProfile
from aidos.jobs.answer import Finding
from aidos.jobs.asking import ask_job
from aidos.jobs.calling import call_job, told_in_python
from aidos.jobs.desk import Desk
from aidos.rooms.shield.profile.whose import OnProfile

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.profilefile import OpenedProfile
    from aidos.model.taxonomies.opened import OpenedTaxonomy
    from aidos.model.topicsearch import TopicSearch
    from aidos.report.page import Block
    from aidos.rooms.shield.profile.changing import ChangedProfile
    from aidos.rooms.shield.profile.explaining import Explained, ReadyProfile
    from aidos.rooms.shield.profile.reranking import RerankedResults

__all__ = ["Shield", "ShowProfile", "profile_lines"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Shield(Finding):
    """A private profile, opened: it shows itself, explains queries, re-ranks results, and can be edited and forgotten.

    Whatever it is asked, it reads the file again: what was remembered, edited or forgotten meanwhile counts.
    """

    about: str = "one person's interests"
    opened: OpenedProfile
    depth: int | None = None
    """How many levels are drawn."""

    def explain(self, query: str, **parameters: Any) -> Explained:
        """What would be sent with a query, what is hidden, and why; takes the parameters of `ExplainQuery`."""
        from aidos.rooms.shield.profile.explaining import ExplainQuery, explain_query

        given = {"query": query, **self._whose(), **parameters}
        with told_in_python(ExplainQuery, see="help(aidos.ask)"):
            return explain_query(ask_job(ExplainQuery, given, called="explain"), self._ready())

    def rerank(self, results: Any, query: str = "", **parameters: Any) -> RerankedResults:
        """Results in her order: a file, an answer of SearXNG or a list of results, best first.

        Takes the parameters of `RerankResults`.
        """
        from aidos.rooms.shield.profile.reranking import RerankResults, rerank_list
        from aidos.rooms.shield.profile.results import parse_results, read_results

        is_file = isinstance(results, str | Path)
        given = {"results": results if is_file else "the list", "query": query, **self._whose(), **parameters}
        with told_in_python(RerankResults, see="help(aidos.ask)"):
            asked = ask_job(RerankResults, given, called="rerank")
            found = read_results(asked.results) if is_file else parse_results(results, "the list")
            return rerank_list(asked, found, None if asked.without_profile else self._ready())

    def edit(
        self,
        *,
        sensitive: Mapping[str, float] | Sequence[str] = (),
        not_sensitive: Sequence[str] = (),
        support: Mapping[str, float] | Sequence[str] = (),
        remove: Sequence[str] = (),
        merge: bool = False,
    ) -> ChangedProfile:
        """Mark topics and correct what the profile holds: ``edit(sensitive={"debt": 3}, remove=["football"])``."""
        from aidos.rooms.shield.profile.changing import EditProfile

        given = {"not_sensitive": not_sensitive, "remove": remove, "merge": merge}
        pairs = {"sensitive": _pairs(sensitive), "support": _pairs(support)}
        return self._changed(EditProfile, {**given, **pairs}, "edit")

    def forget(self, *topics: str, session: bool = False, everything: bool = False) -> ChangedProfile:
        """Forget topics with all below them, a session, or the whole profile; what the file held is overwritten."""
        from aidos.rooms.shield.profile.changing import ForgetTopics

        given = {"topic": list(topics), "session": session, "everything": everything}
        return self._changed(ForgetTopics, given, "forget")

    def facts(self) -> Mapping[str, object]:
        """All that the file holds, and every held topic with its name and what is at and below it."""
        from aidos.model.profilefile import to_json

        return {**to_json(self.opened.kept), "topics": list(self._held())}

    def table(self) -> pa.Table:
        """A row for each held topic."""
        import pyarrow as pa

        return pa.Table.from_pylist(list(self._held()))

    def blocks(self) -> Sequence[Block]:
        """The held topics drawn as a tree."""
        from aidos.report.page import Code

        lines = profile_lines(self.opened.kept, self.opened.taxonomy, self.depth)
        return (Code(text="\n".join(lines), language="text"),)

    def remarks(self) -> Sequence[str]:
        """How much it holds."""
        kept = self.opened.kept
        return (f"{len(kept.supports):,} topics with documents, {len(kept.sensitivities):,} sensitive",)

    @cached_property
    def _search(self) -> TopicSearch:
        from aidos.model.taxonomies.opened import searcher

        return searcher(self.opened.taxonomy)[0]

    def _ready(self) -> ReadyProfile:
        from aidos.model.profilefile import read_profile
        from aidos.rooms.shield.profile.explaining import make_ready

        opened = self.opened
        return make_ready(replace(opened, kept=read_profile(opened.path, opened.taxonomy.tree)), self._search)

    def _whose(self) -> dict[str, Path | None]:
        return {"profile": self.opened.path, "taxonomy": self.opened.taxonomy.file}

    def _changed(self, job: type[Any], given: Mapping[str, object], called: str) -> ChangedProfile:
        place = {"file": self.opened.path, "taxonomy": self.opened.taxonomy.file}
        answer: ChangedProfile = call_job(job, {**place, **given}, called=called)
        return answer

    def _held(self) -> Iterator[dict[str, object]]:
        kept, taxonomy = self.opened.kept, self.opened.taxonomy
        topics, tree = taxonomy.imported.taxonomy, taxonomy.tree
        for place, total in sorted(_totals(kept, taxonomy).items()):
            topic = tree.ids[place]
            yield {
                "id": topic,
                "name": topics[topic].name,
                "parent": topics[topic].parent,
                "documents": kept.supports.get(topic, 0.0),
                "documents_at_and_below": total,
                "sensitivity": kept.sensitivities.get(topic),
                "category": topics.sensitive_category(topic),
                "hidden": topic in kept.hidden,
            }


@dataclass(frozen=True, slots=True)
class ShowProfile(OnProfile):
    """Show a profile as a tree: documents at and below each topic, and which topics are sensitive.

    For example:
        aidos shield profile show
        aidos shield profile show profile.json --depth 1
        aidos shield profile show profile.json --json
    """

    _: KW_ONLY
    depth: Annotated[int, Ge(0), LEVELS] | None = None
    """How many levels below the root; all if unset."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> Shield:  # noqa: ARG002  # every job is asked at a desk
        """Open it."""
        from aidos.model.profilefile import open_profile

        return Shield(opened=open_profile(self.file, self.taxonomy), depth=self.depth)


def profile_lines(kept: KeptProfile, taxonomy: OpenedTaxonomy, depth: int | None = None) -> Iterator[str]:
    """The held topics drawn as a tree, with documents at and below each; sensitive and hidden ones are marked."""
    topics, tree = taxonomy.imported.taxonomy, taxonomy.tree
    totals = _totals(kept, taxonomy)
    stack = [(topics.root, "", "", 0, False)]
    while stack:
        here, own, below, level, covered = stack.pop()
        covered = covered or here in kept.sensitivities
        yield f"{own}{topics[here].name}  {_counted(totals.get(tree.places[here], 0.0))}{_marks(kept, here, covered)}"
        if level == depth:
            continue
        held = [child for child in topics.children.get(here, ()) if tree.places[child] in totals]
        for at, child in reversed(list(enumerate(held))):
            branch, rest = ("└── ", "    ") if at == len(held) - 1 else ("├── ", "│   ")
            stack.append((child, below + branch, below + rest, level + 1, covered))


def _totals(kept: KeptProfile, taxonomy: OpenedTaxonomy) -> Mapping[int, float]:
    """Documents at and below each held topic, and marked topics that hold none, by place."""
    tree = taxonomy.tree
    totals: dict[int, float] = {}
    for topic in (*kept.supports, *kept.sensitivities, *kept.hidden):
        totals.update(dict.fromkeys(tree.with_paths([tree.place(topic)]).tolist(), 0.0))
    for topic, documents in kept.supports.items():
        for place in tree.with_paths([tree.place(topic)]).tolist():
            totals[place] += documents
    return totals


def _counted(documents: float) -> str:
    return f"{documents:,.0f}" if documents.is_integer() else f"{documents:,.4g}"


def _marks(kept: KeptProfile, topic: str, covered: bool) -> str:  # noqa: FBT001 (one of two states of a line)
    marks = []
    if topic in kept.sensitivities:
        marks.append(f"sensitive, weight {kept.sensitivities[topic]:g}")
    elif covered:
        marks.append("sensitive")
    if topic in kept.hidden:
        marks.append("hidden once")
    elif topic in kept.shown:
        marks.append("shown once")
    return f"  [{'; '.join(marks)}]" if marks else ""


def _pairs(given: Mapping[str, float] | Sequence[str]) -> Sequence[str]:
    """Topics with numbers as texts; whatever else was given is for the job to judge."""
    return [f"{topic}={number!r}" for topic, number in given.items()] if isinstance(given, Mapping) else given
