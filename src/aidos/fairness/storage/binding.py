"""A store for a re-ranker, opened so that the two agree: what accounts mean depends on a few of its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aidos.fairness.storage.keeper import StoreKeeper

if TYPE_CHECKING:
    from aidos.fairness.equity import EquityOfAttention

__all__ = ["open_store", "store_settings"]


def store_settings(equity: EquityOfAttention) -> dict[str, str]:
    """What a store is bound to: accounts kept under another of these would not add up."""
    return {"attention": equity.attention, "level": equity.level}


def open_store(equity: EquityOfAttention, path: Path, *, create: bool = True) -> StoreKeeper:
    """The store at that path, made when it is not there; one of other settings is refused."""
    return StoreKeeper.open(path, settings=store_settings(equity), half_life=equity.half_life, create=create)
