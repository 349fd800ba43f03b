"""What of the pairs should be known before anything is learned from them: what ``aidos audit check`` shows.

A remark stops when nothing can be learned at all, and warns otherwise. Whether a pair was swapped is for the model to
say, not for a look at the lists. Sentences hold numbers, never a query or a title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from aidos.core.resultpairs import Alignment, Result, ResultPair, align

__all__ = ["PairFacts", "Remark", "examine_pairs", "find_remarks"]

FAR_APART = timedelta(minutes=10)
WORDS_NEEDED = 200
ENGLISH = frozenset(("the", "of", "and", "to", "for", "with", "by", "from", "that", "are", "your", "how", "this"))
"""Small words that are frequent in English and rare, taken together, in other languages."""
ENGLISH_SHARE = 0.03
"""Of the words of English prose about a sixth are among those; titles have fewer."""
WORD = re.compile(r"[^\W\d_]+")
SAMPLED = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFacts:
    """Numbers about pairs."""

    pairs: int
    queries: int
    """Different queries."""
    with_again: int
    """Pairs with a second vanilla list."""
    shortest: int
    """The fewest items of a pair, both lists together."""
    median: float
    longest: int
    single: int
    """Pairs with one item: there is no order to compare."""
    identical: int
    """Pairs of equal lists with two items or more."""
    disjoint: int
    """Pairs whose lists share nothing."""
    unequal: int
    """Pairs whose lists differ in length."""
    shared: float
    """The share of items that both lists have, on average."""
    items: int
    """Items of all pairs."""
    by_address: int
    """Items without title and snippet that have words in their address."""
    without_text: int
    """Items of which no word is known."""
    far_apart: int
    """Pairs whose lists were fetched more than ten minutes apart."""
    first: datetime | None
    last: datetime | None
    english: bool | None
    """Whether the texts look English; None where there are too few words to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something to know before learning."""

    kind: str
    """A slug."""
    sentence: str
    remedy: str
    count: int = 0
    """How many pairs or items."""
    stops: bool = False
    """Whether nothing can be learned."""


def examine_pairs(pairs: Sequence[ResultPair]) -> PairFacts:
    """Count; at least one pair."""
    aligned = [align(pair) for pair in pairs]
    sizes = [len(one) for one in aligned]
    items = [item for one in aligned for item in one.items]
    times = [pair.when for pair in pairs if pair.when is not None]
    return PairFacts(
        pairs=len(pairs),
        queries=len({pair.query for pair in pairs}),
        with_again=sum(pair.again is not None for pair in pairs),
        shortest=min(sizes),
        median=float(median(sizes)),
        longest=max(sizes),
        single=sum(size == 1 for size in sizes),
        identical=sum(_is_identical(one) for one in aligned),
        disjoint=sum(not one.shared for one in aligned),
        unequal=sum(len(pair.vanilla) != len(pair.personalised) for pair in pairs),
        shared=sum(one.shared / len(one) for one in aligned) / len(aligned),
        items=len(items),
        by_address=sum(bool(item.words) and not (item.title or item.snippet) for item in items),
        without_text=sum(not item.text for item in items),
        far_apart=sum(pair.gap is not None and abs(pair.gap) > FAR_APART for pair in pairs),
        first=min(times, default=None),
        last=max(times, default=None),
        english=_looks_english(items),
    )


def find_remarks(facts: PairFacts, *, topics: int | None = None) -> tuple[Remark, ...]:
    """What stands in the way, what stops first; ``topics`` is how many are to be learned."""
    found = [*_on_lists(facts), *_on_overlap(facts), *_on_texts(facts), *_on_collection(facts)]
    if topics is not None and facts.pairs < topics:
        found.append(
            Remark(
                kind="few-queries",
                sentence=f"{facts.pairs:,} pairs are fewer than the {topics:,} topics: most weights will stay near 0",
                remedy=f"ask more queries, or learn at most {facts.pairs:,} topics",
                count=facts.pairs,
            )
        )
    return tuple(sorted(found, key=lambda remark: not remark.stops))


def _is_identical(one: Alignment) -> bool:
    return len(one) > 1 and one.is_unchanged and one.shared == len(one)


def _on_lists(facts: PairFacts) -> Iterator[Remark]:
    if facts.single:
        stops = facts.single == facts.pairs
        yield Remark(
            kind="single-result",
            sentence=(
                "all pairs have one result only: there is no order to compare"
                if stops
                else f"{_pairs(facts.single)} one result only, and no order to compare"
            ),
            remedy="save more results of each list",
            count=facts.single,
            stops=stops,
        )
    if facts.identical and facts.identical + facts.single == facts.pairs:
        yield Remark(
            kind="identical-lists",
            sentence="no list differs from its vanilla list: no personalisation shows, and no topic can be learned",
            remedy="check that the personalised lists were fetched with the account, or ask other queries",
            count=facts.identical,
        )


def _on_overlap(facts: PairFacts) -> Iterator[Remark]:
    if facts.disjoint:
        stops = facts.disjoint == facts.pairs
        yield Remark(
            kind="no-overlap",
            sentence=(
                "in no pair do the lists share a result"
                if stops
                else f"{_pairs(facts.disjoint)} lists that share no result"
            ),
            remedy="check that both lists are of the same query and service, and that addresses are written alike",
            count=facts.disjoint,
            stops=stops,
        )
    if facts.unequal:
        yield Remark(
            kind="unequal-lengths",
            sentence=f"{_pairs(facts.unequal)} lists of different length; what one lacks counts as its end",
            remedy="save the same number of results of each list",
            count=facts.unequal,
        )


def _on_texts(facts: PairFacts) -> Iterator[Remark]:
    if facts.by_address:
        yield Remark(
            kind="text-by-address",
            sentence=f"{_items(facts.by_address)} no title and no snippet; the words of the address are used",
            remedy="save titles and snippets too",
            count=facts.by_address,
        )
    if facts.without_text:
        stops = facts.without_text == facts.items
        yield Remark(
            kind="no-text",
            sentence="no word is known of any result" if stops else f"{_items(facts.without_text)} no word to go by",
            remedy="save titles and snippets too, or give the topics of the results",
            count=facts.without_text,
            stops=stops,
        )
    if facts.english is False:
        yield Remark(
            kind="not-english",
            sentence="the texts do not look English, and the built-in topics are",
            remedy="learn topics from the lists themselves, or give the topics of the results",
        )


def _on_collection(facts: PairFacts) -> Iterator[Remark]:
    if facts.far_apart:
        yield Remark(
            kind="far-apart",
            sentence=f"{_pairs(facts.far_apart)} lists fetched more than ten minutes apart; time moves results too",
            remedy="fetch both lists at the same moment",
            count=facts.far_apart,
        )
    if not facts.with_again:
        yield Remark(
            kind="no-noise-control",
            sentence="no query has a second vanilla list, so that the service's own noise cannot be told apart",
            remedy="fetch the vanilla list twice for some queries (again)",
        )


def _pairs(count: int) -> str:
    return f"{count:,} pair has" if count == 1 else f"{count:,} pairs have"


def _items(count: int) -> str:
    return f"{count:,} result has" if count == 1 else f"{count:,} results have"


def _looks_english(items: Sequence[Result]) -> bool | None:
    """By how many of the words are the small words of English; items are looked at evenly over all pairs."""
    step = max(len(items) // SAMPLED, 1)
    words = [word.lower() for item in items[::step] for word in WORD.findall(f"{item.title} {item.snippet}")]
    if len(words) < WORDS_NEEDED:
        return None
    return sum(word in ENGLISH for word in words) >= ENGLISH_SHARE * len(words)
