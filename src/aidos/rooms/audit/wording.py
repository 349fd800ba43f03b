"""What an audit found, in sentences and rows: the same words on the page, in the terminal and in the demo.

The method card says how it was found: the model in words, the terms, what is taken for granted, and what is not shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Prose
from aidos.report.values import Value
from aidos.rooms.audit.findings import AuditFinding, ListDifference, Span, TopicFinding, WatchedResult

__all__ = [
    "DIFFERENCE_COLUMNS",
    "MEASURES",
    "TOPIC_COLUMNS",
    "difference_rows",
    "exchanged_words",
    "interval_words",
    "listed",
    "method_chapter",
    "move_words",
    "power_words",
    "searches_words",
    "shown_topics",
    "topic_rows",
]

TOPIC_COLUMNS = ("topic", "what the service does", "weight", "interval", "p", "rank shift")
DIFFERENCE_COLUMNS = ("measure", "your lists", "noise", "p")
MEASURES = {
    "jaccard": "other results (Jaccard)",
    "kendall": "common results in another order (Kendall)",
    "rbo": "change near the top (rank-biased overlap)",
    "earth-mover": "attention moved to other topics (earth mover's)",
}
NAMED = 6
"""Topics that a sentence names."""
MOST_QUERIES = 100_000
"""Beyond it a number of queries is no plan any more."""


def searches_words(rate: float) -> str:
    """A share of searches as people say it."""
    if rate >= 0.95:
        return "nearly all searches"
    if rate >= 0.095:
        return f"about {round(10 * rate)} of 10 searches"
    if rate >= 0.005:
        return f"about {round(100 * rate)} of 100 searches"
    return "fewer than 1 of 100 searches"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them; of many the first."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED:,} more topics"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def power_words(finding: AuditFinding) -> str:
    """How many searches would be needed, where nothing was detected."""
    plan = finding.power
    if plan.fewest is None:
        return (
            "Nothing but chance shows in these searches, so that no number can be named that would be enough: a slight "
            "pull needs thousands of searches, a strong one shows within a few hundred."
        )
    start = f"Of all topics {plan.topic.name} stands out most. If that is real,"
    if plan.fewest > MOST_QUERIES:
        return f"{start} more than {MOST_QUERIES:,} searches would be needed to show it."
    if plan.queries is None or plan.queries > MOST_QUERIES:
        return (
            f"{start} at least about {_rounded(plan.fewest)} searches in all would be needed to show it in 8 of 10 "
            "audits, and perhaps many more: so far it is no more than chance would lift out of so many topics."
        )
    return (
        f"{start} between about {_rounded(plan.fewest)} and {_rounded(plan.queries)} searches in all would show it in "
        "8 of 10 audits: the fewer if it is as strong as it looks, the more if chance has helped it as much as chance "
        "helps the first of so many topics."
    )


def exchanged_words(finding: AuditFinding) -> str:
    """What is said first of all where the two lists of every search seem to be exchanged; empty elsewhere."""
    if not finding.suspicion.whole_file:
        return ""
    return (
        "The two lists of every search are probably exchanged: what is called personalised looks like the list without "
        "an account. Look at how they were saved before you believe anything here."
    )


def shown_topics(finding: AuditFinding, most: int) -> tuple[TopicFinding, ...]:
    """Those found, and others that stand out most, at most so many; lifted first, then sunk."""
    chosen = finding.topics[: max(most, 1)]
    return tuple(sorted(chosen, key=lambda each: (not each.found, -each.weight.value)))


def topic_rows(topics: Sequence[TopicFinding]) -> list[tuple[Value, ...]]:
    """Rows under TOPIC_COLUMNS."""
    return [
        (
            each.topic.name,
            _does(each),
            f"{each.weight.value:+.2f}",
            interval_words(each.weight),
            f"{each.p_value:.2g}",
            f"{each.shift:+.2f}",
        )
        for each in topics
    ]


def interval_words(span: Span) -> str:
    """The interval around a weight."""
    return f"{span.low:+.2f} to {span.high:+.2f}"


def difference_rows(differences: Sequence[ListDifference]) -> list[tuple[Value, ...]]:
    """Rows under DIFFERENCE_COLUMNS: 0 where lists are the same, 1 where they have nothing in common."""
    return [
        (
            MEASURES[each.measure],
            f"{each.mean:.3f}",
            None if each.noise is None else f"{each.noise:.3f}",
            None if each.p_value is None else f"{each.p_value:.2g}",
        )
        for each in differences
    ]


def move_words(result: WatchedResult, lifted: Collection[str]) -> str:
    """Where a result went and what explains it; empty where it stayed. ``lifted`` are ids of topics above 0.

    A result is pushed up by what it has of a lifted topic, and also by having less of a sunk one than its neighbours.
    """
    places = result.vanilla_rank - result.personalised_rank
    if not places:
        return ""
    far = abs(places)
    moved = f"{'up' if places > 0 else 'down'} {far} {'place' if far == 1 else 'places'}"
    if result.reason is None:
        return moved
    more = (result.reason.push > 0) == (result.reason.topic.id in lifted)
    return f"{moved}: {'about' if more else 'less about'} {result.reason.topic.name}"


def _rounded(queries: int) -> str:
    """Up to two digits: more would look as if it were known."""
    step = 10 ** max(len(str(queries)) - 2, 0)
    return f"{-(-queries // step) * step:,}"


def _does(topic: TopicFinding) -> str:
    if not topic.found:
        return "may be chance"
    return "lifts it" if topic.is_lifted else "sinks it"


FORMULA = (
    "Each search is one of two kinds. Where the service does not personalise, the list with the account is the list "
    "without it, shaken a little: results that stood higher tend to stand higher. Where it does, each result has a "
    "score: what its topics weigh for you, less its rank without the account; results with higher scores tend to stand "
    "higher. Which searches are of which kind, the weights of the topics and the share of personalised searches are "
    "learned together, so that they explain all lists best. Only differences of weights change an "
    "order, so each is told against the typical topic, the mean of those that cannot be told from each other."
)
ASSUMPTIONS = (
    "It takes for granted that a result is about the topics that its title and text speak of, and that one profile "
    "holds for all searches."
)
NOT_SHOWN = (
    "Why the service weighs a topic, where it knows it from, and what it does with it elsewhere cannot be seen in "
    "result lists. A topic may stand for another that goes along with it. What is not found may still be there."
)
CITATION = (
    "The model is Latent Topic Personalization (LTP): Majumder and Shrivastava, Know your personalization: learning "
    "topic level personalization in online services, WWW 2013. Tests, intervals and the noise floor are additions of "
    "aidos."
)
METHODS = {
    "learning": "LTP-EM: how much scores count, and how much lists shake, are learned too",
    "inference": "LTP-INF: how much scores count, and how much lists shake, are fixed as in the paper",
}


def method_chapter(finding: AuditFinding, *, command: str = "", recipe: str = "") -> Chapter:
    """How it was found."""
    terms = DataTable(caption="The terms of this audit", columns=("what", "this audit"), rows=tuple(_terms(finding)))
    blocks: list[Block] = [Prose(FORMULA), terms, Callout("caution", f"{ASSUMPTIONS}\n\n{NOT_SHOWN}"), Prose(CITATION)]
    if command:
        blocks.append(Code(text=command, language="command"))
    if recipe:
        blocks.append(Code(text=recipe, language="recipe"))
    return Chapter(title="How it was found", blocks=tuple(blocks))


def _terms(finding: AuditFinding) -> Iterator[tuple[str, str]]:
    level = f"at most {100 * finding.level:.3g} of 100"
    yield "topics", f"{len(finding.topics):,}, {finding.space.source}"
    yield "method", METHODS[finding.method]
    yield "false alarms", f"where nothing is personalised, {level} audits say otherwise"
    yield "false topics", f"of the topics named, {level} are expected to be chance"
    yield (
        "compared with",
        "a second list without an account"
        if finding.controlled
        else "lists in another order, since few searches have a second list without an account",
    )
    yield (
        "intervals",
        f"made so that {finding.confidence:.0%} of them hold the true weight, if the service does as the model says",
    )
    yield "scores against ranks", f"{finding.mix.value:.2f} ({finding.mix.low:.2f} to {finding.mix.high:.2f})"
    steady = finding.concentration
    yield "how steady lists are", f"{steady.value:.2f} ({steady.low:.2f} to {steady.high:.2f})"
