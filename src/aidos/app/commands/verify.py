"""`aidos verify`: whether a release agrees with its manifest, and the manifest with itself."""

from __future__ import annotations

from pathlib import Path

from aidos.app.console import Common, show, show_json

__all__ = ["verify"]


def verify(directory: Path, /, *, common: Common | None = None) -> int:
    """Check the files of a release against its manifest, and its promise against its recipe.

    The promise is computed again from the recipe, the public facts, the source of
    the noise and the entry in the ledger. The exit code is 1 when a file is missing,
    changed or not listed, or when the manifest promises anything else.

    For example:
        aidos verify release
        aidos verify release --json

    Parameters
    ----------
    directory
        The directory that `aidos publish` wrote.
    """
    from aidos.app.manifest import release_problems
    from aidos.app.releasedir import read_manifest

    common = common or Common()
    manifest = read_manifest(directory)
    differences = release_problems(directory)
    if common.json:
        statement = None if differences else manifest.get("statement")
        show_json(
            {"directory": str(directory), "whole": not differences, "differences": differences, "statement": statement}
        )
    else:
        for difference in differences:
            show(difference)
        if not differences:
            show(f"{directory} is whole: every file is as the manifest says, and the promise follows from its recipe")
            show(str(manifest.get("statement", "")))
    return 1 if differences else 0
