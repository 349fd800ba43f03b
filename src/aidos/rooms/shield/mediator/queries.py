"""The queries of a log, ready to be mixed, and several ways to mix them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aidos.core.noise import Noise
from aidos.core.progress import Progress
from aidos.core.records import PAUSE_MINUTES
from aidos.errors import InputError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedTable
    from aidos.rooms.shield.mediator.adversary import Informed, Relinked, Texts
    from aidos.rooms.shield.mediator.assignment import Assignment
    from aidos.rooms.shield.mediator.measures import Measured
    from aidos.rooms.shield.mediator.objects import Objects
    from aidos.rooms.shield.mediator.page import Setting

__all__ = ["ONE_ACCOUNT", "OWN_ACCOUNT", "Queries", "Tried", "assess", "read_queries", "read_topics"]

UNKNOWN = "no topic"
ASKED = f"""
    select client_id, user_query from {{table}}
    where user_query is not null and (action is null or action in ('query', 'click'))
    window person as (partition by client_id order by "timestamp", user_query, action = 'click' nulls first)
    qualify action is distinct from 'click' or user_query is distinct from lag(user_query) over person
        or epoch_us("timestamp") - epoch_us(lag("timestamp") over person) > {PAUSE_MINUTES * 60_000_000}
    order by "timestamp", client_id, user_query
"""
"""Askings in the order of arrival. A click is one too where its query was not asked just before: some logs have only
the click of a query that led to one."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """The queries of a log in the order of arrival, ready to be assigned."""

    texts: Sequence[str]
    objects: Objects
    words: Texts
    topics: int
    without_topic: int

    def facts(self) -> dict[str, str | int]:
        """How many there are of everything."""
        return {
            "queries": len(self.texts),
            "people": self.objects.people_count,
            "topics": self.topics,
            "without_topic": self.without_topic,
        }


def read_queries(log: EmbeddedTable, topic_of: Mapping[str, str] | None, depth: int | None) -> Queries:
    """Queries with person and topic: the topic given for the query, or that of the default taxonomy by its words."""
    import numpy as np
    import pyarrow as pa

    from aidos.model.text.analyser import Analyser
    from aidos.model.text.batch import analyse
    from aidos.model.text.vocabulary import Vocabulary
    from aidos.model.topics import default_taxonomy
    from aidos.model.topicsearch import NO_TOPIC, TopicMap
    from aidos.rooms.shield.mediator.adversary import Texts
    from aidos.rooms.shield.mediator.objects import Objects

    if "client_id" not in log.columns or "user_query" not in log.columns:
        raise InputError("the files hold no search log: nobody asks in them", hint="see what is in them: aidos check")
    rows = log.fetch(ASKED)
    texts = [str(text) for text in rows.column("user_query").to_pylist()]
    if not texts:
        raise InputError("the log has no queries", hint="see what is in it: aidos check")
    kinds = list(dict.fromkeys(texts))
    if topic_of is None:
        named = dict(zip(kinds, TopicMap(default_taxonomy(), depth=depth).topics(kinds), strict=True))
    else:
        named = {text: topic_of.get(text, NO_TOPIC) for text in kinds}
    labels = np.array([named[text] or UNKNOWN for text in texts], dtype=object)
    _, topics = np.unique(labels.astype(str), return_inverse=True)
    people = rows.column("client_id").combine_chunks().dictionary_encode().indices.to_numpy()
    objects = Objects(people=people.astype(np.int64), topics=topics.astype(np.int64))
    without = sum(not named[text] for text in texts)
    words = analyse(pa.array(texts), Vocabulary(), analyser=Analyser())
    spelled = Texts(starts=words.starts, words=words.terms.astype(np.int64))
    return Queries(texts, objects, spelled, int(topics.max()) + 1, without)


def read_topics(path: Path) -> dict[str, str]:
    """Topics given by hand: a query, a tab and its topic on each line."""
    from aidos.engine.inputs import read_text

    found: dict[str, str] = {}
    lines = read_text(path, hint="name a file in utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        query, tab, topic = line.partition("\t")
        if not (query.strip() and tab and topic.strip()):
            raise InputError(f"{path}, line {number}: a query, a tab and a topic are wanted", hint="mend the line")
        found[query] = topic.strip()
    if not found:
        raise InputError(f"{path} is empty", hint="write a query, a tab and its topic on each line")
    return found


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
