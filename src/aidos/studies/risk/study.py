"""The job that measures risk measures (thesis, section 6.5), or draws profiles for judges who say what is true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD, SEED
from aidos.errors import InputError, ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import RequiredInTerminal, Section, Short
from aidos.rooms.risk.jobs.options import Knowing, Timeless

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedTable
    from aidos.report.page import Block
    from aidos.studies.risk.outcome import RiskOutcome
    from aidos.studies.risk.profiles import ProfileSampling

__all__ = ["Drawing", "ProfileSheet", "RiskStudy", "SampleEntries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Which profiles are looked at."""

    sheet: bool = False
    """Draw profiles of the posts and write a sheet for judges, instead of measuring."""
    topic: tuple[str, ...] = ()
    """A topic that profiles are drawn for; may be repeated."""
    profiles: Annotated[int, Ge(1), CROWD] | None = None
    """How many profiles are drawn for a topic; if unset 100 for a sheet, and everybody counts otherwise."""
    base: Annotated[float, Ge(1)] = 100.0
    """People are drawn in proportion to base^score; 1000 suits very skewed scores."""

    def sampling(self, seed: int) -> ProfileSampling:
        """As a value."""
        from aidos.studies.risk.profiles import ProfileSampling

        number = {} if self.profiles is None else {"profiles": self.profiles}
        return ProfileSampling(base=self.base, seed=seed, **number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEntries:
    """The world that is made where no posts are named."""

    entries: str = "posts"
    """What of it is looked at: posts or log."""
    size: str = "small"
    """Its size: tiny, small or a number of people."""
    seed: Annotated[int, Ge(0), SEED] = 7
    """Of the world, and of draws."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ProfileSheet(Finding):
    """A sheet with the texts of people who were drawn, for judges."""

    about: str = "the people who were drawn"
    output: Path
    profiles: int

    def facts(self) -> Mapping[str, object]:
        """Where it is, and how many there are."""
        return {"output": str(self.output), "profiles": self.profiles}

    def blocks(self) -> Sequence[Block]:
        """Nothing: a remark says what to do with it."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskStudy(Timeless):
    """Measure how well risk measures find people, against judgements or the sample world's truth.

    R-precision, MAP and NDCG of all measures, with paired t-tests, and with
    the parameters k and m varied. Without posts the sample world is made,
    where it is known who is afflicted, professional or curious. Models are
    learned unless given. What is done is kept in the directory and not done
    again. With --sheet, profiles are drawn for judges instead.

    For example:
        aidos evaluate risk -o results
        aidos evaluate risk --entries log --size 5000 --seed 3 -o results
        aidos evaluate risk --posts posts.parquet --sheet --topic depression -o sheet.csv
        aidos evaluate risk --posts posts.parquet --judgements judged.csv -o results
    """

    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory for results: tables and a page; the sheet's file (.csv or .tsv) with --sheet."""
    posts: tuple[str, ...] = ()
    """Posts or a query log: files or glob patterns; may be repeated."""
    judgements: Path | None = None
    """Judged profiles: author_id, topic, judge and relevance."""
    measure: tuple[str, ...] = ()
    """A measure to try; may be repeated; all if unset."""
    drawing: Annotated[Drawing, Section("Profiles for judges")] = field(default_factory=Drawing)
    sample: Annotated[SampleEntries, Section("The sample world")] = field(default_factory=SampleEntries)
    knowing: Annotated[Knowing, Section("What the adversary knows")] = field(default_factory=Knowing)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        for each in (self, self.drawing, self.sample):
            check_parameters(each)
        judged, sheet = self.judgements is not None, self.drawing.sheet
        if judged and sheet:
            raise ParameterError("a sheet is for judgements to come", hint="give --sheet or --judgements")
        if (judged or sheet) and not self.posts:
            raise ParameterError("whose profiles these are is missing", hint="name their posts with --posts")
        if self.posts and not (judged or sheet):
            raise ParameterError("posts alone do not say who is sensitive", hint="give --judgements, or draw a --sheet")

    def run(self, desk: Desk) -> Finding:
        """Measure, or draw a sheet."""
        if self.drawing.sheet:
            return self._sheet(desk)
        found = self._judged(desk) if self.posts else self._sampled(desk)
        return replace(found, asked=desk.asked).kept()

    def _asked(self, desk: Desk) -> dict[str, Any]:
        """What both experiments take."""
        from aidos.rooms.risk.measures import OURS
        from aidos.studies.risk.plan import RiskExperiment

        sampling = self.drawing.sampling(self.sample.seed) if self.drawing.profiles is not None else None
        return {
            "experiment": RiskExperiment(measures=self.measure or tuple(OURS), sampling=sampling),
            "models": self.knowing.knowledge(desk).models() if self.knowing != Knowing() else None,
            "output": self.output,
            "threads": desk.threads,
            "progress": desk.progress,
        }

    def _sampled(self, desk: Desk) -> RiskOutcome:
        from aidos.studies.risk.experiment import sample_experiment
        from aidos.world.size import World

        asked, entries = self._asked(desk), self.sample.entries
        return sample_experiment(World(size=self.sample.size, seed=self.sample.seed), entries=entries, **asked)

    def _judged(self, desk: Desk) -> RiskOutcome:
        from aidos.studies.risk.experiment import judged_experiment
        from aidos.studies.risk.profiles import ProfileJudgements

        asked = self._asked(desk)
        with desk.engine() as engine:
            entries = self._entries(engine)
            found = judged_experiment(entries, ProfileJudgements.read(str(self.judgements)), **asked)
        return replace(found, synthetic=False)

    def _sheet(self, desk: Desk) -> ProfileSheet:
        """Draw profiles for judging, more of those who seem exposed."""
        from aidos.rooms.risk.measures import RiskQuestion, risks
        from aidos.rooms.risk.people import read_people
        from aidos.studies.risk.experiment import STRENGTH
        from aidos.studies.risk.profiles import write_sheet

        if self.output is None:
            raise ParameterError("a sheet is a file", hint="name it with output")
        with desk.engine() as engine:
            entries = self._entries(engine)
            knowledge = self.knowing.knowledge(desk)
            if not self.drawing.topic:
                raise InputError("no topic is named to be judged", hint="name one or more with --topic")
            people = read_people(entries, analyser=knowledge.latent.analyser)
            question = RiskQuestion(people=people, topics=self.drawing.topic, models=knowledge.models())
            scores = risks([STRENGTH], question, progress=desk.progress)[STRENGTH]
            names, sampling = [str(name) for name in people.ids.to_pylist()], self.drawing.sampling(self.sample.seed)
            drawn = {
                topic: [names[row] for row in sampling.draw(scores[:, at], at).people.tolist()]
                for at, topic in enumerate(question.topics)
            }
            number = write_sheet(self.output, entries, drawn)
        # Told at once and on every surface: the file holds what people wrote.
        desk.remark(f"{self.output} has {number:,} profiles with people's texts: delete it after the judging")
        return ProfileSheet(output=self.output, profiles=number)

    def _entries(self, engine: Any) -> EmbeddedTable:
        from aidos.rooms.risk.sources import read_entries

        return read_entries(engine, self.posts, self.how.options(), without_times=self.without_times)
