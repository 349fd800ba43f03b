"""A decision about one query: what is sent, what is hidden, what it is worth and gives away, and why, in words.

`SessionMemory`: what was hidden once is not shown later, and all that was shown counts towards the limit.

One query and one profile are all that the paper covers. Somebody who watches many queries sees the union of what was
shown. A topic that had to be hidden for one query and fits the limit of another is known from the second on, and that
it came and went says that it was being hidden. And topics shown for different queries add up, each answer within the
limit and their union above it. The memory takes both away:

- topics of a seed that were left out of an answer stay hidden, with all below them;
- the limit holds for everything shown so far together (with the excess risk; the paper's looks at one query alone).

So an observer who knows the taxonomy alone, and sees all profiles of a session, is where the limit says. Less is shown
as a session goes on, until the limit is used up; forgetting the memory starts a new session, and whoever watched the
old one remembers it. The queries themselves stay unprotected, and they tell most: see
`aidos.rooms.shield.profile.adversary`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import SessionMemory
from aidos.core.topictree import TopicTree
from aidos.rooms.shield.profile.exact import exact
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.greedy import greedy_dp, greedy_il, ratio_greedy
from aidos.rooms.shield.profile.prune import Generalised, Standing, stand
from aidos.rooms.shield.profile.seed import SeedProfile, power_of_query

__all__ = ["Decision", "Outcome", "SeedTopic", "decide"]

Places: TypeAlias = NDArray[np.int32]
Outcome: TypeAlias = Literal["sent", "distinct", "nothing-in-common", "all-hidden"]
"""Why a profile is sent or not."""
NOTHING = Standing(0.0, 0.0)
ALGORITHMS = {"ratio": ratio_greedy, "greedy-il": greedy_il, "greedy-dp": greedy_dp, "exact": exact}


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
        """Topics that a session must not show later: those left out where profiles were weighed up at all."""
        if self.outcome not in ("sent", "all-hidden"):
            return ()
        return tuple(topic.topic for topic in self.topics if topic.state == "hidden" and topic.depth > 0)

    @property
    def shown(self) -> tuple[str, ...]:
        """Topics that leave the machine."""
        return tuple(topic.topic for topic in self.topics if topic.state == "sent")

    def remembered(self, memory: SessionMemory) -> SessionMemory:
        """The memory of the session after this decision."""
        return memory.adding(self.hidden, self.shown)


def decide(asked: ProfileGeneralisation, data: QueryAndProfile) -> Decision:
    """Decide about one query."""
    memory = data.memory or SessionMemory()
    whole = SeedProfile.of(data.tree, data.held, data.layer, data.hits, memory.shown_places(data.tree))
    seed = whole.without(memory.hidden_places(data.tree))
    power = power_of_query(data.tree, data.hits)
    before = stand(whole, np.ones(len(whole), dtype=np.bool_), asked.risk)
    outcome, found = _settled(asked, whole, seed, power)
    sent = found.places(seed) if outcome == "sent" and found is not None else np.zeros(0, np.int32)
    return Decision(
        outcome=outcome,
        reason=_reason(asked, outcome, power, len(data.hits.places), len(whole) - len(sent))
        + _earlier(outcome, len(whole) - len(seed)),
        topics=_topics(data.tree, whole, sent),
        query_power=power,
        before=before if not whole.is_empty else NOTHING,
        after=Standing(found.power, found.risk) if outcome == "sent" and found is not None else NOTHING,
        iterations=found.iterations if found is not None else 0,
        sent=sent,
    )


def _settled(
    asked: ProfileGeneralisation, whole: SeedProfile, seed: SeedProfile, power: float
) -> tuple[Outcome, Generalised | None]:
    if whole.is_empty:
        return "nothing-in-common", None
    if power >= asked.distinct_from:
        return "distinct", None
    found = ALGORITHMS[asked.algorithm](seed, asked.risk_limit, asked.risk)
    return ("all-hidden" if found.is_root else "sent"), found


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
        case "all-hidden":
            return f"no topic can be shown within the risk limit of {asked.risk_limit:g}, so nothing is sent"
        case "sent" if hidden == 0:
            return f"all topics that the query is about can be shown within the risk limit of {asked.risk_limit:g}"
        case _:
            left_out = "1 topic is" if hidden == 1 else f"{hidden} topics are"
            return f"{left_out} left out, so that the risk stays within the limit of {asked.risk_limit:g}"


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
