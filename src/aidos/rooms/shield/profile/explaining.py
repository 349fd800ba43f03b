"""The job that explains one query: what of a private profile would be sent with it, what is hidden, and why.

All of it happens on this machine. Nothing is sent anywhere: the answer says what would be.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from aidos.core.profile import SessionMemory
from aidos.errors import InputError
from aidos.jobs.answer import Finding, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Negative, Private, Section, Short
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.whose import BuiltOn

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.core.taxonomy import Taxonomy
    from aidos.model.profilefile import OpenedProfile
    from aidos.model.topicsearch import TopicSearch
    from aidos.report.page import Block, Page
    from aidos.rooms.shield.profile.asked import ToldTopic
    from aidos.rooms.shield.profile.decision import Decision
    from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
    from aidos.rooms.shield.profile.seed import Hits

__all__ = ["ExplainQuery", "Explained", "ReadyProfile", "WhoseProfile", "explain_query", "make_ready"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadyProfile:
    """A profile that is ready to be asked about queries."""

    opened: OpenedProfile
    search: TopicSearch = field(repr=False)
    held: HeldProfile = field(repr=False)
    layer: CostLayer = field(repr=False)

    @property
    def topics(self) -> Taxonomy:
        """The topics with their names."""
        return self.opened.taxonomy.imported.taxonomy

    def find(self, query: str) -> Hits:
        """The topics of a query."""
        from aidos.service.base import check_request

        return self.search.find(check_request(query, 1))

    def decide(self, query: str, terms: ProfileGeneralisation) -> Decision:
        """What becomes of the profile with this query; what the session has hidden and shown counts."""
        from aidos.rooms.shield.profile.decision import decide

        hits = self.find(query)
        memory = self.opened.kept.memory
        return decide(
            terms, QueryAndProfile(tree=self.search.tree, held=self.held, layer=self.layer, hits=hits, memory=memory)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoseProfile(BuiltOn):
    """Which profile, on which taxonomy."""

    profile: Path | None = None
    """The profile; if unset the one in the usual place."""

    def open(self, desk: Desk, *, slow: str) -> ReadyProfile:
        """The profile with all that decisions need; says why that may take long."""
        from aidos.model.profilefile import open_profile
        from aidos.model.taxonomies.opened import searcher

        with desk.remark_if_slow(slow):
            opened = open_profile(self.profile, self.taxonomy)
            search, remark = searcher(opened.taxonomy)
        if remark:
            desk.remark(remark)
        return make_ready(opened, search)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Explained(Finding):
    """One query and what was decided about it."""

    about: str = "one person's interests"
    query: str
    decision: Decision
    terms: ProfileGeneralisation
    names: Mapping[str, str]
    """Names of the topics by id."""
    memory: SessionMemory = field(default_factory=SessionMemory)
    """What the session had hidden and shown before."""
    remembered: bool = False
    """Whether the query, and what is hidden and shown now, was added to it."""
    told: tuple[ToldTopic, ...] = ()
    """Marked topics that the queries tell of, whatever is sent, with their names in ``names``."""
    queries: int = 0
    """Queries that were remembered before."""
    output: Path | None = None
    """Where the page was written."""
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """What is sent and hidden, risk, power and utility before and after, and every topic."""
        from aidos.rooms.shield.profile.page import standing_facts

        decision = self.decision
        return {
            "query": self.query,
            "outcome": decision.outcome,
            "reason": decision.reason,
            "sent": [each.topic for each in decision.topics if each.state == "sent"],
            "hidden": [each.topic for each in decision.topics if each.state == "hidden"],
            **standing_facts(decision),
            "topics": [{"name": self.names[each.topic], **asdict(each)} for each in decision.topics],
            "settings": asdict(self.terms),
            "hidden_earlier": sorted(self.memory.hidden),
            "shown_earlier": sorted(self.memory.shown),
            "remembered": self.remembered,
            "told_by_queries": [asdict(each) for each in self.told],
            "queries_earlier": self.queries,
            "threat_model": self.terms.threat_model,
        }

    def table(self) -> pa.Table:
        """A row for each topic."""
        import pyarrow as pa

        return pa.Table.from_pylist([{"name": self.names[each.topic], **asdict(each)} for each in self.decision.topics])

    def blocks(self) -> Sequence[Block]:
        """The answer, the topics drawn as a tree, and what is gained."""
        from aidos.report.page import Code, Facts
        from aidos.rooms.shield.profile.page import answer_words, standing_table, told_table

        decision = self.decision
        shown: list[Block] = [
            Facts((("query", self.query), ("answer", answer_words(decision)), ("why", decision.reason)))
        ]
        if len(decision.topics) > 1:
            lines = "\n".join(self._lines())
            shown += [Code(text=f"\n{lines}\n", language="text"), standing_table(self)]
        if self.told:
            shown.append(told_table(self))
        if self.output is not None:
            shown.append(Code(text=str(self.output), language="text"))
        return shown

    def remarks(self) -> Sequence[str]:
        """Whether it is remembered, and what it does not protect."""
        from aidos.rooms.shield.profile.page import help_words

        limited = "later queries do not show what is hidden, and what is sent counts"
        kept = "the query counts, and what was sent" if self.terms.is_blind else f"{limited}, and so does the query"
        said = [f"remembered: {kept}" if self.remembered else "not remembered: see --remember"]
        if words := help_words(self):
            said.append(words[:1].lower() + words[1:].rstrip("."))
        return (*said, self.terms.threat_model)

    def page(self) -> Page:
        """What is sent and hidden, what it gives away, what it is worth."""
        from aidos.rooms.shield.profile.page import shield_page

        return shield_page(self)

    def _lines(self) -> Iterator[str]:
        """The topics drawn as a tree, with what becomes of each."""
        drawn = list(self._drawn())
        width = max(len(line) for line, _ in drawn)
        for line, marks in drawn:
            yield f"{line.ljust(width)}  {marks}"

    def _drawn(self) -> Iterator[tuple[str, str]]:
        from aidos.rooms.shield.profile.page import state_words

        topics = self.decision.topics
        depths = [each.depth for each in topics]
        for place, each in enumerate(topics):
            lead = "".join("│   " if _goes_on(depths, place, level) else "    " for level in range(1, each.depth))
            branch = ("├── " if _goes_on(depths, place, each.depth) else "└── ") if each.depth else ""
            share = f"  {each.preference:.0%} of yours" if each.asked else ""
            yield f"{lead}{branch}{self.names[each.topic]}", f"{state_words(self.decision, each)}{share}"


@dataclass(frozen=True, slots=True)
class ExplainQuery:
    """Explain what of your profile would be sent with a query, what is hidden, and why.

    Nothing is sent. Topics that the query is about are shown as a tree; power
    says how well they tell what you mean. What you marked as sensitive has no
    part in what would be sent. The query itself is not protected: what your
    queries tell by themselves is estimated, from those that you let it
    remember. This is not differential privacy. The page is written so that
    only its owner can read it. Give - to read the query from the standard
    input: arguments are seen in the list of processes and the shell's history.

    For example:
        aidos shield explain -
        aidos shield explain - --risk excess --risk-limit 0.02 < query.txt
        aidos shield explain - --remember -o page.html
        aidos shield explain "patch" --risk paper --algorithm exact --json
    """

    recipe_for: ClassVar[str] = "terms"

    query: Annotated[str, Private("text", on_page=True)]
    """What you would search for, or - for the standard input."""
    _: KW_ONLY
    remember: Annotated[bool, Negative("--no-remember")] = False
    """Note in the profile what is asked, sent and hidden, in numbers by topic: later answers count it."""
    output: Annotated[Path | None, Short("-o")] = None
    """A page about it, with the tree drawn."""
    whose: Annotated[WhoseProfile, Section("Whose profile")] = field(default_factory=WhoseProfile)
    terms: Annotated[ProfileGeneralisation, Section("What may be shown")] = field(default_factory=ProfileGeneralisation)

    def run(self, desk: Desk) -> Explained:
        """Decide about the query."""
        ready = self.whose.open(desk, slow="indexing topics; aidos taxonomy import --index keeps the index")
        return explain_query(self, ready, desk.asked)


def make_ready(opened: OpenedProfile, search: TopicSearch) -> ReadyProfile:
    """A profile with what decisions need; what finds topics may serve several."""
    from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile

    _refuse_overlaps(opened)
    tree = opened.taxonomy.tree
    held = HeldProfile.of(tree, opened.kept.profile)
    return ReadyProfile(
        opened=opened, search=search, held=held, layer=CostLayer.of(tree, held, opened.kept.requirement)
    )


def explain_query(asked: ExplainQuery, ready: ReadyProfile, words: str = "") -> Explained:
    """The answer; its page is written and the profile remembers, where that is asked for."""
    from aidos.model.profilefile import held_profile, read_profile, write_profile
    from aidos.rooms.shield.profile.asked import weigh_query

    opened = ready.opened
    if not asked.remember:
        return _answered(asked, ready, words)
    # What was noted meanwhile by others counts, and nobody may note anything between the decision and its note.
    with held_profile(opened.path):
        kept, tree = read_profile(opened.path, opened.taxonomy.tree), opened.taxonomy.tree
        ready = make_ready(replace(opened, kept=kept), ready.search)
        answer = _answered(asked, ready, words)
        remembered = kept.remembering(tree, answer.decision.remembered(kept.memory))
        write_profile(opened.path, remembered.having_asked(weigh_query(tree, ready.find(asked.query))))
    return answer


def _answered(asked: ExplainQuery, ready: ReadyProfile, words: str) -> Explained:
    from aidos.rooms.shield.profile.asked import told_by_queries

    decision, kept = ready.decide(asked.query, asked.terms), ready.opened.kept
    told = told_by_queries(ready.search.tree, kept, ready.find(asked.query))
    topics = (*(each.topic for each in decision.topics), *(each.topic for each in told))
    answer = Explained(
        query=asked.query.strip(),
        decision=decision,
        terms=asked.terms,
        names={topic: ready.topics[topic].name for topic in topics},
        memory=kept.memory,
        told=told,
        queries=kept.queries,
        remembered=asked.remember,
        output=asked.output,
        asked=words,
    )
    if asked.output is not None:
        save_page(answer.page(), asked.output)
    return answer


def _refuse_overlaps(opened: OpenedProfile) -> None:
    """A file that was edited by hand may hold a sensitive topic below another."""
    overlaps = opened.kept.requirement.overlaps(opened.taxonomy.tree)
    if not overlaps:
        return
    upper, lower = overlaps[0]
    merged = opened.kept.requirement.merged(opened.taxonomy.tree).sensitivities[upper]
    words = ["aidos", "shield", "profile", "edit", str(opened.path), "--sensitive", f"{upper}={merged:g}", "--merge"]
    more = f", and {len(overlaps) - 1} more such pairs" if len(overlaps) > 1 else ""
    raise InputError(
        f"{opened.path}: sensitive topics overlap: {lower} is below {upper}{more}; its weight would count twice",
        hint=f"let {upper} stand for both: {shlex.join(words)}",
    )


def _goes_on(depths: Sequence[int], place: int, level: int) -> bool:
    """Whether the branch at this level has another topic after this one."""
    for depth in depths[place + 1 :]:
        if depth <= level:
            return depth == level
    return False
