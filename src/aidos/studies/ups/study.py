"""The experiments on profile generalisation (Shou et al. 2014, and what the paper leaves out), by name and repeatable.

Five parts on three grounds: random trees, a taxonomy, and people with the profiles and queries that they have on it:
those of a sample world, or of a log of somebody's own (see `searchers`). The same people, taxonomy, plan and seed give
the same numbers, times excepted. On a sample world rows are about made-up people and trees, so that nothing is a
finding about anybody; on a log they are findings about its people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section
from aidos.jobs.options import OnBundledTaxonomy
from aidos.studies.study import FINDINGS, Basis, Claim, InParts, Makers, Outcome, choose_parts

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.taxonomies.opened import OpenedTaxonomy
    from aidos.model.topicsearch import TopicSearch
    from aidos.report.page import Chapter
    from aidos.studies.shelf import Shelf
    from aidos.studies.ups.eavesdropping import Watched
    from aidos.studies.ups.plan import Part, UpsExperiment
    from aidos.studies.ups.searchers import Society
    from aidos.world.size import World

__all__ = ["GIVEN", "UpsBasis", "UpsOutcome", "UpsStudy", "study_ups"]

RERANKING = "reranking"
WALK = "the eavesdropper of whole profiles"
GIVEN = "taxonomy"
"""What the taxonomy that was given is called in tables."""
MADE_UP = "made-up"
"""What people on random trees are called."""
RANDOM_SEEDS = 40
"""Seeds on random trees that limits are tried on."""
DEFAULT_NAME = "the default taxonomy"
UNJUDGED = "what a query meant and which results were wanted is known in the sample world alone"
COMMONNESS = "how common interests are cannot be told from fewer than two profiles"
HARMLESS = "none of their queries touches what is marked"
"""Why parts are left out."""


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
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What these people do not allow, and why."""


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
        from aidos.studies.ups import claims as made

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

    def remarks(self) -> Sequence[str]:
        """What is left out, where to read on, and whose the numbers are."""
        missing = [f"{what}: left out, since {why}" for what, why in self.basis.left_out.items()]
        return (*missing, *super().remarks(), *(() if self.synthetic else (FINDINGS,)))

    def chapters(self) -> list[Chapter]:
        """A chapter or two for each part."""
        from aidos.studies.ups.page import ups_chapters

        return ups_chapters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsStudy(InParts, OnBundledTaxonomy):
    """What profile generalisation costs, keeps, hides and gives.

    Five parts: speed (iterations and time by the size of seeds and
    taxonomies), limits (power and risk by the limit of risk), quality (beside
    the best there is), eavesdropper (what an observer works out who knows the
    rule and sees all queries and profiles, and sessions with and without a
    memory), reranking (lists of results where it is known what was wanted).
    On random trees, a taxonomy and people of the sample world. What is done is
    kept in the directory and not done again; parts may be added later.

    With a log of your own its people take the place of the sample world's. The
    earlier half of what each asked makes her profile, the later half goes out
    with it. With profiles named, these go with each person's first
    queries. Lists are not re-ranked then, since nobody knows what was wanted. Results are
    findings about these people.

    For example:
        aidos evaluate ups -o results
        aidos evaluate ups --size tiny --part quality --part reranking -o results
        aidos evaluate ups --taxonomy wordnet.taxonomy --part speed -o results --json
        aidos evaluate ups --log log.tsv --part eavesdropper -o results
        aidos evaluate ups --log log.tsv --profile mine.json -o results
    """

    log: tuple[str, ...] = ()
    """A search log of any known format: files or glob patterns; may be repeated; the sample world's people if unset."""
    profile: tuple[Path, ...] = ()
    """A profile's file, to go with the log's queries; may be repeated; made of the log's earlier queries if unset."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        InParts.__post_init__(self)
        if self.profile and not self.log:
            raise ParameterError("the queries that go with a profile are missing", hint="name a search log with --log")
        if self.log and RERANKING in self.part:
            raise ParameterError(f"lists cannot be re-ranked here: {UNJUDGED}", hint="leave out --log, or this part")

    def run(self, desk: Desk) -> UpsOutcome:
        """Run the parts that are not on the shelf."""
        from aidos.model.taxonomies.opened import open_named, searcher
        from aidos.studies.ups.plan import PARTS, UpsExperiment
        from aidos.world.size import World

        chosen = choose_parts(self.part, [part for part in PARTS if not (self.log and part == RERANKING)])
        plan = UpsExperiment(parts=cast("tuple[Part, ...]", chosen), seed=self.seed)
        world, opened = World(size=self.size, seed=self.seed), open_named(self.taxonomy)
        search, remark = searcher(opened)
        if remark:
            desk.remark(remark)
        people = self._society(desk, opened, search, plan) if self.log else world
        name = DEFAULT_NAME if self.taxonomy is None else self.taxonomy.name
        self._foretell(desk, plan)
        found = study_ups(people, search, plan, name=name, output=self.output, progress=desk.progress, asked=desk.asked)
        return found.kept()

    def _foretell(self, desk: Desk, plan: UpsExperiment) -> None:
        """Say how long the longest part takes, unless it is done."""
        from aidos.studies.ups.eavesdropping import seconds_of_watching

        done = self.output is not None and (self.output / "profiles-watched.parquet").exists()
        if "eavesdropper" not in plan.parts or done:
            return
        minutes = max(1, round(seconds_of_watching(plan) / 60))
        kept = " Each person is kept: the same command goes on from there." if self.output else ""
        desk.remark(
            f"eavesdropping on up to {plan.small_people + plan.watched} people takes about {minutes} "
            f"{'minute' if minutes == 1 else 'minutes'} of a free processor.{kept}"
        )

    def _society(self, desk: Desk, opened: OpenedTaxonomy, search: TopicSearch, plan: UpsExperiment) -> Society:
        """The log's people; read and judged before anything is written."""
        from aidos.model.profilefile import read_profile
        from aidos.studies.ups.searchers import gather_log, read_log

        profiles = [read_profile(path, opened.tree) for path in self.profile]
        with desk.engine() as engine:
            log = read_log(engine, self.log, self.how.options())
            return gather_log(log, search, plan, profiles, progress=desk.progress)


