"""The whole loop in the sample world, kept as files: audit, mark what is sensitive, shield, audit again, compare.

    before.jsonl   lists with and without the account, the service knowing its whole profile
    before/        the audit of them
    profile.json   the searcher's own profile, with the marks
    after.jsonl    the same searches, with what the shield lets through
    after/         the audit of them
    comparison.html

The account is made up, and the truth about it is known.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aidos.app.audit.directory import keep_audit, new_directory
from aidos.app.audit.terms import recipe_text
from aidos.core.progress import Progress
from aidos.engine.files import write_text
from aidos.ingest.results.writing import write_pairs
from aidos.model.profilefile import write_profile
from aidos.model.taxonomies.opened import open_named, searcher
from aidos.model.topicsearch import TopicSearch
from aidos.report.page import render
from aidos.rooms.audit.comparisonpage import ComparisonStory, comparison_page
from aidos.rooms.audit.page import AuditStory
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.wording import listed
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.studies.audit.loop import LoopOutcome, Rehearsal, sensitive_found
from aidos.studies.audit.service import SampleService
from aidos.world.results import account_count
from aidos.world.size import World

__all__ = ["LoopStory", "keep_rehearsal", "rehearse_loop"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoopStory:
    """One account through the loop, with the names of its topics."""

    world: World
    account: int
    """Counted from 0."""
    outcome: LoopOutcome
    audit: ProfileAudit
    names: Mapping[str, str]
    """Of the topics, by id."""
    output: Path = Path("rehearsal")
    """Where it is kept, as it was typed."""

    @property
    def story(self) -> ComparisonStory:
        """Both audits, for the page."""
        outcome = self.outcome
        return ComparisonStory(
            before=outcome.before,
            after=outcome.after,
            comparison=outcome.comparison,
            marked=outcome.marked,
            notes=self.happened(),
            command=self.command,
        )

    @property
    def command(self) -> str:
        """What to type to get the same."""
        world = self.world
        options = {
            "--size": world.size,
            "--seed": world.seed,
            "--account": self.account,
            "--queries": len(self.outcome.before_pairs),
            "--draws": self.audit.draws,
            "-o": self.output,
        }
        return shlex.join(["aidos", "audit", "rehearse", *(str(word) for pair in options.items() for word in pair)])

    def truth_words(self) -> str:
        """What the service really held, the heaviest first."""
        ordered = sorted(self.outcome.truth.items(), key=lambda each: -each[1])
        return listed([self.names[topic] for topic, _ in ordered])

    def happened(self) -> tuple[str, ...]:
        """What was done between the two audits, in sentences."""
        outcome = self.outcome
        queries = len(outcome.before_pairs)
        marked = listed([self.names[topic] for topic in outcome.marked])
        sent = f"some of the profile with {outcome.sent:,} of {queries:,} searches"
        return (
            f"The service really held {self.truth_words()}.",
            f"Marked as sensitive after the first audit: {marked}."
            if marked
            else "The first audit found nothing sensitive, and nothing was marked.",
            f"Then it got what the shield lets through alone: {sent}; something was kept back with {outcome.hidden:,}.",
        )

    def facts(self) -> Mapping[str, Any]:
        """For machines."""
        outcome = self.outcome
        return {
            "size": self.world.size,
            "seed": self.world.seed,
            "account": self.account,
            "queries": len(outcome.before_pairs),
            "truth": dict(outcome.truth),
            "marked": list(outcome.marked),
            "sent": outcome.sent,
            "hidden": outcome.hidden,
        }


def rehearse_loop(
    world: World, account: int | None, *, queries: int, progress: Progress, audit: ProfileAudit
) -> LoopStory:
    """Run the loop for an account; the first who has something to hide and something else, where none is named."""
    opened = open_named(None)
    search, _ = searcher(opened)
    service = SampleService.of(world)
    chosen = _telling_account(service, search) if account is None else account
    first = Rehearsal.of(service, chosen, search, audit, queries=queries, progress=progress)
    marked = sensitive_found(first.finding, search)
    outcome = first.shielded(ProfileGeneralisation(), marked, progress=progress)
    topics = opened.imported.taxonomy
    names = {topic: topics[topic].name for topic in (*outcome.truth, *outcome.marked)}
    return LoopStory(world=world, account=chosen, outcome=outcome, audit=audit, names=names)


def keep_rehearsal(rehearsal: LoopStory) -> None:
    """Write everything; whole or not at all."""
    outcome = rehearsal.outcome
    with new_directory(rehearsal.output) as made:
        for name, pairs, finding in (
            ("before", outcome.before_pairs, outcome.before),
            ("after", outcome.after_pairs, outcome.after),
        ):
            write_pairs(made / f"{name}.jsonl", pairs)
            (made / name).mkdir(mode=0o700)
            same = " --same-topics before" if name == "after" else ""
            command = f"aidos audit learn {name}.jsonl -o {name}{same}"
            keep_audit(made / name, AuditStory(finding=finding, command=command, recipe=recipe_text(rehearsal.audit)))
        write_profile(made / "profile.json", outcome.profile)
        write_text(made / "comparison.html", render(comparison_page(rehearsal.story)), private=True)


def _telling_account(service: SampleService, search: TopicSearch) -> int:
    """The first account that likes something sensitive and something that is not; 0 where there is none."""
    for number in range(account_count(service.world)):
        liked = service.account(number).liked.tolist()
        kinds = {bool(search.taxonomy.sensitive_category(service.vocabulary.topics[topic].id)) for topic in liked}
        if len(kinds) == 2:
            return number
    return 0
