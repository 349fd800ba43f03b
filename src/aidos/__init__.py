"""Privacy and fairness for search systems.

What most programs need is here; everything else has its place on one of the floors (see `aidos.core` for the nouns).
Names load when they are used, so that importing aidos costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aidos.account.ledger import MemoryLedger
    from aidos.app.release import release
    from aidos.engine.embedded import EmbeddedEngine
    from aidos.fairness.equity import EquityOfAttention
    from aidos.ingest.check import check_files
    from aidos.ingest.options import ReadOptions
    from aidos.ingest.reading import read_files
    from aidos.model.topics import default_taxonomy
    from aidos.world.size import World
    from aidos.world.write import write_sample

__all__ = [
    "EmbeddedEngine",
    "EquityOfAttention",
    "MemoryLedger",
    "ReadOptions",
    "World",
    "check_files",
    "default_taxonomy",
    "read_files",
    "release",
    "write_sample",
]
__version__ = "0.1.0"

_PLACES = {
    "EmbeddedEngine": "aidos.engine.embedded",
    "EquityOfAttention": "aidos.fairness.equity",
    "MemoryLedger": "aidos.account.ledger",
    "ReadOptions": "aidos.ingest.options",
    "World": "aidos.world.size",
    "check_files": "aidos.ingest.check",
    "default_taxonomy": "aidos.model.topics",
    "read_files": "aidos.ingest.reading",
    "release": "aidos.app.release",
    "write_sample": "aidos.world.write",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'aidos' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