def study_ups(  # noqa: PLR0913 (on what, what, and where it is kept)
    people: World | Society,
    search: TopicSearch,
    plan: UpsExperiment,
    *,
    name: str = DEFAULT_NAME,
    output: Path | None = None,
    progress: Progress = SILENT,
    asked: str = "",
) -> UpsOutcome:
    """Run the parts of a plan, with the people of a world or of a log, on the taxonomy of ``search``.

    ``name`` is what the taxonomy is called.
    """
    from aidos.model.taxonomies.cache import digest_of
    from aidos.studies.shelf import Shelf, fingerprint
    from aidos.studies.ups.searchers import identify
    from aidos.world.size import World

    synthetic = isinstance(people, World)
    whose = asdict(people) if isinstance(people, World) else identify(people)
    shelf = Shelf(output, fingerprint([whose, digest_of(search.taxonomy), plan.identity()], search.tree.supports))
    left_out: Mapping[str, str] = {} if isinstance(people, World) else _left_out(people, plan)
    makers = _Ground(people, search, replace(plan, watched=0) if WALK in left_out else plan, shelf, progress).makers
    rows = {raw: shelf.table(raw, makers[raw]) for part in plan.parts for raw in UpsOutcome.parts[part]}
    basis = UpsBasis(
        about=f"On random trees, on {name} ({len(search.tree):,} topics), and with {_told(people)}.",
        taxonomy=name,
        topics=len(search.tree),
        seed=plan.seed,
        usual_limit=plan.usual_limit,
        left_out=left_out,
    )
    return UpsOutcome(rows=rows, basis=basis, output=output, asked=asked, synthetic=synthetic)


def _told(people: World | Society) -> str:
    """Who they are."""
    from aidos.world.size import World

    if isinstance(people, World):
        return f"searchers of the sample world of {people.people:,} people (seed {people.seed})"
    return people.about


def _left_out(society: Society, plan: UpsExperiment) -> dict[str, str]:
    """What the people of a log do not allow of the parts, and why."""
    from aidos.studies.ups.eavesdropping import risky_seeds, watched_searchers

    found = {RERANKING: UNJUDGED}
    if "eavesdropper" in plan.parts and len(society.population) < 2:
        found[WALK] = COMMONNESS
    if "limits" in plan.parts and next(risky_seeds(watched_searchers(society)), None) is None:
        found[f"limits with the {society.name}"] = HARMLESS
    return found


class _Ground:
    """Everything that parts share, made when it is first needed."""

    def __init__(
        self, people: World | Society, search: TopicSearch, asked: UpsExperiment, shelf: Shelf, progress: Progress
    ) -> None:
        self._people, self._search, self._asked, self._progress = people, search, asked, progress
        self._shelf = shelf

    @cached_property
    def society(self) -> Society:
        """The searchers."""
        from aidos.studies.ups.searchers import gather_society
        from aidos.world.size import World

        if isinstance(self._people, World):
            return gather_society(self._people, self._search, self._asked, progress=self._progress)
        return self._people

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
            "profiles-watched": lambda: measure_observers(asked, self.society, shelf=self._shelf, progress=progress),
            "months-watched": lambda: measure_sessions(asked, self._watched(), progress=progress),
            "lists-ordered": lambda: measure_reranking(asked, self.society, progress=progress),
        }

    def _watched(self) -> Mapping[str, Iterable[Watched]]:
        from aidos.studies.ups.eavesdropping import made_up_people, watched_searchers

        return {self.society.name: watched_searchers(self.society), MADE_UP: made_up_people(self._asked)}

    def _limits(self) -> pa.Table:
        from aidos.studies.ups.eavesdropping import risky_seeds, watched_searchers
        from aidos.studies.ups.pruning import measure_limits, random_seeds

        seeds = {
            "random": random_seeds(self._asked, RANDOM_SEEDS),
            self.society.name: risky_seeds(watched_searchers(self.society)),
        }
        return measure_limits(self._asked, seeds, progress=self._progress)
