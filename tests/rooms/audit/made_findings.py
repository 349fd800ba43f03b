"""Findings of audits made by hand, for tests of what is shown of them."""

from aidos.rooms.audit.conclusion import Conclusion
from aidos.rooms.audit.findings import (
    AuditFinding,
    ListDifference,
    PowerPlan,
    Span,
    Suspicion,
    TopicFinding,
    TopicReason,
    WatchedQuery,
    WatchedResult,
)
from aidos.rooms.audit.topics.space import AuditTopic, TopicSpace

NAMES = {
    "diabetes": ("Diabetes", 3.1, True),
    "hiking": ("Hiking & <trails>", 2.2, True),
    "gambling": ("Gambling", -1.6, True),
    "chess": ("Chess", 0.4, False),
    "gardening": ("Gardening", -0.2, False),
    "opera": ("Opera", 0.0, False),
}
TOPICS = {key: AuditTopic(id=key, name=name) for key, (name, _, _) in NAMES.items()}


def span(value, off=0.8):
    return Span(value, value - off, value + off)


def results(reason="diabetes"):
    places = (3, 0, 1, 2, 4)
    return tuple(
        WatchedResult(
            title=f"Result {place + 1} about <b>something</b> with a title that is not short",
            address=f"https://site{place + 1}.example.org/a/page?q=1",
            vanilla_rank=place + 1,
            personalised_rank=now,
            reason=TopicReason(topic=TOPICS[reason], push=1.5 if place + 1 > now else -0.4)
            if place != now - 1
            else None,
        )
        for now, place in enumerate(places, start=1)
    )


def watched(query="sugar <free> snacks"):
    return WatchedQuery(query=query, strength=4.2, switch=0.97, results=results())


def conclusion(detected, **changes):
    given = {
        "kind": "topic" if detected else "nothing",
        "p_value": 0.0005 if detected else 0.41,
        "lacks": (),
        "by_topic": 0.0005 if detected else 0.41,
        "by_lists": 0.001 if detected else 0.7,
        "beyond": 0.0005 if detected else None,
        "by_place": None,
        "by_time": 0.5,
    }
    return Conclusion(**(given | changes))


def finding(**changes):
    detected = changes.get("detected", True)
    given = {
        "queries": 320,
        "changed": 180,
        "method": "learning",
        "space": TopicSpace(kind="taxonomy", topics=tuple(TOPICS.values()), source="of the default taxonomy"),
        "detected": detected,
        "level": 0.05,
        "p_value": 0.0005 if detected else 0.41,
        "conclusion": conclusion(detected),
        "controlled": True,
        "confidence": 0.95,
        "topics": tuple(
            TopicFinding(
                topic=TOPICS[key],
                weight=span(weight),
                deviation=0.4,
                shift=weight / 9,
                p_value=0.0005 if found else 0.6,
                found=found and detected,
            )
            for key, (_, weight, found) in NAMES.items()
        ),
        "rate": span(0.41, 0.05),
        "mix": span(0.9, 0.02),
        "concentration": span(1.4, 0.2),
        "evidence": tuple(watched(f"search {number} <b>") for number in range(5)),
        "differences": (
            ListDifference(measure="jaccard", mean=0.11, noise=0.02, p_value=0.0005),
            ListDifference(measure="kendall", mean=0.21, noise=0.04, p_value=0.0005),
            ListDifference(measure="rbo", mean=0.31, noise=0.06, p_value=0.0005),
            ListDifference(measure="earth-mover", mean=0.01, noise=0.001, p_value=0.0005),
        ),
        "power": PowerPlan(topic=TOPICS["chess"], chance=0.31, fewest=480, queries=1240),
        "suspicion": Suspicion(whole_file=False, pairs=()),
    }
    return AuditFinding(**(given | changes))
