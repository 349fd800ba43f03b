"""`aidos shield profile show`: what the profile says, as a tree."""

from __future__ import annotations

from pathlib import Path

from aidos.app.console import Common, show, show_json, tell
from aidos.errors import ParameterError

__all__ = ["show_profile"]


def show_profile(
    file: Path | None = None,
    /,
    *,
    taxonomy: Path | None = None,
    depth: int | None = None,
    common: Common | None = None,
) -> int:
    """Show a profile as a tree: documents at and below each topic, and which topics are sensitive.

    For example:
        aidos shield profile show
        aidos shield profile show profile.json --depth 1
        aidos shield profile show profile.json --json

    Parameters
    ----------
    file
        The profile; the one in the usual place unless given.
    taxonomy
        The taxonomy it was built with, where that is not the one that comes with aidos.
    depth
        How many levels below the root; all unless given.
    """
    from rich.text import Text

    from aidos.app.profiles import profile_facts, profile_lines
    from aidos.model.profilefile import open_profile
    from aidos.report.values import show as plain

    common = common or Common()
    if depth is not None and depth < 0:
        raise ParameterError(f"--depth must be at least 0, got {depth}")
    opened = open_profile(file, taxonomy)
    if common.json:
        show_json(profile_facts(opened.kept, opened.taxonomy))
        return 0
    lines = "\n".join(map(plain, profile_lines(opened.kept, opened.taxonomy, depth)))
    show(Text(lines, no_wrap=True, overflow="ignore"))
    marked = len(opened.kept.sensitivities)
    tell(f"{len(opened.kept.supports):,} topics with documents, {marked:,} sensitive", quiet=common.quiet)
    return 0
