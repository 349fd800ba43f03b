"""From audit to shield: topics that a service was found to lift are marked as sensitive in the searcher's own profile.

Only topics that are sensitive by the taxonomy, or lie below such, are marked unless all are asked for: that a service
knows of somebody's hiking is no reason to hide it. A topic that is marked already, or lies below one that is, stays as
its owner wanted it; one that lies above a marked one takes its place, with the larger weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.audit.topics import ChosenTopics
    from aidos.model.profilefile import OpenedProfile
    from aidos.rooms.audit.findings import AuditFinding

__all__ = ["Marking", "MarkingOptions", "mark_found", "refuse_other_topics"]


@Parameter(name="*", group="What to hide")
@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingOptions:
    """Options that hand over what was found to the shield."""

    mark_sensitive: Annotated[Path | None, Parameter(name="--mark-sensitive")] = None
    """A profile of the shield in which lifted topics are marked as sensitive."""

    mark: Literal["sensitive", "all"] | None = None
    """Which lifted topics: sensitive (by the taxonomy), or all; sensitive unless given."""

    sensitivity: float | None = None
    """How sensitive they are, above 0; 1 unless given."""

    def open(self, chosen: ChosenTopics, taxonomy: Path | None) -> OpenedProfile | None:
        """The profile to be marked, before anything is learned; None where nothing is to be marked."""
        if self.mark_sensitive is None:
            if self.mark is not None or self.sensitivity is not None:
                raise ParameterError("--mark and --sensitivity go with --mark-sensitive", hint="name the profile")
            return None
        if self.sensitivity is not None and not 0 < self.sensitivity < float("inf"):
            raise ParameterError(f"--sensitivity must be above 0 and finite, got {self.sensitivity:g}")
        from aidos.model.profilefile import open_profile

        opened = open_profile(self.mark_sensitive, taxonomy)
        from aidos.rooms.audit.topics.latent import LatentTopics

        if isinstance(chosen.source, LatentTopics):
            raise ParameterError(
                "topics that are learned from the results are not those of the profile",
                hint="leave out --topics lda: --mark-sensitive needs topics of the profile's taxonomy",
            )
        return opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """What was marked, by name."""

    marked: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    """Marked before, or below a topic that was."""
    harmless: tuple[str, ...] = ()
    """Lifted, but not sensitive by the taxonomy."""


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
) -> tuple[OpenedProfile, Marking]:
    """The profile with the lifted topics of the finding marked, not yet written."""
    from dataclasses import replace

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
    told = Marking(marked=tuple(marked), already=tuple(already), harmless=tuple(harmless))
    return replace(opened, kept=kept), told
