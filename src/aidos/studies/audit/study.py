"""The experiments on the audit of hidden profiles (LTP, and what the paper leaves out), by name and repeatable.

Ten parts on four grounds: lists drawn from the model, surrogate engines, lists without any profile, and the sample
world with its personalising service and the default taxonomy. The same world, plan and seed give the same numbers,
times excepted. Rows are about made-up accounts, so that nothing here is a finding about anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from aidos.core.progress import SILENT, Progress
from aidos.jobs.desk import Desk
from aidos.studies.study import Basis, Claim, InParts, Makers, Outcome, choose_parts

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Chapter
    from aidos.studies.audit.plan import AuditExperiment, Part
    from aidos.world.size import World

__all__ = ["AuditBasis", "AuditOutcome", "AuditStudy", "study_audit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBasis(Basis):
    """What was measured on."""

    seed: int = 0
    level: float = 0.05
    """The rate of false alarms that verdicts promise."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AuditOutcome(Outcome):
    """What an audit finds of a hidden profile, by part."""

    basis: AuditBasis

    heading: ClassVar = "What an audit finds of a hidden profile"
    numbers_told: ClassVar = 10
    parts: ClassVar = {
        "recovery": ("samples-learned",),
        "topics": ("topics-ranked",),
        "disambiguation": ("lists-told-apart",),
        "users": ("users-told-apart",),
        "sweep": ("numbers-swept",),
        "time": ("learning-timed", "profiles-timed"),
        "alarms": ("nothing-judged",),
        "power": ("effects-judged",),
        "world": ("accounts-audited",),
        "loop": ("loops-run",),
    }

    def makers(self) -> Makers:
        """A table for each question."""
        from aidos.studies.audit import summaries as made

        return {
            "recovery": ("samples-learned", made.sum_up_recovery),
            "topics": ("topics-ranked", made.sum_up_topics),
            "precision": ("topics-ranked", made.sum_up_precision),
            "disambiguation": ("lists-told-apart", made.sum_up_lists),
            "splits": ("lists-told-apart", made.sum_up_splits),
            "users": ("users-told-apart", made.sum_up_users),
            "sweep": ("numbers-swept", made.sum_up_sweep),
            "time": ("learning-timed", made.sum_up_time),
            "time_by_topics": ("profiles-timed", made.sum_up_time_by_topics),
            "alarms": ("nothing-judged", made.sum_up_alarms),
            "power": ("effects-judged", made.sum_up_power),
            "world": ("accounts-audited", made.sum_up_accounts),
            "loop": ("loops-run", made.sum_up_loops),
        }

    def read_claims(self) -> list[Claim]:
        """What paper and spec say about the parts that were run."""
        from aidos.studies.audit.claims import READERS

        return self.claims_by_table(READERS, self.basis.level)

    def chapters(self) -> list[Chapter]:
        """A chapter for each part."""
        from aidos.studies.audit.page import audit_chapters

        return audit_chapters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStudy(InParts):
    """What the audit of hidden profiles finds, misses and falsely alarms.

    Ten parts: recovery (lists drawn from the model), topics (which topics of
    a profile are found, beside simple measures), disambiguation (which of two
    lists is personalised), users (whose it is), sweep (how many topics to
    describe results by), time (the two ways to learn), alarms (lists without a
    profile), power (weak profiles), world (accounts of the sample world), loop
    (audit, mark, shield, audit again). The paper's
    numbers stand beside. With a tiny world less of everything is tried. What
    is done is kept in the directory and not done again; parts may be added
    later.

    For example:
        aidos evaluate audit -o results
        aidos evaluate audit --size tiny --part topics --part loop -o results
        aidos evaluate audit --part alarms -o results --json
    """

    def run(self, desk: Desk) -> AuditOutcome:
        """Run the parts that are not on the shelf."""
        from aidos.studies.audit.plan import PARTS, usual_plan
        from aidos.world.size import World

        world, chosen = World(size=self.size, seed=self.seed), choose_parts(self.part, PARTS)
        plan = usual_plan(world, cast("tuple[Part, ...]", chosen), seed=self.seed)
        return study_audit(world, plan, output=self.output, progress=desk.progress, asked=desk.asked).kept()


def study_audit(
    world: World, plan: AuditExperiment, *, output: Path | None = None, progress: Progress = SILENT, asked: str = ""
) -> AuditOutcome:
    """Run the parts of a plan; those about accounts on a world."""
    from aidos.studies.shelf import Shelf, fingerprint

    shelf = Shelf(output, fingerprint([asdict(world), plan.identity()]))
    makers = _makers(world, plan, progress)
    rows = {raw: shelf.table(raw, makers[raw]) for part in plan.parts for raw in AuditOutcome.parts[part]}
    about = (
        f"On lists drawn from the model, on {plan.worlds} surrogate "
        f"{'engine' if plan.worlds == 1 else 'engines'}, and with accounts of the sample world of {world.people:,} "
        f"people (seed {world.seed})."
    )
    basis = AuditBasis(about=about, seed=plan.seed, level=plan.level)
    return AuditOutcome(rows=rows, basis=basis, output=output, asked=asked)


def _makers(world: World, plan: AuditExperiment, progress: Progress) -> dict[str, Callable[[], pa.Table]]:
    """How the rows of each name are measured."""
    from aidos.model.topics import default_taxonomy
    from aidos.model.topicsearch import TopicSearch
    from aidos.studies.audit.engines import Engines
    from aidos.studies.audit.loop import measure_accounts, measure_loops
    from aidos.studies.audit.sampled import measure_alarms, measure_power, measure_recovery, measure_time
    from aidos.studies.audit.service import SampleService

    engines = Engines(plan, progress)

    @cache
    def ground() -> tuple[SampleService, TopicSearch]:
        return SampleService.of(world), TopicSearch(default_taxonomy())

    return {
        "samples-learned": partial(measure_recovery, plan, progress=progress),
        "topics-ranked": engines.rank_topics,
        "lists-told-apart": engines.tell_lists_apart,
        "users-told-apart": engines.tell_users_apart,
        "numbers-swept": engines.sweep_topics,
        "profiles-timed": engines.time_profiles,
        "learning-timed": partial(measure_time, plan, progress=progress),
        "nothing-judged": partial(measure_alarms, plan, progress=progress),
        "effects-judged": partial(measure_power, plan, progress=progress),
        "accounts-audited": lambda: measure_accounts(plan, *ground(), progress=progress),
        "loops-run": lambda: measure_loops(plan, *ground(), progress=progress),
    }
