"""The risk measures: anything that gives every person a number for a sensitive topic, the higher the more exposed.

Fourteen come with aidos, named as in the thesis (chapter 6): two baselines, and three spaces times four forms.

    entropy, differential-privacy           how far her words change what is known of the community
    bow, lda, w2v                           the entry that is nearest to the topic (strength of interest)
    bow-d, lda-d, w2v-d                     lower for those who cover much of the topic's domain (breadth)
    bow-t, lda-t, w2v-t                     lower for those who come only once (recurring over time)
    bow-dt, lda-dt, w2v-dt                  both

A measure is a frozen value that prints, parses and compares: ``lda-dt:breadth=0.3,recurring=3,bucket_days=7``. Packages
of third parties join through entry points of the group ``aidos.mechanisms``: a class with the methods of `RiskMeasure`.

Three more count words, see `aidos.rooms.risk.keywords`: keyword-count, keyword-rate and bm25. They are what the others
have to beat.

Numbers of different measures, and of one measure in different communities, do not compare; ranks do. A high number does
not say that somebody is afflicted: it says that an adversary who goes by words would look there first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from importlib.metadata import entry_points
from typing import TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray

from aidos.core.checks import did_you_mean, read_parameters
from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.jobs.recipe import name_of
from aidos.rooms.risk.evidence import gather, refuse_without_times
from aidos.rooms.risk.keywords import Bm25Risk, KeywordCountRisk, KeywordRateRisk
from aidos.rooms.risk.knowledge import make_presence, make_space, refuse_unheard
from aidos.rooms.risk.measure import (
    BaselineRisk,
    DifferentialPrivacyRisk,
    EntropyRisk,
    RiskMeasure,
    RiskQuestion,
    TopicalRisk,
)
from aidos.rooms.risk.spaces import SPACES

__all__ = [
    "KEYWORDS",
    "MEASURES",
    "OURS",
    "DifferentialPrivacyRisk",
    "EntropyRisk",
    "RiskMeasure",
    "RiskQuestion",
    "TopicalRisk",
    "find_measure",
    "measure_kinds",
    "measure_names",
    "risks",
]

Floats: TypeAlias = NDArray[np.float64]
GROUP = "aidos.mechanisms"

MEASURES: Mapping[str, RiskMeasure] = {
    measure.name: measure
    for measure in (
        EntropyRisk(),
        DifferentialPrivacyRisk(),
        *(
            TopicalRisk(space=space, domain=domain, time=time)
            for space in SPACES
            for domain, time in ((False, False), (True, False), (False, True), (True, True))
        ),
    )
}
"""The fourteen measures of the thesis, as they are unless somebody says otherwise."""
KEYWORDS: Mapping[str, RiskMeasure] = {
    measure.name: measure for measure in (KeywordCountRisk(), KeywordRateRisk(), Bm25Risk())
}
"""Those that count words."""
OURS: Mapping[str, RiskMeasure] = {**MEASURES, **KEYWORDS}
"""All that come with aidos."""


def measure_names() -> list[str]:
    """The names of all measures: those of the thesis first, then those that count words, and of third parties."""
    return [*OURS, *sorted(name for name in _joined() if name not in OURS)]


def measure_kinds() -> dict[str, type[RiskMeasure]]:
    """What recipes call the measures, and their classes."""
    return _joined() | {name_of(kind): kind for kind in dict.fromkeys(map(type, OURS.values()))}


def find_measure(text: str) -> RiskMeasure:
    """The measure that prints like this: ``bow``, ``lda-dt:breadth=0.2,recurring=4``; what is not said is as usual."""
    name, colon, rest = text.strip().partition(":")
    name = name.strip().lower()
    parts = [part.strip() for part in rest.split(",") if part.strip()] if colon else []
    if name in OURS:
        base = OURS[name]
        given = read_parameters(name, list(base.settings()), parts, _settling(type(base)))
        fixed = {field.name: getattr(base, field.name) for field in fields(base)}
        return type(base)(**(fixed | given))
    if name in (joined := _joined()):
        kind = joined[name]
        return kind(**read_parameters(name, [field.name for field in fields(kind)], parts, _settling(kind)))
    raise ParameterError(f"no risk measure is called {name!r}", hint=did_you_mean(name, measure_names()))


def risks(
    measures: Iterable[RiskMeasure],
    question: RiskQuestion,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> dict[RiskMeasure, Floats]:
    """The risks of everybody by many measures: for each of them what its own `risk` gives.

    Measures in the same space share the comparison of entries with topics, which is nearly all of the work.
    """
    people, topics, models = question.people, question.topics, question.models
    asked = list(dict.fromkeys(measures))
    topical = [measure for measure in asked if isinstance(measure, TopicalRisk)]
    baselines = [measure for measure in asked if isinstance(measure, BaselineRisk)]
    for measure in topical:
        refuse_without_times(people, measure.buckets, str(measure))
    if baselines or any(measure.space == "bow" for measure in topical):
        refuse_unheard(topics, models, people.analyser, people.vocabulary)
    found: dict[RiskMeasure, Floats] = {}
    for name in SPACES:
        group = [measure for measure in topical if measure.space == name]
        if not group:
            continue
        space = make_space(name, topics, models, people.analyser, domains=any(measure.domain for measure in group))
        evidence = gather(people, space, _most_buckets(group), threads=threads, progress=progress)
        found |= {measure: measure.of_evidence(evidence, space.layout) for measure in group}
    if baselines:
        presence = make_presence(topics, models, people.analyser)
        has = gather(people, presence, {}, threads=threads, progress=progress).best
        found |= {measure: measure.of_presence(has, presence) for measure in baselines}
    return {measure: found[measure] if measure in found else measure.risk(people, topics, models) for measure in asked}


def _most_buckets(group: Sequence[TopicalRisk]) -> dict[int, int]:
    """How many buckets have to be kept for all of them."""
    most: dict[int, int] = {}
    for measure in group:
        for days, number in measure.buckets.items():
            most[days] = max(number, most.get(days, 0))
    return most


def _joined() -> dict[str, type[RiskMeasure]]:
    """Measures of third parties by name; other mechanisms of theirs are none of ours."""
    found = {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in OURS}
    loaded = {name: entry.load() for name, entry in found.items()}
    return {name: kind for name, kind in loaded.items() if isinstance(kind, type) and issubclass(kind, RiskMeasure)}


def _settling(kind: type[RiskMeasure]) -> Callable[[str, str], object]:
    """How the text of a parameter becomes its value."""
    hints = get_type_hints(kind)

    def settle(key: str, value: str) -> object:
        if (hint := hints[key]) not in {int, float}:
            return value
        try:
            return int(value) if hint is int else float(value)
        except ValueError:
            raise ParameterError(f"{key} must be a {'whole ' if hint is int else ''}number, got {value!r}") from None

    return settle
