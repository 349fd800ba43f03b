"""The jobs that help to collect result lists: a recorder that drives a browser, and a bookmark for whoever may not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Gt, Le

from aidos.core.checks import check_parameters
from aidos.errors import InputError, ParameterError, ServiceError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private, RequiredInTerminal, Short

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block
    from aidos.rooms.audit.collect.keeping import Collection
    from aidos.rooms.audit.collect.recorder import Robots
    from aidos.rooms.audit.collect.site import Seen, Site

__all__ = ["CollectLists", "CollectedLists", "MakeBookmarklet", "WrittenBookmarklet"]

MOST_SHOWN = 5
TERMS = (
    "Many services forbid in their terms that programs ask them. Read the terms of this one. Ask only where they allow"
    " it or the service permitted it to you, with an account that is your own, and no faster than a person would"
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CollectedLists(Finding):
    """What was collected, or what the selectors found on a saved page: numbers, and rows as a table."""

    about: str = "one account"
    done: str = "collected"
    """What was done: collected, tried, or signed in."""
    told: Mapping[str, int | str] = field(default_factory=dict)
    """Numbers by what they count."""
    shown: tuple[tuple[int, str, str], ...] = ()
    """The first results of a page that was tried."""
    directory: Path | None = None

    def facts(self) -> Mapping[str, object]:
        """The numbers."""
        return {"done": self.done, **self.told}

    def table(self) -> pa.Table:
        """The results of a page that was tried; the lists that were collected are in their file."""
        import pyarrow as pa

        names = ("position", "title", "url")
        return pa.table({name: [row[at] for row in self.shown] for at, name in enumerate(names)})

    def blocks(self) -> Sequence[Block]:
        """The numbers, and the first results of a page that was tried."""
        from aidos.jobs.answer import facts_block
        from aidos.report.page import DataTable

        blocks: list[Block] = [facts_block(self.told)]
        if self.shown:
            rows = tuple(self.shown)
            blocks.append(DataTable(caption="the first results", columns=("position", "title", "url"), rows=rows))
        return blocks

    def remarks(self) -> Sequence[str]:
        """What to type next."""
        return (f"next: aidos audit check {self.directory}",) if self.done == "collected" else ()


@dataclass(frozen=True)
class _OfSite:
    """A job about the pages of a site."""

    site: Path
    """A TOML file with the site's address and selectors: see the guide on audits."""


