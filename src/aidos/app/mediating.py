"""From a search log to mediator accounts: topics for the queries, an assignment, and what it gives and costs.

Only accounts and queries are written. Who asked is known here while the command runs, and is in none of its files,
except that a page for the owner shows one nameless point per person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aidos.app.releasedir import new_directory
from aidos.core.guarantee import statement
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import write_text
from aidos.engine.inputs import read_text
from aidos.errors import InputError
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import NO_TOPIC, TopicMap
from aidos.rooms.publish.items import PAUSE_MINUTES
from aidos.rooms.shield.mediator.adversary import ProfileLinking
from aidos.rooms.shield.mediator.assignment import Assignment, MediatorAccounts
from aidos.rooms.shield.mediator.measures import Measured, measure
from aidos.rooms.shield.mediator.objects import Objects
from aidos.rooms.shield.mediator.page import Setting

__all__ = ["Queries", "assess", "read_log_queries", "read_topic_file", "write_accounts"]

UNKNOWN = "no topic"
ASKED = f"""
    select client_id, user_query from {{table}}
    where user_query is not null and (action is null or action in ('query', 'click'))
    window person as (partition by client_id order by "timestamp", user_query, action = 'click' nulls first)
    qualify action is distinct from 'click' or user_query is distinct from lag(user_query) over person
        or epoch_us("timestamp") - epoch_us(lag("timestamp") over person) > {PAUSE_MINUTES * 60_000_000}
    order by "timestamp", client_id, user_query
"""
"""Askings in the order of arrival. A click is one too where its query was not asked just before (`publish.actions`):
some logs have only the click of a query that led to one."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """The queries of a log in the order of arrival, ready to be assigned."""

    texts: Sequence[str]
    objects: Objects
    topics: int
    without_topic: int


def read_log_queries(log: EmbeddedTable, topic_of: Mapping[str, str] | None, depth: int | None) -> Queries:
    """Queries with person and topic: the topic given for the query, or that of the default taxonomy by its words."""
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
    return Queries(texts, objects, int(topics.max()) + 1, without)


def read_topic_file(path: Path) -> dict[str, str]:
    """Topics given by hand: a query, a tab and its topic on each line."""
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


def assess(
    objects: Objects, mechanisms: Sequence[MediatorAccounts], noise: Noise, progress: Progress
) -> list[tuple[Setting, Measured, Assignment]]:
    """Assign by each mechanism and measure."""
    results = []
    with progress.task("assigning and measuring", total=len(mechanisms), unit="settings") as task:
        for mechanism in mechanisms:
            made = mechanism.run(objects, noise)
            found = measure(objects, made, mechanism.similarity)
            linked = ProfileLinking().attack(objects, made)
            means = {
                name: float(np.nanmean(getattr(found, name)))
                for name in ("entropy", "overlap", "coherence_loss", "least_divergence")
            }
            setting = Setting(
                heuristic=mechanism.heuristic, alpha=mechanism.alpha, means={**means, "linked": linked.success}
            )
            results.append((setting, found, made))
            task.advance(1)
    return results


def write_accounts(target: Path, queries: Queries, made: Assignment, mechanism: MediatorAccounts) -> None:
    """What the search service is to see, account by account, and how it was made; no name and no time is in it."""
    order = np.argsort(made.chosen, kind="stable")
    table = pa.table(
        {
            "account_id": pa.array(made.chosen[order]),
            "user_query": pa.array([queries.texts[each] for each in order.tolist()], pa.string()),
        }
    )
    about = {
        "mechanism": "mediator-accounts",
        "parameters": asdict(mechanism),
        "guarantee": statement(mechanism.guarantee(PublicFacts())),
        "accounts": made.accounts,
        "queries": len(queries.texts),
        "noise": made.noise_source,
    }
    with new_directory(target) as partial:
        pq.write_table(table, partial / "accounts.parquet", compression="zstd")
        write_text(partial / "MANIFEST.json", json.dumps(about, indent=2) + "\n")
