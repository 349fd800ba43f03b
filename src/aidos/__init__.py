"""Privacy and fairness for search systems.

Verbs ask a job and give its answer: ``aidos.rerank(table, quality_floor=0.9).to_pandas()``. What most programs need
besides is here too; everything else has its place on one of the floors (see `aidos.core` for the nouns).
Names load when they are used, so that importing aidos costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aidos.account.ledger import MemoryLedger
    from aidos.engine.embedded import EmbeddedEngine
    from aidos.ingest.options import ReadOptions
    from aidos.ingest.reading import check_files, read_files
    from aidos.jobs.release import release
    from aidos.model.topics import default_taxonomy
    from aidos.rooms.fairness.equity import EquityOfAttention
    from aidos.rooms.publish.ledger import Ledger
    from aidos.world.size import World
    from aidos.world.write import write_sample

__all__ = [
    "EmbeddedEngine",
    "EquityOfAttention",
    "Ledger",
    "MemoryLedger",
    "ReadOptions",
    "World",
    "ask",
    "audit",
    "check",
    "check_files",
    "default_taxonomy",
    "exposure",
    "mediate",
    "plan",
    "publish",
    "read",
    "read_files",
    "rehearse",
    "release",
    "rerank",
    "risk",
    "sample",
    "shield",
    "simulate",
    "study",
    "suggest",
    "verify",
    "write_sample",
]
__version__ = "0.1.0"


_PLACES = {
    "EmbeddedEngine": "aidos.engine.embedded",
    "EquityOfAttention": "aidos.rooms.fairness.equity",
    "Ledger": "aidos.rooms.publish.ledger",
    "MemoryLedger": "aidos.account.ledger",
    "ReadOptions": "aidos.ingest.options",
    "World": "aidos.world.size",
    "check_files": "aidos.ingest.reading",
    "default_taxonomy": "aidos.model.topics",
    "read_files": "aidos.ingest.reading",
    "release": "aidos.jobs.release",
    "write_sample": "aidos.world.write",
}


def _refuse_other_systems() -> None:
    """Ledgers and stores are locked with flock: without it two runs could spend the same budget."""
    if find_spec("fcntl") is not None:
        return
    message = f"aidos runs on Linux and macOS (POSIX) only; this system is {sys.platform}"
    # The command is still being imported here (as a script, or by python -m), so it cannot say this itself.
    program = "".join(sys.argv[:1]).replace("\\", "/").rpartition("/")[2]
    if program in {"-m", "aidos", "aidos.exe"}:
        print(f"aidos: {message}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2)
    raise ImportError(message)


_refuse_other_systems()


def __getattr__(name: str) -> object:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name in __all__:
        globals()[name] = verb = import_module("aidos.surfaces.verbs").make_verb(name)
        return verb
    # Named beside the message, so that Python can say what was meant.
    raise AttributeError(f"module 'aidos' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
