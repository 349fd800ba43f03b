"""Whether what paper and spec say about the audit of hidden profiles holds in an outcome, with the numbers it is from.

Times and small differences may fail by chance; tables have the intervals. The paper's figures for telling lists and
people apart stand in the tables beside ours: its engine and its accounts were others, so that equality is no claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from aidos.studies.audit.engines import EVERY, SINGLE, SOME
from aidos.studies.audit.loop import MARKED, UNMARKED
from aidos.studies.audit.sampled import STRONG
from aidos.studies.audit.summaries import PAPERS_PRECISION, SIMPLE
from aidos.studies.study import Claim, Reader

__all__ = ["READERS"]

Rows: TypeAlias = list[dict[str, Any]]
FOUND, CORRELATED, NEAR = 0.95, 0.9, 0.05
"""What EM reaches on lists drawn from the model: R-precision, correlation, relative error of mix and concentration."""
ERRORS = 3
"""Standard errors by which the share of false alarms may lie above the level."""
SLACK = 2
"""Standard errors by which a mean over the same profiles may lie below another and count as level with it."""
FORETOLD = 0.15
"""How far the share that is detected may lie below what the true effect of the topic foretells: three errors of 40."""
SPLITS = 0.03
"""What the paper says learning from nine queries in ten, not eight, changes at most."""
ENOUGH = 50
"""Topics that the paper finds enough for anybody."""
FEW_FOUND = 0.5
"""Below this R-precision a profile cannot be called read."""


def _of_recovery(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - all readers take the same
    found = next(row for row in rows if (row["weights"], row["method"]) == (STRONG, "EM"))
    yield Claim(
        finding=f"EM finds the topics of sampled profiles (R-precision at least {FOUND:g}, correlation {CORRELATED:g})",
        holds=found["r_precision"] >= FOUND and found["correlation"] >= CORRELATED,
        values={name: found[name] for name in ("r_precision", "correlation")},
    )
    errors = {name: found[f"{name}_error"] for name in ("mix", "concentration")}
    worst = {f"worst {name}": found[f"worst_{name}_error"] for name in errors}
    yield Claim(
        finding=f"EM finds mix and concentration within {NEAR:.0%} on average",
        holds=max(errors.values()) <= NEAR,
        values=errors | worst,
    )


def _of_topics(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    means = {(row["setting"], row["method"]): row for row in rows if row["topics"] is None}
    mixing = [means[setting, method] for setting in (EVERY, SOME) for method in ("INF", SIMPLE)]
    together = {
        name: np.mean([row["r_precision"] for row in mixing if row["method"] == name]) for name in ("INF", SIMPLE)
    }
    yield Claim(
        finding=f"where lists mix topics INF finds {PAPERS_PRECISION:.0%} as the paper does, and as many as rank shift",
        holds=bool(together["INF"] >= max(PAPERS_PRECISION, together[SIMPLE])),
        values={name: float(value) for name, value in together.items()},
    )
    for setting in (EVERY, SOME):
        row = means[setting, "INF"]
        yield Claim(
            finding=f"INF is not below rank shift by more than {SLACK} standard errors ({setting})",
            holds=row["beyond_shift"] >= -SLACK * row["beyond_shift_error"],
            values={"INF": row["r_precision"], "beyond": row["beyond_shift"], "error": row["beyond_shift_error"]},
        )
    single, mixed = means[SINGLE, "INF"], [means[setting, "INF"]["warned"] for setting in (EVERY, SOME)]
    yield Claim(
        finding="where lists hold one topic little is found, and a warning comes before learning; elsewhere none does",
        holds=single["warned"] == 1 and single["r_precision"] < FEW_FOUND and max(mixed) == 0,
        values={"R-precision": single["r_precision"], "warned": single["warned"], "warned elsewhere": max(mixed)},
    )


def _of_lists(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    for method in ("INF", "EM"):
        own = [row for row in rows if (row["setting"], row["method"]) == (EVERY, method)]
        values = {f"{row['topics']}": row["accuracy"] for row in own}
        yield Claim(
            finding=f"{method} tells the personalised list at least as often as the paper, for every number of topics",
            holds=all(row["accuracy"] >= row["paper"] for row in own if row["paper"] is not None),
            values=values,
        )


def _of_users(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    for setting in (EVERY, SOME):
        own = [row for row in rows if (row["setting"], row["method"]) == (setting, "EM")]
        yield Claim(
            finding=f"one query tells whose it is more often than luck, for every number of people ({setting})",
            holds=all(row["accuracy"] > row["chance"] for row in own),
            values={f"{row['people']} people of {row['topics']} topics": row["accuracy"] for row in own},
        )
        sizes = sorted({row["topics"] for row in own})
        if len(sizes) > 1:
            means = {
                f"{size} topics": float(np.mean([row["accuracy"] for row in own if row["topics"] == size]))
                for size in sizes
            }
            first, *_, last = means.values()
            yield Claim(
                finding=f"people with many topics are told apart less often than those with few ({setting}; the paper)",
                holds=last <= first,
                values=means,
            )


def _of_splits(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    gains = {
        f"{row['method']}, {row['setting']}, {row['learned_from']:.0%}": row["gain"]
        for row in rows
        if row["learned_from"] != rows[0]["learned_from"]
    }
    if gains:
        yield Claim(
            finding=f"learning from more queries changes how many lists are told by less than {SPLITS:.0%} (the paper)",
            holds=max(abs(gain) for gain in gains.values()) < SPLITS,
            values=gains,
        )


def _of_sweep(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    own = {row["described_by"]: row["accuracy"] for row in rows if (row["setting"], row["method"]) == (EVERY, "EM")}
    few = max((accuracy for number, accuracy in own.items() if number <= ENOUGH), default=0.0)
    yield Claim(
        finding=f"{ENOUGH} learned topics or fewer tell as many lists as more do, less {SPLITS:.0%} (the paper)",
        holds=few >= max(own.values()) - SPLITS,
        values={f"{number} topics": accuracy for number, accuracy in own.items()},
    )


def _of_time(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    ratios = {f"{row['queries']} queries": row["times_inf"] for row in rows if row["method"] == "EM"}
    yield Claim(finding="INF is faster than EM", holds=min(ratios.values()) > 1, values=ratios)


def _of_alarms(rows: Rows, level: float) -> Iterator[Claim]:
    holds = [row["alarms"] <= level + ERRORS * np.sqrt(level * (1 - level) / row["data_sets"]) for row in rows]
    values = {f"{row['noise']}, {row['vanilla_lists']} vanilla": row["alarms"] for row in rows}
    yield Claim(
        finding=f"false alarms are at most {level:.0%} and {ERRORS} standard errors", holds=all(holds), values=values
    )


def _of_power(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    values = {f"{row['queries']} queries": row["detected"] for row in rows}
    foretold = {f"{row['queries']} foretold": row["foretold"] for row in rows}
    yield Claim(
        finding=f"weak profiles are detected as often as foretold for their topic alone (less {FORETOLD:g} at most)",
        holds=min(row["detected"] - row["foretold"] for row in rows) >= -FORETOLD,
        values={name: value for pair in zip(values.items(), foretold.items(), strict=True) for name, value in pair},
    )


def _of_accounts(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    mean = rows[-1]
    names = ("r_precision", "r_precision_of_shift", "detected", "sensitive_found")
    yield Claim(
        finding="accounts of the sample world are read at least as well as by rank shift",
        holds=mean["r_precision"] >= mean["r_precision_of_shift"],
        values={name.replace("_", " "): mean[name] for name in names},
    )


def _of_loops(rows: Rows, level: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    by_kind = {(row["shield"], row["kind"]): row for row in rows}
    if (MARKED, "marked") not in by_kind:
        yield Claim(finding="the first audit finds something sensitive to mark", holds=False, values={})
        return
    marked, bare = by_kind[MARKED, "marked"], by_kind[UNMARKED, "marked"]
    yield Claim(
        finding="what was found, marked and shielded is found no more, and its weight falls by half at least",
        holds=marked["found_after"] == 0 and marked["after"] <= marked["before"] / 2,
        values={name: marked[name] for name in ("before", "after", "found_before", "found_after")},
    )
    yield Claim(
        finding="it is the mark that hides it: behind the shield without marks its weight is larger",
        holds=bare["after"] > marked["after"],
        values={"marked": marked["after"], "not marked": bare["after"]},
    )
    if (MARKED, "other") in by_kind:
        other = by_kind[MARKED, "other"]
        yield Claim(
            finding="other interests go on to be served: they keep a larger share of their weight than what is marked",
            holds=other["after"] / other["before"] > marked["after"] / marked["before"],
            values={"other before": other["before"], "other after": other["after"]},
        )


READERS: Mapping[str, Reader] = {
    "recovery": _of_recovery,
    "topics": _of_topics,
    "disambiguation": _of_lists,
    "splits": _of_splits,
    "users": _of_users,
    "sweep": _of_sweep,
    "time": _of_time,
    "alarms": _of_alarms,
    "power": _of_power,
    "world": _of_accounts,
    "loop": _of_loops,
}
"""What is read from each table, given the level of false alarms."""
