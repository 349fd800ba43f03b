"""A private profile at work: what would be sent with a query, told as a tree and as facts, and results in her order.

All of it happens on this machine. Nothing is sent anywhere: the commands say what would be.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from aidos.app.shieldterms import ShieldTerms, WhoseProfile
from aidos.core.noise import Noise
from aidos.errors import InputError
from aidos.model.profilefile import OpenedProfile, open_profile
from aidos.model.taxonomies.opened import searcher
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.holder import HeldProfile
from aidos.rooms.shield.profile.page import ShieldStory, standing_facts, state_words
from aidos.rooms.shield.profile.requirement import CostLayer
from aidos.service.base import check_request

if TYPE_CHECKING:
    from aidos.core.taxonomy import Taxonomy
    from aidos.model.topicsearch import TopicSearch
    from aidos.rooms.shield.profile.decision import Decision

__all__ = ["Shield", "decision_facts", "decision_lines", "open_shield", "tell_story"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shield:
    """A profile that is ready to be asked about queries."""

    opened: OpenedProfile
    mechanism: ProfileGeneralisation
    search: TopicSearch = field(repr=False)
    held: HeldProfile = field(repr=False)
    layer: CostLayer = field(repr=False)
    remark: str = ""
    """On the index of the taxonomy, where there is something to say."""

    @property
    def topics(self) -> Taxonomy:
        """The topics with their names."""
        return self.opened.taxonomy.imported.taxonomy

    def decide(self, query: str) -> Decision:
        """What becomes of the profile with this query; what the session has hidden and shown counts."""
        hits = self.search.find(check_request(query, 1))
        data = QueryAndProfile(
            tree=self.search.tree, held=self.held, layer=self.layer, hits=hits, memory=self.opened.kept.memory
        )
        return self.mechanism.run(data, Noise())


def open_shield(whose: WhoseProfile, terms: ShieldTerms) -> Shield:
    """The profile with all that decisions need; refuses what cannot be weighed up."""
    mechanism = terms.mechanism()
    opened = open_profile(whose.profile, whose.taxonomy)
    _refuse_overlaps(opened)
    search, remark = searcher(opened.taxonomy)
    held = HeldProfile.of(opened.taxonomy.tree, opened.kept.profile)
    layer = CostLayer.of(opened.taxonomy.tree, held, opened.kept.requirement)
    return Shield(opened=opened, mechanism=mechanism, search=search, held=held, layer=layer, remark=remark)


def tell_story(shield: Shield, query: str, decision: Decision, *, remembered: bool, command: str) -> ShieldStory:
    """The decision with the names and settings that a reader needs."""
    topics = shield.topics
    return ShieldStory(
        query=query.strip(),
        decision=decision,
        mechanism=shield.mechanism,
        names={each.topic: topics[each.topic].name for each in decision.topics},
        remembered=remembered,
        memory=shield.opened.kept.memory,
        command=command,
    )


def decision_lines(story: ShieldStory) -> Iterator[str]:
    """The topics drawn as a tree, with what becomes of each."""
    drawn = list(_drawn(story))
    width = max((len(line) for line, _ in drawn), default=0)
    for line, marks in drawn:
        yield f"{line.ljust(width)}  {marks}"


def decision_facts(story: ShieldStory) -> dict[str, object]:
    """The same for machines."""
    decision = story.decision
    return {
        "query": story.query,
        "outcome": decision.outcome,
        "reason": decision.reason,
        "sent": [each.topic for each in decision.topics if each.state == "sent"],
        "hidden": [each.topic for each in decision.topics if each.state == "hidden"],
        **standing_facts(decision),
        "topics": [{"name": story.names[each.topic], **asdict(each)} for each in decision.topics],
        "settings": asdict(story.mechanism),
        "hidden_earlier": sorted(story.memory.hidden),
        "shown_earlier": sorted(story.memory.shown),
        "remembered": story.remembered,
        "threat_model": story.threat_model,
    }


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


def _drawn(story: ShieldStory) -> Iterator[tuple[str, str]]:
    topics = story.decision.topics
    depths = [each.depth for each in topics]
    for place, each in enumerate(topics):
        lead = "".join("│   " if _goes_on(depths, place, level) else "    " for level in range(1, each.depth))
        branch = ("├── " if _goes_on(depths, place, each.depth) else "└── ") if each.depth else ""
        share = f"  {each.preference:.0%} of yours" if each.asked else ""
        yield f"{lead}{branch}{story.names[each.topic]}", f"{state_words(story.decision, each)}{share}"


def _goes_on(depths: Sequence[int], place: int, level: int) -> bool:
    """Whether the branch at this level has another topic after this one."""
    for depth in depths[place + 1 :]:
        if depth <= level:
            return depth == level
    return False
