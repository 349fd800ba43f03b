"""`aidos verify`: whether a release agrees with its manifest."""

from __future__ import annotations

from pathlib import Path

from aidos.app.console import Common, show, show_json

__all__ = ["verify"]


def verify(directory: Path, /, *, common: Common | None = None) -> int:
    """Check the files of a release against its manifest.

    The exit code is 1 when a file is missing, changed or not listed.

    For example:
        aidos verify release
        aidos verify release --json

    Parameters
    ----------
    directory
        The directory that `aidos publish` wrote.
    """
    from aidos.app.releasedir import read_manifest, verify_release

    common = common or Common()
    manifest = read_manifest(directory)
    differences = verify_release(directory)
    if common.json:
        show_json({"directory": str(directory), "whole": not differences, "differences": differences})
    else:
        for difference in differences:
            show(difference)
        if not differences:
            show(f"{directory} is whole: every file is as the manifest says")
            show(str(manifest.get("statement", "")))
    return 1 if differences else 0
