"""Measured rows, put together: means with 95 % intervals, a table for each question, the paper's numbers beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.studies.audit.engines import EVERY, SOME
from aidos.studies.tables import grouped, table_of, told

__all__ = [
    "PAPERS_PRECISION",
    "SIMPLE",
    "sum_up_accounts",
    "sum_up_alarms",
    "sum_up_lists",
    "sum_up_loops",
    "sum_up_power",
    "sum_up_precision",
    "sum_up_recovery",
    "sum_up_splits",
    "sum_up_sweep",
    "sum_up_time",
    "sum_up_time_by_topics",
    "sum_up_topics",
    "sum_up_users",
]

PAPERS_PRECISION = 0.84
"""R-precision of the paper, over profiles of one to ten topics."""
PAPERS_LISTS = {
    "EM": (0.74, 0.72, 0.70, 0.69, 0.69, 0.67, 0.65, 0.63, 0.63, 0.62),
    "INF": (0.72, 0.70, 0.68, 0.67, 0.67, 0.65, 0.65, 0.63, 0.62, 0.62),
}
"""How often the paper tells the personalised list, for profiles of one to ten topics."""
PAPERS_USERS = {3: 0.60}
"""The same for whose a list is, by how many people could be meant; the best of the paper's real accounts."""
SIMPLE = "rank shift"
"""The baseline that learners are held against."""
CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20)


def sum_up_recovery(rows: pa.Table) -> pa.Table:
    """Means by kind of weights and method, with the largest errors."""
    errors = ("mix_error", "concentration_error", "rate_error")
    return table_of(
        {
            **key,
            "data_sets": len(group["sample"]),
            **told("r_precision", group["r_precision"]),
            **told("correlation", group["correlation"]),
            **{name: float(group[name].mean()) for name in errors},
            **{f"worst_{name}": float(group[name].max()) for name in errors[:2]},
        }
        for key, group in grouped(rows, ("weights", "method"))
    )


def sum_up_topics(rows: pa.Table) -> pa.Table:
    """Mean R-precision by setting, method and number of topics; topics null for all sizes together.

    Beside it the mean difference to rank shift over the same profiles, with its standard error; mean average
    precision; and precision among one and three topics more than there are, which is below 1 at best.
    """
    found = []
    whole = rows.set_column(rows.schema.get_field_index("topics"), "topics", pa.nulls(len(rows), pa.int64()))
    for table in (whole, rows):
        groups = list(grouped(table, ("setting", "method", "topics")))
        shares = {
            tuple(key.values()): np.array([_share(each, len(each)) for each in of["ranks"]]) for key, of in groups
        }
        for key, group in groups:
            own, shift = shares[tuple(key.values())], shares[key["setting"], SIMPLE, key["topics"]]
            beyond = own - shift
            found.append(
                {
                    **key,
                    **told("r_precision", own),
                    "beyond_shift": float(beyond.mean()),
                    "beyond_shift_error": float(beyond.std(ddof=1) / np.sqrt(len(own))) if len(own) > 1 else None,
                    **{
                        name: float(np.mean([score(each) for each in group["ranks"]])) for name, score in SCORES.items()
                    },
                    "mixing": float(group["mixing"].mean()),
                    "warned": float(group["warned"].mean()),
                    "profiles": len(own),
                    "paper": PAPERS_PRECISION if key["setting"] == EVERY and key["topics"] is None else None,
                }
            )
    return table_of(found)


def sum_up_precision(rows: pa.Table) -> pa.Table:
    """Mean precision and recall among the topics of the largest weights, by setting, method and how many are taken."""
    return table_of(
        {
            **key,
            "taken": taken,
            "precision": float(np.mean([(np.array(ranks) <= taken).sum() / taken for ranks in group["ranks"]])),
            "recall": float(np.mean([(np.array(ranks) <= taken).mean() for ranks in group["ranks"]])),
        }
        for key, group in grouped(rows, ("setting", "method"))
        for taken in CUTOFFS
    )


def sum_up_lists(rows: pa.Table) -> pa.Table:
    """How often the personalised list is told, by setting, method and number of topics, from the first split."""
    first = rows.column("learned_from")[0].as_py()
    return table_of(
        {
            **key,
            **told("accuracy", group["accuracy"]),
            "profiles": len(group["accuracy"]),
            "paper": PAPERS_LISTS[key["method"]][key["topics"] - 1] if key["topics"] <= 10 else None,
        }
        for key, group in grouped(rows.filter(pc.field("learned_from") == first), ("setting", "method", "topics"))
    )


def sum_up_splits(rows: pa.Table) -> pa.Table:
    """The same by setting, method and share that was learned from, with the gain over the first share."""
    groups = {tuple(key.values()): group for key, group in grouped(rows, ("setting", "method", "learned_from"))}
    first = rows.column("learned_from")[0].as_py()
    return table_of(
        {
            "setting": setting,
            "method": method,
            "learned_from": share,
            **told("accuracy", group["accuracy"]),
            **told("gain", group["accuracy"] - groups[setting, method, first]["accuracy"]),
            "profiles": len(group["accuracy"]),
        }
        for (setting, method, share), group in groups.items()
    )


