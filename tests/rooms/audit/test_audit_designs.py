"""What lists can be compared with, from what they say of how they were fetched."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from audit_results import ask

from aidos.core.resultpairs import SIDES, Fetch
from aidos.rooms.audit.chance import Signs, sign_flip_p_values
from aidos.rooms.audit.conclusion import GRANTS
from aidos.rooms.audit.designs import arrange

NUMBER = 60


@pytest.fixture(scope="module")
def pairs():
    return ask(np.random.default_rng(0), queries=NUMBER, again=True)


def fetched(pairs, told):
    """The same pairs with what ``told`` says of each list, by the number of the query."""
    return [replace(pair, fetches=tuple(Fetch(**each) for each in told(number))) for number, pair in enumerate(pairs)]


def test_lists_that_were_asked_by_lot_from_one_place_lack_nothing(pairs):
    arranged, design = arrange(pairs)
    assert arranged == tuple(pairs)
    assert design.lacks == ()
    assert design.second.all()
    turns = np.array([[fetch.turn for fetch in pair.fetches] for pair in pairs])
    assert design.account.signs.later.tolist() == np.sign(turns[:, 1] - turns[:, 2]).tolist()
    assert design.time.signs.later.tolist() == np.sign(turns[:, 2] - turns[:, 0]).tolist()
    queries, furthest = design.turns
    both = [(0, 2), (0, 1), (2, 1)]
    for query, number in zip(queries.tolist(), furthest.tolist(), strict=True):
        assert abs(turns[query][both[number][0]] - turns[query][both[number][1]]) == 2


def test_what_is_not_written_down_is_missing_unless_it_is_granted(pairs):
    bare = [replace(pair, fetches=()) for pair in pairs]
    assert set(arrange(bare)[1].lacks) == set(GRANTS)
    assert arrange(bare, ("place", "order"))[1].lacks == ("bucket",)
    granted = arrange(bare, GRANTS)[1]
    assert granted.lacks == ()
    assert granted.granted == GRANTS
    assert granted.account.signs.later is None


@pytest.mark.parametrize(("name", "lack"), [("place", "other-place"), ("bucket", "other-bucket")])
def test_what_lists_say_against_it_is_not_granted(pairs, name, lack):
    apart = [
        replace(pair, fetches=tuple(replace(fetch, **{name: "b" if side == "personalised" else "a"})
                for side, fetch in zip(SIDES, pair.fetches, strict=True)))
        for pair in pairs
    ]  # fmt: skip
    assert arrange(apart, GRANTS)[1].lacks == (lack,)


def test_the_list_from_the_place_of_the_account_is_the_one_that_is_compared(pairs):
    def told(number):
        turns = np.random.default_rng(number).permutation(3) + 1
        return [{"place": place, "turn": int(turn), "bucket": "x"} for place, turn in zip("ABB", turns, strict=True)]

    given = fetched(pairs, told)
    arranged, design = arrange(given)
    assert design.lacks == ()
    assert not design.second.any()
    assert [pair.vanilla for pair in arranged] == [pair.again for pair in given]
    assert [pair.fetch("vanilla") for pair in arranged] == [pair.fetch("again") for pair in given]
    assert len(design.place.queries) == NUMBER
    assert design.time is None
    turns = np.array([[fetch.turn for fetch in pair.fetches] for pair in given])
    assert design.account.signs.later.tolist() == np.sign(turns[:, 1] - turns[:, 2]).tolist()
    assert design.place.signs.later.tolist() == np.sign(turns[:, 0] - turns[:, 2]).tolist()


@pytest.mark.parametrize(
    ("later", "lack"),
    [
        (lambda number: True, ("fixed-order",)),
        (lambda number: number > 3, ("fixed-order",)),
        (lambda number: number < NUMBER / 2, ("runs",)),
        (lambda number: number % 4 > 0, ()),
    ],
)
def test_an_order_that_chance_did_not_give_is_refused(pairs, later, lack):
    begun = datetime(2026, 3, 1)  # noqa: DTZ001

    def told(number):
        account = 90 if later(number) else -90
        moments = [begun + timedelta(hours=number, seconds=seconds) for seconds in (-200, account, 0)]
        return [{"place": "A", "bucket": "x", "when": when} for when in moments]

    given = [replace(pair, when=pair.fetches[0].when) for pair in fetched(pairs, told)]
    design = arrange(given)[1]
    assert design.lacks == lack
    assert (design.account.signs.later is None) == bool(lack)


def test_without_a_second_list_the_gap_says_who_came_first(pairs):
    alone = [
        replace(pair, again=None, fetches=(), place="A", gap=timedelta(seconds=30 if number % 3 else -30))
        for number, pair in enumerate(pairs)
    ]
    design = arrange(alone, ("bucket",))[1]
    assert design.lacks == ()
    assert not design.controlled
    assert design.account.signs.later.sum() == NUMBER / 3


def test_with_the_order_known_drift_is_no_profile_and_a_profile_is_none_the_less():
    alarms, seen = 0, 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        later = np.where(generator.random(80) < 0.8, 1.0, -1.0)
        noise = generator.normal(0, 1, (80, 5))
        drifted, pulled = noise + 1.5 * later[:, None], noise + 1.5 * later[:, None] + [0.8, 0, 0, 0, 0]
        assert sign_flip_p_values(drifted, 199, generator).overall <= 0.05
        alarms += sign_flip_p_values(drifted, 199, generator, signs=Signs(later)).overall <= 0.05
        seen += sign_flip_p_values(pulled, 199, generator, signs=Signs(later)).overall <= 0.05
    # Of 60 at 5 %, more than 8 come in one of 200 runs.
    assert alarms <= 8
    assert seen >= 45
