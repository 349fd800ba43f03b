"""Saved result lists as pairs, from files, patterns and directories; their forms are found from their content.

aidos fetches nothing: it reads what others saved. Advertisements and whatever is not organic is left out and counted;
of results with the same address the first counts. Which list is which is said by a column or a field, by an option, or
by the name of the file or of a directory above it: vanilla, personalised, again.

An audit is of one account. Where lists name accounts, those of one are read, never a mixture; vanilla lists that name
none serve every account.

Lists of the same query are a pair, and what has no partner is told. Where the same query was asked several times, the
first vanilla list belongs to the first personalised one, the second to the second, in the order of the files: whoever
asks at several times should name the pairs (``pair_id``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aidos.core.resultpairs import SIDES, Fetch, Result, ResultPair, Side
from aidos.engine.unpacking import is_zip
from aidos.errors import ParameterError, Problem
from aidos.ingest.formats.fields import UnreadableError
from aidos.ingest.problems import PAIRS, Complaints, refuse
from aidos.ingest.results.documents import DocumentReader
from aidos.ingest.results.files import archives_of, form_of, objects_of
from aidos.ingest.results.flat import FlatLists
from aidos.ingest.results.names import ListPaths, Renames, is_documents, side_of_path
from aidos.ingest.results.saved import (
    ADD_QUERY,
    ADD_SEARCHES,
    Key,
    Place,
    SavedList,
    Shelf,
    pick_fields,
    pick_id,
)
from aidos.ingest.sources import Source, find_sources

__all__ = ["LONGEST_LIST", "PairCounts", "PairsRead", "join_lists", "read_pairs"]

LONGEST_LIST = 10_000
DOCUMENT_IDS = ("docno", "docid", "doc_id", "object_id", "id")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsRead:
    """Pairs, and how they came to be."""

    pairs: tuple[ResultPair, ...]
    counts: PairCounts
    formats: Mapping[str, int]
    """How many pairs, lists or rows came in which form."""
    account: str
    """Whose lists they are; empty where no list says it."""
    accounts: tuple[str, ...]
    """Every account that the files name."""
    problems: tuple[Problem, ...]
    """What was wrong with pairs that were left out, as asked."""
    notes: tuple[str, ...]
    """What was done to the lists, in sentences."""


@dataclass(frozen=True, slots=True)
class _File:
    source: Source
    side: Side | None


def read_pairs(  # noqa: PLR0913 (each is an option of the command line)
    names: Sequence[str] = (),
    *,
    vanilla: Sequence[str] = (),
    personalised: Sequence[str] = (),
    again: Sequence[str] = (),
    documents: Sequence[str] = (),
    account: str = "",
    columns: Mapping[str, str] | None = None,
    paths: ListPaths | None = None,
    skip_bad: bool = False,
) -> PairsRead:
    """The pairs of files, patterns or directories; InputError at the first thing that is wrong.

    ``vanilla``, ``personalised`` and ``again`` are files or directories whose lists are all of that side;
    ``documents`` hold the texts of the documents that runs name. ``account`` says whose lists to read; it must be
    given where there are several. ``columns`` says what the files call our columns: ``{"url": "Link"}``, and ``paths``
    where lists stand in JSON of another shape. With ``skip_bad`` a pair with something wrong in it is left out whole,
    and told in ``problems``.
    """
    files = _chosen_files({None: names, "vanilla": vanilla, "personalised": personalised, "again": again})
    texts = [file.source for name in documents for file in _files(name, None)]
    if not documents:
        texts = [file.source for file in files if is_documents(file.source.path)]
        files = [file for file in files if not is_documents(file.source.path)]
    shelf = Shelf(Complaints(skip_bad, []), account, Renames(columns or {}), paths or ListPaths())
    shelf.documents = _read_documents(texts)
    for file in files:
        _read_file(file, shelf)
    _check_options(files, shelf)
    counts = PairCounts()
    pairs = tuple(join_lists(shelf, counts))
    if not pairs:
        first = (files[0].source if files else texts[0]).name
        raise refuse(*(shelf.complaints.problems or [PAIRS.tell("no-pairs", first)]))
    return PairsRead(
        pairs=pairs,
        counts=counts,
        formats=shelf.formats,
        account=account or next(iter(shelf.accounts), ""),
        accounts=tuple(sorted(shelf.accounts)),
        problems=tuple(shelf.complaints.problems),
        notes=tuple(_notes(shelf, counts)),
    )


def _chosen_files(given: Mapping[Side | None, Sequence[str]]) -> list[_File]:
    """The files of each option, in order."""
    if not any(given.values()):
        raise ParameterError("no file was named", hint="name files of pairs, or a directory of saved lists")
    return [file for side, names in given.items() for name in names for file in _files(name, side)]


def _files(name: str, side: Side | None) -> list[_File]:
    """The files behind a name, and which side each is."""
    root = Path(name)
    if root.is_dir():
        paths = sorted(path for path in root.rglob("*") if path.is_file() and not _is_hidden(path, root))
        if not paths:
            raise refuse(PAIRS.tell("empty-directory", name))
        sources, problems = find_sources([str(path) for path in paths])
    else:
        sources, problems = find_sources([name])
    problems += [PAIRS.tell("empty-file", source.name) for source in sources if not source.size]
    if problems:
        raise refuse(*problems)
    above = root if root.is_dir() else None
    return [_File(source, side or side_of_path(source.path, above)) for source in sources]


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _check_options(files: Sequence[_File], shelf: Shelf) -> None:
    """Refuse several accounts of which none was chosen, and options that name what is not there."""
    if files and (theirs := next(iter(shelf.renames.unused), "")):
        raise refuse(PAIRS.tell("absent-column", files[0].source.name, column=theirs))
    if files and shelf.account and shelf.account not in shelf.accounts:
        raise refuse(PAIRS.tell("absent-account", files[0].source.name))
    if len(shelf.accounts) > 1 and not shelf.account:
        where, column = next(iter(shelf.accounts.values()))
        raise refuse(PAIRS.tell("several-accounts", where.file, column=column, number=len(shelf.accounts)))


def _read_file(file: _File, shelf: Shelf) -> None:
    if is_zip(file.source.path):
        for member, document in archives_of(file.source):
            side = file.side or side_of_path(Path(member))
            DocumentReader(shelf, side, FlatLists(shelf, side)).add(document, Place(file=file.source.name))
        return
    rows = FlatLists(shelf, file.side)
    reader = DocumentReader(shelf, file.side, rows)
    form = form_of(file.source)
    read = 0
    for where, found in objects_of(file.source, form, None if shelf.paths else shelf.renames):
        read += 1
        if isinstance(found, Problem):
            shelf.complaints.add(found)
            rows.spoil()
        elif form == "run":
            rows.add({**found, **shelf.documents.get(found["url"], {})}, where, "TREC run rows")
        else:
            reader.add(found, where)
    if not read:
        raise refuse(PAIRS.tell("header-only", file.source.name))
    rows.finish()


def _read_documents(sources: Sequence[Source]) -> dict[str, Mapping[str, Any]]:
    """Address, title and text of each document, by its id; the address stays the id where there is none."""
    held: dict[str, Mapping[str, Any]] = {}
    for source in sources:
        before = len(held)
        for where, found in objects_of(source, form_of(source, holds_lists=False)):
            if isinstance(found, Problem):
                raise refuse(found)
            name = pick_id({field.lower(): value for field, value in found.items()}, DOCUMENT_IDS)
            try:
                url, title, snippet = pick_fields(found)
            except UnreadableError as error:
                raise refuse(where.problem("bad-cell", error.column, reason=error.sentence)) from error
            if name:
                held[name] = {"url": url or name, "title": title, "snippet": snippet}
        if len(held) == before:
            raise refuse(PAIRS.tell("no-names", source.name))
    return held


def _notes(shelf: Shelf, counts: PairCounts) -> Iterator[str]:
    if counts.ads:
        yield f"{counts.ads:,} advertisements were left out"
    if counts.others:
        yield f"{counts.others:,} results that are not organic (news boxes, maps, questions) were left out"
    if counts.repeated:
        yield f"{counts.repeated:,} results stood in their list before, and count once"
    if counts.other_places:
        yield f"{counts.other_places:,} pairs have lists from different places, which moves results too"
    if shelf.passed_over:
        yield f"{shelf.passed_over:,} responses of HAR files were no results in JSON, and were passed over"
    if counts.skipped:
        yield f"{counts.skipped:,} pairs with something wrong in them were left out"


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
    return replace(saved, search=saved.search.over(found))


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
        fetches=_fetches([vanilla, personalised, *([] if again is None else [again])]),
    )


def _fetches(lists: Sequence[SavedList]) -> tuple[Fetch, ...]:
    """How each list was fetched; nothing where a pair says it all by itself."""
    first = lists[0].search
    found = tuple(
        Fetch(
            place=saved.search.place,
            # The time of a pair as a whole is that of its vanilla list.
            when=saved.search.when if saved is lists[0] or saved.search.when is not first.when else None,
            turn=saved.search.turn,
            bucket=saved.search.bucket,
        )
        for saved in lists
    )
    begun, ended, *more = (fetch.when for fetch in found)
    apart = len({fetch.place for fetch in found}) > 1 or any(more) or (begun is None and ended is not None)
    return found if apart or any(fetch.turn is not None or fetch.bucket for fetch in found) else ()


def _shared(saved: SavedList, vanilla: SavedList) -> tuple[Result, ...]:
    """The results of a list; those that the vanilla list has just so are the same objects, to hold them once."""
    held = vanilla.listed.results
    found = saved.listed.results.items()
    return tuple(known if (known := held.get(name)) == result and known else result for name, result in found)
