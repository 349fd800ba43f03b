"""The facts that the equity-of-attention papers report, looked for again: 20,000 rankings each.

    python benchmarks/fairness_facts.py [listings.csv]

Synthetic shapes under singular and geometric attention; with a table of listings that has a column
review_scores_rating, also the comparison of the exact answer with the paper's prefilter. Prints what was found and ends
with status 1 when a fact does not hold.
"""

from __future__ import annotations

import sys

import numpy as np

from aidos.ingest.rankings.ratings import read_ratings
from aidos.rooms.fairness.course import Course, Scenario, shape_scenario, simulate
from aidos.rooms.fairness.equity import EquityOfAttention

RANKINGS = 20_000
SUBJECTS = 100
ATTENTION = {"singular": "singular", "geometric": "geometric:share=0.5,positions=5"}
FLOORS = (0.6, 0.8, 0.9, 1.0)


def told(fact: str, *, holds: bool) -> bool:
    print(f"  {'holds' if holds else 'DOES NOT HOLD'}: {fact}")
    return holds


def run(scenario: Scenario, attention: str, method: str, floor: float = 0.8) -> Course:
    course = simulate(
        scenario, EquityOfAttention(attention=attention, quality_floor=floor), method=method, rankings=RANKINGS
    )
    kept = "" if course.quality_floor is None else f" at {floor:g}"
    words = f"{scenario.name}, {attention.partition(':')[0]}, {method}{kept}"
    print(f"{words:<48} unfairness {course.final:>10,.1f}   least quality {course.quality.min():.4f}")
    return course


def synthetic() -> list[bool]:
    """What the paper says of its shapes."""
    facts = []
    for name, attention in ATTENTION.items():
        courses = {
            (shape, method): run(shape_scenario(shape, SUBJECTS), attention, method)
            for shape in ("uniform", "linear", "exponential")
            for method in ("relevance", "objective", "adaptive")
        }
        linear = {method: courses["linear", method] for method in ("relevance", "objective", "adaptive")}
        grown = linear["relevance"].unfairness
        floors_kept = all(course.quality.min() >= 0.8 - 1e-9 for key, course in courses.items() if key[1] == "adaptive")
        facts += [
            told(
                "the order by relevance grows linearly",
                holds=bool(np.allclose(grown / grown[0], np.arange(1, RANKINGS + 1))),
            ),
            told("a floor costs fairness against no floor", holds=linear["objective"].final < linear["adaptive"].final),
            told(
                "at a floor of 0.8 it still beats relevance", holds=linear["adaptive"].final < linear["relevance"].final
            ),
            told("no ranking is below its floor", holds=floors_kept),
        ]
        if name == "singular":
            each_round = courses["uniform", "adaptive"].unfairness[SUBJECTS - 1 :: SUBJECTS]
            same = courses["exponential", "adaptive"].unfairness == courses["exponential", "relevance"].unfairness
            facts += [
                told("equal subjects: balanced after every round", holds=bool(each_round.max() < 1e-6)),
                told("halving relevance: nobody else may be first", holds=bool(same.all())),
            ]
    return facts


def listings(path: str) -> list[bool]:
    """The exact answer against the paper's prefilter on real ratings, one position."""
    table = read_ratings(path, columns=["review_scores_rating"])
    rated = ~np.isnan(table.ratings[:, 0])
    scenario = Scenario(
        name="listings",
        subject_ids=tuple(np.asarray(table.subject_ids)[rated].tolist()),
        relevance=table.ratings[rated].T.copy(),
        queries=("review_scores_rating",),
    )
    print(f"{int(rated.sum()):,} rated listings")
    worst = run(scenario, "singular", "relevance").final
    facts = []
    for floor in FLOORS:
        exact, absolute, prefiltered = (
            run(scenario, "singular", method, floor).final for method in ("adaptive", "absolute", "prefilter")
        )
        facts.append(told("the exact answer is no less fair than the prefilter", holds=exact <= prefiltered + 1e-6))
        facts.append(told("both beat the order by relevance", holds=max(exact, absolute, prefiltered) < worst))
    return facts


def main(arguments: list[str]) -> int:
    """Print the facts; give the exit status."""
    facts = synthetic() + (listings(arguments[0]) if arguments else [])
    return 0 if all(facts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
