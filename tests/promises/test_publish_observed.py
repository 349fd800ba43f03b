"""What an observer can tell from real runs: a lower bound on epsilon that must stay below the claim, and does not when
the code is broken on purpose.

One run over thousands of separate copies of a small scene gives thousands of independent trials. The observer adds up
what was published of the victim's items and looks at how often it reaches a level. Levels are chosen in a rehearsal
with other seeds; the counts that decide are replaced by Clopper-Pearson bounds, each wrong with probability 0.0005 at
most. Two signs are tried, so a sound mechanism fails one of these checks with probability 0.002 at most (seeds are
fixed: it passes always or never).
"""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from aidos.account.thresholds import Calibration
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.publish import counts, zealous
from aidos.rooms.publish.attacks.distinguisher import Rate
from aidos.rooms.publish.count_gaussian import CountGaussian
from aidos.rooms.publish.laplace_threshold import LaplaceThreshold
from aidos.rooms.publish.policy_gaussian import PolicyGaussian
from aidos.rooms.publish.rounds import Rounds
from aidos.rooms.publish.steered import SteeredCounts, SteeredRounds
from aidos.rooms.publish.truncated_geometric import TruncatedGeometric
from aidos.rooms.publish.weighted_gaussian import WeightedGaussian
from aidos.rooms.publish.zealous import Zealous

FACTS = PublicFacts()
CONFIDENCE = 1 - 0.0005
ASKED = {"epsilon": 1.0, "delta": 0.02, "items_per_person": 2}
MECHANISMS = (
    CountGaussian,
    LaplaceThreshold,
    PolicyGaussian,
    Rounds,
    SteeredCounts,
    SteeredRounds,
    TruncatedGeometric,
    WeightedGaussian,
    Zealous,
)


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=2, memory="1GB") as opened:
        yield opened


def scenes(engine, *, copies, others, items, victim):
    """Contributions: in each copy, each of the items has so many others (two items each), and maybe the victim."""
    crowd = f"""
        select 'c' || c || 'g' || (i // 2) || 'p' || p as person, 'c' || c || 'i' || i as item
        from range({copies}) a(c), range({items}) b(i), range({others}) d(p)
    """
    her = f"select 'c' || c || 'victim', 'c' || c || 'i' || i from range({copies}) a(c), range({items}) b(i)"
    return engine.view(f"{crowd} union all {her}" if victim else crowd)


def scores(mechanism, data, copies, seed):
    """What was published of each copy, added up: counts where there are any, else items."""
    made = mechanism.run(data, Noise(seed))
    values = made.people().values() if made.has_counts else [1] * len(made)
    total = np.zeros(copies)
    for (item,), value in zip(made.items(), values, strict=True):
        total[int(item[1 : item.index("i")])] += value
    return total


def observed_epsilon(engine, mechanism, *, copies, others, items):
    """With her against without her, and the other way round; at levels chosen in rehearsal."""
    both = [scenes(engine, copies=copies, others=others, items=items, victim=victim) for victim in (False, True)]
    rehearsed = [scores(mechanism, data, copies, 100 + place) for place, data in enumerate(both)]
    decided = [scores(mechanism, data, copies, 200 + place) for place, data in enumerate(both)]
    found = 0.0
    for sign, (less, more) in ((1, (0, 1)), (-1, (1, 0))):
        level = max(
            np.unique(np.concatenate(rehearsed)),
            key=lambda level: bound(sign * rehearsed[more] >= sign * level, sign * rehearsed[less] >= sign * level),
        )
        found = max(found, bound(sign * decided[more] >= sign * level, sign * decided[less] >= sign * level))
    return found


def bound(right, wrong):
    gained = Rate(int(right.sum()), len(right)).not_below(CONFIDENCE) - ASKED["delta"]
    return log(gained / Rate(int(wrong.sum()), len(wrong)).not_above(CONFIDENCE)) if gained > 0 else 0.0


