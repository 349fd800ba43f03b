"""`aidos explain`: calculators for results that are easier to believe with numbers in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.app.console import Common, show, show_json
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.account.impossibility import Impossibility

__all__ = ["PARTS", "explain", "impossibility"]


def explain() -> int:
    """Put numbers into a result of the theory.

    For example:
        aidos explain impossibility --people 1000000 --items-per-person 10 --epsilon 1 --threshold 50 --domain 5.3e35
    """
    raise ParameterError("what is to be explained is missing", hint="aidos explain --help lists what there is")


def impossibility(
    *,
    people: int,
    items_per_person: int,
    epsilon: float,
    threshold: int,
    domain: float,
    accuracy: float = 0.01,
    slack: int = 0,
    common: Common | None = None,
) -> int:
    """Tell whether pure differential privacy can publish frequent items from so large a domain.

    Every epsilon-DP algorithm that shows very frequent items with the given
    accuracy must also show items that hardly anybody has. From some size of
    the domain on it makes more errors than publishing nothing at all.

    For example:
        aidos explain impossibility --people 1000000 --items-per-person 10 --epsilon 1 --threshold 50 --domain 5.3e35

    Parameters
    ----------
    people
        People in the log (U).
    items_per_person
        Most items that one person contributes (m).
    epsilon
        Privacy loss of one person, at most.
    threshold
        People who make an item very frequent (tau + xi).
    domain
        How many items there could be; 5.3e35 are the pairs of queries of three words out of 900,000.
    accuracy
        Least probability with which a very frequent item is to be published (c); 0.01 unless given.
    slack
        Half the width of the band in which errors are not counted (xi); 0 unless given.
    """
    from dataclasses import asdict

    from aidos.account.impossibility import Impossibility

    common = common or Common()
    setting = Impossibility(
        people=people,
        items_per_person=items_per_person,
        epsilon=epsilon,
        very_frequent=threshold,
        domain=domain,
        accuracy=accuracy,
        slack=slack,
    )
    if common.json:
        verdict = {"nothing_is_better": setting.nothing_is_better()}
        bounds = {"proven": asdict(setting.proven), "printed": asdict(setting.printed)}
        show_json({**verdict, "errors_of_nothing_at_most": setting.most_very_frequent_items, **bounds})
    else:
        _show(setting)
    return 0


def _show(setting: Impossibility) -> None:
    from aidos.report.terminal import facts_table, rows_table

    ours, theirs = setting.proven, setting.printed
    rows = [
        ("chance that any given item is published, at least", ours.chance_of_any_item, theirs.chance_of_any_item),
        ("very infrequent items published, expected, at least", ours.wrong_items, theirs.wrong_items),
        ("size of the domain that suffices", ours.domain_that_suffices, theirs.domain_that_suffices),
    ]
    columns = ("every epsilon-DP algorithm", "counts of people", "as printed in the paper")
    show(rows_table(columns, [(words, f"{left:.3g}", f"{right:.3g}") for words, left, right in rows]))
    verdict = (
        "publishing nothing has fewer errors than any such algorithm"
        if setting.nothing_is_better()
        else "the bound does not rule it out: a smaller domain, a larger epsilon or a lower threshold helps"
    )
    errors = f"{setting.most_very_frequent_items:.3g}"
    show(facts_table([("errors of publishing nothing, at most", errors), ("so", verdict)]))


PARTS = {"impossibility": impossibility}
