"""`aidos doctor`: what is installed, which extras are missing and how to get them."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

from aidos import __version__
from aidos.errors import DISTRIBUTION, install_command
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.extras import EXTRAS

if TYPE_CHECKING:
    from aidos.report.page import Block

__all__ = ["ExamineInstallation", "Installation"]

Versions = Mapping[str, str]
"""Packages and their versions; empty where one is missing."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Installation(Finding):
    """What is installed."""

    about: str = "this machine"
    core: Versions
    extras: Mapping[str, Versions]

    @property
    def exit_code(self) -> int:
        """2 where the core itself is not whole."""
        return 0 if all(self.core.values()) else 2

    def facts(self) -> Mapping[str, object]:
        """Versions of everything."""
        python = platform.python_version()
        return {"aidos": __version__, "python": python, "core": self.core, "extras": self.extras}

    def blocks(self) -> Sequence[Block]:
        """The core, the extras, and one command for all that is missing."""
        from aidos.report.page import Code, DataTable, Prose

        rows = [("aidos", __version__, "ok"), ("Python", platform.python_version(), "ok")]
        rows += [
            (name, found or "-", "ok" if found else f"missing: reinstall {DISTRIBUTION}")
            for name, found in self.core.items()
        ]
        absent = {
            extra: [name for name, found in packages.items() if not found] for extra, packages in self.extras.items()
        }
        states = {extra: f"missing: {', '.join(names)}" if names else "ok" for extra, names in absent.items()}
        shown = tuple((extra, EXTRAS[extra].purpose, states[extra]) for extra in self.extras)
        lacking = sorted(extra for extra, names in absent.items() if names)
        wanted = "all" if len(lacking) == len(self.extras) else ",".join(lacking)
        remedy = (Code(text=f"to get what is missing: {install_command(wanted)}", language="text"),) if lacking else ()
        return (
            DataTable(caption="Core", columns=("part", "version", "state"), rows=tuple(rows), titled=False),
            DataTable(caption="Extras", columns=("extra", "for", "state"), rows=shown, titled=False),
            *remedy,
            Prose(f"running on {platform.system()} {platform.machine()}, {sys.executable}"),
        )


@dataclass(frozen=True, slots=True)
class ExamineInstallation:
    """Tell what is installed, which extras are missing and how to get them.

    For example:
        aidos doctor
        aidos doctor --json
    """

    def run(self, desk: Desk) -> Installation:  # noqa: ARG002  # every job is asked at a desk
        """Look at every package."""
        extras = {extra: {name: _installed(name) for name in _requirements(extra)} for extra in EXTRAS}
        return Installation(core={name: _installed(name) for name in _requirements("")}, extras=extras)


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
