"""The thesis' experiment on mediator accounts: assign with several alphas, and measure everybody under each.

Rows of the result are people: how much privacy each gained and what it cost her, under each setting, beside the setting
where everybody keeps an account of her own. The summary has the means with 95 % intervals, people being the sample;
assignments are random too, and one draw of each is measured. Settings run side by side on all cores.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import ROWS
from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError, ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas, RequiredInTerminal, Section, Short
from aidos.jobs.options import Drawn
from aidos.rooms.shield.mediator.accounts import Heuristic, MediatorAccounts, SharedAccounts
from aidos.studies.study import Basis, Outcome

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Chapter
    from aidos.rooms.shield.mediator.adversary import Informed
    from aidos.rooms.shield.mediator.assignment import Assignment
    from aidos.rooms.shield.mediator.objects import Objects
    from aidos.rooms.shield.mediator.page import Setting
    from aidos.studies.mediator.searches import Searches

__all__ = ["MEASURES", "OWN_ACCOUNT", "THESIS", "MediatorOutcome", "MediatorStudy", "Tried"]

OWN_ACCOUNT, ONE_ACCOUNT = "own-account", "one-account"
"""The ends between which all mediation lies: everybody has an account of her own, and all have the same."""

MEASURES = {
    "entropy": "entropy over accounts",
    "overlap": "largest share in one account",
    "coherence_loss": "coherence loss",
    "least_divergence": "least divergence (min KL)",
    "kendall_loss": "Kendall tau loss at 100",
    "jaccard_loss": "Jaccard loss at 20",
    "by_account": "re-linked by topic and account",
    "by_words": "re-linked by words alone",
    "main_account": "main account named",
    "main_chance": "main account named by a blind guess",
}
"""What is measured of each person, and its name."""

THESIS = {
    None: (0.0, 0.0, 0.0, 0.0),
    0.0: (1.180, 0.178, 0.320, 0.170),
    0.2: (2.208, 0.293, 0.319, 0.203),
    0.4: (3.130, 0.389, 0.346, 0.228),
    0.6: (3.975, 0.463, 0.389, 0.246),
    0.8: (4.731, 0.515, 0.494, 0.260),
    1.0: (5.287, 0.535, 0.863, 0.266),
}
"""Table 7.1 of the thesis, by alpha, in the order of TABLE."""
TABLE = ("entropy", "coherence_loss", "least_divergence", "kendall_loss")
SHOWN = ("entropy", "overlap", "coherence_loss", "least_divergence", "main_account", "kendall_loss", "jaccard_loss")
"""Measures whose means people read, and what the better way of the adversary re-links."""
LEFT_OUT = ("overlap", "jaccard_loss")
"""For which a terminal has no room beside the others."""


class Tried(NamedTuple):
    """One way to assign."""

    heuristic: str
    alpha: float | None
    """None where nothing is scattered: with pools, and at both ends."""

    @property
    def name(self) -> str:
        """What is measured of it is kept under."""
        return self.heuristic if self.alpha is None else f"{self.heuristic}-{self.alpha!r}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MediatorOutcome(Outcome):
    """A row for each person under each setting: objects, diversity, and the columns of `MEASURES`."""

    about: str = "the people who asked"
    tried: tuple[Tried, ...]
    """Settings, in the order in which they were tried."""
    shared: SharedAccounts = field(default_factory=SharedAccounts)

    heading: ClassVar = "Hiding among mediator accounts"
    says: ClassVar = "has the thesis' table beside it"

    def of(self, heuristic: str, alpha: float | None) -> pa.Table:
        """The rows of one setting."""
        if (name := Tried(heuristic, alpha).name) not in self.rows:
            raise InputError(f"the setting {heuristic}, alpha {alpha}, was not tried")
        return self.rows[name]

    def mean(self, heuristic: str, alpha: float | None, measure: str) -> float:
        """The mean over people."""
        import numpy as np

        return float(np.nanmean(self.of(heuristic, alpha)[measure].to_numpy()))

    def summaries(self) -> dict[str, pa.Table]:
        """A row for each setting and measure: mean over people and 95 % interval. What was not measured has none."""
        from aidos.studies.tables import interval, table_of

        rows = [
            {"heuristic": each.heuristic, "alpha": each.alpha, "measure": name}
            | dict(zip(("mean", "low", "high", "people"), found, strict=True))
            for each in self.tried
            for name in MEASURES
            if (found := interval(self.of(*each)[name].to_numpy())).values
        ]
        return {"summary": table_of(rows)}

    def settings(self) -> list[Setting]:
        """Means of every setting, between both ends."""
        from aidos.rooms.shield.mediator.page import Setting

        return [
            Setting(
                heuristic=each.heuristic.replace("-", " "),
                alpha=each.alpha,
                epsilon=self._epsilon(each),
                means={name: self.mean(*each, name) for name in SHOWN}
                | {"relinked": max(self.mean(*each, name) for name in ("by_account", "by_words"))},
            )
            for each in self.tried
        ]

    def _epsilon(self, tried: Tried) -> float | None:
        if tried.heuristic in {OWN_ACCOUNT, ONE_ACCOUNT}:
            return None if tried.heuristic == OWN_ACCOUNT else 0.0
        return _mechanism(tried, self.shared).epsilon(self.shared.accounts or self.of(*tried).num_rows)

    def facts(self) -> Mapping[str, object]:
        """The means of every setting."""
        return {**self.place(), "settings": [asdict(setting) for setting in self.settings()]}

    def blocks(self) -> Sequence[Block]:
        """The same as a table."""
        from aidos.report.page import DataTable
        from aidos.rooms.shield.mediator.page import setting_rows

        columns, rows = setting_rows(self.settings(), without=LEFT_OUT)
        return (DataTable(caption="Means over people", columns=columns, rows=tuple(rows)),)

    def chapters(self) -> list[Chapter]:
        """What mediation gives and costs, with the thesis beside, and for whom."""
        from aidos.rooms.shield.mediator.measures import Measured
        from aidos.rooms.shield.mediator.page import MediatorStory, mediator_page

        settings = self.settings()
        chosen, shown = next(zip(settings[1:], self.tried[1:], strict=True))
        held = self.of(*shown)
        told = {alpha: dict(zip(TABLE, means, strict=True)) for alpha, means in THESIS.items() if alpha is not None}
        story = MediatorStory(
            lead=self.basis.about,
            settings=tuple(settings),
            chosen=chosen,
            people=Measured(**{each.name: held[each.name].to_numpy() for each in fields(Measured)}),
            accounts=self.shared.accounts or self.of(OWN_ACCOUNT, None).num_rows,
            reference=tuple(told.items()),
        )
        return list(mediator_page(story).chapters)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorStudy(Drawn):
    """What mediator accounts give and cost, measured as in the thesis.

    Questions become queries (their words of highest tf-idf), answers are the
    documents, forums the topics. Without posts the thesis' setting is made up:
    975 people, about 253,000 queries, 142 topics. Finished settings are kept
    in the directory, so that a run that was cut off goes on where it was.

    For example:
        aidos evaluate mediator -o results
        aidos evaluate mediator --posts Posts.xml --least-questions 20 --alphas 0,0.5,1 -o results
        aidos evaluate mediator --posts "posts/*.parquet" --topic tag -o results --json
    """

    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory for results: a Parquet file a setting, a summary, a page."""
    posts: tuple[str, ...] = ()
    """Question-and-answer posts: files or glob patterns; may be repeated."""
    alphas: Annotated[tuple[Annotated[float, Ge(0), Le(1)], ...], Commas()] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """Chances of scattering, with commas between."""
    heuristics: Annotated[tuple[Heuristic, ...], Commas()] = ("pools", "original", "commons")
    """Ways to choose accounts, with commas between."""
    least_questions: Annotated[int, Ge(1), ROWS] = 150
    """Only people who asked at least so many questions."""
    topic: Literal["forum", "tag"] = "forum"
    """What the topic of a question is: forum or tag."""
    queries_per_person: Annotated[int, Ge(0), ROWS] = 20
    """Queries of each person that are searched, 0 for all."""
    shared: Annotated[SharedAccounts, Section("Accounts")] = field(default_factory=SharedAccounts)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.alphas or not self.heuristics:
            raise ParameterError("give at least one alpha and one heuristic")

    def run(self, desk: Desk) -> MediatorOutcome:
        """Derive the log, search, assign and measure."""
        from aidos.ingest.reading import read_files
        from aidos.studies.mediator.derivation import Derivation, index_answers
        from aidos.studies.mediator.searches import Searches
        from aidos.studies.mediator.world import thesis_world, write_posts

        progress = desk.progress
        with desk.engine() as engine:
            if self.posts:
                posts = read_files(engine, self.posts, self.how.options()).table
            else:
                posts = engine.table(write_posts(thesis_world(self.seed), self.seed))
            index = index_answers(posts, progress=progress)
            derivation = Derivation(least_questions=self.least_questions, topic=self.topic, seed=self.seed)
            log = derivation.derive(posts, index, progress=progress)
        each = self.queries_per_person or None
        searches = Searches(log, index, queries_per_person=each, seed=self.seed, progress=progress)
        return self.measure(
            log.objects, searches, threads=desk.threads, progress=progress, synthetic=not self.posts, asked=desk.asked
        ).kept()

    def tried(self) -> tuple[Tried, ...]:
        """All settings, between an account for each person and one for all."""
        mediated = (
            Tried(heuristic, alpha)
            for heuristic in self.heuristics
            for alpha in ((None,) if heuristic == "pools" else map(float, self.alphas))
        )
        return Tried(OWN_ACCOUNT, None), *dict.fromkeys(mediated), Tried(ONE_ACCOUNT, None)

    def measure(
        self,
        objects: Objects,
        searches: Searches | None = None,
        *,
        threads: int | None = None,
        progress: Progress = SILENT,
        **told: Any,
    ) -> MediatorOutcome:
        """Try all settings; without searches, what mediation does to rankings is not measured."""
        from aidos.studies.shelf import Shelf, fingerprint, run_settings

        if searches is not None and searches.log.objects is not objects:
            raise InputError("the searches are those of another log", hint="give the objects of the log searched")
        if threads is not None and threads < 1:
            raise ParameterError(f"threads must be at least 1, got {threads}")
        tried = self.tried()
        settings = [tuple(each) for each in tried]
        said = f"{list(MEASURES)} {self.shared} {self.seed} {settings} {searches and searches.spelled}"
        rows = run_settings(
            tried,
            _measured,
            (self, objects, searches, _informed(objects, searches)),
            shelf=Shelf(self.output, fingerprint(said, objects.people, objects.labels)),
            workers=threads or os.cpu_count() or 1,
            within="threads",
            progress=progress,
            label="settings",
        )
        about = (
            f"The thesis' experiment: {len(objects):,} queries of {objects.people_count:,} people, made from questions."
        )
        return MediatorOutcome(
            basis=Basis(about=about), rows=rows, tried=tried, shared=self.shared, output=self.output, **told
        )


