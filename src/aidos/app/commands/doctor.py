"""`aidos doctor`: what is installed, which extras are missing and how to get them."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from aidos.app.console import Common, show, show_json

__all__ = ["doctor"]


def doctor(*, common: Common | None = None) -> int:
    """Tell what is installed, which extras are missing and how to get them.

    For example:
        aidos doctor
        aidos doctor --json
    """
    common = common or Common()
    core = {name: _installed(name) for name in _requirements("")}
    extras = {extra: {name: _installed(name) for name in _requirements(extra)} for extra in _extras()}
    if common.json:
        show_json({"aidos": version("aidos"), "python": platform.python_version(), "core": core, "extras": extras})
    else:
        _show_table(core, extras)
    return 0 if all(core.values()) else 2


def _show_table(core: dict[str, str], extras: dict[str, dict[str, str]]) -> None:
    from aidos.report.terminal import rows_table

    rows = [("aidos", version("aidos"), "ok"), ("Python", platform.python_version(), "ok")]
    rows += [(name, found or "-", "ok" if found else "missing: reinstall aidos") for name, found in core.items()]
    for extra, packages in extras.items():
        whole = all(packages.values())
        versions = ", ".join(f"{name} {found}" for name, found in packages.items() if found) or "-"
        rows.append((f"extra {extra}", versions, "ok" if whole else f'missing: pip install ".[{extra}]"'))
    show(rows_table(("part", "version", "state"), rows))
    show(f"running on {platform.system()} {platform.machine()}, {sys.executable}")


def _extras() -> list[str]:
    return list(metadata("aidos").get_all("Provides-Extra") or [])


def _requirements(extra: str) -> list[str]:
    """Names of the packages that aidos (or one of its extras) asks for."""
    wanted = f"extra == '{extra}'" if extra else ""
    lines = [line.replace('"', "'").partition(";") for line in requires("aidos") or []]
    return [_name(line) for line, _, marker in lines if (wanted in marker if extra else "extra ==" not in marker)]


def _name(requirement: str) -> str:
    return requirement.strip().split(">")[0].split("=")[0].split("<")[0].split("[")[0].strip()


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
