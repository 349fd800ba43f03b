"""The job that learns the hidden profile: results get topics, the profile is learned, and everything is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from aidos.errors import InputError
from aidos.ingest.options import HowToReadPairs
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section, Short
from aidos.rooms.audit.audited import AuditedAccount, refuse_taken
from aidos.rooms.audit.marking import Marking, open_for_marks, refuse_other_topics
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.topics.choice import AboutWhat, ChosenTopics

if TYPE_CHECKING:
    from aidos.core.resultpairs import ResultPair
    from aidos.model.latent.model import TopicModel
    from aidos.model.profilefile import OpenedProfile
    from aidos.rooms.audit.auditing import DescribedPairs
    from aidos.rooms.audit.topics.latent import LatentTopics

__all__ = ["AuditAccount"]

SAID_BY_THE_AUDIT = frozenset({"few-queries", "identical-lists", "single-result"})
"""Remarks on pairs that the finding makes itself."""


@dataclass(frozen=True, slots=True)
class AuditAccount:
    """Learn which topics a search service lifts or sinks for an account, and how surely.

    From lists of the same searches with the account and without it. The
    terminal shows topics and numbers; the directory holds a page with searches
    as evidence, and is for its owner only. Whether anything is personalised at
    all is tested first: where nothing is, a false alarm comes at most at the
    rate of --level.

    For example:
        aidos audit learn pairs.jsonl -o audit
        aidos audit learn --vanilla without/ --personalised with/ --topics lda --number 30 -o audit
        aidos audit learn pairs.jsonl -o audit --mark-sensitive profile.json
        aidos audit learn later.jsonl -o after --same-topics audit
    """

    recipe_for: ClassVar[str] = "audit"

    pairs: tuple[str, ...] = ()
    """Files, glob patterns or directories of saved lists, see `aidos audit check`."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o")] = None
    """The directory to write: finding.json, report.html and recipe.toml."""
    how: Annotated[HowToReadPairs, Section("How to read the lists")] = field(default_factory=HowToReadPairs)
    about: Annotated[AboutWhat, Section("What results are about")] = field(default_factory=AboutWhat)
    audit: Annotated[ProfileAudit, Section("How to learn")] = field(default_factory=ProfileAudit)
    marking: Annotated[Marking, Section("What to hide")] = field(default_factory=Marking)

    def run(self, desk: Desk) -> AuditedAccount:
        """Read the lists, find topics for their results, learn, keep, and mark."""
        if self.output is not None:
            refuse_taken(self.output)
        read = self.how.read(self.pairs)
        for problem in read.problems:
            desk.remark(f"left out: {problem}")
        with desk.remark_if_slow("finding out what results are about"):
            chosen = self.about.choose(self.audit.seed)
            profile = self._profile(learned=chosen.learned)
            doubts = _look_at(read.pairs)
            described, model = _describe(read.pairs, chosen, self.audit)
        if chosen.remark:
            desk.remark(chosen.remark)
        if profile is not None:
            refuse_other_topics(profile, described.described.space.ids)
        with desk.remark_if_slow("learning the profile; the first run also compiles"):
            finding = self.audit.run(described)
        answer = AuditedAccount(
            value=finding,
            audit=self.audit,
            notes=read.notes,
            doubts=doubts,
            model=model,
            asked=desk.asked,
            output=self.output,
        )
        if self.output is not None:
            answer.keep(self.output)
        return answer if profile is None else replace(answer, marked=self.marking.hand_over(profile, finding))

    def _profile(self, *, learned: bool) -> OpenedProfile | None:
        """The profile to be marked, opened before anything is learned."""
        path = self.marking.mark_sensitive
        return None if path is None else open_for_marks(path, self.about.taxonomy, learned=learned)


def _look_at(pairs: Sequence[ResultPair]) -> tuple[str, ...]:
    """What should be known of the pairs, and the audit does not say itself; InputError where they say nothing."""
    from aidos.ingest.results.checks import examine_pairs, find_remarks

    found = find_remarks(examine_pairs(pairs))
    if stops := next((remark for remark in found if remark.stops), None):
        raise InputError(f"nothing can be learned: {stops.sentence}", hint=stops.remedy)
    return tuple(remark.sentence for remark in found if remark.kind not in SAID_BY_THE_AUDIT)


def _describe(
    pairs: Sequence[ResultPair], chosen: ChosenTopics, audit: ProfileAudit
) -> tuple[DescribedPairs, TopicModel | None]:
    """Say what results are about; InputError where the topics are not those of the earlier audit."""
    from aidos.rooms.audit.auditing import describe_pairs
    from aidos.rooms.audit.topics.latent import LatentTopics

    source = chosen.source if chosen.jointly is None else _learned_jointly(pairs, chosen.jointly, audit.seed)
    described = describe_pairs(pairs, source, audit.granted)
    if chosen.ids is not None and described.described.space.ids != chosen.ids:
        raise InputError("the topics are not those of the earlier audit", hint="use the same taxonomy, model or table")
    return described, source.model if isinstance(source, LatentTopics) else None


def _learned_jointly(pairs: Sequence[ResultPair], number: int, seed: int) -> LatentTopics:
    """Topics that texts and orders tell together; results are then described by their texts alone.

    Maps that have seen the orders would make a test of these orders say too much.
    """
    from aidos.rooms.audit.items import PairItems
    from aidos.rooms.audit.joint import JointSettings, learn_jointly
    from aidos.rooms.audit.topics.latent import LatentTopics

    items = PairItems.of(pairs)
    texts = [item.text for item in items.items]
    settings = JointSettings(seed=seed + 1)
    found = learn_jointly(texts, items.vanilla, items.personalised, topics=number, settings=settings)
    return LatentTopics(model=found.model)