def others_for(mechanism):
    """Where the output says most: well above a threshold on counts, just at one on sets."""
    asked = mechanism.calibration(FACTS)
    if isinstance(mechanism, TruncatedGeometric):
        return int(asked["as_often_as_not_from"])
    if isinstance(mechanism, CountGaussian | LaplaceThreshold | SteeredCounts | Zealous):
        return int(asked.get("threshold", asked.get("second_threshold"))) + 12
    return round(asked.get("threshold_3", asked.get("threshold")) * 2**0.5)


@pytest.mark.parametrize("kind", MECHANISMS, ids=lambda kind: kind.__name__)
def test_no_observer_of_two_common_items_sees_more_than_was_claimed(engine, kind):
    mechanism = kind(**ASKED)
    assert observed_epsilon(engine, mechanism, copies=2000, others=others_for(mechanism), items=2) <= mechanism.epsilon


@pytest.mark.parametrize("kind", MECHANISMS, ids=lambda kind: kind.__name__)
def test_somebody_with_many_items_gains_nothing_by_them(engine, kind):
    mechanism = kind(**ASKED)
    assert observed_epsilon(engine, mechanism, copies=200, others=others_for(mechanism), items=20) <= mechanism.epsilon


@pytest.mark.parametrize("kind", MECHANISMS, ids=lambda kind: kind.__name__)
def test_items_of_one_person_get_out_no_more_often_than_delta(engine, kind):
    mechanism = kind(**ASKED)
    data = scenes(engine, copies=8000, others=0, items=2, victim=True)
    shown = scores(mechanism, data, 8000, 300) > 0
    assert Rate(int(shown.sum()), len(shown)).not_below(CONFIDENCE) <= mechanism.delta


@pytest.mark.parametrize("kind", [CountGaussian, LaplaceThreshold], ids=lambda kind: kind.__name__)
def test_half_the_noise_is_seen(engine, kind, monkeypatch):
    mechanism = kind(**ASKED)
    true = mechanism._calibrated()
    half = Calibration(true.scale / 2, true.threshold)
    monkeypatch.setattr(f"{kind.__module__}.{kind.__name__}._calibrated", lambda self: half)
    assert observed_epsilon(engine, mechanism, copies=8000, others=others_for(mechanism), items=2) > mechanism.epsilon


def test_a_quarter_of_the_noise_is_seen_in_zealous(engine, monkeypatch):
    mechanism = Zealous(**ASKED)
    true = mechanism._calibrated()
    quarter = replace(true, scale=true.scale / 4)  # it hides a replacement, so half of it still hides a removal
    monkeypatch.setattr(Zealous, "_calibrated", lambda self: quarter)
    assert observed_epsilon(engine, mechanism, copies=8000, others=others_for(mechanism), items=2) > mechanism.epsilon


@pytest.mark.parametrize("kind", [CountGaussian, LaplaceThreshold, Zealous], ids=lambda kind: kind.__name__)
def test_missing_bounds_on_contributions_are_seen(engine, kind, monkeypatch):
    for module in (counts, zealous):
        monkeypatch.setattr(module, "bounded", lambda contributions, limit, salt: contributions)
    mechanism = kind(**ASKED)
    assert observed_epsilon(engine, mechanism, copies=500, others=others_for(mechanism), items=60) > mechanism.epsilon


@pytest.mark.parametrize("kind", [LaplaceThreshold, Zealous], ids=lambda kind: kind.__name__)
def test_a_lower_threshold_is_seen_in_items_of_one_person(engine, kind, monkeypatch):
    """Off by one is a factor of e^(1/scale) in delta: the enumeration finds it; off by two shows in runs."""
    mechanism = kind(**ASKED)
    true = mechanism._calibrated()
    name = "threshold" if kind is LaplaceThreshold else "second_threshold"
    lower = replace(true, **{name: getattr(true, name) - 2})
    monkeypatch.setattr(kind, "_calibrated", lambda self: lower)
    data = scenes(engine, copies=20_000, others=0, items=2, victim=True)
    shown = scores(mechanism, data, 20_000, 300) > 0
    assert Rate(int(shown.sum()), len(shown)).not_below(CONFIDENCE) > mechanism.delta
