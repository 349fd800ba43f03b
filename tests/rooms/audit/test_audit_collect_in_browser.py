"""Lists collected in a real browser from a service on this machine, kind and hostile: `pytest -m browser`."""

import asyncio
import json
import os
import shutil
import time
from random import Random
from threading import Thread

import pytest
from result_site import PAGES, SELECTORS, results, served

from aidos.core.progress import SILENT
from aidos.errors import ParameterError, ServiceError
from aidos.ingest.results.reading import read_pairs
from aidos.rooms.audit.collect.bookmarklet import bookmarklet_page
from aidos.rooms.audit.collect.browser import opened_browser
from aidos.rooms.audit.collect.keeping import opened_collection
from aidos.rooms.audit.collect.recorder import Pace, Recorder
from aidos.rooms.audit.collect.site import Limits, Site, TroubleError, read_site
from aidos.surfaces.cli import run

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]
LIMITS = Limits(seconds=3, megabytes=2)


@pytest.fixture
def service():
    pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    with served() as server:
        yield server


@pytest.fixture
def site_file(service, tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(f'address = "{service.address}/find?q={{query}}&hl=en"\n{SELECTORS}signed_in = ".me"\n')
    return path


@pytest.fixture
def site(site_file):
    return read_site(site_file)


@pytest.fixture
def state(tmp_path):
    """What Playwright keeps of an account."""
    path = tmp_path / "account.json"
    cookie = {"name": "who", "value": "me", "domain": "127.0.0.1", "path": "/", "expires": -1}
    path.write_text(
        json.dumps({"cookies": [{**cookie, "httpOnly": False, "secure": False, "sameSite": "Lax"}], "origins": []})
    )
    return path


@pytest.fixture
def without_pauses(monkeypatch):
    monkeypatch.setattr("aidos.rooms.audit.collect.recorder.Pace.between_lists", lambda self: None)


def recorder(looker, site, kept, waited=None):
    pace = Pace(queries_per_hour=60, chance=Random(1), wait=(waited if waited is not None else []).append)
    return Recorder(asks=looker, site=site, kept=kept, pace=pace, place="here")


def record(looker, site, path, queries):
    with opened_collection(path, site) as kept, SILENT.task("", total=None, unit="") as task:
        return recorder(looker, site, kept).record(queries, task)


def test_both_lists_of_every_query_are_kept_and_read_as_pairs(service, site, state, tmp_path):
    queries = ["patch & glue", "fern", "a/b?"]
    with opened_browser(account=state, limits=LIMITS) as looker:
        tally = record(looker, site, tmp_path / "lists", queries)
    assert (tally.asked, tally.left_out) == (3, 9)
    read = read_pairs([str(tmp_path / "lists")])
    assert {pair.query for pair in read.pairs} == set(queries)
    for pair in read.pairs:
        assert [one.title for one in pair.vanilla] == [f"{name.title()} of it" for name in PAGES]
        assert pair.again == pair.vanilla
        assert pair.personalised[0].title == "Omega of it"
        assert pair.vanilla[0].url.startswith(f"{service.address}/go/alpha")
        assert pair.vanilla[0].snippet == "About alpha"
        assert pair.place == "here"
        assert pair.when is not None
    pages = [(query, account) for path, query, account in service.asked if path == "/find"]
    assert sorted(pages) == sorted((query, who) for query in queries for who in (True, False, False))
    rows = [json.loads(line) for line in (tmp_path / "lists" / "lists.jsonl").read_text().splitlines()]
    assert {tuple(row) for row in rows} == {
        ("query", "list", "position", "url", "title", "snippet", "when", "order", "place")
    }
    told = [query for query, _ in pages]
    assert all(len(set(told[at : at + 3])) == 1 for at in (0, 3, 6)), "the lists of a query belong to one moment"


@pytest.mark.usefixtures("without_pauses")
def test_the_command_asks_keeps_to_robots_and_goes_on(service, site_file, state, tmp_path, capsys):
    (tmp_path / "queries.txt").write_text("fern\n\n fern \n")
    words = ["audit", "collect", str(site_file), "--queries", str(tmp_path / "queries.txt"), "--account", str(state)]
    words += ["-o", str(tmp_path / "lists"), "--quiet"]
    assert run(words) == 2
    assert "--i-may-automate" in capsys.readouterr().err
    assert service.asked == []

    service.robots = (200, "User-agent: *\nDisallow: /find?\n")
    assert run([*words, "--i-may-automate"]) == 2
    assert "robots.txt forbids" in capsys.readouterr().err
    service.robots = (503, "")
    assert run([*words, "--i-may-automate"]) == 2
    assert "robots.txt cannot be read" in capsys.readouterr().err
    assert "/find" not in {path for path, _, _ in service.asked}

    service.robots = (200, "User-agent: *\nDisallow: /private\n")
    assert run([*words, "--i-may-automate"]) == 0
    assert [account for path, _, account in service.asked if path == "/find"].count(True) == 1
    before = len(service.asked)
    assert run([*words, "--i-may-automate"]) == 0
    assert len(service.asked) == before, "what was asked is not asked again"
    assert run(["audit", "check", str(tmp_path / "lists"), "--quiet"]) == 0


def test_a_profile_directory_keeps_who_signed_in_by_hand(service, site, tmp_path):
    profile = tmp_path / "profile"
    profile.mkdir(mode=0o700)
    with opened_browser(account=profile, limits=LIMITS) as looker:
        waiting = Thread(target=looker.sign_in, args=(site,))
        waiting.start()
        while not service.asked or not looker.kept.pages[0].url.startswith(service.address):
            time.sleep(0.1)
        asyncio.run_coroutine_threadsafe(looker.kept.pages[0].close(), looker.loop).result(10)  # as she does
        waiting.join(10)
        assert not waiting.is_alive()
    with opened_browser(account=profile, limits=LIMITS) as looker:
        assert looker.look(site.address_of("fern"), site, with_account=True).signed_in is True
        assert looker.look(site.address_of("fern"), site, with_account=False).signed_in is False


def test_selectors_are_tried_on_a_saved_page_that_cannot_reach_anything(service, site_file, site, tmp_path, capsys):
    page = tmp_path / "saved.html"
    beacon = f'<img src="{service.address}/beacon"><script src="{service.address}/run.js"></script>'
    page.write_text(beacon + results("fern", account=False))
    assert run(["audit", "collect", str(site_file), "--example", str(page), "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "Alpha of it" in shown
    assert "/go/alpha" in shown
    assert service.asked == []
    page.write_text("<p>nothing</p>")
    assert run(["audit", "collect", str(site_file), "--example", str(page), "--quiet"]) == 2
    assert "find no result" in capsys.readouterr().err


def test_a_selector_that_is_none_is_named(service, site):
    broken = Site(address=site.address, results=".result", title="h3[")
    with opened_browser(limits=LIMITS) as looker, pytest.raises(ParameterError, match="selector title"):
        looker.look(broken.address_of("fern"), broken, with_account=False)


def slow(handler):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<p>soon")
    time.sleep(6)


def busy(handler):
    handler.say(200, results("x", account=False) + "<script>setTimeout(() => { for (;;); }, 0)</script>")


def endless(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    try:
        for _ in range(400):
            handler.wfile.write(b"<div class=result><a href=/x>more</a></div>" * 2000)
    except OSError:
        pass


HOSTILE = {
    "slow": (slow, "within 3 seconds"),
    "busy": (busy, "within 3 seconds"),
    "circles": (lambda handler: handler.say(302, "", to="/find?q=circles"), "circles"),
    "elsewhere": (
        lambda handler: handler.say(302, "", to=f"http://localhost:{handler.server.server_port}/x"),
        "another",
    ),
    "download": (lambda handler: handler.say(200, "x", kind="application/zip"), "download"),
    "endless": (endless, "more than 2 MB"),
}


@pytest.mark.parametrize("query", HOSTILE)
def test_a_hostile_page_is_left_in_time_and_the_next_one_is_read(query, service, site):
    mood, words = HOSTILE[query]
    service.moods[query] = mood
    begun = time.monotonic()
    with opened_browser(limits=LIMITS) as looker:
        with pytest.raises(TroubleError, match=words) as caught:
            looker.look(site.address_of(query), site, with_account=False)
        assert service.address not in str(caught.value)
        assert len(looker.look(site.address_of("fern"), site, with_account=False).rows) == len(PAGES)
    assert time.monotonic() - begun < 30


def test_a_text_that_is_cut_within_a_character_is_text(site):
    whole = "\U0001f600" * 5
    page = f'<div class="result"><a href="https://page.example/">{whole}</a><p class="summary">x{whole}</p></div>'
    with opened_browser(limits=Limits(letters=5)) as looker:
        (row,) = looker.try_example(page, Site(address=site.address, results=".result", snippet=".summary")).rows
    assert row["title"] == "\U0001f600\U0001f600\ufffd"
    assert row["snippet"] == "x\U0001f600\U0001f600"


def test_no_more_is_taken_of_a_page_than_the_limits_say(service, site):
    row = f'<div class="result"><a href="/x?{{}}"><h3>{"t" * 9000}</h3></a></div>'
    service.moods["long"] = lambda handler: handler.say(200, "".join(row.format(at) for at in range(200)))
    with opened_browser(limits=Limits(seconds=10, results=7, letters=50)) as looker:
        seen = looker.look(site.address_of("long"), site, with_account=False)
    assert (seen.matched, len(seen.rows)) == (200, 7)
    assert {len(row["title"]) for row in seen.rows} == {50}


CAPTCHA = '<form action="/x"><div id="captcha-box" style="width:300px;height:80px">Are you a person?</div></form>'


@pytest.mark.parametrize(
    "unwanted",
    [
        (lambda handler: handler.say(200, CAPTCHA), "captcha"),
        (lambda handler: handler.say(200, results("x", account=True) + CAPTCHA), "captcha"),
        (lambda handler: handler.say(429, "slower"), "status 429"),
        (lambda handler: handler.say(200, results("x", account=True)), "looks signed in"),
        (lambda handler: handler.say(200, results("x", account=False)), "not signed in"),
    ],
)
def test_it_stops_at_once_where_it_is_not_wanted_and_keeps_what_it_has(unwanted, service, site, state, tmp_path):
    mood, words = unwanted
    with opened_browser(account=state, limits=LIMITS) as looker:
        record(looker, site, tmp_path / "lists", ["fern"])
        service.moods = dict.fromkeys(("one", "two", "three"), mood)
        before = len(service.asked)
        with pytest.raises(ServiceError, match=words):
            record(looker, site, tmp_path / "lists", ["one", "two", "three"])
        assert len(service.asked) - before <= 3
    assert [pair.query for pair in read_pairs([str(tmp_path / "lists")]).pairs] == ["fern"]


def test_the_bookmark_saves_what_the_page_shows(service, site, tmp_path):
    """In the browser: the page holds the script in full and loads nothing; pressed on results, it gives a file."""
    from playwright.sync_api import sync_playwright

    written = tmp_path / "bookmark.html"
    written.write_text(bookmarklet_page(site))
    path = os.environ.get("AIDOS_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver, driver.chromium.launch(executable_path=path, args=["--no-sandbox"]) as browser:
        page = browser.new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(written.as_uri())
        assert asked == [written.as_uri()]
        bookmark = page.get_attribute("a.bookmark", "href")
        page.on("dialog", lambda asks: asks.accept(side if "Which list" in asks.message else asks.default_value))
        for side in ("vanilla", "personalised"):
            page.context.add_cookies(
                [{"name": "who", "value": side.replace("personalised", "me"), "url": service.address}]
            )
            page.goto(site.address_of("patch & glue"))
            with page.expect_download() as download:
                page.evaluate("(bookmark) => { location.href = bookmark; }", bookmark)
            download.value.save_as(tmp_path / "saved" / download.value.suggested_filename)
    (pair,) = read_pairs([str(tmp_path / "saved")]).pairs
    assert pair.query == "patch & glue"
    assert [one.title for one in pair.vanilla] == [f"{name.title()} of it" for name in PAGES]
    assert pair.personalised[0].title == "Omega of it"
