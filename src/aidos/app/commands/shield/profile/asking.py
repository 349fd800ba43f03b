"""How a profile is edited in a terminal: a line a change, and nothing is written before the word to save."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from math import nan
from typing import TYPE_CHECKING

from aidos.app.console import show
from aidos.app.profiles import profile_lines
from aidos.core.plaintext import one_line
from aidos.errors import AidosError, ParameterError
from aidos.model.profilefile import OpenedProfile
from aidos.model.taxonomies.opened import find_topic

if TYPE_CHECKING:
    from aidos.core.profile import KeptProfile

__all__ = ["ask_for_changes"]

HELP = """\
sensitive TOPIC [WEIGHT]   hide a topic; 1 unless a weight is given
merge TOPIC [WEIGHT]       the same, and let it stand for sensitive topics below it
not-sensitive TOPIC        no longer hide it
support TOPIC NUMBER       how many documents it has
remove TOPIC               take it out, with all below it
show, save, quit           look, keep the changes, or leave without them"""


def ask_for_changes(opened: OpenedProfile) -> KeptProfile | None:
    """The profile with the changes that were typed; None where they are not to be kept."""
    kept = opened.kept
    _show(opened, kept)
    print(HELP, file=sys.stderr)
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        word, _, rest = line.strip().partition(" ")
        if not line or word == "quit":
            return None
        if word == "save":
            return kept if kept is not opened.kept else None
        if word == "show":
            _show(opened, kept)
        elif word in CHANGES:
            try:
                kept = CHANGES[word](opened, kept, rest.strip())
            except AidosError as error:
                print(one_line(f"{error.message}{f'; {error.hint}' if error.hint else ''}"), file=sys.stderr)
        elif word:
            print(HELP, file=sys.stderr)


def _sensitive(opened: OpenedProfile, kept: KeptProfile, words: str) -> KeptProfile:
    topic, weight = _topic_and_number(opened, words, usual=1.0)
    return kept.with_sensitivity(opened.taxonomy.tree, topic, weight)


def _merge(opened: OpenedProfile, kept: KeptProfile, words: str) -> KeptProfile:
    topic, weight = _topic_and_number(opened, words, usual=1.0)
    return kept.with_sensitivity(opened.taxonomy.tree, topic, weight, merge=True)


def _not_sensitive(opened: OpenedProfile, kept: KeptProfile, words: str) -> KeptProfile:
    return kept.without_sensitivity(opened.taxonomy.tree, find_topic(opened.taxonomy, words))


def _support(opened: OpenedProfile, kept: KeptProfile, words: str) -> KeptProfile:
    topic, documents = _topic_and_number(opened, words, usual=nan)
    return kept.with_support(opened.taxonomy.tree, topic, documents)


def _remove(opened: OpenedProfile, kept: KeptProfile, words: str) -> KeptProfile:
    return kept.without_support(opened.taxonomy.tree, find_topic(opened.taxonomy, words))


CHANGES: Mapping[str, Callable[[OpenedProfile, KeptProfile, str], KeptProfile]] = {
    "sensitive": _sensitive,
    "merge": _merge,
    "not-sensitive": _not_sensitive,
    "support": _support,
    "remove": _remove,
}


def _topic_and_number(opened: OpenedProfile, words: str, usual: float) -> tuple[str, float]:
    """Names of topics may have blanks: the last word is the number if it is one."""
    topic, _, last = words.rpartition(" ")
    try:
        return find_topic(opened.taxonomy, topic.strip()), float(last)
    except (ValueError, ParameterError):
        return find_topic(opened.taxonomy, words), usual


def _show(opened: OpenedProfile, kept: KeptProfile) -> None:
    from rich.text import Text

    from aidos.report.values import show as plain

    lines = "\n".join(map(plain, profile_lines(kept, opened.taxonomy)))
    show(Text(lines, no_wrap=True, overflow="ignore"))