def _mechanism(tried: Tried, shared: SharedAccounts) -> MediatorAccounts:
    heuristic: Any = tried.heuristic
    return MediatorAccounts(**asdict(shared), alpha=tried.alpha, heuristic=heuristic)


def _informed(objects: Objects, searches: Searches | None) -> Informed | None:
    """The adversary who knows half of everybody's questions; None where there are no texts."""
    from aidos.rooms.shield.mediator.adversary import InformedAdversary, Texts

    if searches is None:
        return None
    log = searches.log
    asked, written = (
        Texts(starts=starts, words=words)
        for starts, words in ((log.queries.starts, log.queries.terms), (log.starts, log.terms))
    )
    return InformedAdversary().learn(objects, asked, written)


def _assigned(study: MediatorStudy, objects: Objects, tried: Tried) -> Assignment:
    from aidos.core.noise import Noise
    from aidos.rooms.shield.mediator.assignment import one_account, own_accounts

    if tried.heuristic in {OWN_ACCOUNT, ONE_ACCOUNT}:
        return own_accounts(objects) if tried.heuristic == OWN_ACCOUNT else one_account(objects)
    return _mechanism(tried, study.shared).run(objects, Noise(study.seed * 1_000_003 + study.tried().index(tried)))


def _measured(shared: tuple[MediatorStudy, Objects, Searches | None, Informed | None], tried: Tried) -> pa.Table:
    """One setting: a row for each person."""
    import numpy as np
    import pyarrow as pa

    from aidos.rooms.shield.mediator.measures import measure

    study, objects, searches, informed = shared
    assignment, people = _assigned(study, objects, tried), objects.people_count
    columns = asdict(measure(objects, assignment))
    nothing = np.full(people, np.nan)
    names = ("by_account", "by_words", "main_account", "main_chance")
    columns |= asdict(informed.attack(assignment)) if informed else dict.fromkeys(names, nothing)
    kendall, jaccard = (nothing, nothing) if searches is None else searches.losses(assignment, threads=1)
    columns |= {"kendall_loss": kendall, "jaccard_loss": jaccard}
    heads = {
        "heuristic": pa.array([tried.heuristic] * people),
        "alpha": pa.array([tried.alpha] * people, pa.float64()),
        "person": pa.array(np.arange(people)),
    }
    return pa.table(heads | {name: pa.array(values) for name, values in columns.items()})
