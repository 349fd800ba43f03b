"""Collecting without a browser: sites, robots.txt, the order and the pace of asking, and what is kept when."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.progress import SILENT
from aidos.errors import EngineError, InputError, ParameterError, ServiceError
from aidos.ingest.results.reading import read_pairs
from aidos.rooms.audit.collect.bookmarklet import bookmarklet, bookmarklet_page
from aidos.rooms.audit.collect.keeping import opened_collection
from aidos.rooms.audit.collect.recorder import WITHIN, Pace, Recorder, draw_order, read_robots
from aidos.rooms.audit.collect.site import Seen, Site, TroubleError, read_site
from aidos.surfaces.cli import run

SITE = Site(address="https://search.example/find?q={query}&hl=en", results=".result")
FOUND = tuple({"url": f"https://{name}.example", "title": name, "snippet": ""} for name in "abc")


class Service:
    """Answers from memory; queries that are named are answered otherwise."""

    def __init__(self, **others):
        self.others, self.asked = others, []

    def look(self, address, site, *, with_account):
        query = site.query_of(address)
        self.asked.append((query, with_account))
        seen = self.others.get(query, Seen(rows=FOUND[::-1] if with_account else FOUND))
        if isinstance(seen, str):
            raise TroubleError(seen)
        return seen


def record(path, service, queries, seed=1, waited=None, **options):
    pace = Pace(queries_per_hour=60, chance=Random(seed), wait=(waited if waited is not None else []).append)
    with opened_collection(path, SITE) as kept, SILENT.task("", total=None, unit="") as task:
        recorder = Recorder(asks=service, site=SITE, kept=kept, pace=pace, place="Ghent", **options)
        return recorder.record(queries, task)


def test_a_site_is_read_from_its_file(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text('address = "http://127.0.0.1:80/?q={query}"\nresults = "li"\ncaptcha = "#asks"\n')
    site = read_site(path)
    assert site.host == "http://127.0.0.1:80"
    assert site.selectors() == {"results": "li", "link": "a[href]", "captcha": "#asks"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("results = 'li'", "address is missing"),
        ("address = 'https://a.example/{query}'", "results is missing"),
        ("address = 'https://a.example/'\nresults = 'li'", "{query} once"),
        ("address = 'file:///{query}'\nresults = 'li'", "http://"),
        ("address = 'https://{query}.example/'\nresults = 'li'", "a host"),
        ("address = 'https://me:secret@a.example/{query}'\nresults = 'li'", "credentials"),
        ("address = 'https://a.example/{query}'\nresults = ' '", "empty"),
        ("address = 'https://a.example/{query}'\nresults = 1", "no text"),
        ("address = 'https://a.example/{query}'\nresults = 'li'\nresult = 'li'", "there is no result"),
        ("address", "no TOML"),
    ],
)
def test_what_is_wrong_with_a_site_is_told_without_its_secrets(text, words, tmp_path):
    (tmp_path / "site.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_site(tmp_path / "site.toml")
    assert words in caught.value.message
    assert "secret" not in caught.value.message + caught.value.hint


@given(st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_the_query_of_an_address_is_the_one_that_made_it(query):
    assert SITE.query_of(SITE.address_of(query)) == query
    assert SITE.query_of("https://other.example/find?q=fern") == ""


ROBOTS = """# rules
User-agent: *
Disallow: /private
Disallow: /*?q=*&page=
Allow: /private/open$
Crawl-delay: 7

User-agent: other
User-Agent: AIDOS # us
Disallow: /find
Allow: /find/ok
"""


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/find", True),
        (ROBOTS, "/find?q=x", False),
        (ROBOTS, "/find/ok?q=x", True),
        (ROBOTS, "/private", True),
        (ROBOTS.replace("AIDOS", "nobody"), "/private/x", False),
        (ROBOTS.replace("AIDOS", "nobody"), "/private/open", True),
        (ROBOTS.replace("AIDOS", "nobody"), "/private/open/x", False),
        (ROBOTS.replace("AIDOS", "nobody"), "/find?q=x&page=2", False),
        (ROBOTS.replace("AIDOS", "nobody"), "/find?q=x", True),
        ("User-agent: *\nDisallow: /\nAllow: /", "/x", True),
        ("User-agent: *\nDisallow:\n", "/x", True),
        ("User-agent: *\nDisallow: /%7Eme\n", "/~me/x", False),
        ("User-agent: *\nDisallow: /" + "a*" * 2000 + "$", "/" + "a" * 20_000, False),
        ("User-agent: *\nDisallow: /" + "a*" * 2000 + "b", "/" + "a" * 20_000, True),
    ],
)
def test_robots_are_read_as_the_standard_says(text, path, allowed):
    assert read_robots(200, text).allow(f"https://a.example{path}") is allowed


def test_a_site_without_rules_is_asked_and_one_that_hides_them_is_not():
    assert read_robots(404, "<html>").allow("https://a.example/")
    assert not read_robots(0, "").allow("https://a.example/")
    assert not read_robots(500, "").allow("https://a.example/")
    pauses = [
        read_robots(200, f"User-agent: *\nCrawl-delay: {value}").pause for value in ("7", "x", "nan", "-3", "1e9")
    ]
    assert pauses == [7, 0, 0, 0, 3600]


def test_every_order_of_the_lists_is_as_likely_as_every_other():
    """Six orders, 6,000 draws: the chi-square of five degrees stays below 25.7 but for one in 10,000 runs."""
    drawn = Counter(draw_order(Random(seed), again=True) for seed in range(6000))
    assert set(drawn) == set(permutations(("vanilla", "personalised", "again")))
    assert sum((count - 1000) ** 2 / 1000 for count in drawn.values()) < 25.7
    assert set(draw_order(Random(1), again=False)) == {"vanilla", "personalised"}


def test_lists_are_kept_with_their_order_time_and_place_and_read_as_pairs(tmp_path):
    record(tmp_path / "lists", Service(), ["fern", "moss & co"])
    rows = [json.loads(line) for line in (tmp_path / "lists" / "lists.jsonl").read_text().splitlines()]
    assert len(rows) == 2 * 3 * len(FOUND)
    assert {row["place"] for row in rows} == {"Ghent"}
    orders = {(row["query"], row["list"]): row["order"] for row in rows}
    assert sorted(orders.values()) == [1, 1, 2, 2, 3, 3]
    assert all(row["when"].endswith("+00:00") for row in rows)
    assert (tmp_path / "lists" / "lists.jsonl").stat().st_mode & 0o077 == 0
    read = read_pairs([str(tmp_path / "lists")])
    assert {pair.query for pair in read.pairs} == {"fern", "moss & co"}
    assert {tuple(one.title for one in pair.personalised) for pair in read.pairs} == {("c", "b", "a")}
    assert run(["audit", "check", str(tmp_path / "lists"), "--quiet"]) == 0


def test_it_asks_slowly_and_keeps_to_the_pause_that_a_site_wants(tmp_path):
    waited = []
    record(tmp_path / "lists", Service(), ["one", "two", "three"], waited=waited)
    within, between = [waited[at] for at in (0, 1, 3, 4, 6, 7)], [waited[at] for at in (2, 5)]
    assert len(waited) == 8
    assert all(WITHIN[0] <= pause <= WITHIN[1] for pause in within)
    assert all(25 < pause <= 90 for pause in between)
    assert len(set(waited)) == 8
    patient = Pace(queries_per_hour=3600, least=100, wait=waited.append)
    patient.between_lists()
    patient.between_queries(5)
    assert waited[-2:] == [100, 100]


def test_what_was_asked_is_not_asked_again_and_more_queries_may_follow(tmp_path):
    record(tmp_path / "lists", Service(), ["one", "two"])
    service = Service()
    tally = record(tmp_path / "lists", service, ["one", "two", "three", "three"])
    assert ({query for query, _ in service.asked}, tally.asked) == ({"three"}, 1)
    assert len(read_pairs([str(tmp_path / "lists")]).pairs) == 3


def test_a_query_without_results_or_with_a_page_that_fails_leaves_no_half_of_a_pair(tmp_path):
    service = Service(empty=Seen(), broken="it leads in circles", gone=Seen(status=404, rows=FOUND))
    tally = record(tmp_path / "lists", service, ["one", "empty", "two", "broken", "three", "gone", "four"], seed=3)
    assert (tally.asked, tally.empty, tally.troubled) == (4, 1, 2)
    assert {pair.query for pair in read_pairs([str(tmp_path / "lists")]).pairs} == {"one", "two", "three", "four"}


@pytest.mark.parametrize(
    ("seen", "words", "most"),
    [
        (Seen(), "no result was found", 9),
        ("it was not there in time", "could not be read", 9),
        (Seen(captcha=True, rows=FOUND), "captcha", 1),
        (Seen(status=429), "status 429", 1),
        (Seen(status=403, rows=FOUND), "status 403", 1),
        (Seen(rows=FOUND, signed_in=True), "looks signed in", 2),
        (Seen(rows=FOUND, signed_in=False), "not signed in", 3),
    ],
)
def test_it_stops_where_it_is_not_wanted_or_stuck_and_says_how_to_go_on(seen, words, most, tmp_path):
    record(tmp_path / "lists", Service(), ["before"])
    service = Service(**{f"q{number}": seen for number in range(9)})
    with pytest.raises(ServiceError, match=words) as caught:
        record(tmp_path / "lists", service, service.others)
    assert "goes on from there" in caught.value.hint
    assert len(service.asked) <= most
    assert len({query for query, _ in service.asked}) <= 3
    assert [pair.query for pair in read_pairs([str(tmp_path / "lists")]).pairs] == ["before"]


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import aidos.engine.files as files
from pathlib import Path
from test_audit_collect import Service, record
done = 0
real = Path.replace
def replace(self, target):
    global done
    done += str(target).endswith("lists.jsonl")
    if done == 2 and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    found = real(self, target)
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
Path.replace = replace
record(Path({path!r}), Service(), ["one", "two", "three"])
"""


@pytest.mark.parametrize("before", [True, False])
def test_whoever_is_killed_loses_the_query_under_way_at_most(before, tmp_path):
    path = tmp_path / "lists"
    code = KILLED.format(tests=os.path.dirname(__file__), path=str(path), before=before)  # noqa: PTH120
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert len(read_pairs([str(path)]).pairs) == (1 if before else 2)
    service = Service()
    record(path, service, ["one", "two", "three"])
    assert len({query for query, _ in service.asked}) == (2 if before else 1)
    assert len(read_pairs([str(path)]).pairs) == 3
    assert sorted(each.name for each in path.iterdir()) == [".collection.json", "lists.jsonl"]


def test_lists_of_two_sites_are_not_mixed_and_two_cannot_write_at_once(tmp_path):
    with (
        opened_collection(tmp_path / "lists", SITE),
        pytest.raises(EngineError, match="somebody else"),
        opened_collection(tmp_path / "lists", SITE),
    ):
        pass
    other = Site(address=SITE.address, results=".other")
    with pytest.raises(InputError, match="another file of a site"), opened_collection(tmp_path / "lists", other):
        pass
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    with pytest.raises(InputError, match="exists already"), opened_collection(tmp_path / "mine", SITE):
        pass
    (tmp_path / "lists" / "lists.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="damaged"), opened_collection(tmp_path / "lists", SITE):
        pass
    (tmp_path / "lists" / "lists.jsonl").write_text('{"query": "a", "list": ["vanilla"]}\n')
    with opened_collection(tmp_path / "lists", SITE) as kept:  # whoever reads the pairs says what is wrong
        assert kept.lists == 1


def test_bytes_that_are_no_text_are_damage_and_nothing_is_lost(tmp_path):
    record(tmp_path / "lists", Service(), ["a"])
    file = tmp_path / "lists" / "lists.jsonl"
    damaged = file.read_bytes().replace(b"https", b"http\xe9")
    file.write_bytes(damaged)
    with pytest.raises(InputError, match="line 1 is no row"), opened_collection(tmp_path / "lists", SITE) as kept:
        kept.add("b", [{"query": "b", "list": "vanilla"}])
    assert file.read_bytes() == damaged


def test_a_page_with_half_a_character_is_kept(tmp_path):
    service = Service(a=Seen(status=200, rows=({**FOUND[0], "title": "half \ud83d"}, *FOUND[1:])))
    record(tmp_path / "lists", service, ["a"])
    assert read_pairs([str(tmp_path / "lists")])
    record(tmp_path / "lists", Service(), ["b"])
    with opened_collection(tmp_path / "lists", SITE) as kept:
        assert list(kept.queries) == ["a", "b"]


def test_the_command_wants_queries_a_place_an_account_and_a_promise_before_it_asks(tmp_path, capsys):
    (tmp_path / "site.toml").write_text(f'address = "{SITE.address}"\nresults = "li"\n')
    words, wanted = ["audit", "collect", str(tmp_path / "site.toml")], []
    (tmp_path / "state.json").write_text("{}")
    for more in (
        ["--output", str(tmp_path / "lists")],
        ["fern"],
        ["--account", str(tmp_path / "absent")],
        ["--account", str(tmp_path / "state.json")],
    ):
        options = [option for option in more if option != "fern"]
        words = words[:-2] + options if "--account" in more and "--account" in words else [*words, *more]
        assert run([*words, "--quiet"]) == 2
        wanted.append(capsys.readouterr().err)
    assert "nothing to search for" in wanted[0]
    assert "account is missing" in wanted[1]
    assert "account is missing" in wanted[2]
    assert "terms" in wanted[3]
    assert "--i-may-automate" in wanted[3]
    assert not (tmp_path / "lists").exists()


def test_the_page_of_the_bookmark_shows_all_of_its_script_and_loads_nothing():
    site = Site(address="https://search.example/?q={query}", results=".r[title='</script>\"<b>']")
    page, script = bookmarklet_page(site), bookmarklet(site)
    assert "<script" not in page
    assert "</script>" not in page
    assert set(re.findall(r"https?://[^/\"'<>\s]+", page)) == {"https://search.example"}
    assert "default-src 'none'" in page
    assert "fetch(" not in script
    assert "XMLHttpRequest" not in script
    assert "sendBeacon" not in script


def test_a_rate_beyond_that_of_a_person_is_refused():
    from aidos.rooms.audit.jobs.collect import CollectLists

    with pytest.raises(ParameterError, match="120"):
        CollectLists(site="site.toml", queries_per_hour=1000)
