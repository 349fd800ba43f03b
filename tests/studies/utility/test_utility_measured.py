"""From which size on a fact came out, as it was measured once."""

import pytest

from aidos.studies.utility.outcome import NO, UNKNOWN, UNMEASURED, YES, Measurements, measured_where, measurements

KINDS = ("keywords", "queries", "clicks", "pairs")
KEYS = {
    *(f"{what}-{kind}" for what in ("distinct", "total", "difference") for kind in KINDS),
    *("first-threshold", "cache-close", "cache-k-anonymity", "cache-others", "cache-limit"),
    *("suggestion-precision", "suggestion-coverage", "suggestion-limit"),
    *(f"{ranker}-{among}" for ranker in ("random-walk", "implicit-feedback") for among in ("answered", "all")),
    *("noise-falls", "noise-least", "mechanisms-added-1", "mechanisms-replaced-1"),
}


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ((YES, YES, YES), "10 people"),
        ((YES, NO, YES), "1,000 people"),
        ((UNKNOWN, YES, YES), "100 people"),
        ((NO, YES, UNMEASURED), "100 people"),
        ((YES, YES, NO), "only at 10 and 100"),
        ((NO, NO, UNKNOWN), "at no size"),
        ((UNMEASURED, UNMEASURED, UNMEASURED), "at no size"),
    ],
)
def test_a_fact_holds_from_where_it_stays(verdicts, words):
    known = Measurements(version="0", seed=7, settings="", sizes=(10, 100, 1_000), facts={"it": verdicts})
    assert known.holds_from("it") == words
    assert known.holds_from("another") == UNMEASURED


def test_every_fact_was_measured_at_every_size():
    held = measurements()
    assert set(held.facts) == KEYS
    assert {10_000, 100_000, 650_000} <= set(held.sizes)
    assert held.sizes == tuple(sorted(held.sizes))
    words = {YES, NO, UNKNOWN}
    assert all(len(verdicts) == len(held.sizes) and set(verdicts) <= words for verdicts in held.facts.values())
    assert all(f"{size:,}" in measured_where() for size in held.sizes)
