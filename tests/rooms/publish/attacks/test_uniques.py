import pyarrow as pa
import pytest

from aidos.errors import InputError
from aidos.rooms.publish.attacks.scenes import PairScene, QueryScene
from aidos.rooms.publish.attacks.uniques import UniqueScan, scan_uniques


def test_items_are_sorted_by_how_many_people_have_them(engine, nobody):
    scene = QueryScene(trials=4)
    log = scene.ladder(nobody, 4)
    released = engine.table(pa.table({"user_query": [*scene.guesses(), "of nobody"], "people": [9, 9, 9, 9, 9]}))
    finding = scan_uniques(released, log)
    assert finding.about == "the people of the log"
    assert finding.value == UniqueScan(kind="queries", items=5, of_one=1, of_few=3, of_nobody=1)
    assert "LEAK: 1 released item is" in finding.value.verdict


def test_pairs_are_looked_up_as_pairs(engine, nobody):
    scene = PairScene(trials=6, crowd=5)
    first, second, *_ = scene.known_queries()
    released = engine.table(pa.table({"user_query": [second], "next_query": [first], "count": [3]}))
    found = scan_uniques(released, scene.plant(nobody, 0)).value
    assert (found.kind, found.items, found.of_one + found.of_nobody) == ("pairs", 1, 1)


def test_nothing_released_and_nothing_found_are_told_apart(engine, nobody):
    scene = QueryScene(trials=2)
    empty = engine.table(pa.table({"user_query": pa.array([], pa.string())}))
    assert scan_uniques(empty, nobody).value.verdict == "nothing was released"
    harmless = engine.table(pa.table({"user_query": [scene.guesses()[0]]}))
    assert "no released item" in scan_uniques(harmless, scene.plant(nobody, 8)).value.verdict


def test_a_table_without_items_is_refused(engine, nobody):
    with pytest.raises(InputError, match="no column of items"):
        scan_uniques(engine.table(pa.table({"x": [1]})), nobody)
