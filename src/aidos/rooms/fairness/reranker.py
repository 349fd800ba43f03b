"""One ranking in, one ranking out, counted once: the way from names and relevance to positions and back.

A ranking is prepared (ordered, normalised), then answered in a turn of whoever keeps the accounts: everything between
looking at the accounts and counting the answer happens for one caller alone. The same ranking id asked again gets the
same answer and counts nothing.

Every way to re-rank, by name: the exact one with its three objectives, and the baselines it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Literal

import numpy as np

from aidos.core.ranking import Ranking
from aidos.errors import BrokenPromiseError, InputError, ParameterError
from aidos.model.attention import find_attention
from aidos.rooms.fairness.accounts import Accounts, Answer, Keeper, Served
from aidos.rooms.fairness.rankings import (
    Floats,
    Ints,
    Policy,
    Reranked,
    Standing,
    SubjectRanking,
    as_subject_ranking,
    gains,
    normalise,
    quality,
)

if TYPE_CHECKING:
    from aidos.rooms.fairness.equity import EquityOfAttention

__all__ = ["METHODS", "Method", "Prepared", "Reranker", "Step", "find_method"]

TOLERANCE = 1e-9
"""How far below its floor a ranking's quality may come out by rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A ranking by relevance, ready to be answered again and again."""

    ranking: SubjectRanking
    subject_ids: tuple[str, ...]
    """By relevance, equal ones as they came."""
    account_names: tuple[str, ...]
    order: Ints
    relevance: Floats
    """Sums to 1."""
    gains: Floats
    attention: Floats
    groups: Ints | None
    content: str


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An answer in numbers: who was placed (by relevance), the quality, and the unfairness after it."""

    placed: Ints
    quality: float
    unfairness: float
    replayed: bool = False


class Reranker:
    """Answers rankings by a policy, on accounts that somebody keeps."""

    def __init__(self, equity: EquityOfAttention, keeper: Keeper, policy: Policy | None = None) -> None:
        self.equity = equity
        self.keeper = keeper
        self.policy = policy or equity
        self._attention = find_attention(equity.attention)

    def rank(self, ranking: SubjectRanking | Ranking) -> Reranked:
        """Re-rank and count."""
        return self.answer(self.prepare(as_subject_ranking(ranking)))

    def prepare(self, ranking: SubjectRanking) -> Prepared:
        """Put subjects in the order of relevance and work out what does not depend on the accounts."""
        self._check(ranking)
        values = ranking.relevance
        falling = bool(np.all(values[:-1] >= values[1:]))
        order = np.arange(len(ranking)) if falling else np.argsort(-values, kind="stable")
        values = values[order]
        names = tuple(ranking.subject_ids) if falling else tuple(ranking.subject_ids[each] for each in order)
        return Prepared(
            ranking,
            names,
            names if self.equity.level == "subject" else self._actors(ranking, order),
            order,
            normalise(values),
            gains(values, self.equity.gain),
            self._attention.weights(values / values[0]),
            np.unique(np.asarray(ranking.groups)[order], return_inverse=True)[1] if ranking.groups else None,
            _digest(ranking) if ranking.ranking_id else "",
        )

    def answer(self, prepared: Prepared) -> Reranked:
        """Answer a prepared ranking and count it."""
        ranking, step = prepared.ranking, self.serve(prepared)
        behind = np.ones(len(prepared.subject_ids), dtype=bool)
        behind[step.placed] = False
        served = np.concatenate([step.placed, np.flatnonzero(behind)])
        return Reranked(
            subject_ids=tuple(prepared.subject_ids[each] for each in served),
            relevance=ranking.relevance[prepared.order[served]],
            attention=prepared.attention,
            quality=step.quality,
            unfairness=step.unfairness,
            ranking_id=ranking.ranking_id,
            query_id=ranking.query_id,
            searcher_id=ranking.searcher_id,
            replayed=step.replayed,
        )

    def serve(self, prepared: Prepared) -> Step:
        """Place the subjects and count that, in one turn."""
        name = prepared.ranking.ranking_id
        with self.keeper.turn() as accounts:
            before = self.keeper.answer(name) if name else None
            if before is not None:
                return _again(prepared, before)
            slots = accounts.slots(prepared.account_names)
            standing = self._stand(prepared, accounts, slots)
            placed = self.policy.place(standing)
            good = quality(standing, placed)
            if self.policy is self.equity and good < standing.quality_floor - TOLERANCE:
                raise BrokenPromiseError(f"{prepared.ranking.called}: the quality would fall below its floor")
            self.keeper.record(
                Served(
                    ranking_id=name,
                    content=prepared.content,
                    slots=slots,
                    relevance=prepared.relevance,
                    placed=placed,
                    attention=prepared.attention,
                    placed_ids=tuple(prepared.subject_ids[each] for each in placed),
                    searcher_id=prepared.ranking.searcher_id,
                    quality=good,
                )
            )
            return Step(placed, good, accounts.unfairness)

    def _stand(self, prepared: Prepared, accounts: Accounts, slots: Ints) -> Standing:
        """The accounts as they are when this ranking is answered: the past faded by one step, its relevance added."""
        received, earned = accounts.received(slots) * accounts.fading, accounts.earned(slots) * accounts.fading
        owners = None
        added: Floats = prepared.relevance
        if self.equity.level == "actor":
            _, owners = np.unique(slots, return_inverse=True)
            added = np.bincount(owners, prepared.relevance).astype(np.float64)[owners]
        return Standing(
            relevance=prepared.relevance,
            gains=prepared.gains,
            attention=prepared.attention,
            received=received,
            earned=earned + added,
            quality_floor=self._floor(prepared, accounts),
            accounts=owners,
            groups=prepared.groups,
            rankings=accounts.rankings,
            known=len(accounts),
            unfairness=self._unfairness_if_idle(accounts, slots, received, earned, added),
        )

    def _unfairness_if_idle(
        self, accounts: Accounts, slots: Ints, received: Floats, earned: Floats, added: Floats
    ) -> float:
        """Only a ceiling needs to know it."""
        if self.equity.unfairness_ceiling is None:
            return 0.0
        _, one_each = np.unique(slots, return_index=True)
        change = np.abs(received - earned - added) - np.abs(received - earned)
        return accounts.unfairness * accounts.fading + float(change[one_each].sum())

    def _floor(self, prepared: Prepared, accounts: Accounts) -> float:
        """The floor of every ranking, raised where a searcher's average would fall below its own."""
        floor, average = self.equity.quality_floor, self.equity.searcher_floor
        if average is None:
            return floor
        searcher = accounts.searchers.get(prepared.ranking.searcher_id)
        if searcher is None:
            return max(floor, average)
        return min(max(floor, average * (searcher.rankings + 1) - searcher.quality), 1.0)

    def _check(self, ranking: SubjectRanking) -> None:
        """Refuse before any account is opened."""
        if len(ranking) < self._attention.positions and self.equity.short_rankings == "refuse":
            raise InputError(
                f"{ranking.called}: {len(ranking)} subjects, but attention on {self._attention.positions} positions",
                hint="share the attention among those there (short_rankings = share), or use fewer positions",
            )
        if self.equity.searcher_floor is not None and not ranking.searcher_id:
            raise InputError(
                f"{ranking.called} does not say who searched",
                hint="a floor for searchers needs a searcher_id with every ranking",
            )

    def _actors(self, ranking: SubjectRanking, order: Ints) -> tuple[str, ...]:
        if not ranking.actors:
            raise InputError(
                f"{ranking.called} does not say which actor is behind each subject",
                hint="accounts of actors need one for every subject",
            )
        return tuple(ranking.actors[each] for each in order)


