"""`aidos shield profile edit` and `forget`: correct the profile, and take out what must go."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, show_json, tell
from aidos.app.standardinput import PrivateNames
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.core.profile import KeptProfile
    from aidos.model.profilefile import OpenedProfile

__all__ = ["edit", "forget"]


def edit(
    file: Path | None = None,
    /,
    *,
    sensitive: PrivateNames = (),
    not_sensitive: PrivateNames = (),
    support: PrivateNames = (),
    remove: PrivateNames = (),
    merge: bool = False,
    taxonomy: Path | None = None,
    common: Common | None = None,
) -> int:
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

    Parameters
    ----------
    file
        The profile; the one in the usual place unless given.
    sensitive
        A topic to hide, with a weight above 0 that says how much, 1 unless given; may be repeated.
    not_sensitive
        A topic that is no longer to be hidden; may be repeated.
    support
        A topic and how many documents it has, for example chess=5; may be repeated.
    remove
        A topic to take out with all below it; its marks stay; may be repeated.
    merge
        Where a sensitive topic is above another, let the upper one stand for both, with the larger weight.
    taxonomy
        The taxonomy it was built with, where that is not the one that comes with aidos.
    """
    from aidos.model.profilefile import open_profile, write_profile
    from aidos.model.taxonomies.opened import find_topic

    common = common or Common()
    opened = open_profile(file, taxonomy)
    if not (sensitive or not_sensitive or support or remove):
        return _by_asking(opened, common)
    kept, tree = opened.kept, opened.taxonomy.tree
    for topic in remove:
        kept = kept.without_support(tree, find_topic(opened.taxonomy, topic))
    for text in support:
        name, documents = _pair("--support", text)
        kept = kept.with_support(tree, find_topic(opened.taxonomy, name), documents)
    for topic in not_sensitive:
        kept = kept.without_sensitivity(tree, find_topic(opened.taxonomy, topic))
    for text in sensitive:
        name, weight = _pair("--sensitive", text, usual=1.0)
        kept = kept.with_sensitivity(tree, find_topic(opened.taxonomy, name), weight, merge=merge)
    write_profile(opened.path, kept)
    return _tell(opened.path, kept, common)


def forget(
    file: Path | None = None,
    /,
    *,
    topic: PrivateNames = (),
    session: bool = False,
    everything: Annotated[bool, Parameter(name="--all")] = False,
    taxonomy: Path | None = None,
    common: Common | None = None,
) -> int:
    """Forget topics with all below them, a session, or the whole profile.

    What the file held is overwritten. Disks that keep old blocks, snapshots
    and back-ups may hold it longer.

    For example:
        aidos shield profile forget profile.json --topic -
        aidos shield profile forget profile.json --topic health
        aidos shield profile forget --session
        aidos shield profile forget --all

    Parameters
    ----------
    file
        The profile; the one in the usual place unless given.
    topic
        A topic to forget with all below it, or - for standard input: documents, marks, that it was hidden.
    session
        Forget which topics were hidden and shown to anybody: a new session begins. Whoever watched remembers.
    everything
        Overwrite the file and delete it.
    taxonomy
        The taxonomy it was built with, where that is not the one that comes with aidos.
    """
    from aidos.engine.scratch import sweep_scratch
    from aidos.model.profilefile import default_place, erase_profile, open_profile, rewrite_profile
    from aidos.model.taxonomies.opened import find_topic

    common = common or Common()
    if bool(topic or session) == everything:
        raise ParameterError("what to forget must be said: --topic TOPIC, --session, or --all")
    sweep_scratch()
    if everything:
        path = file or default_place()
        erase_profile(path)
        if common.json:
            show_json({"profile": str(path), "forgotten": True})
        tell(f"{path} was overwritten and deleted", quiet=common.quiet or common.json)
        return 0
    opened = open_profile(file, taxonomy)
    kept = opened.kept
    for name in topic:
        kept = kept.forgetting(opened.taxonomy.tree, find_topic(opened.taxonomy, name))
    if session:
        kept = replace(kept, hidden=(), shown=())
    rewrite_profile(opened.path, kept)
    return _tell(opened.path, kept, common)


def _by_asking(opened: OpenedProfile, common: Common) -> int:
    from aidos.app.commands.shield.profile.asking import ask_for_changes
    from aidos.model.profilefile import write_profile

    if not sys.stdin.isatty():
        raise ParameterError(
            "what to change is missing", hint="for example --sensitive TOPIC=WEIGHT, or run it in a terminal"
        )
    kept = ask_for_changes(opened)
    if kept is None:
        tell("nothing was changed", quiet=common.quiet)
        return 0
    write_profile(opened.path, kept)
    return _tell(opened.path, kept, common)


def _pair(option: str, text: str, usual: float | None = None) -> tuple[str, float]:
    """A topic and a number; what a person typed may be quoted to her."""
    topic, equals, number = text.rpartition("=")
    if not equals and usual is not None:
        return text, usual
    try:
        return topic, float(number)
    except ValueError as error:
        raise ParameterError(f"{option} takes TOPIC=NUMBER, got {text!r}") from error


def _tell(path: Path, kept: KeptProfile, common: Common) -> int:
    if common.json:
        facts = {"topics": len(kept.supports), "sensitivities": dict(kept.sensitivities)}
        show_json({"profile": str(path), **facts})
    else:
        print(path)
        counts = f"{len(kept.supports):,} topics with documents, {len(kept.sensitivities):,} sensitive"
        tell(f"now {counts}", quiet=common.quiet)
    return 0
