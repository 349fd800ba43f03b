"""Items and sets of any table: the work that one person can make is limited by public numbers."""

import pyarrow as pa
import pytest

from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.count_gaussian import CountGaussian
from aidos.rooms.publish.items import items_for_sets
from aidos.rooms.publish.tables import TableRelease
from aidos.rooms.publish.zealous import Zealous

WEAK = CountGaussian(epsilon=20.0, delta=0.01, items_per_person=3)


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=2, memory="500MB") as opened:
        yield opened


def baskets(engine, people, hoarder=0):
    """People with bread and butter, and one with so many things of her own."""
    rows = [(f"c{number}", thing) for number in range(people) for thing in ("bread", "butter")]
    rows += [("hoarder", f"thing {number}") for number in range(hoarder)]
    return engine.table(pa.table({"who": [who for who, _ in rows], "what": [what for _, what in rows]}))


def release_of_sets(mechanism=WEAK, largest=3):
    return TableRelease(mechanism=mechanism, person="who", columns=("what",), largest_set=largest)


def test_a_person_with_thousands_of_items_has_no_more_sets_than_the_public_number(engine):
    """3,000 items have 4.5 billion sets of three: without the cut this would not end."""
    shop = release_of_sets()
    kept = shop.set_items(baskets(engine, 2, hoarder=3000), b"salt")
    sizes = dict(kept.rows("select person, count(*) from {table} group by all"))
    assert sizes == {"c0": 2, "c1": 2, "hoarder": items_for_sets(3, 3)}
    assert items_for_sets(3, 3) == 18
    made = shop.run(baskets(engine, 60, hoarder=3000), Noise(1))["items"]
    assert set(made.items()) == {("bread",), ("butter",), ("bread & butter",)}


def test_other_people_do_not_change_of_which_items_sets_are_made(engine):
    shop = release_of_sets()
    alone = shop.set_items(baskets(engine, 0, hoarder=50), b"salt").rows()
    among = shop.set_items(baskets(engine, 9, hoarder=50), b"salt").rows("from {table} where person = 'hoarder'")
    assert sorted(alone) == sorted(among)


def test_the_cut_before_sets_is_secret_except_for_the_probabilistic_promise(engine, monkeypatch):
    salts = []
    cut = TableRelease.set_items
    monkeypatch.setattr(TableRelease, "set_items", lambda self, data, salt: salts.append(salt) or cut(self, data, salt))
    for mechanism in (WEAK, Zealous(promise="probabilistic", people=10)):
        for seed in (1, 2):
            release_of_sets(mechanism).run(baskets(engine, 3), Noise(seed))
    assert salts[0] != salts[1]
    assert salts[2:] == [b"", b""]


def test_sets_of_more_than_five_are_refused_when_they_are_asked_for():
    with pytest.raises(ParameterError, match="largest_set"):
        release_of_sets(largest=6)