@dataclass(frozen=True, slots=True)
class CollectLists(_OfSite):
    """Ask a site your searches with your account and without it, and save both lists.

    Which site, and where its results stand, you say in a small file; none is
    shipped. Each search is asked with the account, without it, and without it a
    second time, right after each other and in an order that a coin decides;
    time, order and place are noted. It goes slowly, keeps to the site's
    robots.txt, and stops where the service asks for a person. Stop it
    whenever you like: the same command goes on from there.

    For example:
        aidos audit collect site.toml --example saved-page.html
        aidos audit collect site.toml --account profile --sign-in
        aidos audit collect site.toml --queries queries.txt --account profile --place Ghent -o lists --i-may-automate
        aidos audit check lists
    """

    words: Annotated[tuple[str, ...], Private("names")] = ()
    """What to search for; - reads one a line from the standard input."""
    _: KW_ONLY
    queries: Path | None = None
    """A file with what to search for, one a line."""
    account: Path | None = None
    """What the browser knows of your account: a profile directory, or a file of Playwright's storage state."""
    output: Annotated[Path | None, Short("-o")] = None
    """The directory to collect into; one that was begun is gone on with."""
    place: str = ""
    """From where you ask, in your own words: it is noted with each list."""
    queries_per_hour: Annotated[float, Gt(0), Le(120)] = 12.0
    """How fast to ask; pauses vary around that."""
    again: bool = True
    """Ask without the account a second time, which shows the service's own noise."""
    example: Path | None = None
    """Only show what the selectors find on this saved page: nothing is asked."""
    sign_in: bool = False
    """Only open a window with the profile directory of --account, to sign in by hand; close it when done."""
    visible: bool = False
    """Show the browser at work."""
    ignore_robots: bool = False
    """Ask although robots.txt forbids it: only where the service has permitted it to you."""
    i_may_automate: bool = False
    """Confirm that you read the terms of the service, and that it allows programs, or allowed you, to ask."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> CollectedLists:
        """Try the selectors, sign in, or ask and keep."""
        from aidos.rooms.audit.collect.site import read_site

        site = read_site(self.site)
        if self.example is not None:
            return self._try(site, self.example)
        if self.sign_in:
            return self._sign_in(site, desk)
        output, queries = self._checked(desk)
        return self._collect(site, output, queries, desk)

    def _checked(self, desk: Desk) -> tuple[Path, list[str]]:
        """What must be there before anything is asked."""
        from aidos.engine.inputs import read_text

        lines = read_text(self.queries, most=1 << 22).splitlines() if self.queries is not None else []
        queries = list(dict.fromkeys(" ".join(line.split()) for line in (*self.words, *lines) if line.strip()))
        if not queries:
            raise ParameterError(
                "nothing to search for was named", hint=f"name a file: {desk.spelled('queries', 'FILE')}"
            )
        if self.output is None:
            raise ParameterError("a directory is needed", hint=f"name one: {desk.spelled('output', 'DIRECTORY')}")
        if self.account is None or not self.account.exists():
            raise InputError(
                "the account is missing: no profile directory and no storage state was found",
                hint=f"make one, and sign in by hand: {desk.spelled('account', 'profile')} {desk.spelled('sign_in')}",
            )
        if not self.i_may_automate:
            raise ParameterError(
                f"a program is about to ask a search service in your name. {TERMS}",
                hint=f"confirm with {desk.spelled('i_may_automate')}, or save pages by hand: aidos audit bookmarklet",
            )
        return self.output, queries

    def _collect(self, site: Site, output: Path, queries: list[str], desk: Desk) -> CollectedLists:
        from aidos.rooms.audit.collect.browser import opened_browser
        from aidos.rooms.audit.collect.keeping import opened_collection
        from aidos.rooms.audit.collect.recorder import Pace, Recorder, Tally

        with opened_collection(output, site) as kept:
            left = [query for query in queries if query not in kept.queries]
            if not left:
                return self._told(kept, Tally())
            minutes = 60 * len(left) / self.queries_per_hour
            long = f"{minutes / 60:,.1f} hours" if minutes >= 90 else f"{max(minutes, 1):.0f} minutes"
            desk.remark(f"{len(left):,} searches, about {long}; stop it and go on whenever you like")
            with opened_browser(account=self.account, visible=self.visible, language=site.language) as looker:
                robots = self._robots(site, left, looker.read(f"{site.host}/robots.txt"), desk)
                pace = Pace(queries_per_hour=self.queries_per_hour, least=robots.pause)
                recorder = Recorder(
                    asks=looker, site=site, kept=kept, pace=pace, place=self.place.strip(), again=self.again
                )
                with desk.progress.task("asking", total=len(left), unit="searches") as task:
                    tally = recorder.record(left, task)
            return self._told(kept, tally)

    def _told(self, kept: Collection, tally: Any) -> CollectedLists:
        told = {
            "searches with all their lists": len(kept.queries),
            "lists": kept.lists,
            "searches asked now": tally.asked,
            "without a result, not kept": tally.empty,
            "with a page that could not be read": tally.troubled,
            "advertisements left out": tally.left_out,
            "file": str(kept.file),
        }
        return CollectedLists(told=told, directory=kept.path)

    def _robots(self, site: Site, queries: list[str], seen: Seen, desk: Desk) -> Robots:
        """The rules of the site; refused where they forbid a page, unless the person has leave to ask."""
        from aidos.rooms.audit.collect.recorder import Robots, read_robots

        robots = read_robots(seen.status, seen.text)
        if all(robots.allow(site.address_of(query)) for query in queries):
            return robots
        if self.ignore_robots:
            desk.remark("robots.txt forbids these pages, and is ignored as you asked")
            return Robots(pause=robots.pause)
        if seen.status == 0 or seen.status >= 500:
            raise ServiceError("the site's robots.txt cannot be read, so nothing is asked", hint="try again later")
        raise ServiceError(
            "the site's robots.txt forbids these pages to programs",
            hint="save pages by hand: aidos audit bookmarklet; or ask for leave, and say "
            + desk.spelled("ignore_robots"),
        )

    def _try(self, site: Site, example: Path) -> CollectedLists:
        from aidos.engine.inputs import read_text
        from aidos.rooms.audit.collect.browser import opened_browser

        page = read_text(example)
        with opened_browser() as looker:
            seen = looker.try_example(page, site)
        if not seen.rows:
            raise InputError(
                f"the selectors find no result on {example}: {seen.matched:,} things match results,"
                " and none has an address or a title",
                hint="open the page in a browser, look at a result with its tools, and mend the file of the site",
            )
        told = {
            "matched by results": seen.matched,
            "left out": seen.left_out,
            "results": len(seen.rows),
            "with an address": sum(bool(row["url"]) for row in seen.rows),
            "with a title": sum(bool(row["title"]) for row in seen.rows),
            "with a text": sum(bool(row["snippet"]) for row in seen.rows),
        }
        rows = tuple((at, row["title"], row["url"]) for at, row in enumerate(seen.rows[:MOST_SHOWN], start=1))
        return CollectedLists(done="tried", told=told, shown=rows)

    def _sign_in(self, site: Site, desk: Desk) -> CollectedLists:
        from aidos.engine.store import Store
        from aidos.rooms.audit.collect.browser import opened_browser

        if self.account is None:
            raise ParameterError(
                "a profile directory is needed", hint=f"name one: {desk.spelled('account', 'profile')}"
            )
        Store(noun="a profile directory", version=1, again="").make(self.account)
        desk.remark("sign in, in the window that opens, and close it when you are done")
        with opened_browser(account=self.account, visible=True, language=site.language) as looker:
            looker.sign_in(site)
        return CollectedLists(done="signed in", told={"profile": str(self.account)})


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WrittenBookmarklet(Finding):
    """Where the bookmark is."""

    about: str = "a site"
    value: str
    """The script."""
    output: Path | None = None

    def facts(self) -> Mapping[str, object]:
        """Where it was written, and how long it is."""
        return {"letters": len(self.value), "file": str(self.output or "")}

    def blocks(self) -> Sequence[Block]:
        """The same, in words."""
        from aidos.jobs.answer import facts_block

        return [facts_block(self.facts())]

    def remarks(self) -> Sequence[str]:
        """What to do with it."""
        return ("next: open the page in your browser, and drag the bookmark to its bar",)


@dataclass(frozen=True, slots=True)
class MakeBookmarklet(_OfSite):
    """Make a bookmark that saves the results of the page you see: for services that want no programs.

    The page that is written holds the bookmark and all of its script, and loads
    nothing. The site's file is that of `aidos audit collect`.

    For example:
        aidos audit bookmarklet site.toml -o bookmark.html
        aidos audit check ~/Downloads/lists-*.json
    """

    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The page to write."""

    def run(self, desk: Desk) -> WrittenBookmarklet:  # noqa: ARG002 (every job has a desk)
        """Put the script together."""
        from aidos.engine.files import write_text
        from aidos.rooms.audit.collect.bookmarklet import bookmarklet, bookmarklet_page
        from aidos.rooms.audit.collect.site import read_site

        site = read_site(self.site)
        if self.output is not None:
            write_text(self.output, bookmarklet_page(site))
        return WrittenBookmarklet(value=bookmarklet(site), output=self.output)
