"""The job that rehearses the whole loop in the sample world: audit, mark, shield, audit again, compare.

    pilot.jsonl    lists of the searches that the others were chosen by
    before.jsonl   lists with and without the account, the service knowing its whole profile
    before/        the audit of them
    profile.json   the searcher's own profile, with the marks
    after.jsonl    the same searches, with what the shield lets through
    after/         the audit of them
    comparison.html

The account is made up, and the truth about it is known. Where the first audit finds nothing sensitive, nothing is
marked and the loop shows nothing of marks: that is said before all else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge, Le, Lt

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD
from aidos.jobs.answer import Finding, as_path, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.options import Filled
from aidos.rooms.audit.audited import AuditedAccount, refuse_taken
from aidos.rooms.audit.jobs.compare import ComparedAudits
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.world.size import OnSample

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.topicsearch import TopicSearch
    from aidos.report.page import Block, Page
    from aidos.rooms.audit.findings import AuditFinding
    from aidos.studies.audit.loop import LoopOutcome
    from aidos.studies.audit.service import SampleService
    from aidos.world.size import World

__all__ = ["RehearseAudit", "RehearsedAudit"]

PAGE = "comparison.html"
FEWEST = 60
"""Searches below which a pilot would leave too few to audit."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RehearsedAudit(Finding):
    """One made-up account through the loop, with the truth about it."""

    about: str = "one account and its searches"
    value: LoopOutcome
    world: World
    account: int
    """Counted from 0."""
    audit: ProfileAudit
    names: Mapping[str, str]
    """Of the topics, by id."""
    asked: str = ""
    output: Path | None = None
    """Where it is kept."""

    @property
    def before(self) -> AuditedAccount:
        """The audit of the account as it was."""
        return self._audited("before", self.value.before)

    @property
    def after(self) -> AuditedAccount:
        """The audit of the same searches behind the shield."""
        return self._audited("after", self.value.after, " --same-topics before")

    @property
    def comparison(self) -> ComparedAudits:
        """What changed from one to the other."""
        outcome = self.value
        return ComparedAudits(
            before=outcome.before,
            after=outcome.after,
            comparison=outcome.comparison,
            marked=outcome.marked,
            notes=(*([self.idle] if self.idle else []), self.asked_how, *self.happened),
            asked=self.asked,
            output=None if self.output is None else self.output / PAGE,
        )

    @property
    def truth(self) -> str:
        """What the service really held, the heaviest first."""
        from aidos.rooms.audit.wording import listed

        ordered = sorted(self.value.truth.items(), key=lambda each: -each[1])
        return listed([self.names[topic] for topic, _ in ordered])

    @property
    def asked_how(self) -> str:
        """How the searches were chosen."""
        outcome = self.value
        if not outcome.pilot:
            return f"{len(outcome.before_pairs):,} searches were asked as they came."
        return (
            f"{len(outcome.pilot):,} searches were asked as they came. By what rose in them "
            f"{len(outcome.before_pairs):,} others were chosen that would tell most, and these alone are audited."
        )

    @property
    def idle(self) -> str:
        """What is said first where nothing was marked, with what more searches would show; empty elsewhere."""
        from aidos.rooms.audit.wording import power_words

        if self.value.marked:
            return ""
        more = power_words(self.value.before) if self.value.before.conclusion.kind == "nothing" else ""
        return (
            "Nothing was marked, since the first audit found nothing sensitive: the loop was not closed, and this "
            f"rehearsal shows nothing of what a mark does. Take more searches, or another account. {more}"
        ).strip()

    @property
    def found_true(self) -> int:
        """How many topics the first audit found that the service really held."""
        return sum(each.topic.id in self.value.truth for each in self.value.before.found)

    @property
    def happened(self) -> tuple[str, ...]:
        """What was done between the two audits, in sentences."""
        from aidos.rooms.audit.wording import listed

        outcome = self.value
        marked = listed([self.names[topic] for topic in outcome.marked])
        sent = f"some of the profile with {outcome.sent:,} of {len(outcome.before_pairs):,} searches"
        return (
            f"The service really held {self.truth}.",
            f"Marked as sensitive after the first audit: {marked}."
            if marked
            else "The first audit found nothing sensitive, and nothing was marked.",
            f"Then it got what the shield lets through alone: {sent}; something was kept back with {outcome.hidden:,}.",
        )

    def facts(self) -> Mapping[str, object]:
        """The truth, both audits, and what changed."""
        outcome = self.value
        return {
            "size": self.world.size,
            "seed": self.world.seed,
            "account": self.account,
            "closed": bool(outcome.marked),
            "pilot": len(outcome.pilot),
            "queries": len(outcome.before_pairs),
            "found_true": self.found_true,
            "truth": dict(outcome.truth),
            "marked": list(outcome.marked),
            "sent": outcome.sent,
            "hidden": outcome.hidden,
            "before": self.before.facts(),
            "after": self.after.facts(),
            "comparison": self.comparison.facts(),
            "output": None if self.output is None else str(self.output),
        }

    def table(self) -> pa.Table:
        """A row for each topic, before and after."""
        return self.comparison.table()

    def blocks(self) -> Sequence[Block]:
        """The steps of the loop, and what changed."""
        from aidos.report.page import Prose

        held, marked, sent = self.happened
        steps = (
            *([self.idle, ""] if self.idle else []),
            self.asked_how,
            f"1. before: {self.before.verdict}",
            f"   {held}",
            f"2. {marked}",
            f"3. {sent}",
            f"4. after: {self.after.verdict}",
            "",
        )
        return (*map(Prose, steps), *self.comparison.blocks())

    def remarks(self) -> Sequence[str]:
        """What is where."""
        return () if self.output is None else (f"{self.output} has both audits, the pairs and the profile",)

    def page(self) -> Page:
        """Both audits beside each other."""
        return self.comparison.page()

    def save(self, path: str | Path) -> None:
        """Keep it in a new directory; .html, .json, .parquet and .csv are single files."""
        place = as_path(path)
        if place.suffix in {".html", ".json", ".parquet", ".csv"}:
            Finding.save(self, place)
        else:
            self.keep(place)

    def keep(self, directory: Path) -> None:
        """Write everything; whole or not at all."""
        from aidos.engine.files import directory_when_done
        from aidos.ingest.results.writing import write_pairs
        from aidos.model.profilefile import write_profile

        outcome = self.value
        refuse_taken(directory)
        with directory_when_done(directory, private=True) as made:
            if outcome.pilot:
                write_pairs(made / "pilot.jsonl", outcome.pilot)
            for name, pairs, audited in (
                ("before", outcome.before_pairs, self.before),
                ("after", outcome.after_pairs, self.after),
            ):
                write_pairs(made / f"{name}.jsonl", pairs)
                (made / name).mkdir(mode=0o700)
                audited.write_files(made / name)
            write_profile(made / "profile.json", outcome.profile)
            save_page(self.page(), made / PAGE)

    def _audited(self, name: str, finding: AuditFinding, more: str = "") -> AuditedAccount:
        asked = f"aidos audit learn {name}.jsonl -o {name}{more}"
        return AuditedAccount(value=finding, audit=self.audit, asked=asked)

    def _values(self) -> dict[str, Any]:
        return {"account": self.account, "summary": self.comparison.summary}


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearseAudit(Filled, OnSample):
    """Rehearse the whole loop on a made-up account: audit, mark, shield, audit again.

    Nothing is asked of anybody: the service, the account and its searches are
    of the sample world, so that the truth is known. The directory holds both
    audits with their pages, the pairs of lists, the marked profile, and a page
    that compares.

    For example:
        aidos audit rehearse -o rehearsal
        aidos audit rehearse -o rehearsal --size small --account 3 --queries 500
    """

    size: str = "tiny"
    account: Annotated[int | None, Ge(0), CROWD] = None
    """The number of the account, from 0 on; the first with something to hide if unset."""
    queries: Annotated[int, Ge(20), Le(10**6)] = 300
    """How many searches are asked, the pilot included."""
    pilot: Annotated[float, Ge(0), Lt(1)] = 1 / 3
    """The share of them that is asked as they come, to choose the others by; 0 chooses none, nor do fewer than 60."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> RehearsedAudit:
        """Audit, mark, shield, audit again, and keep it where a directory is named."""
        from aidos.world.size import World

        if self.output is not None:
            refuse_taken(self.output)
        world = World(size=self.size, seed=self.seed)
        with desk.remark_if_slow("audit, shield, audit; the first run also compiles"):
            answer = self._rehearsed(world, desk)
        if self.output is not None:
            answer.keep(self.output)
        return answer

    def _rehearsed(self, world: World, desk: Desk) -> RehearsedAudit:
        from aidos.model.taxonomies.opened import open_named, searcher
        from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
        from aidos.studies.audit.loop import Rehearsal, sensitive_found
        from aidos.studies.audit.service import SampleService

        search, _ = searcher(open_named(None))
        service, audit = SampleService.of(world), ProfileAudit()
        account = _telling_account(service, search) if self.account is None else self.account
        pilot = round(self.pilot * self.queries) if self.queries >= FEWEST else 0
        first = Rehearsal.of(service, account, search, audit, queries=self.queries, pilot=pilot, progress=desk.progress)
        marked = sensitive_found(first.finding, search)
        outcome = first.shielded(ProfileGeneralisation(), marked, progress=desk.progress)
        return RehearsedAudit(
            value=outcome,
            world=world,
            account=account,
            audit=audit,
            names={topic: search.taxonomy[topic].name for topic in (*outcome.truth, *outcome.marked)},
            asked=desk.asked,
            output=self.output,
        )


def _telling_account(service: SampleService, search: TopicSearch) -> int:
    """The first account that likes something sensitive and something that is not; 0 where there is none."""
    from aidos.world.results import account_count

    for number in range(account_count(service.world)):
        liked = service.account(number).liked.tolist()
        kinds = {bool(search.taxonomy.sensitive_category(service.vocabulary.topics[topic].id)) for topic in liked}
        if len(kinds) == 2:
            return number
    return 0
