"""Several ways to mix the queries of a log, side by side: what each gives and costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from aidos.core.noise import Noise
from aidos.core.progress import Progress
from aidos.rooms.shield.mediator.accounts import MediatorAccounts

if TYPE_CHECKING:
    from aidos.rooms.shield.mediator.adversary import Informed, Relinked
    from aidos.rooms.shield.mediator.assignment import Assignment
    from aidos.rooms.shield.mediator.measures import Measured
    from aidos.rooms.shield.mediator.page import Setting
    from aidos.rooms.shield.mediator.queries import Queries

__all__ = ["ONE_ACCOUNT", "OWN_ACCOUNT", "Tried", "assess"]

OWN_ACCOUNT, ONE_ACCOUNT = "own account", "one account"
"""The ends between which all mediation lies: everybody has an account of her own, and all have the same."""


class Tried(NamedTuple):
    """One way to assign, what it gives and costs on average and by person, and the accounts."""

    setting: Setting
    people: Measured
    found: Relinked
    made: Assignment


def assess(
    queries: Queries, ways: Sequence[MediatorAccounts], noise: Noise, progress: Progress, *, ends: bool = False
) -> list[Tried]:
    """Assign in each way and measure, between the two ends if wanted."""
    from aidos.rooms.shield.mediator.adversary import InformedAdversary
    from aidos.rooms.shield.mediator.assignment import one_account, own_accounts

    objects, tried = queries.objects, []
    informed = InformedAdversary().learn(objects, queries.words)
    if ends:
        tried.append(_tried(informed, own_accounts(objects), OWN_ACCOUNT))
    with progress.task("assigning and measuring", total=len(ways), unit="settings") as task:
        for way in ways:
            tried.append(_tried(informed, way.run(objects, noise), way))
            task.advance(1)
    if ends:
        tried.append(_tried(informed, one_account(objects), ONE_ACCOUNT))
    return tried


def _tried(informed: Informed, made: Assignment, way: MediatorAccounts | str) -> Tried:
    import numpy as np

    from aidos.rooms.shield.mediator.measures import measure
    from aidos.rooms.shield.mediator.page import Setting

    similarity = "same-topic" if isinstance(way, str) else way.similarity
    people, found = measure(informed.objects, made, similarity), informed.attack(made)
    names = ("entropy", "overlap", "coherence_loss", "least_divergence")
    means = {name: float(np.nanmean(getattr(people, name))) for name in names}
    means["main_account"] = float(np.nanmean(found.main_account))
    means["relinked"] = float(np.nanmean(found.best))
    if isinstance(way, str):
        setting = Setting(heuristic=way, alpha=None, epsilon=None if way == OWN_ACCOUNT else 0.0, means=means)
    else:
        alpha = None if way.heuristic == "pools" else way.scattered
        setting = Setting(heuristic=way.heuristic, alpha=alpha, epsilon=way.epsilon(made.accounts), means=means)
    return Tried(setting, people, found, made)
