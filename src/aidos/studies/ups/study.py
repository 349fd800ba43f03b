"""The experiments on profile generalisation (Shou et al. 2014, and what the paper leaves out), by name and repeatable.

Five parts on three grounds: random trees, a taxonomy, and the people of a sample world with the profiles and queries
that they have on it. The same world, taxonomy, plan and seed give the same numbers, times excepted. Rows are about
made-up people and trees, so that nothing here is a finding about anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from aidos.core.progress import SILENT, Progress
from aidos.jobs.desk import Desk
from aidos.studies.study import Basis, Claim, InParts, Makers, Outcome, choose_parts

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.topicsearch import TopicSearch
    from aidos.report.page import Chapter
    from aidos.studies.ups.eavesdropping import Watched
    from aidos.studies.ups.plan import Part, UpsExperiment
    from aidos.studies.ups.searchers import Society
    from aidos.world.size import World

__all__ = ["GIVEN", "PEOPLE", "UpsBasis", "UpsOutcome", "UpsStudy", "study_ups"]

GIVEN = "taxonomy"
"""What the taxonomy that was given is called in tables."""
PEOPLE, MADE_UP = "sample world", "made-up"
"""What the two kinds of people are called."""
RANDOM_SEEDS = 40
"""Seeds on random trees that limits are tried on."""
DEFAULT_NAME = "the default taxonomy"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsBasis(Basis):
    """What was measured on."""

    taxonomy: str
    """What the taxonomy is called in tables."""
    topics: int
    """Topics of the taxonomy."""
    seed: int = 0
    usual_limit: float = 0.1
    """The limit that findings are read at."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class UpsOutcome(Outcome):
    """What generalised profiles cost, hide and give, by part."""

    basis: UpsBasis

    heading: ClassVar = "What a generalised profile costs, hides and gives"
    parts: ClassVar = {
        "speed": ("seeds-timed", "taxonomies-timed"),
        "limits": ("limits-tried",),
        "quality": ("best-compared",),
        "eavesdropper": ("profiles-watched", "months-watched"),
        "reranking": ("lists-ordered",),
    }

    def makers(self) -> Makers:
        """A table for each question."""
        from aidos.studies.ups import summaries as made

        return {
            "speed": ("seeds-timed", made.sum_up_speed),
            "slopes": ("seeds-timed", made.sum_up_slopes),
            "growth": ("taxonomies-timed", made.sum_up_growth),
            "limits": ("limits-tried", made.sum_up_limits),
            "quality": ("best-compared", made.sum_up_quality),
            "eavesdropper": ("profiles-watched", made.sum_up_guesses),
            "sessions": ("months-watched", made.sum_up_sessions),
            "reranking": ("lists-ordered", made.sum_up_reranking),
            "comparisons": ("lists-ordered", partial(made.compare_rankings, limit=self.basis.usual_limit)),
        }

    def read_claims(self) -> list[Claim]:
        """What paper and spec say about the parts that were run."""
        from aidos.studies.ups.claims import READERS

        return self.claims_by_table(READERS, self.basis.usual_limit)

    def chapters(self) -> list[Chapter]:
        """A chapter or two for each part."""
        from aidos.studies.ups.page import ups_chapters

        return ups_chapters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsStudy(InParts):
    """What profile generalisation costs, keeps, hides and gives.

    Five parts: speed (iterations and time by the size of seeds and
    taxonomies), limits (power and risk by the limit of risk), quality (beside
    the best there is), eavesdropper (what an observer works out who knows the
    rule and sees all queries and profiles, and sessions with and without a
    memory), reranking (lists of results where it is known what was wanted). On random trees, a taxonomy
    and people of the sample world. What is done is kept in the directory and
    not done again; parts may be added later.

    For example:
        aidos evaluate ups -o results
        aidos evaluate ups --size tiny --part quality --part reranking -o results
        aidos evaluate ups --taxonomy wordnet.taxonomy --part speed -o results --json
    """

    taxonomy: Path | None = None
    """A file with a taxonomy; the bundled one if unset."""

    def run(self, desk: Desk) -> UpsOutcome:
        """Run the parts that are not on the shelf."""
        from aidos.model.taxonomies.opened import open_named, searcher
        from aidos.studies.ups.plan import PARTS, UpsExperiment
        from aidos.world.size import World

        chosen = cast("tuple[Part, ...]", choose_parts(self.part, PARTS))
        plan, world = UpsExperiment(parts=chosen, seed=self.seed), World(size=self.size, seed=self.seed)
        search, remark = searcher(open_named(self.taxonomy))
        if remark:
            desk.remark(remark)
        name = DEFAULT_NAME if self.taxonomy is None else self.taxonomy.name
        return study_ups(
            world, search, plan, name=name, output=self.output, progress=desk.progress, asked=desk.asked
        ).kept()


