"""A log in numbers says what the log said: people, items and counts, and what it has none of."""

from collections import Counter
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
import utility_logs

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError
from aidos.rooms.publish.items import KINDS, contributions
from aidos.studies.utility.originals import gather_originals

MOMENT = datetime.fromisoformat("2024-03-05T09:00:00")


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=1) as made:
        yield made


@pytest.fixture(scope="module")
def originals(engine, tmp_path_factory):
    return gather_originals(engine.table(utility_logs.table()), tmp_path_factory.mktemp("originals"))


def in_words(originals, kind):
    """The items of a kind as texts."""
    queries = originals.items("queries").column("user_query").to_pylist()
    items = originals.items(kind).to_pylist()
    named = {"user_query", "next_query"} if kind in {"clicks", "pairs"} else set()
    return [tuple(queries[value] if name in named else value for name, value in item.items()) for item in items]


@pytest.mark.parametrize("kind", list(KINDS))
def test_counts_are_those_of_the_contributions(engine, originals, kind):
    log = contributions(engine.table(utility_logs.table()), KINDS[kind])
    true = Counter(tuple(row[1:]) for row in log.rows())
    assert dict(zip(in_words(originals, kind), originals.counts(kind).tolist(), strict=True)) == true
    assert (np.diff(originals.counts(kind)) <= 0).all()
    numbered = originals.contributions(engine, kind)
    assert list(numbered.columns) == ["person", "item"]
    assert numbered.count() == sum(true.values())
    assert originals.mean_items(kind) == pytest.approx(sum(true.values()) / 30)


def test_a_limit_keeps_so_many_items_of_each_person_by_the_seed(engine, originals, tmp_path):
    whole = Counter(person for person, _ in originals.contributions(engine, "keywords").rows())
    kept = [set(originals.contributions(engine, "keywords", limit).rows()) for limit in (1, 2, 100)]
    for limit, rows in zip((1, 2, 100), kept, strict=True):
        assert Counter(person for person, _ in rows) == {person: min(limit, had) for person, had in whole.items()}
    assert kept[0] < kept[1] < kept[2]
    log = engine.table(utility_logs.table())
    other = gather_originals(log, tmp_path, seed=1)
    assert set(other.contributions(engine, "keywords", 1).rows()) != kept[0]
    assert set(other.contributions(engine, "keywords").rows()) == kept[2]


def test_the_workload_counts_every_asking(originals):
    asked = Counter(word for row in utility_logs.rows(clicks=False) for word in set(row["user_query"].split()))
    keywords = originals.items("keywords").column("keyword").to_pylist()
    assert dict(zip(keywords, originals.workload.tolist(), strict=True)) == asked


def test_a_log_without_clicks_says_so_and_has_the_rest(engine, tmp_path):
    found = gather_originals(engine.table(utility_logs.table(clicks=False)), tmp_path)
    assert found.kinds == ("keywords", "queries", "pairs")
    with pytest.raises(InputError, match="no clicks: it does not say which results were clicked"):
        found.require("clicks")


def test_one_query_a_person_makes_no_pairs(engine, tmp_path):
    rows = [{"client_id": f"p{n}", "timestamp": MOMENT, "user_query": "jazz", "object_id": None} for n in range(5)]
    found = gather_originals(engine.table(pa.Table.from_pylist(rows)), tmp_path)
    assert set(found.left_out) == {"clicks", "pairs"}
    with pytest.raises(InputError, match="nobody asked two different queries") as caught:
        found.require("queries", "pairs")
    assert "several queries in one visit" in caught.value.hint


def test_a_log_of_one_person_or_without_times_is_refused(engine, tmp_path):
    rows = [{"client_id": "p", "timestamp": MOMENT, "user_query": "jazz"}]
    with pytest.raises(InputError, match="1 people"):
        gather_originals(engine.table(pa.Table.from_pylist(rows)), tmp_path)
    with pytest.raises(InputError, match="no column timestamp"):
        gather_originals(engine.table(pa.table({"client_id": ["p"], "user_query": ["jazz"]})), tmp_path)
