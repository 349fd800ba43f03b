"""The thesis' experiment on risk measures (section 6.5): all of them against judgements, or against a world's truth.

Models are learned from a background corpus or given, every measure ranks everybody for every topic, and rankings are
compared with who is sensitive. Parameters are varied as well, one at a time: how well breadth and recurrence work must
not hang on the one value. By default everybody counts; with ``sampling`` only profiles drawn as in the thesis do.

Finished parts are kept in a directory, if one is given, and not done again there. Results are findings: they are about
people, made-up or real.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError, ParameterError
from aidos.model.latent.training import READING
from aidos.model.text.analyser import Analyser
from aidos.rooms.risk.knowledge import RiskModels, make_space, refuse_unheard
from aidos.rooms.risk.measures import RiskMeasure, RiskQuestion, TopicalRisk, risks
from aidos.rooms.risk.people import People, read_people
from aidos.rooms.risk.spaces import SPACES
from aidos.studies.risk.assessment import Truth, assess, tabulate
from aidos.studies.risk.outcome import RiskBasis, RiskOutcome
from aidos.studies.risk.plan import RiskExperiment, Varied, label, readable_texts, table_texts
from aidos.studies.risk.profiles import ProfileJudgements
from aidos.studies.shelf import Shelf, fingerprint
from aidos.world.log import log_blocks
from aidos.world.posts import post_blocks
from aidos.world.size import World

__all__ = ["STRENGTH", "judged_experiment", "sample_experiment"]

Floats = NDArray[np.float64]
STRENGTH = TopicalRisk(space="lda")
"""Profiles are drawn by the plain strength of interest."""


def sample_experiment(  # noqa: PLR0913 (what, on what, with what, and where and how it is worked out)
    world: World,
    experiment: RiskExperiment | None = None,
    *,
    entries: str = "posts",
    models: RiskModels | None = None,
    output: Path | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> RiskOutcome:
    """Run it on a world, whose afflicted people are the truth; models are learned from what can be read there."""
    if entries not in ("posts", "log"):
        raise ParameterError(f"entries must be posts or log, got {entries!r}")
    asked = experiment or RiskExperiment()
    shelf = Shelf(output, _fingerprint(asked, models, asdict(world) | {"entries": entries}))
    known = models or asked.learning.models(readable_texts(world), shelf, progress=progress)
    people = read_people(_entries(world, entries), analyser=_analyser(known))
    truth = Truth.of_world(world, _names(people))
    what = "posts of the open community" if entries == "posts" else "search log"
    about = f"The {what} of the sample world of {world.people} people (seed {world.seed}), by who is truly afflicted."
    work = _Work(asked, people, known, threads, progress)
    return work.outcome(truth, RiskBasis(about=about, people=len(people), entries=people.entries), shelf)


def judged_experiment(  # noqa: PLR0913 (the same)
    entries: EmbeddedTable | pa.Table,
    judgements: ProfileJudgements,
    experiment: RiskExperiment | None = None,
    *,
    models: RiskModels | None = None,
    output: Path | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> RiskOutcome:
    """Run it on posts or a search log with judgements; models are learned from the same entries if none are given.

    Only judged profiles are ranked against each other, topic by topic. Measures over time are left out, and said to be,
    where entries have no times.
    """
    asked = experiment or RiskExperiment()
    people = read_people(entries, analyser=_analyser(models) if models else READING)
    shelf = Shelf(output, _fingerprint(asked, models, _described(people, judgements)))
    known = models or asked.learning.models(table_texts(entries), shelf, progress=progress)
    truth = Truth.of_judgements(judgements, _names(people))
    if not np.isfinite(truth.grades).any():
        raise InputError("none of the judged people is among those who wrote", hint="look whether names are the same")
    basis = RiskBasis(
        about="Entries of people, by what judges say about them.",
        people=len(people),
        entries=people.entries,
        kappa=judgements.kappa,
        judges=judgements.judges,
        unknown=judgements.among(_names(people))[2],
    )
    return _Work(asked, people, known, threads, progress).outcome(truth, basis, shelf)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Everybody's risks, one group of measures after the other."""

    asked: RiskExperiment
    people: People
    models: RiskModels
    threads: int | None
    progress: Progress

    def outcome(self, truth: Truth, basis: RiskBasis, shelf: Shelf) -> RiskOutcome:
        """All measures against the truth, on the topics that all of them can measure."""
        groups = self.asked.groups()
        left_out = {topic: reason for topic in truth.topics if (reason := self._obstacle(topic, truth, list(groups)))}
        topics = [topic for topic in truth.topics if topic not in left_out]
        if not topics:
            raise InputError("no topic can be measured: " + "; ".join(dict.fromkeys(left_out.values())))
        known = self._sampled(truth.select(topics))
        if self.people.times is None:
            timed = [label(one) for group in groups.values() for one, varied in group if one.needs_times and not varied]
            left_out |= dict.fromkeys(timed, "entries have no times")
            groups = {name: [one for one in group if not one[0].needs_times] for name, group in groups.items()}
        rows = {
            (kept := f"measured-{name}"): shelf.table(kept, partial(self._measured, group, known))
            for name, group in groups.items()
            if group
        }
        if not rows:
            raise InputError("all measures look at what comes again, but entries have no times")
        return RiskOutcome(rows=rows, basis=replace(basis, left_out=left_out), output=shelf.directory)

    def _measured(self, group: Sequence[Varied], truth: Truth) -> pa.Table:
        found = self._risks([one for one, _ in group], truth.topics)
        return tabulate(
            row
            for one, varied in group
            for row in assess(one.name if varied else label(one), found[one], truth, varied=varied)
        )

    def _risks(self, measures: Sequence[RiskMeasure], topics: Sequence[str]) -> dict[RiskMeasure, Floats]:
        question = RiskQuestion(people=self.people, topics=tuple(topics), models=self.models)
        return risks(measures, question, threads=self.threads, progress=self.progress)

    def _sampled(self, truth: Truth) -> Truth:
        sampling = self.asked.sampling
        return truth if sampling is None else truth.sampled(sampling, self._risks([STRENGTH], truth.topics)[STRENGTH])

    def _obstacle(self, topic: str, truth: Truth, groups: Sequence[str]) -> str:
        """Why a topic cannot be measured; empty if it can. Names that nobody knows are refused."""
        self.models.topics.find(topic)
        if not truth.sensitive[:, truth.topics.index(topic)].any():
            return f"nobody is sensitive to {topic}"
        try:
            refuse_unheard([topic], self.models, self.people.analyser, self.people.vocabulary)
            for name in SPACES:
                if name in groups or (name == STRENGTH.space and self.asked.sampling):
                    make_space(name, [topic], self.models, self.people.analyser, domains=False)
        except ParameterError as error:
            return str(error)
        return ""


