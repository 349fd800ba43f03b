"""A decision about one query: what is sent, what is hidden, what it is worth and gives away, and why, in words.

What leaves the machine is settled from the unmarked part of the profile alone, by default (``risk="unmarked"``): the
same code, given a profile without what is marked and nothing to remember. The rest of a decision, its words and
numbers, is for the searcher, and tells her of what stays at home.

`SessionMemory` counts where a profile is pruned to a limit (``excess``, ``paper``). Somebody who watches many queries
sees the union of what was shown. A topic that had to be hidden for one query and fits the limit of another is known
from the second on, and that it came and went says that it was being hidden. And topics shown for different queries add
up, each answer within the limit and their union above it. The memory takes both away:

- topics of a seed that were left out of an answer stay hidden, with all below them;
- the limit holds for everything shown so far together (with the excess risk; the paper's looks at one query alone).

So an observer who knows the taxonomy alone, and sees all profiles of a session, is where the limit says. One who knows
the rule is not: see `aidos.rooms.shield.profile.adversary`. Forgetting the memory starts a new session, and whoever
watched the old one remembers it. Queries stay unprotected in any case, and they tell most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import SessionMemory
from aidos.core.topictree import TopicTree
from aidos.rooms.shield.profile.exact import exact, ratio
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.prune import TINY, Generalised, RiskForm, Standing, greedy_dp, greedy_il, stand
from aidos.rooms.shield.profile.requirement import HeldProfile
from aidos.rooms.shield.profile.seed import SeedProfile, power_of_query

__all__ = ["Decision", "Outcome", "SeedTopic", "Settled", "decide", "settle"]

Places: TypeAlias = NDArray[np.int32]
Outcome: TypeAlias = Literal["sent", "distinct", "nothing-in-common", "all-hidden", "no-gain"]
"""Why a profile is sent or not."""
NOTHING = Standing(0.0, 0.0)
UNMARKED = "nothing that the query is about is marked as sensitive: all topics can be shown"
ALGORITHMS = {"ratio": ratio, "greedy-il": greedy_il, "greedy-dp": greedy_dp, "exact": exact}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedTopic:
    """One topic of the searcher's that the query is about, or one above it."""

    topic: str
    depth: int
    state: Literal["sent", "hidden"]
    """Whether its name leaves the machine."""
    sensitive: bool
    """Whether it is one of the topics marked sensitive, or below one."""
    asked: bool
    """Whether the query is about it, not only about something below it."""
    preference: float
    """Share of the searcher's documents on the query's topics that lie at or below it."""
    cost: float
    """What it gives away of sensitive topics, in the weights of the requirement."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decision:
    """What becomes of the profile with one query. It holds private topics: for the searcher, not for release."""

    outcome: Outcome
    reason: str
    """Why, in plain words."""
    topics: tuple[SeedTopic, ...]
    """The seed, depth first; what was hidden earlier in the session is in it as hidden."""
    query_power: float
    """DP(q,R): how well the query tells its meaning without a profile."""
    before: Standing
    """Power and risk of the whole seed."""
    after: Standing
    """Power of what is sent, and its risk together with what the session has shown before; nothing sent has neither."""
    iterations: int
    sent: Places = field(repr=False)
    """Places of the topics sent, the root among them; empty where nothing is sent."""
    basis: HeldProfile = field(repr=False)
    """The profile that this was settled from, without what must not show: re-ranking goes by it."""
    blind: bool = True
    """Whether it was settled without a look at what is marked."""

    @property
    def is_sent(self) -> bool:
        """Whether a profile goes out with the query."""
        return self.outcome == "sent"

    @property
    def utility(self) -> float:
        """util(q,G) = DP(q,G) - DP(q,R); 0 where nothing is sent."""
        return self.after.power - self.query_power if self.is_sent else 0.0

    @property
    def hidden(self) -> tuple[str, ...]:
        """Topics of hers that were left out where profiles were weighed up at all."""
        if self.outcome not in ("sent", "all-hidden"):
            return ()
        return tuple(topic.topic for topic in self.topics if topic.state == "hidden" and topic.depth > 0)

    @property
    def withheld(self) -> tuple[str, ...]:
        """Topics that a session must not show later. What is marked needs no memory: it is never shown."""
        return () if self.blind else self.hidden

    @property
    def shown(self) -> tuple[str, ...]:
        """Topics that leave the machine."""
        return tuple(topic.topic for topic in self.topics if topic.state == "sent")

    def remembered(self, memory: SessionMemory) -> SessionMemory:
        """The memory of the session after this decision."""
        return memory.adding(self.withheld, self.shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What is sent with a query: all that leaves the house."""

    outcome: Outcome
    power: float
    """DP(q,R)."""
    basis: HeldProfile = field(repr=False)
    """The profile that this hangs on."""
    seed: SeedProfile
    found: Generalised | None = None

    @property
    def is_sent(self) -> bool:
        """Whether a profile goes out with the query."""
        return self.outcome == "sent"

    @property
    def sent(self) -> Places:
        """Places of the topics sent; empty where nothing is."""
        return self.found.places(self.seed) if self.found is not None and self.is_sent else np.zeros(0, np.int32)

    @property
    def standing(self) -> Standing:
        """Power and risk of what is sent."""
        return Standing(self.found.power, self.found.risk) if self.found is not None and self.is_sent else NOTHING


