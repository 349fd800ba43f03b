"""Orders of asking that look like chance and are none: a third list tells which of the two came first, or when."""

from dataclasses import replace

import numpy as np
import pytest
from audit_results import ask
from null_worlds import Collecting, NullWorld

from aidos.core.resultpairs import Fetch
from aidos.rooms.audit.auditing import describe_pairs
from aidos.rooms.audit.chance import Signs, sign_flip_p_values
from aidos.rooms.audit.concluding import weigh
from aidos.rooms.audit.designs import arrange

NUMBER = 60
ENDS = ([1, 3, 2], [2, 1, 3])
"""The account last, or first: turns of the first list without an account, of the account's, of the second without."""


def asked(turns):
    """Pairs whose lists were asked in these turns."""
    pairs = ask(np.random.default_rng(0), queries=NUMBER, again=True)
    return [
        replace(pair, fetches=tuple(Fetch(place="A", bucket="x", turn=turn) for turn in turns(number)))
        for number, pair in enumerate(pairs)
    ]


def by_coin(one, other):
    """One of two orders for each query."""
    coins = np.random.default_rng(1).integers(2, size=NUMBER)
    return lambda number: (one, other)[coins[number]]


def test_a_list_that_tells_which_came_first_leaves_nothing_to_chance():
    # With the account first both others follow, so that drift goes on for longer than with the account last.
    assert arrange(asked(by_coin(*ENDS)))[1].lacks == ("fixed-order",)


def test_the_list_is_compared_that_a_coin_set_before_or_behind():
    given = asked(by_coin([1, 2, 3], [2, 1, 3]))  # the second list without an account always last
    arranged, design = arrange(given)
    assert design.lacks == ()
    assert design.second.all()
    assert [pair.again for pair in arranged] == [pair.vanilla for pair in given]
    assert len(set(design.account.signs.later.tolist())) == 2


def test_an_order_in_runs_is_seen_in_the_order_of_the_file():
    lists = ([1, 2, 3], [2, 1, 3])
    assert arrange(asked(lambda number: lists[number // 10 % 2]))[1].lacks == ("runs",)
    assert arrange(asked(lambda number: lists[number % 3 > 0]))[1].lacks == ()


def test_signs_are_dealt_out_anew_within_groups_alone():
    later = np.array([1.0, -1, 1, 1, -1, -1, -1, 1])
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    signs = Signs(later, groups)
    assert signs.rarer == 3
    drawn = signs.draw(200, 8, np.random.default_rng(0))
    assert {tuple(row) for row in drawn[:, 6:]} == {(-1.0, 1.0), (1.0, -1.0)}
    assert all((drawn[:, groups == each].sum(axis=1) == later[groups == each].sum()).all() for each in range(3))
    freed = signs.freed(np.random.default_rng(1).normal(size=(8, 2)))
    assert [freed[groups == each].mean(axis=0) for each in range(3)] == [pytest.approx([0, 0])] * 3
    assert Signs(later, np.zeros(8, dtype=int)).spread(8).tolist() == Signs(later).spread(8).tolist()


def test_drift_that_lasts_longer_in_one_order_is_no_profile():
    alarms, before, seen = 0, 0, 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        groups = generator.integers(2, size=90)
        later = np.where(generator.random(90) < np.where(groups, 0.8, 0.2), 1.0, -1.0)
        drift = 1.5 * (later * (1 + groups))[:, None]
        noise = generator.normal(0, 1, (90, 5))
        alarms += sign_flip_p_values(noise + drift, 199, generator, signs=Signs(later, groups)).overall <= 0.05
        before += sign_flip_p_values(noise + drift, 199, generator, signs=Signs(later)).overall <= 0.05
        pulled = noise + drift + [0.8, 0, 0, 0, 0]
        seen += sign_flip_p_values(pulled, 199, generator, signs=Signs(later, groups)).overall <= 0.05
    # Of 60 at 5 %, more than 8 come in one of 200 runs.
    assert alarms <= 8
    assert before >= 30
    assert seen >= 45


@pytest.mark.parametrize("reason", ["drift", "churn"])
def test_drift_with_the_account_first_or_last_is_never_laid_to_the_account(reason):
    alarms = 0
    for seed in range(12):
        stream = np.random.default_rng([seed, 5])
        pairs, source = NullWorld(reason=reason, plan=Collecting(account_last=True)).draw(stream)
        first, _ = NullWorld(reason=reason, plan=Collecting(account_last=True)).draw(np.random.default_rng([seed, 5]))
        coins = stream.integers(2, size=len(pairs))
        # The account first is the same service with the lists in another order: 2, 3, 1 for 1, 2, 3.
        both = [
            one if coin else replace(
                other, vanilla=other.again, personalised=other.vanilla, again=other.personalised,
                fetches=tuple(replace(fetch, turn=turn) for fetch, turn in zip(other.fetches, (2, 1, 3), strict=True)),
            )
            for one, other, coin in zip(pairs, first, coins.tolist(), strict=True)
        ]  # fmt: skip
        data = describe_pairs(both, source)
        found = weigh(data.items, data.described.maps, data.design, level=0.05, seed=seed).conclusion
        alarms += found.kind in {"topic", "not-topic"}
    assert alarms == 0
