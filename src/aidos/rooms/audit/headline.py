"""The conclusion of an audit in words: the sentence that stands above everything, what is missing, and every test.

The sentence follows from the conclusion alone, and the conclusion from all tests together: nothing here looks at a
single test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aidos.ingest.results.checks import Remark
from aidos.report.values import counted
from aidos.rooms.audit.conclusion import Conclusion, Grant, Kind, Lack
from aidos.rooms.audit.findings import AuditFinding
from aidos.rooms.audit.wording import listed, searches_words

__all__ = ["KINDS", "MEANINGS", "granted_words", "lack_remarks", "missing_words", "rows_of_tests", "verdict_words"]

KINDS: Mapping[Kind, str] = {
    "topic": "personalised by topic",
    "not-topic": "differs, but not by topic",
    "place": "differs by place",
    "time": "differs by time",
    "nothing": "nothing found",
    "unknown": "cannot be told with these data",
}
"""What each conclusion is called."""
LACKS: Mapping[Lack, tuple[str, str]] = {
    "place": (
        "the lists do not say from which place they were asked",
        "note the place of each list (column place), or vouch for one place with --granted place",
    ),
    "other-place": (
        "the lists with the account are from another place than those without",
        "fetch a second list without an account from the place of the account",
    ),
    "order": (
        "the lists do not say in which order they were asked",
        "note the turn of each list (column turn), or vouch for coin tosses with --granted order",
    ),
    "fixed-order": (
        "the list with the account was nearly always asked first or last, or the turn of another list says which",
        "draw lots for each search in which order its lists are asked",
    ),
    "runs": (
        "the account was asked first in long runs of searches, which chance does not give",
        "draw lots for each search in which order its lists are asked",
    ),
    "bucket": (
        "the lists do not say which variant of the service answered, and trials of a ranking look like a profile",
        "note the variant of each list (column bucket), or vouch for one variant with --granted bucket",
    ),
    "other-bucket": (
        "the lists with the account are from another variant of the service than those without",
        "fetch a list without an account from the variant that the account gets",
    ),
    "again": (
        "there is no second list without an account, so that it is not known how far lists differ anyway",
        "fetch the list without an account twice",
    ),
}
"""What is in the way, and what to do."""
GRANTED: Mapping[Grant, str] = {
    "place": "all lists of a search are from one place",
    "order": "a coin toss said which list was asked first",
    "bucket": "all lists are from one variant of the service",
}
MEANINGS: Mapping[Kind, str] = {
    "topic": "",
    "not-topic": (
        "The lists with your account are further from those without than these are from each other, but what moved "
        "goes along with no topic beyond what ranks, single searches or single sites explain. The service may try out "
        "another ranking on your account, go by your language or device, or by interests that are not among these "
        "topics."
    ),
    "place": (
        "Lists without an account differ by the place that they were asked from. Those with your account do not "
        "differ from lists without one of the same place, as far as can be seen here."
    ),
    "time": (
        "Lists without an account change while they are asked. Those with your account do not differ beyond that, as "
        "far as can be seen here."
    ),
    "nothing": (
        "The lists with your account are no further from those without than these are from each other, and what moved "
        "is about no topic in particular: lists that differ by chance would look like this. It does not mean that the "
        "service holds no profile of you. It may personalise other searches than these, go by something else than "
        "topics, such as your place or language, or pull too little to be seen here."
    ),
    "unknown": "",
}


def verdict_words(finding: AuditFinding) -> str:
    """The conclusion in a plain sentence or two."""
    if finding.detected:
        return _by_topic(finding)
    found = finding.conclusion
    asked = counted(finding.queries, "search", "searches")
    match found.kind:
        case "not-topic":
            return (
                f"Your results differ in {asked}, but not by topic: more moved than chance would move, and it goes "
                "along with no topic."
            )
        case "place":
            more = _account_unknown(found)
            return f"Results differ by place in {asked}, also without an account.{more}"
        case "time":
            more = _account_unknown(found)
            return f"Results differ by time in {asked}, also without an account.{more}"
        case "unknown" if found.lacks == ("again",):
            return f"It cannot be told with these data whether your results differ: {LACKS['again'][0]}."
        case "unknown":
            reasons = "; ".join(LACKS[lack][0] for lack in found.lacks)
            return (
                f"Your results differ in {asked}, but it cannot be told with these data whether by your account: "
                f"{reasons}."
            )
        case _:
            ways = "by topic" if found.by_lists is None else "by topic or in any other way"
            return f"Nothing found in {asked}: no more moved, {ways}, than chance would move."


def _by_topic(finding: AuditFinding) -> str:
    lifted = [each.topic.name for each in finding.found if each.is_lifted]
    sunk = [each.topic.name for each in finding.found if not each.is_lifted]
    said = f"The service changes your results in {searches_words(finding.rate.value)}."
    if not finding.found:
        return f"{said} It goes by topics, but it cannot be told which."
    does = [f"lifts results about {listed(lifted)}"] if lifted else []
    does += [f"sinks results about {listed(sunk)}"] if sunk else []
    return f"{said} It {', and '.join(does)}."


def _account_unknown(found: Conclusion) -> str:
    reasons = "; ".join(LACKS[lack][0] for lack in found.lacks)
    return (
        f" Whether your account adds to it cannot be told: {reasons}."
        if reasons
        else " Your account adds nothing seen."
    )


def missing_words(finding: AuditFinding) -> str:
    """What to do so that it can be told; empty where it was told."""
    return "; ".join(LACKS[lack][1] for lack in finding.conclusion.lacks)


def granted_words(finding: AuditFinding) -> str:
    """What is on the person's word, in a sentence; empty where nothing is."""
    named = [GRANTED[name] for name in finding.conclusion.granted]
    return f"On your word, not on what the lists say: {'; '.join(named)}." if named else ""


def lack_remarks(lacks: Iterable[Lack]) -> tuple[Remark, ...]:
    """What would keep an audit from telling, to be known before anything is learned."""
    return tuple(Remark(kind=lack, sentence=LACKS[lack][0], remedy=LACKS[lack][1]) for lack in lacks)


def rows_of_tests(finding: AuditFinding) -> Iterator[tuple[str, str]]:
    """Every test that was made, with its p-value."""
    found = finding.conclusion
    told = {
        "the account, by topic": found.by_topic,
        "the account, in any way": found.by_lists,
        "topics, beyond ranks, searches and sites": found.beyond,
        "places, without an account": found.by_place,
        "time, without an account": found.by_time,
    }
    for name, p_value in told.items():
        yield name, "not tested" if p_value is None else f"p = {p_value:.2g}"
