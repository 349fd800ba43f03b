"""A browser that looks at one page of results at a time, bounded in time and size; the one module that drives it.

It connects to nothing but the pages of the site that the person named, and to what those pages load. It does not hide
that it is driven by a program, and solves nothing that asks for a person. Lists without the account are asked in
contexts that are new each time, so no cookie of one is seen by the next; with the account in a context that begins with
what the person kept (a file of Playwright's storage state, or a profile directory).

A page may never end, be larger than anything, run for ever, lead elsewhere or start a download. Each of that is trouble
with that page and ends within the limits. The browser is driven from a thread of its own, since a page that runs for
ever can be left only by whoever does not wait for it, and so that it works inside of a notebook.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from aidos.errors import InputError, MissingExtraError, ParameterError, ServiceError
from aidos.rooms.audit.collect.site import Limits, Seen, Site, TroubleError, script

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Response
    from playwright.async_api._context_manager import PlaywrightContextManager

__all__ = ["Looker", "opened_browser"]

Found = TypeVar("Found")
QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
"""A browser that speaks to nobody of its own accord."""
VIEW: Any = {"width": 1280, "height": 1024}


@dataclass(slots=True)
class Looker:
    """An open browser, asked from a thread that may wait."""

    loop: asyncio.AbstractEventLoop
    limits: Limits
    account: Path | None
    browser: Browser | None = None
    kept: BrowserContext | None = None
    """The context of a profile directory, open as long as the browser."""
    options: dict[str, Any] = field(default_factory=dict)

    def look(self, address: str, site: Site, *, with_account: bool) -> Seen:
        """The results of a page; TroubleError where there is no such page."""
        return self._wait(self._look(address, site, with_account=with_account))

    def read(self, address: str) -> Seen:
        """The status and the text of a small plain page: robots.txt; status 0 where there is none to be had."""
        try:
            return self._wait(self._read(address))
        except TroubleError:
            return Seen(status=0)

    def try_example(self, page: str, site: Site) -> Seen:
        """What the selectors find on a saved page, with its scripts off and every connection refused."""
        return self._wait(self._try(page, site))

    def sign_in(self, site: Site) -> None:
        """Show the site to the person, who signs in by hand, and wait until she closes the window."""
        self._wait(self._sign_in(site))

    def _wait(self, work: Coroutine[Any, Any, Found]) -> Found:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def _look(self, address: str, site: Site, *, with_account: bool) -> Seen:
        context = self.kept if with_account else None
        own = context is None
        if context is None:
            context = await self._fresh(site, self.account if with_account else None)
        try:
            page = await context.new_page()
            try:
                return await self._bounded(page, address, lambda answer: self._results(page, site, answer))
            finally:
                await _left(page.close())
        finally:
            if own:
                await _left(context.close())

    async def _read(self, address: str) -> Seen:
        context = await self._fresh(None, None)
        try:
            page = await context.new_page()

            async def plain(answer: Response) -> Seen:
                text = await page.evaluate("() => (document.body ? document.body.innerText : '').slice(0, 600000)")
                return Seen(status=answer.status, text=str(text))

            return await self._bounded(page, address, plain)
        finally:
            await _left(context.close())

    async def _try(self, page: str, site: Site) -> Seen:
        context = await _opened(self.browser).new_context(java_script_enabled=False, offline=True, viewport=VIEW)
        try:
            await context.route("**/*", lambda route: route.abort())
            opened = await context.new_page()
            async with asyncio.timeout(self.limits.seconds):
                # The address of a saved page is not known: links are read against that of the site.
                base = f'<base href="{site.host}/">'
                await opened.set_content(base + page, wait_until="domcontentloaded")
                return await self._found(opened, site)
        finally:
            await _left(context.close())

    async def _sign_in(self, site: Site) -> None:
        context = _opened(self.kept)
        page = context.pages[0] if context.pages else await context.new_page()
        closed: asyncio.Future[None] = self.loop.create_future()

        def close(_: object) -> None:
            if not closed.done():
                closed.set_result(None)

        page.on("close", close)
        context.on("close", close)
        with suppress(*_failures()):
            await page.goto(f"{site.host}/", wait_until="domcontentloaded")
        await closed

    async def _fresh(self, site: Site | None, state: Path | None) -> BrowserContext:
        options = dict(self.options)
        if site is not None and site.language:
            options["locale"] = site.language
        if state is not None:
            options["storage_state"] = str(state)
        try:
            return await _opened(self.browser).new_context(**options)
        except _failures() as error:
            raise InputError(
                f"{state} cannot be used as the state of an account",
                hint="it must be what Playwright's storage_state() wrote, or a profile directory (--sign-in makes one)",
            ) from error

    async def _bounded(self, page: Page, address: str, then: Any) -> Seen:
        """Go there and read, unless it takes too long, grows too large, or leads elsewhere."""
        too_large: asyncio.Future[None] = self.loop.create_future()
        loaded = 0.0

        def count(event: Mapping[str, Any]) -> None:
            nonlocal loaded
            loaded += float(event.get("dataLength", 0))
            if loaded > self.limits.megabytes * 1e6 and not too_large.done():
                too_large.set_result(None)

        work = asyncio.ensure_future(self._go(page, address, then, count))
        both: set[asyncio.Future[Any]] = {work, too_large}
        done, _ = await asyncio.wait(both, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
        if work in done:
            return work.result()
        work.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await work
        if too_large in done:
            raise TroubleError(f"it loads more than {self.limits.megabytes:g} MB")
        raise TroubleError(f"it was not there within {self.limits.seconds:g} seconds")

    async def _go(self, page: Page, address: str, then: Any, count: Any) -> Seen:
        try:
            session = await page.context.new_cdp_session(page)
            session.on("Network.dataReceived", count)
            await session.send("Network.enable")
            answer = await page.goto(address, wait_until="domcontentloaded", timeout=self.limits.seconds * 2000)
            if answer is None:
                raise TroubleError("nothing came")
            if _host(page.url) != _host(address):
                raise TroubleError("it led to another host, as pages do that ask to sign in or to agree to something")
            seen: Seen = await then(answer)
        except _failures() as error:
            raise TroubleError(_words(str(error))) from None
        return seen

    async def _results(self, page: Page, site: Site, answer: Response) -> Seen:
        """Wait for the first result, since many pages put theirs together; then read."""
        with suppress(*_failures()):
            await page.wait_for_selector(site.results, state="attached", timeout=self.limits.seconds * 300)
        return await self._found(page, site, status=answer.status)

    async def _found(self, page: Page, site: Site, *, status: int = 200) -> Seen:
        asked = {"selectors": site.selectors(), "most": self.limits.results, "longest": self.limits.letters}
        told = await page.evaluate(script(), asked)
        if told["wrong"]:
            raise ParameterError(f"the selector {told['wrong']} is no CSS selector", hint="see the file of the site")
        return Seen(
            rows=tuple(told["rows"]),
            matched=told["matched"],
            left_out=told["left_out"],
            captcha=told["captcha"],
            signed_in=told["signed_in"],
            status=status,
        )


@contextmanager
def opened_browser(
    *, account: Path | None = None, limits: Limits | None = None, visible: bool = False, language: str = ""
) -> Iterator[Looker]:
    """A browser while the block lasts; with a profile directory, signed in as that is."""
    try:
        from playwright.async_api import async_playwright
    except ImportError as error:
        raise MissingExtraError("a browser that collects result lists", extra="collect") from error
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    looker = Looker(loop, limits or Limits(), account, options={"viewport": VIEW, "accept_downloads": False})
    driver = async_playwright()
    try:
        try:
            asyncio.run_coroutine_threadsafe(_start(looker, driver, visible, language), loop).result()
        except _failures() as error:
            raise ServiceError(
                "the browser cannot be started",
                hint="install Chromium (or: playwright install chromium), or name it in AIDOS_CHROMIUM;"
                " a window needs a screen, and a profile directory may be open in one browser only",
            ) from error
        yield looker
    finally:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(_stop(looker, driver), loop).result(timeout=20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)
        if not thread.is_alive():
            loop.close()


async def _start(looker: Looker, driver: PlaywrightContextManager, visible: bool, language: str) -> None:  # noqa: FBT001
    kind = (await driver.start()).chromium
    launch: dict[str, Any] = {
        "executable_path": os.environ.get("AIDOS_CHROMIUM") or shutil.which("chromium"),
        "args": list(QUIET),
        "headless": not visible,
        # Chromium has a sandbox against hostile pages, which the system's administrator alone cannot have.
        "chromium_sandbox": os.geteuid() != 0,
    }
    if looker.account is not None and looker.account.is_dir():
        known: dict[str, Any] = {"locale": language} if language else {}
        looker.kept = await kind.launch_persistent_context(str(looker.account), **launch, **looker.options, **known)
    looker.browser = await kind.launch(**launch)


async def _stop(looker: Looker, driver: PlaywrightContextManager) -> None:
    for each in (looker.kept, looker.browser):
        if each is not None:
            await _left(each.close())
    await _left(driver.__aexit__(None, None, None))


def _opened(started: Found | None) -> Found:
    if started is None:
        raise ServiceError("the browser is not open")
    return started


async def _left(work: Any) -> None:
    """Close what may not close any more, without waiting for ever."""
    with suppress(TimeoutError, *_failures()):
        await asyncio.wait_for(work, timeout=5)


def _failures() -> tuple[type[Exception], ...]:
    from playwright.async_api import Error

    return (Error,)


def _host(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _words(told: str) -> str:
    """The browser's error in words that quote no address: its first line may hold the query."""
    known = {
        "ERR_TOO_MANY_REDIRECTS": "it leads in circles",
        "ERR_CONNECTION_REFUSED": "nobody answers there",
        "ERR_NAME_NOT_RESOLVED": "there is no such host",
        "ERR_ABORTED": "it is no page, or a download",
        "Download is starting": "it is a download",
        "ERR_CERT": "its certificate is not valid",
        "Timeout": "it was not there in time",
        "crashed": "the page crashed",
    }
    return next((words for sign, words in known.items() if sign in told), "the browser cannot open it")
