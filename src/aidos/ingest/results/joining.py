"""From lists to pairs: lists of the same query belong together, and what has no partner is told.

Where the same query was asked several times, the first vanilla list belongs to the first personalised one, the second
to the second, in the order of the files: whoever asks at several times should name the pairs (``pair_id``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from aidos.core.resultpairs import Result, ResultPair, Side
from aidos.ingest.results.flatrows import ADD_QUERY, ADD_SEARCHES
from aidos.ingest.results.saved import Key, SavedList, Shelf

__all__ = ["LONGEST_LIST", "PairCounts", "join_lists"]

LONGEST_LIST = 10_000
SIDES: tuple[Side, ...] = ("vanilla", "personalised", "again")


@dataclass(slots=True, kw_only=True)
class PairCounts:
    """What was left out of the lists of good pairs, and what was found on the way."""

    ads: int = 0
    others: int = 0
    """Results that are neither organic nor advertisements: news boxes, maps, questions."""
    repeated: int = 0
    """Results whose address stood in their list already."""
    other_places: int = 0
    """Pairs whose lists say that they were fetched from different places."""
    skipped: int = 0
    """Pairs and lone lists that were left out, as asked."""

    def add(self, lists: Iterable[SavedList]) -> None:
        """Count the lists of one pair."""
        places = set()
        for saved in lists:
            self.ads += saved.listed.ads
            self.others += saved.listed.others
            self.repeated += saved.listed.repeated
            places.add(saved.search.place)
        self.other_places += len(places - {""}) > 1


def join_lists(shelf: Shelf, counts: PairCounts) -> Iterator[ResultPair]:
    """The pairs, in the order of the files; InputError for lists without a partner, unless bad pairs are left out."""
    groups = _groups(shelf)
    for key in list(groups):
        lists = groups.pop(key)  # so that no more is held than is needed
        if any(saved.spoiled for saved in lists.values()) or _has_trouble(shelf, lists):
            counts.skipped += 1
            continue
        counts.add(lists.values())
        yield _pair(lists)


def _groups(shelf: Shelf) -> dict[Key, dict[Side, SavedList]]:
    seen: Counter[tuple[Side, Key]] = Counter()
    groups: dict[Key, dict[Side, SavedList]] = {}
    for saved in shelf.lists:
        known = _with_search(saved, shelf)
        key = known.key or ("query", " ".join(known.search.query.split()))
        if key == ("query", ""):
            if not known.spoiled:
                remedy = ADD_SEARCHES if known.serp_id else ADD_QUERY
                shelf.complaints.add(known.where.problem("no-query", remedy=remedy))
            continue
        times = seen[known.side, key]
        seen[known.side, key] += 1
        groups.setdefault((*key, times), {})[known.side] = known
    shelf.lists.clear()
    return groups


def _with_search(saved: SavedList, shelf: Shelf) -> SavedList:
    """The list with what another file says of its search."""
    found = shelf.searches.get(saved.serp_id)
    if found is None:
        return saved
    own = saved.search
    search = replace(own, query=own.query or found.query, when=own.when or found.when, place=own.place or found.place)
    return replace(saved, search=search)


def _has_trouble(shelf: Shelf, lists: dict[Side, SavedList]) -> bool:
    first = next(iter(lists.values()))
    missing = [side for side in SIDES[:2] if side not in lists]
    if missing:
        shelf.complaints.add(first.where.problem("lone-list", missing=missing[0]))
    elif shelf.accounts and not lists["personalised"].account:
        # Lists without an account serve everybody; a personalised one is somebody's, and may not be mixed in.
        shelf.complaints.add(lists["personalised"].where.problem("no-account"))
        return True
    for side, saved in lists.items():
        size = len(saved.listed.results)
        if not size:
            shelf.complaints.add(saved.where.problem("empty-list", side=side))
        if size > LONGEST_LIST:
            shelf.complaints.add(saved.where.problem("long-list", side=side, most=LONGEST_LIST))
        if not 0 < size <= LONGEST_LIST:
            return True
    return bool(missing)


def _pair(lists: dict[Side, SavedList]) -> ResultPair:
    vanilla, personalised, again = lists["vanilla"], lists["personalised"], lists.get("again")
    begun, ended = vanilla.search.when, personalised.search.when
    gap = vanilla.search.gap
    if gap is None and begun is not None and ended is not None and begun is not ended:
        gap = ended - begun
    return ResultPair(
        query=vanilla.search.query or personalised.search.query,
        vanilla=tuple(vanilla.listed.results.values()),
        personalised=_shared(personalised, vanilla),
        again=None if again is None else _shared(again, vanilla),
        when=begun or ended,
        gap=gap,
        place=vanilla.search.place or personalised.search.place,
    )


def _shared(saved: SavedList, vanilla: SavedList) -> tuple[Result, ...]:
    """The results of a list; those that the vanilla list has just so are the same objects, to hold them once."""
    held = vanilla.listed.results
    found = saved.listed.results.items()
    return tuple(known if (known := held.get(name)) == result and known else result for name, result in found)
