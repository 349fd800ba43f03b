"""From audit to shield: topics that a service was found to lift are marked as sensitive in the searcher's own profile.

Only topics that are sensitive by the taxonomy, or lie below such, are marked unless all are asked for: that a service
knows of somebody's hiking is no reason to hide it. A topic that is marked already, or lies below one that is, stays as
its owner wanted it; one that lies above a marked one takes its place, with the larger weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Gt

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding

if TYPE_CHECKING:
    from aidos.model.profilefile import OpenedProfile
    from aidos.report.page import Block
    from aidos.rooms.audit.findings import AuditFinding

__all__ = ["MarkedTopics", "Marking", "mark_found", "open_for_marks", "refuse_other_topics"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MarkedTopics(Finding):
    """What was marked, by name."""

    about: str = "one person"
    marked: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    """Marked before, or below a topic that was."""
    harmless: tuple[str, ...] = ()
    """Lifted, but not sensitive by the taxonomy."""

    def facts(self) -> Mapping[str, object]:
        """The names."""
        return {"marked": self.marked, "already": self.already, "harmless": self.harmless}

    def blocks(self) -> Sequence[Block]:
        """What became of the profile."""
        from aidos.report.page import Prose
        from aidos.rooms.audit.wording import listed

        told = {
            "marked as sensitive in the profile": self.marked,
            "marked already, itself or above": self.already,
            "not sensitive by the taxonomy, and not marked (--mark all marks them)": self.harmless,
        }
        blocks = tuple(Prose(f"{words}: {listed(names)}") for words, names in told.items() if names)
        return blocks or (Prose("nothing was marked: no topic was found to be lifted"),)

    def _values(self) -> dict[str, Any]:
        return {name: ", ".join(names) for name, names in vars(self).items() if isinstance(names, tuple) and names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """What is handed over to the shield."""

    mark_sensitive: Path | None = None
    """A profile of the shield in which lifted topics are marked as sensitive."""

    mark: Literal["sensitive", "all"] = "sensitive"
    """Which lifted topics: sensitive (by the taxonomy), or all."""

    sensitivity: Annotated[float, Gt(0)] = 1.0
    """How sensitive they are."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.mark_sensitive is None and (self.mark, self.sensitivity) != ("sensitive", 1.0):
            raise ParameterError("--mark and --sensitivity go with --mark-sensitive", hint="name the profile")

    def hand_over(self, opened: OpenedProfile, finding: AuditFinding) -> MarkedTopics:
        """Mark what was found, and write the profile where that changed it."""
        from aidos.model.profilefile import held_profile, read_profile, write_profile

        with held_profile(opened.path):
            opened = replace(opened, kept=read_profile(opened.path, opened.taxonomy.tree))
            changed, told = mark_found(opened, finding, everything=self.mark == "all", weight=self.sensitivity)
            if told.marked:
                write_profile(changed.path, changed.kept)
        return told


def open_for_marks(profile: Path, taxonomy: Path | None, *, learned: bool) -> OpenedProfile:
    """The profile to be marked; refused where topics were learned from results, and are of no taxonomy."""
    from aidos.model.profilefile import open_profile

    opened = open_profile(profile, taxonomy)
    if learned:
        raise ParameterError(
            "topics that are learned from the results are not those of the profile",
            hint="leave out --topics lda: --mark-sensitive needs topics of the profile's taxonomy",
        )
    return opened


def refuse_other_topics(opened: OpenedProfile, ids: Sequence[str]) -> None:
    """ParameterError where topics are not of the profile's taxonomy, before anything is learned."""
    places = opened.taxonomy.tree.places
    if unknown := [topic for topic in ids if topic not in places]:
        raise ParameterError(
            f"{len(unknown):,} of {len(ids):,} topics are not of the profile's taxonomy",
            hint="use the taxonomy that the profile was built with, or leave out --mark-sensitive",
        )


def mark_found(
    opened: OpenedProfile, finding: AuditFinding, *, everything: bool, weight: float
) -> tuple[OpenedProfile, MarkedTopics]:
    """The profile with the lifted topics of the finding marked, not yet written."""
    taxonomy, tree = opened.taxonomy.imported.taxonomy, opened.taxonomy.tree
    kept = opened.kept
    marked, already, harmless = [], [], []
    for each in finding.found:
        if not each.is_lifted:
            continue
        path = {step.id for step in taxonomy.path(each.topic.id)}
        if not (everything or taxonomy.sensitive_category(each.topic.id)):
            harmless.append(each.topic.name)
        elif path & kept.sensitivities.keys():
            already.append(each.topic.name)
        else:
            kept = kept.with_sensitivity(tree, each.topic.id, weight, merge=True)
            marked.append(each.topic.name)
    told = MarkedTopics(marked=tuple(marked), already=tuple(already), harmless=tuple(harmless))
    return replace(opened, kept=kept), told
