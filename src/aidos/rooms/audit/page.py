"""The page about one account: whether a search service personalises its results, by which topics, and what shows it.

It is for the owner of the account and for nobody else: a finding, since it holds her searches and what the service
makes of her.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from aidos.core.mechanism import Finding
from aidos.report.dots import Dot, DotRow, dots
from aidos.report.page import (
    Block,
    Callout,
    Chapter,
    DataTable,
    Facts,
    Figure,
    ListedItem,
    Page,
    Prose,
    TwoLists,
)
from aidos.report.values import Value, counted
from aidos.rooms.audit.findings import AuditFinding, WatchedQuery, WatchedResult
from aidos.rooms.audit.headline import (
    KINDS,
    MEANINGS,
    granted_words,
    missing_words,
    rows_of_tests,
    verdict_words,
)
from aidos.rooms.audit.wording import (
    DIFFERENCE_COLUMNS,
    TOPIC_COLUMNS,
    difference_rows,
    exchanged_words,
    method_chapter,
    move_words,
    power_words,
    shown_topics,
    topic_rows,
)

__all__ = ["audit_page", "evidence_lists", "topic_figure"]

TOPICS = 14
"""Topics that are drawn; the table behind the figure has all."""
SHOWN_QUERIES = 3
"""Searches whose lists are shown whole; the others are rows of a table."""
SHOWN_RESULTS = 10
"""Of each list: a page of results as most people see it."""
ABOUT_TOPICS = (
    "The line is the typical topic: what the service does with most topics. A dot right of it is a topic whose results "
    "it puts higher for you, a dot left of it one that it puts lower. The bar says how far the number may be off. Full "
    "dots are more than chance, and their bars do not touch the line; a hollow one whose bar does not touch it either "
    "may be real, but among so many topics it may also be chance."
)
ABOUT_LISTS = (
    "The same search, without your account and with it. Arrows say where a result went, and the words beside them "
    "which topic explains it best. That is the model's explanation: the service may have had another reason. A result "
    "that one of the lists does not have stands at its end."
)
ABOUT_DIFFERENCES = (
    "Lists differ for many reasons: time, place, a service that tries things out. These numbers say how far they "
    "differ, whatever the reason, from 0 (the same) to 1 (nothing in common)."
)
NOISE = (
    "Noise is how far two lists without an account differ. Only what is above it can come from the account; p is the "
    "chance of so much more without any personalisation."
)
NO_NOISE = (
    "No search has a second list without an account, so that the noise of the service itself is not known. Fetch the "
    "list without an account twice, and this table will say how much of the difference is noise."
)


def audit_page(finding: AuditFinding, *, command: str = "", recipe: str = "", notes: Sequence[str] = ()) -> Page:
    """One page for one account; ``notes`` say what was done to the lists while they were read."""
    chapters = [
        _verdict(finding),
        *_evidence(finding),
        *_differences(finding),
        _tests(finding),
        *_warnings([*finding.warnings, *notes]),
        method_chapter(finding, command=command, recipe=recipe),
    ]
    return Page(
        title="What profile does this service hold of you?",
        lead=verdict_words(finding),
        chapters=tuple(chapters),
        source=Finding(value=finding, about="one account and its searches"),
    )


def topic_figure(finding: AuditFinding) -> Figure:
    """The weights of topics with their intervals; the table has all of them."""
    shown = shown_topics(finding, TOPICS)
    rows = [
        DotRow(
            name=each.topic.name,
            dots=(Dot(value=each.weight.value, low=each.weight.low, high=each.weight.high, full=each.found),),
        )
        for each in shown
    ]
    chart = dots("Weights of topics", rows, sides=("lower for you", "higher for you"), unit="weight of the topic")
    found, topics = len(finding.found), counted(len(finding.topics), "topic", "topics")
    more = f" The {len(shown)} that stand out most are drawn." if len(shown) < len(finding.topics) else ""
    said = (
        f"The service goes by {found} of {topics} when it orders results for you."
        if found
        else f"None of {topics} moves by more than chance."
    )
    table = DataTable(
        caption=f"All topics, with intervals of {finding.confidence:.0%}",
        columns=TOPIC_COLUMNS,
        rows=tuple(topic_rows(finding.topics)),
        numeric=("weight", "interval", "p", "rank shift"),
    )
    return Figure(chart=chart, caption=said + more, table=table)


def evidence_lists(finding: AuditFinding, watched: WatchedQuery) -> TwoLists:
    """One search, both lists side by side."""
    lifted = {each.topic.id for each in finding.topics if each.is_lifted}
    vanilla = sorted(watched.results, key=lambda each: each.vanilla_rank)
    personalised = sorted(watched.results, key=lambda each: each.personalised_rank)
    marks = [f"personalised with a probability of {watched.switch:.0%}"]
    if len(watched.results) > SHOWN_RESULTS:
        marks.append(f"the first {SHOWN_RESULTS} of {len(watched.results)} results")
    return TwoLists(
        title=f"\u201c{watched.query}\u201d",
        marks=tuple(marks),
        names=("Without your account", "With your account"),
        lists=(
            tuple(ListedItem(title=_title(each), source=_site(each)) for each in vanilla[:SHOWN_RESULTS]),
            tuple(_moved(each, lifted) for each in personalised[:SHOWN_RESULTS]),
        ),
    )


def _verdict(finding: AuditFinding) -> Chapter:
    tiles: list[tuple[str, Value]] = [
        ("searches compared", finding.queries),
        ("with lists that differ", finding.changed),
    ]
    exchanged = exchanged_words(finding)
    blocks: list[Block] = [Callout("caution", exchanged)] if exchanged else []
    if finding.detected:
        rate = finding.rate
        tiles += [
            ("personalised", f"{rate.value:.0%}"),
            ("topics it goes by", len(finding.found)),
        ]
        sure = (
            f"Lists differ for other reasons too: those of {finding.changed:,} of {finding.queries:,} do, and between "
            f"{rate.low:.0%} and {rate.high:.0%} of all searches are put down to your profile."
        )
        blocks += [Facts(tuple(tiles)), topic_figure(finding), Prose(f"{ABOUT_TOPICS}\n\n{sure}")]
        return Chapter(title="What the service does for you", blocks=tuple(blocks))
    tiles += [("topics looked at", len(finding.topics)), ("p", f"{finding.p_value:.2g}")]
    blocks.append(Facts(tuple(tiles)))
    if missing := missing_words(finding):
        blocks.append(Callout("caution", f"What would tell it: {missing}."))
    told = (MEANINGS[finding.conclusion.kind], power_words(finding) if finding.conclusion.kind == "nothing" else "")
    blocks += [Prose("\n\n".join(filter(None, told)))] if any(told) else []
    if finding.topics:
        blocks += [topic_figure(finding), Prose(ABOUT_TOPICS)]
    return Chapter(title="What this means, and what it does not", blocks=tuple(blocks))


def _evidence(finding: AuditFinding) -> Iterator[Chapter]:
    """Where nothing was detected, lists that moved by chance are no evidence of anything."""
    if not (finding.detected and finding.evidence):
        return
    shown, others = finding.evidence[:SHOWN_QUERIES], finding.evidence[SHOWN_QUERIES:]
    blocks: list[Block] = [Prose(ABOUT_LISTS), *(evidence_lists(finding, each) for each in shown)]
    if others:
        rows = tuple(_row(each) for each in others)
        columns = ("search", "what rose most", "from", "to", "because of")
        blocks.append(DataTable(caption="More searches, the clearest first", columns=columns, rows=rows))
    yield Chapter(title="See for yourself", blocks=tuple(blocks))


def _differences(finding: AuditFinding) -> Iterator[Chapter]:
    if not finding.differences:
        return
    known = any(each.noise is not None for each in finding.differences)
    table = DataTable(
        caption="How far lists differ on average",
        columns=DIFFERENCE_COLUMNS,
        rows=tuple(difference_rows(finding.differences)),
        numeric=DIFFERENCE_COLUMNS[1:],
    )
    blocks = (Prose(ABOUT_DIFFERENCES), table, Prose(NOISE if known else NO_NOISE))
    yield Chapter(title="How far the lists differ", blocks=blocks)


def _tests(finding: AuditFinding) -> Chapter:
    """The conclusion with every test that it comes from."""
    rows = (("conclusion", KINDS[finding.conclusion.kind]), *rows_of_tests(finding))
    table = DataTable(caption="Every test that was made", columns=("what was tested", "result"), rows=rows)
    words = granted_words(finding)
    return Chapter(title="What was tested", blocks=(table, *([Callout("caution", words)] if words else [])))


def _warnings(sentences: Sequence[str]) -> Iterator[Chapter]:
    if sentences:
        text = "\n\n".join(_sentence(words) for words in sentences)
        yield Chapter(title="Before you believe it", blocks=(Callout("caution", text),))


def _row(watched: WatchedQuery) -> tuple[Value, ...]:
    rose = max(watched.results, key=lambda each: each.vanilla_rank - each.personalised_rank)
    reason = None if rose.reason is None else rose.reason.topic.name
    return (watched.query, _title(rose), rose.vanilla_rank, rose.personalised_rank, reason)


def _moved(result: WatchedResult, lifted: Collection[str]) -> ListedItem:
    places = result.vanilla_rank - result.personalised_rank
    return ListedItem(
        title=_title(result),
        source=_site(result),
        move="up" if places > 0 else "down" if places < 0 else "",
        words=move_words(result, lifted),
    )


def _title(result: WatchedResult) -> str:
    return result.title or result.address or "(without a title)"


def _site(result: WatchedResult) -> str:
    """The site of an address on the web, which is enough to know a result by."""
    _, found, rest = result.address.partition("://")
    return rest.partition("/")[0] if found else ""


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