def study_ups(  # noqa: PLR0913 (on what, what, and where it is kept)
    world: World,
    search: TopicSearch,
    plan: UpsExperiment,
    *,
    name: str = DEFAULT_NAME,
    output: Path | None = None,
    progress: Progress = SILENT,
    asked: str = "",
) -> UpsOutcome:
    """Run the parts of a plan, on a world and the taxonomy of ``search``, which is called ``name``."""
    from aidos.model.taxonomies.cache import digest_of
    from aidos.studies.shelf import Shelf, fingerprint

    said = [asdict(world), digest_of(search.taxonomy), plan.identity()]
    shelf = Shelf(output, fingerprint(said, search.tree.supports))
    makers = _Ground(world, search, plan, progress).makers
    rows = {raw: shelf.table(raw, makers[raw]) for part in plan.parts for raw in UpsOutcome.parts[part]}
    about = (
        f"On random trees, on {name} ({len(search.tree):,} topics), and with searchers of the sample world of "
        f"{world.people:,} people (seed {world.seed})."
    )
    basis = UpsBasis(about=about, taxonomy=name, topics=len(search.tree), seed=plan.seed, usual_limit=plan.usual_limit)
    return UpsOutcome(rows=rows, basis=basis, output=output, asked=asked)


class _Ground:
    """Everything that parts share, made when it is first needed."""

    def __init__(self, world: World, search: TopicSearch, asked: UpsExperiment, progress: Progress) -> None:
        self._world, self._search, self._asked, self._progress = world, search, asked, progress

    @cached_property
    def society(self) -> Society:
        """The searchers."""
        from aidos.studies.ups.searchers import gather_society

        return gather_society(self._world, self._search, self._asked, progress=self._progress)

    @property
    def makers(self) -> dict[str, Callable[[], pa.Table]]:
        """How the rows of each name are measured."""
        from aidos.studies.ups import pruning
        from aidos.studies.ups.eavesdropping import measure_observers, measure_sessions
        from aidos.studies.ups.ranking import measure_reranking

        asked, progress, trees = self._asked, self._progress, {GIVEN: self._search.tree}
        return {
            "seeds-timed": partial(pruning.measure_speed, asked, trees, progress=progress),
            "taxonomies-timed": partial(pruning.measure_growth, asked, progress=progress),
            "limits-tried": self._limits,
            "best-compared": partial(pruning.measure_quality, asked, trees, progress=progress),
            "profiles-watched": lambda: measure_observers(asked, self.society, progress=progress),
            "months-watched": lambda: measure_sessions(asked, self._watched(), progress=progress),
            "lists-ordered": lambda: measure_reranking(asked, self.society, progress=progress),
        }

    def _watched(self) -> Mapping[str, Iterable[Watched]]:
        from aidos.studies.ups.eavesdropping import made_up_people, watched_searchers

        return {PEOPLE: watched_searchers(self.society), MADE_UP: made_up_people(self._asked)}

    def _limits(self) -> pa.Table:
        from aidos.studies.ups.eavesdropping import risky_seeds, watched_searchers
        from aidos.studies.ups.pruning import measure_limits, random_seeds

        seeds = {
            "random": random_seeds(self._asked, RANDOM_SEEDS),
            PEOPLE: risky_seeds(watched_searchers(self.society)),
        }
        return measure_limits(self._asked, seeds, progress=self._progress)
