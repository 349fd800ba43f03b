"""`aidos doctor`: what is installed, which extras are missing and how to get them."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from aidos import __version__
from aidos.app.console import Common, show, show_json
from aidos.app.extras import EXTRAS
from aidos.errors import DISTRIBUTION, install_command

__all__ = ["doctor"]


def doctor(*, common: Common | None = None) -> int:
    """Tell what is installed, which extras are missing and how to get them.

    For example:
        aidos doctor
        aidos doctor --json
    """
    common = common or Common()
    core = {name: _installed(name) for name in _requirements("")}
    extras = {extra: {name: _installed(name) for name in _requirements(extra)} for extra in EXTRAS}
    if common.json:
        show_json({"aidos": __version__, "python": platform.python_version(), "core": core, "extras": extras})
    else:
        _show_tables(core, extras)
    return 0 if all(core.values()) else 2


def _show_tables(core: dict[str, str], extras: dict[str, dict[str, str]]) -> None:
    from aidos.report.terminal import rows_table

    rows = [("aidos", __version__, "ok"), ("Python", platform.python_version(), "ok")]
    rows += [
        (name, found or "-", "ok" if found else f"missing: reinstall {DISTRIBUTION}") for name, found in core.items()
    ]
    show(rows_table(("part", "version", "state"), rows))
    show("")
    absent = {extra: [name for name, found in packages.items() if not found] for extra, packages in extras.items()}
    states = {extra: f"missing: {', '.join(names)}" if names else "ok" for extra, names in absent.items()}
    show(rows_table(("extra", "for", "state"), [(extra, EXTRAS[extra].purpose, states[extra]) for extra in extras]))
    show("")
    lacking = sorted(extra for extra, names in absent.items() if names)
    if lacking:
        wanted = "all" if len(lacking) == len(extras) else ",".join(lacking)
        show(f"to get what is missing: {install_command(wanted)}")
    show(f"running on {platform.system()} {platform.machine()}, {sys.executable}")


def _requirements(extra: str) -> list[str]:
    """Names of the packages that aidos (or one of its extras) asks for."""
    wanted = f"extra == '{extra}'" if extra else ""
    lines = [line.replace('"', "'").partition(";") for line in requires(DISTRIBUTION) or []]
    return [_name(line) for line, _, marker in lines if (wanted in marker if extra else "extra ==" not in marker)]


def _name(requirement: str) -> str:
    return requirement.strip().split(">")[0].split("=")[0].split("<")[0].split("[")[0].strip()


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
