"""Of a page of results the query counts, and titles lose the names of engines and sites."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.profile import Kind
from aidos.ingest.history.document import ENGINES, clean_title, make_document, searched_for

ENGINE_PAGES = [
    ("lentil soup - Google Search", "https://www.google.com/search?q=lentil+soup&client=abc"),
    ("lentil soup - Bing", "https://www.bing.com/search?q=lentil%20soup&form=QBLH"),
    ("lentil soup at DuckDuckGo", "https://duckduckgo.com/?q=lentil+soup&t=h_&ia=web"),
    ("lentil soup - Yahoo Search Results", "https://uk.search.yahoo.com/search?p=lentil+soup"),
    ("lentil soup - Ecosia", "https://www.ecosia.org/search?q=lentil+soup"),
    ("lentil soup — Yandex", "https://yandex.com/search/?text=lentil+soup"),
    ("lentil soup - Brave Search", "https://search.brave.com/search?q=lentil+soup"),
    ("Search", "https://kitchen.example/search?query=lentil+soup&session=hushhush"),
]


@pytest.mark.parametrize(("title", "address"), ENGINE_PAGES)
def test_a_page_of_results_is_about_what_was_searched_for_and_nothing_else(title, address):
    assert make_document(Kind.CHROME_HISTORY, title=title, address=address).text == "lentil soup"


@pytest.mark.parametrize(("title", "_"), ENGINE_PAGES[:-1])
def test_without_the_address_the_name_of_the_engine_is_cut_off(title, _):
    assert clean_title(title) == "lentil soup"


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_start_pages_of_engines_are_about_nothing(engine):
    assert searched_for(f"https://www.{engine}.com/") == ""
    assert make_document(Kind.CHROME_HISTORY, title=engine, address=f"https://{engine}.com") is None


@pytest.mark.parametrize(
    "address",
    [
        "https://mail.google.com/mail/u/0/?q=in%3Ainbox",
        "https://ask.kitchen.example/soups?q=lentil",
        "https://kitchen.example/soups?q=lentil",
        "https://google.com.kitchen.example/?q=lentil",
        "about:blank",
        "",
    ],
)
def test_other_pages_are_no_pages_of_results(address):
    assert searched_for(address) is None


@given(
    secret=st.text(string.ascii_letters + string.digits, min_size=1), field=st.sampled_from(["session", "token", "sid"])
)
def test_no_other_field_of_the_address_is_ever_seen(secret, field):
    for address in ("https://www.google.com/search?q=soup", "https://kitchen.example/search?q=soup"):
        assert searched_for(f"{address}&{field}={secret}#{secret}") == "soup"
    assert searched_for(f"https://kitchen.example/soups?{field}={secret}") is None


@pytest.mark.parametrize(
    ("title", "address", "left"),
    [
        ("Why cats purr - YouTube", "https://www.youtube.com/watch?v=1", "Why cats purr"),
        ("The harvest | The Gazette", "https://gazette.example/harvest", "The harvest"),
        ("The harvest | The Gazette", "https://kitchen.example/harvest", "The harvest | The Gazette"),
        ("Soup - stew - broth", "https://kitchen.example", "Soup - stew - broth"),
        ("Kitchen", "https://kitchen.example", "Kitchen"),
        ("Climbing at bing", "", "Climbing at bing"),
    ],
)
def test_a_title_loses_the_name_of_its_site_and_no_more(title, address, left):
    assert clean_title(title, address) == left


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_whatever_makes_it_fail(title, rest):
    assert len(clean_title(title, f"https://{rest}")) <= len(title)
    for address in (rest, f"https://google.com/search?q={rest}", f"https://{rest}/search?{rest}"):
        searched_for(address)