def _again(prepared: Prepared, before: Answer) -> Step:
    """The answer that was given, provided that the question is the same."""
    if before.content != prepared.content:
        raise InputError(
            f"{prepared.ranking.called} was served before with other subjects or other relevance",
            hint="give every ranking an id of its own, or start a new store",
        )
    where = {name: index for index, name in enumerate(prepared.subject_ids)}
    placed = np.array([where[name] for name in before.placed_ids], dtype=np.int64)
    return Step(placed, before.quality, before.unfairness, replayed=True)


def _digest(ranking: SubjectRanking) -> str:
    """A fingerprint of what was asked; names are separated by their lengths, so that no two lists run together."""
    digest = blake2b(ranking.relevance.tobytes(), digest_size=16)
    for names in (ranking.subject_ids, ranking.actors):
        digest.update(",".join(str(len(name)) for name in names).encode())
        digest.update("".join(names).encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to re-rank."""

    about: str
    floor: Literal["kept", "kept without trying", "ignored"] = "kept"
    """What it does about the quality floor."""
    objective: Literal["adaptive", "absolute", "squared"] | None = None
    """Of the exact method; as its parameters say if unset."""
    policy: str = ""
    """Module and class of a baseline; empty for the exact method."""
    needs_groups: bool = False

    @property
    def keeps_floor(self) -> bool:
        """Whether every ranking keeps the quality floor."""
        return self.floor != "ignored"

    @property
    def follows_floor(self) -> bool:
        """Whether another floor makes it answer differently."""
        return self.floor == "kept"

    def reranker(self, equity: EquityOfAttention, keeper: Keeper) -> Reranker:
        """A re-ranker that follows it."""
        if not self.policy:
            return Reranker(replace(equity, objective=self.objective or equity.objective), keeper)
        module, _, name = self.policy.partition(":")
        return Reranker(equity, keeper, getattr(import_module(f"aidos.rooms.fairness.{module}"), name)())


METHODS: Mapping[str, Method] = {
    "adaptive": Method(about="exact, squared up to a growing width (recommended)", objective="adaptive"),
    "absolute": Method(about="exact, absolute differences", objective="absolute"),
    "squared": Method(about="exact, squared differences", objective="squared"),
    "thesis": Method(about="integer program over 100 candidates", policy="programs:ThesisProgram"),
    "prefilter": Method(about="exact, absolute, over the same candidates", policy="programs:Prefiltered"),
    "relevance": Method(about="never reorders", policy="heuristics:ByRelevance", floor="kept without trying"),
    "tie-shuffle": Method(about="draws lots among equals", policy="heuristics:TieShuffle", floor="kept without trying"),
    "objective": Method(about="most owed first", policy="heuristics:ByDeficit", floor="ignored"),
    "fairco": Method(about="controller on exposure per merit", policy="heuristics:FairCo", floor="ignored"),
    "exposure": Method(
        about="exposure proportional to merit, in expectation", policy="programs:ExposureProgram", floor="ignored"
    ),
    "fair-topk": Method(
        about="FA*IR: enough of a group in every prefix",
        policy="heuristics:FairTopK",
        floor="ignored",
        needs_groups=True,
    ),
}


def find_method(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        close = get_close_matches(name, METHODS, n=1)
        raise ParameterError(
            f"there is no method called {name}",
            hint=f"did you mean {close[0]}?" if close else f"choose from {', '.join(METHODS)}",
        )
    return METHODS[name]
