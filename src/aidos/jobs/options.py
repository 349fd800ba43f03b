"""Options that jobs of several rooms have, each declared once: a job inherits them, and may only change a default.

They hold no slots: a job may inherit several, and Python joins no two classes that have slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from aidos.core.limits import SEED
from aidos.jobs.job import RequiredInTerminal, Short

__all__ = ["Drawn", "Filled", "OnBundledTaxonomy", "OnTaxonomy", "Paged"]


@dataclass(frozen=True, kw_only=True)
class Paged:
    """A job whose answer may become a page."""

    output: Annotated[Path | None, Short("-o")] = None
    """A page about it."""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A job that fills a directory."""

    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory to write."""


@dataclass(frozen=True, kw_only=True)
class OnTaxonomy:
    """A job on a taxonomy."""

    taxonomy: Path | None = None
    """A file with a taxonomy; if unset the one that comes with aidos."""


@dataclass(frozen=True, kw_only=True)
class OnBundledTaxonomy:
    """A job on a taxonomy, among other ways to say what things are about."""

    taxonomy: Path | None = None
    """A file with a taxonomy; the bundled one if unset."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A job that draws, and does it again with the same seed."""

    seed: Annotated[int, Ge(0), SEED] = 0
    """Of everything that is drawn."""