def _entries(world: World, entries: str) -> pa.Table:
    if entries == "log":
        return pa.concat_tables(log_blocks(world))
    posts = pa.concat_tables(post_blocks(world))
    return posts.filter(pc.equal(posts["community"], pa.scalar("open")))


def _names(people: People) -> list[str]:
    return list(map(str, people.ids.to_pylist()))


def _analyser(models: RiskModels) -> Analyser:
    """How the models read texts, and so how entries must be read."""
    for model in (models.latent, models.vectors):
        if model is not None:
            return model.analyser
    return READING


def _described(people: People, judgements: ProfileJudgements) -> dict[str, Any]:
    """What the data are, in short."""
    names = "\n".join([*judgements.people, *judgements.topics, *_names(people)])
    arrays = (judgements.grades, judgements.sensitive, people.person_starts, people.bags.words, people.bags.frequencies)
    return {"data": fingerprint(names, *arrays)}


def _fingerprint(asked: RiskExperiment, models: RiskModels | None, data: Mapping[str, Any]) -> str:
    """What kept results depend on, beside the program."""
    if models is None:
        return fingerprint([asdict(asked), data])
    numbers = (models.latent and models.latent.phi, models.vectors and models.vectors.matrix)
    known = [each for each in numbers if each is not None]
    return fingerprint([asdict(asked), data], repr((models.topics, models.dimensions)), *known)
