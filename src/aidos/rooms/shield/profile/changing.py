"""The jobs that change a profile: correct it, by options or by asking, and forget what must go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial, reduce
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.core.plaintext import one_line
from aidos.core.profile import KeptProfile
from aidos.errors import AidosError, ParameterError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Private
from aidos.rooms.shield.profile.whose import OnProfile

if TYPE_CHECKING:
    from aidos.model.profilefile import OpenedProfile
    from aidos.report.page import Block

__all__ = ["ChangedProfile", "EditProfile", "ForgetTopics"]

HELP = """\
sensitive TOPIC [WEIGHT]   hide a topic, with weight 1 if none is named
merge TOPIC [WEIGHT]       the same, and let it stand for sensitive topics below it
not-sensitive TOPIC        no longer hide it
support TOPIC NUMBER       how many documents it has
remove TOPIC               take it out, with all below it
show, save, quit           look, keep the changes, or leave without them
"""
CHANGES = ("sensitive", "merge", "not-sensitive", "support", "remove")
Change = tuple[str, str, float]
"""One of these, the topic by its name or id, and a number where one belongs to it."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ChangedProfile(Finding):
    """A profile after a change."""

    about: str = "one person's interests"
    path: Path
    kept: KeptProfile | None
    """What it holds now; None where the file is no more."""
    changed: bool = True

    def facts(self) -> Mapping[str, object]:
        """How much it holds, and what is sensitive."""
        if self.kept is None:
            return {"profile": str(self.path), "forgotten": True}
        sensitivities = dict(self.kept.sensitivities)
        return {"profile": str(self.path), "topics": len(self.kept.supports), "sensitivities": sensitivities}

    def blocks(self) -> Sequence[Block]:
        """The file, where there is one."""
        from aidos.report.page import Code

        return (Code(text=str(self.path), language="text"),) if self.changed and self.kept is not None else ()

    def remarks(self) -> Sequence[str]:
        """What became of it."""
        if self.kept is None:
            return (f"{self.path} was overwritten and deleted",)
        if not self.changed:
            return ("nothing was changed",)
        held, marked = len(self.kept.supports), len(self.kept.sensitivities)
        return (f"now {held:,} topics with documents, {marked:,} sensitive",)


@dataclass(frozen=True, slots=True)
class EditProfile(OnProfile):
    """Mark topics as sensitive or not, and correct what the profile holds.

    Topics are named by their id or their name; - reads them from the standard
    input, one a line. Without any change named, and in a terminal, it asks
    what to do.

    For example:
        aidos shield profile edit profile.json --sensitive - < topics.txt
        aidos shield profile edit profile.json --sensitive debt=3 --sensitive pregnancy
        aidos shield profile edit profile.json --sensitive health=2 --merge
        aidos shield profile edit profile.json --not-sensitive religion --remove football
        aidos shield profile edit
    """

    _: KW_ONLY
    sensitive: Annotated[tuple[str, ...], Private("names")] = ()
    """A topic to hide, with a weight above 0 that says how much, for example debt=3; 1 without; may be repeated."""
    not_sensitive: Annotated[tuple[str, ...], Private("names")] = ()
    """A topic that is no longer to be hidden; may be repeated."""
    support: Annotated[tuple[str, ...], Private("names")] = ()
    """A topic and how many documents it has, for example chess=5; may be repeated."""
    remove: Annotated[tuple[str, ...], Private("names")] = ()
    """A topic to take out with all below it; its marks stay; may be repeated."""
    merge: bool = False
    """Where a sensitive topic is above another, let the upper one stand for both, with the larger weight."""

    def run(self, desk: Desk) -> ChangedProfile:
        """Change the profile and write it."""
        from aidos.model.profilefile import change_profile, open_profile

        opened = open_profile(self.file, self.taxonomy)
        changes = list(self._changes())
        if not any((self.sensitive, self.not_sensitive, self.support, self.remove)):
            changes = _ask_for_changes(opened, desk.ask)
        kept, changed = change_profile(opened, lambda now: reduce(partial(_changed, opened), changes, now))
        return ChangedProfile(path=opened.path, kept=kept, changed=changed)

    def _changes(self) -> Iterator[Change]:
        yield from (("remove", topic, nan) for topic in self.remove)
        yield from (("support", *_pair("--support", pair)) for pair in self.support)
        yield from (("not-sensitive", topic, nan) for topic in self.not_sensitive)
        mark = "merge" if self.merge else "sensitive"
        yield from ((mark, *_pair("--sensitive", pair, usual=1.0)) for pair in self.sensitive)