def decide(asked: ProfileGeneralisation, data: QueryAndProfile) -> Decision:
    """Decide about one query."""
    settled = settle(asked, data)
    power = settled.power
    # From here on all is for her own eyes.
    memory = data.memory or SessionMemory()
    form: RiskForm = "paper" if asked.risk == "paper" else "excess"
    whole = SeedProfile.of(data.tree, data.held, data.layer, data.hits, memory.shown_places(data.tree))
    hidden, earlier = len(whole) - len(settled.sent), 0 if asked.is_blind else len(whole) - len(settled.seed)
    outcome = settled.outcome
    if outcome == "nothing-in-common" and not whole.is_empty:
        outcome = "all-hidden"
    return Decision(
        outcome=outcome,
        reason=_reason(asked, outcome, power, len(data.hits.places), hidden) + _earlier(outcome, earlier),
        topics=_topics(data.tree, whole, settled.sent),
        query_power=power,
        before=NOTHING if whole.is_empty else stand(whole, np.ones(len(whole), dtype=np.bool_), form),
        after=settled.standing,
        iterations=settled.found.iterations if settled.found is not None else 0,
        sent=settled.sent,
        basis=settled.basis,
        blind=asked.is_blind,
    )


def settle(asked: ProfileGeneralisation, data: QueryAndProfile) -> Settled:
    """What is sent. By default the first line is the promise: nothing marked gets beyond it."""
    return _settle(asked, data.of_unmarked() if asked.is_blind else data)


def _settle(asked: ProfileGeneralisation, data: QueryAndProfile) -> Settled:
    """What is sent, from no more than it is given."""
    power = power_of_query(data.tree, data.hits)
    memory = data.memory or SessionMemory()
    whole = SeedProfile.of(data.tree, data.held, data.layer, data.hits, memory.shown_places(data.tree))
    seed = whole.without(memory.hidden_places(data.tree))
    settled = partial(Settled, power=power, basis=data.held, seed=seed)
    if whole.is_empty:
        return settled(outcome="nothing-in-common")
    if power >= asked.distinct_from:
        return settled(outcome="distinct")
    if asked.risk == "unmarked":
        found = Generalised.after(seed, (), "excess")
    else:
        found = ALGORITHMS[asked.algorithm or "ratio"](seed, asked.limit, asked.risk)
    if found.is_root:
        return settled(outcome="all-hidden", found=found)
    return settled(outcome="sent" if found.power > power + TINY else "no-gain", found=found)


def _reason(asked: ProfileGeneralisation, outcome: Outcome, power: float, topics: int, hidden: int) -> str:
    match outcome:
        case "distinct":
            return (
                f"the query says clearly enough what it means (power {power:.2f}, and from {asked.distinct_from:g} "
                "on no profile is needed), so nothing is sent"
            )
        case "nothing-in-common" if topics == 0:
            return "no topic was found for the query, so nothing is sent"
        case "nothing-in-common":
            return "the profile has nothing about the query's topics, so nothing is sent"
        case "no-gain":
            return f"the profile would tell no more than the query does (power {power:.2f}), so nothing is sent"
        case "all-hidden" if asked.is_blind:
            return "all that the profile has on the query is marked as sensitive, so nothing is sent"
        case "all-hidden":
            return f"no topic can be shown within the risk limit of {asked.limit:g}, so nothing is sent"
        case "sent" if asked.is_blind:
            return f"{_left_out(hidden)}, as if nothing marked as sensitive were held" if hidden else UNMARKED
        case "sent" if hidden == 0:
            return f"all topics that the query is about can be shown within the risk limit of {asked.limit:g}"
        case _:
            return f"{_left_out(hidden)}, so that the risk stays within the limit of {asked.limit:g}"


def _left_out(hidden: int) -> str:
    return "1 topic is left out" if hidden == 1 else f"{hidden} topics are left out"


def _earlier(outcome: Outcome, hidden: int) -> str:
    if not hidden or outcome not in ("sent", "all-hidden"):
        return ""
    return (
        f"; {hidden} {'was' if hidden == 1 else 'were'} hidden earlier in the session and stay{'s' * (hidden == 1)} so"
    )


def _topics(tree: TopicTree, seed: SeedProfile, sent: Places) -> tuple[SeedTopic, ...]:
    shown = np.isin(seed.places, sent)
    sensitive, depths = seed.sensitive.copy(), np.zeros(len(seed), dtype=np.int32)
    for row in range(1, len(seed)):
        above = seed.arrays.parents[row]
        sensitive[row] |= sensitive[above]
        depths[row] = depths[above] + 1
    return tuple(
        SeedTopic(
            topic=tree.ids[place],
            depth=int(depths[row]),
            state="sent" if shown[row] else "hidden",
            sensitive=bool(sensitive[row]),
            asked=bool(seed.arrays.masses[row] > 0),
            preference=float(seed.arrays.totals[row]),
            cost=float(seed.costs[row]),
        )
        for row, place in enumerate(seed.places.tolist())
    )
