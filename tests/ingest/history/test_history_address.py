"""Words of addresses: host and path, never the query string."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest.history.document import address_words

LETTERS = st.text(string.ascii_lowercase, min_size=3, max_size=12)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://www.cooking.example/soups/lentil-soup.html?user=ann#top", "cooking soups lentil soup"),
        ("http://ann:hunter@gardens.example:8080/Roses_and_Tulips", "gardens roses and tulips"),
        ("https://news.paper.co.uk/", "news paper"),
        ("HTTPS://Chess.Example", "chess"),
        ("https://dice.example/wiki/w%C3%BCrfel/%D1%88%D0%B0%D1%85%D0%BC%D0%B0%D1%82%D1%8B", "dice würfel шахматы"),
        ("https://shop.example/p/B00X4WHP5E/9f86d081884c7d659a2feaa0c55ad015/12345", "shop"),
        ("https://x.example/%ff%fe/tea", "tea"),
        ("https://localhost:3000/notes", "localhost notes"),
        ("file:///home/ann/diary/divorce.html", ""),
    ],
)
def test_words_of_host_and_path_are_found(address, words):
    assert address_words(address) == words


@pytest.mark.parametrize(
    "address",
    [
        "about:config",
        "chrome://settings/passwords",
        "javascript:alert(1)",
        "place:sort=8",
        "data:text/html,debt",
        "",
        "debt",
    ],
)
def test_pages_that_are_not_of_the_web_are_none(address):
    assert address_words(address) is None


@given(path=LETTERS, secret=st.text(string.ascii_letters + string.digits + "&=/#?@:%", min_size=1))
def test_nothing_behind_the_question_mark_or_the_hash_is_ever_seen(path, secret):
    plain = address_words(f"https://site.example/{path}")
    assert address_words(f"https://site.example/{path}?{secret}") == plain
    assert address_words(f"https://site.example/{path}#{secret}") == plain


@given(user=LETTERS, word=LETTERS)
def test_accounts_in_an_address_are_never_seen(user, word):
    bare = address_words(f"https://{word}.example/a")
    assert address_words(f"https://{user}:{user}@{word}.example/a") == bare


@given(st.text())
def test_no_text_whatever_makes_it_fail(text):
    address_words(text)
    address_words(f"https://{text}")