@dataclass(frozen=True, slots=True)
class ForgetTopics(OnProfile):
    """Forget topics with all below them, a session, or the whole profile.

    What the file held is overwritten. Disks that keep old blocks, snapshots
    and back-ups may hold it longer.

    For example:
        aidos shield profile forget profile.json --topic -
        aidos shield profile forget profile.json --topic health
        aidos shield profile forget --session
        aidos shield profile forget --all
    """

    _: KW_ONLY
    topic: Annotated[tuple[str, ...], Private("names")] = ()
    """A topic to forget with all below it, or - for standard input: documents, marks, that it was hidden."""
    session: bool = False
    """Forget what was asked, hidden and shown: a new session begins. Whoever watched remembers."""
    everything: Annotated[bool, Named("--all")] = False
    """Overwrite the file and delete it."""

    def __post_init__(self) -> None:
        if bool(self.topic or self.session) == self.everything:
            raise ParameterError("what to forget must be said: --topic TOPIC, --session, or --all")

    def run(self, desk: Desk) -> ChangedProfile:  # noqa: ARG002  # every job is asked at a desk
        """Forget, and overwrite what the file held."""
        from aidos.engine.scratch import sweep_scratch
        from aidos.model.profilefile import change_profile, default_place, erase_profile, open_profile
        from aidos.model.taxonomies.opened import find_topic

        sweep_scratch()
        if self.everything:
            path = self.file or default_place()
            erase_profile(path)
            return ChangedProfile(path=path, kept=None)
        opened = open_profile(self.file, self.taxonomy)
        topics = [find_topic(opened.taxonomy, name) for name in self.topic]

        def forgetful(kept: KeptProfile) -> KeptProfile:
            for topic in topics:
                kept = kept.forgetting(opened.taxonomy.tree, topic)
            return kept.without_session() if self.session else kept

        return ChangedProfile(path=opened.path, kept=change_profile(opened, forgetful, blank=True)[0])


def _changed(opened: OpenedProfile, kept: KeptProfile, change: Change) -> KeptProfile:
    from aidos.model.taxonomies.opened import find_topic

    what, name, number = change
    tree, topic = opened.taxonomy.tree, find_topic(opened.taxonomy, name)
    match what:
        case "remove":
            return kept.without_support(tree, topic)
        case "not-sensitive":
            return kept.without_sensitivity(tree, topic)
        case "support":
            return kept.with_support(tree, topic, number)
        case _:
            return kept.with_sensitivity(tree, topic, number, merge=what == "merge")


def _ask_for_changes(opened: OpenedProfile, ask: Callable[[str], str | None]) -> list[Change]:
    """The changes that were typed; none where they are not to be kept."""
    from aidos.rooms.shield.profile.showing import profile_lines

    if sys.stdin is None or not sys.stdin.isatty():
        raise ParameterError(
            "what to change is missing", hint="for example --sensitive TOPIC=WEIGHT, or run it in a terminal"
        )
    kept, changes = opened.kept, list[Change]()
    shown = "\n".join((*profile_lines(kept, opened.taxonomy), HELP))
    while True:
        line = ask(f"{shown}> ")
        word, _, rest = (line or "quit").strip().partition(" ")
        shown = ""
        if word == "quit":
            return []
        if word == "save":
            return changes
        if word == "show":
            shown = "\n".join((*profile_lines(kept, opened.taxonomy), ""))
        elif word in CHANGES:
            try:
                change = (word, *_topic_and_number(opened, word, rest.strip()))
                kept = _changed(opened, kept, change)
                changes.append(change)
            except AidosError as error:
                shown = one_line(f"{error.message}{f'; {error.hint}' if error.hint else ''}") + "\n"
        elif word:
            shown = HELP


def _topic_and_number(opened: OpenedProfile, what: str, words: str) -> tuple[str, float]:
    """Names of topics may have blanks: the last word is the number if it is one."""
    from aidos.model.taxonomies.opened import find_topic

    if what in {"remove", "not-sensitive"}:
        return words, nan
    topic, _, last = words.rpartition(" ")
    try:
        return find_topic(opened.taxonomy, topic.strip()), float(last)
    except (ValueError, ParameterError):
        return words, nan if what == "support" else 1.0


def _pair(option: str, text: str, usual: float | None = None) -> tuple[str, float]:
    """A topic and a number; what a person typed may be quoted to her."""
    topic, equals, number = text.rpartition("=")
    if not equals and usual is not None:
        return text, usual
    try:
        return topic, float(number)
    except ValueError as error:
        raise ParameterError(f"{option} takes TOPIC=NUMBER, got {text!r}") from error