def sum_up_sweep(rows: pa.Table) -> pa.Table:
    """How often the personalised list is told, by setting, method and how many topics describe the results."""
    return table_of(
        {**key, **told("accuracy", group["accuracy"]), "profiles": len(group["accuracy"])}
        for key, group in grouped(rows, ("setting", "method", "described_by"))
    )


def sum_up_users(rows: pa.Table) -> pa.Table:
    """How often the right person is told, from one query and from all, by setting, method, topics and group."""
    return table_of(
        {
            **key,
            "chance": 1 / key["people"],
            **told("accuracy", group["query_accuracy"]),
            "from_all_queries": float(group["user_accuracy"].mean()),
            "groups": len(group["query_accuracy"]),
            "paper": PAPERS_USERS.get(key["people"]) if key["setting"] == SOME else None,
        }
        for key, group in grouped(rows, ("setting", "method", "topics", "people"))
    )


def sum_up_time(rows: pa.Table) -> pa.Table:
    """Median processor seconds and rounds by number of queries and method, and how many times faster INF is."""
    times = {
        (key["queries"], key["method"]): (float(np.median(group["seconds"])), float(np.median(group["rounds"])))
        for key, group in grouped(rows, ("queries", "method"))
    }
    return table_of(
        {
            "queries": queries,
            "method": method,
            "seconds": seconds,
            "rounds": rounds,
            "times_inf": seconds / times[queries, "INF"][0],
        }
        for (queries, method), (seconds, rounds) in times.items()
    )


def sum_up_time_by_topics(rows: pa.Table) -> pa.Table:
    """Median processor seconds by number of topics and method, and how many times faster INF is."""
    times = {
        (key["topics"], key["method"]): float(np.median(group["seconds"]))
        for key, group in grouped(rows, ("topics", "method"))
    }
    return table_of(
        {"topics": topics, "method": method, "seconds": seconds, "times_inf": seconds / times[topics, "INF"]}
        for (topics, method), seconds in times.items()
    )


def sum_up_alarms(rows: pa.Table) -> pa.Table:
    """The share of false alarms by noise and number of vanilla lists."""
    return table_of(
        {**key, "alarms": float(group["alarm"].mean()), "data_sets": len(group["alarm"])}
        for key, group in grouped(rows, ("noise", "vanilla_lists"))
    )


def sum_up_power(rows: pa.Table) -> pa.Table:
    """The share that is detected by number of queries, beside what the true effect and the queries foretell."""
    return table_of(
        {
            **key,
            **told("detected", group["detected"].astype(np.float64)),
            "foretold": float(group["foretold"].mean()),
            "planned": float(group["planned"].mean()),
            "planned_queries": _middle(group["planned_queries"]),
            "data_sets": len(group["detected"]),
        }
        for key, group in grouped(rows, ("queries",))
    )


def sum_up_accounts(rows: pa.Table) -> pa.Table:
    """The accounts as they are, and a last row with the means."""
    found = [{**row, "account": str(row["account"] + 1)} for row in rows.to_pylist()]
    means = {
        name: float(np.mean([row[name] for row in found])) for name in found[0] if name not in ("account", "p_value")
    }
    return table_of(
        [*({name: _number(value) for name, value in row.items()} for row in found), {"account": "mean", **means}]
    )


def sum_up_loops(rows: pa.Table) -> pa.Table:
    """Mean weights before and after, and how many topics are found, by shield and kind of topic.

    Topics that are marked in one run are "marked" in the other, too, where nothing is hidden.
    """
    kinds = ["marked" if row["marked"] else "sensitive" if row["sensitive"] else "other" for row in rows.to_pylist()]
    return table_of(
        {
            **key,
            "count": len(group["before"]),
            "true_weight": float(group["true_weight"].mean()),
            "before": float(group["before"].mean()),
            "after": float(group["after"].mean()),
            "found_before": float(group["found_before"].mean()),
            "found_after": float(group["found_after"].mean()),
            "changed": float(group["changed"].mean()),
            "sent": float(group["sent"].mean()),
            "hidden": float(group["hidden"].mean()),
        }
        for key, group in grouped(rows.append_column("kind", pa.array(kinds)), ("shield", "kind"))
    )


def _average_precision(ranks: Sequence[int]) -> float:
    """The mean, over the true topics, of the precision where each of them stands."""
    return float(np.mean(np.arange(1, len(ranks) + 1) / np.array(ranks)))


def _precision_beyond(ranks: Sequence[int], more: int) -> float:
    """Precision among so many topics more than there are true ones."""
    return _share(ranks, len(ranks) + more) * len(ranks) / (len(ranks) + more)


SCORES: Mapping[str, Callable[[Sequence[int]], float]] = {
    "average_precision": _average_precision,
    "precision_plus_1": partial(_precision_beyond, more=1),
    "precision_plus_3": partial(_precision_beyond, more=3),
}
"""What the paper's table 1 has beside R-precision, from the ranks of true topics."""


def _share(ranks: Sequence[int], taken: int) -> float:
    return float((np.array(ranks) <= taken).mean())


def _middle(numbers: Iterable[int | None]) -> float:
    """The median, where no plan is an endless one."""
    return float(np.median([np.inf if number is None else number for number in numbers]))


def _number(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)
