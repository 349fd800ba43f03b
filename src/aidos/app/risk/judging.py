"""Judging topics at a terminal, or from answers that are piped in: words are shown, two questions asked, rows kept.

Every answer is on the disk before the next question, so that a judge may stop at any time and go on later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aidos.errors import InputError
from aidos.model.annotations import Annotations, Judgement, read_annotations, write_annotations
from aidos.model.sensitive import DOMAINS, SALIENT, SensitiveTopic, TopicSet

__all__ = ["Judged", "join_annotations", "judge_topics"]

YES, NO, STOP = ("y", "yes"), ("n", "no"), ("q", "quit")
ASKED = "can a post with these words be sensitive? (y)es, (n)o, (q)uit: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How far a judge came."""

    now: int
    """Topics judged this time."""
    before: int
    left: int


class _StopError(Exception):
    """The judge had enough, or there are no more answers."""


def judge_topics(
    path: Path, judge: str, topics: TopicSet, *, ask: Callable[[str], str | None], tell: Callable[[str], None]
) -> Judged:
    """Ask about every topic that this judge has not judged yet; ``ask`` gives an answer, or None when there is none."""
    judgements = list(read_annotations(path).judgements) if path.exists() else []
    done = {each.topic for each in judgements if each.judge == judge}
    waiting = [topic for topic in topics if topic.name not in done]
    now = 0
    for topic in waiting:
        tell(f"\n{topic.title} ({len(waiting) - now} left)\n  {' '.join(topic.words[:SALIENT])}")
        try:
            sensitive = _sensitive(ask, tell)
            domain = _domain(topic, ask, tell) if sensitive else ""
        except _StopError:
            break
        judgements.append(Judgement(topic=topic.name, judge=judge, sensitive=sensitive, domain=domain))
        write_annotations(Annotations(judgements=tuple(judgements)), path)
        now += 1
    return Judged(now=now, before=len(topics) - len(waiting), left=len(waiting) - now)


def join_annotations(paths: Sequence[Path]) -> Annotations:
    """The judgements of several files together."""
    joined = [judgement for path in paths for judgement in read_annotations(path).judgements]
    if len({(each.topic, each.judge) for each in joined}) < len(joined):
        raise InputError(
            "two of these files have judgements of the same judge and topic", hint="name each file once, or mend them"
        )
    return Annotations(judgements=tuple(joined))


def _sensitive(ask: Callable[[str], str | None], tell: Callable[[str], None]) -> bool:
    while True:
        said = _answer(ask, ASKED)
        if said in (*YES, *NO):
            return said in YES
        tell("answer y, n or q")


def _domain(topic: SensitiveTopic, ask: Callable[[str], str | None], tell: Callable[[str], None]) -> str:
    tell("  " + "  ".join(f"{number} {name}" for number, name in enumerate(DOMAINS, start=1)))
    while True:
        said = _answer(ask, f"which domain? 1 to {len(DOMAINS)}, or Enter for {topic.domain}: ")
        if not said:
            return topic.domain
        if said in DOMAINS:
            return said
        if said.isdigit() and 1 <= int(said) <= len(DOMAINS):
            return DOMAINS[int(said) - 1]
        tell(f"answer a number from 1 to {len(DOMAINS)}")


def _answer(ask: Callable[[str], str | None], question: str) -> str:
    said = ask(question)
    if said is None or said.strip().lower() in STOP:
        raise _StopError
    return said.strip().lower()
