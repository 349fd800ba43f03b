"""The job of judges: words of a topic are shown, two questions asked, rows kept; and how far judges agree.

Every answer is on the disk before the next question, so that a judge may stop at any time and go on later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.errors import InputError, ParameterError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section, Several, Short
from aidos.rooms.risk.jobs.options import Knowing, told_facts

if TYPE_CHECKING:
    from aidos.model.annotations import Annotations
    from aidos.model.sensitive import SensitiveTopic, TopicSet
    from aidos.report.page import Block

__all__ = ["JudgeTopics", "Judgements"]

YES, NO, STOP = ("y", "yes"), ("n", "no"), ("q", "quit")
ASKED = "can a post with these words be sensitive? (y)es, (n)o, (q)uit: "


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Judgements(Finding):
    """How far a judge came, or how far several agree."""

    about: str = "the judges"
    told: Mapping[str, object]
    """Numbers by name."""

    def facts(self) -> Mapping[str, object]:
        """The numbers."""
        return self.told

    def blocks(self) -> Sequence[Block]:
        """The same."""
        return (told_facts(self.told),)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTopics:
    """Judge topics by their words: sensitive or not, and of which domain.

    Answers are kept one by one: stop with q, and go on later with the same
    file and judge. Without a terminal, answers are read from the standard
    input, a line each.

    For example:
        aidos risk annotate --judge ann -o ann.csv
        aidos risk annotate --judge bob --latent --model models -o bob.csv
        aidos risk annotate --agreement ann.csv bob.csv --majority topics.tsv
    """

    output: Annotated[Path | None, Short("-o")] = None
    """The file of judgements (CSV) to begin or to go on with."""
    judge: str = ""
    """Who judges: a name or a pseudonym."""
    latent: bool = False
    """Judge the latent topics of the model by their most telling words, not the named topics."""
    agreement: Annotated[tuple[Path, ...], Several()] = ()
    """Files of judgements: print how far judges agree (Fleiss' kappa), and ask nothing."""
    majority: Path | None = None
    """Write the topics that most judges call sensitive to this file, for --topics."""
    knowing: Annotated[Knowing, Section("What the adversary knows")] = field(default_factory=Knowing)

    def run(self, desk: Desk) -> Judgements:
        """Ask, or compare."""
        from aidos.model.latent.matching import candidates
        from aidos.rooms.risk.models import load_knowledge

        known = load_knowledge(self.knowing.model, self.knowing.topic_file)
        topics = candidates(known.latent) if self.latent else known.topics
        if self.agreement:
            return Judgements(told=_compared(self.agreement, topics, self.majority))
        if self.output is None or not self.judge.strip():
            raise ParameterError(
                "who judges, or where to keep it, is missing",
                hint="give --judge NAME and -o FILE, or --agreement FILES",
            )
        return Judgements(told=_judged(self.output, self.judge, topics, desk.ask))


class _StopError(Exception):
    """The judge had enough, or there are no more answers."""


def _judged(path: Path, judge: str, topics: TopicSet, ask: Callable[[str], str | None]) -> dict[str, object]:
    """Ask about every topic that this judge has not judged yet."""
    from aidos.model.annotations import Annotations, Judgement, read_annotations, write_annotations
    from aidos.model.sensitive import SALIENT

    judgements = list(read_annotations(path).judgements) if path.exists() else []
    done = {each.topic for each in judgements if each.judge == judge}
    waiting = [topic for topic in topics if topic.name not in done]
    now = 0
    for topic in waiting:
        shown = f"\n{topic.title} ({len(waiting) - now} left)\n  {' '.join(topic.words[:SALIENT])}\n"
        try:
            sensitive = _is_sensitive(shown, ask)
            domain = _domain(topic, ask) if sensitive else ""
        except _StopError:
            break
        judgements.append(Judgement(topic=topic.name, judge=judge, sensitive=sensitive, domain=domain))
        write_annotations(Annotations(judgements=tuple(judgements)), path)
        now += 1
    before, left = len(topics) - len(waiting), len(waiting) - now
    return {"judged_now": now, "judged_before": before, "left": left, "file": str(path)}


def _compared(files: Sequence[Path], topics: TopicSet, majority: Path | None) -> dict[str, object]:
    """How far judges agree; nothing is said of domains where no topic has two judges who named one."""
    from aidos.model.sensitive import write_topics

    joined = _joined(files)
    told: dict[str, object] = {"topics": len(joined.topics), "judges": len(joined.judges)}
    told["kappa_of_sensitivity"] = _number(joined.kappa())
    try:
        told["kappa_of_domains"] = _number(joined.domain_kappa())
    except InputError:
        told["kappa_of_domains"] = None
    if majority is not None:
        chosen = joined.majority(topics)
        write_topics(chosen, majority)
        told["sensitive_by_majority"] = len(chosen)
    return told


def _joined(paths: Sequence[Path]) -> Annotations:
    """The judgements of several files together."""
    from aidos.model.annotations import Annotations, read_annotations

    joined = [judgement for path in paths for judgement in read_annotations(path).judgements]
    if len({(each.topic, each.judge) for each in joined}) < len(joined):
        raise InputError(
            "two of these files have judgements of the same judge and topic", hint="name each file once, or mend them"
        )
    return Annotations(judgements=tuple(joined))


def _number(kappa: float) -> float | None:
    """None where everybody always said the same, so that chance alone would make them agree."""
    return None if isnan(kappa) else round(kappa, 4)


def _is_sensitive(shown: str, ask: Callable[[str], str | None]) -> bool:
    while True:
        said = _answer(ask, shown + ASKED)
        if said in (*YES, *NO):
            return said in YES
        shown = "answer y, n or q\n"


def _domain(topic: SensitiveTopic, ask: Callable[[str], str | None]) -> str:
    from aidos.model.sensitive import DOMAINS

    shown = "  " + "  ".join(f"{number} {name}" for number, name in enumerate(DOMAINS, start=1)) + "\n"
    while True:
        said = _answer(ask, f"{shown}which domain? 1 to {len(DOMAINS)}, or Enter for {topic.domain}: ")
        if not said:
            return topic.domain
        if said in DOMAINS:
            return said
        if said.isdigit() and 1 <= int(said) <= len(DOMAINS):
            return DOMAINS[int(said) - 1]
        shown = f"answer a number from 1 to {len(DOMAINS)}\n"


def _answer(ask: Callable[[str], str | None], question: str) -> str:
    said = ask(question)
    if said is None or said.strip().lower() in STOP:
        raise _StopError
    return said.strip().lower()
