from __future__ import annotations

import html
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest.formats.markup import plain_text, without_markup


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", ""),
        ("plain &amp; simple", "plain & simple"),
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("<p>one</p>\n\n<p>two<br>three<br/>four</p>\n", "one\ntwo\nthree\nfour"),
        ("<b>wo</b>rd", "word"),
        ('see <a href="https://example.org/?a=1&amp;b=2" title="x > y">this</a>', "see this"),
        ("see <a title='x > y'>this</a>", "see this"),
        ("<pre><code>if a &lt; b &amp;&amp; c:\n    d()\n</code></pre>", "if a < b && c:\n    d()"),
        ("a<!-- language: python, 1 > 0 -->b", "ab"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a<script>secret('<p>')</script>b<style>p {}</style>", "ab"),
        ("caf&eacute; &#8212; &#x2713;", "café — ✓"),
        ("<P>upper</P><LI>case</LI>", "upper\ncase"),
    ],
)
def test_bodies(body: str, words: str) -> None:
    assert plain_text(body) == words


pieces = st.one_of(
    st.text(max_size=10).map(html.escape),
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<br/>",
            "<em>",
            "</em>",
            '<a href="x?y=1&amp;z">',
            "</a>",
            "<LI class=x>",
            "</tr >",
            "\n",
            "&eacute;",
        ]
    ),
)


@given(st.lists(pieces))
def test_the_short_way_and_the_parser_agree(body: list[str]) -> None:
    short = plain_text("".join(body))
    long = plain_text("".join(body) + "<!-- a comment sends it through the parser -->")
    assert short == long


@given(st.text())
def test_any_text_is_a_body(body: str) -> None:
    assert isinstance(plain_text(body), str)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b and b > a", "a < b and b > a"),
        ("if x <y then z>0", "if x <y then z>0"),
        ("<ann@example.org> wrote vector<int>", "<ann@example.org> wrote vector<int>"),
        ("AT&T, &copy and R&D;", "AT&T, &copy and R&D;"),
        ("<b>bo</b>ld<br>line", "bold\nline"),
        ("<a href=\"x>y\" title='<'>link</a>", "link"),
        ("<!-- not <p> seen -->seen", "seen"),
        ("<script>var p = '</p>';</script>after<style>p {}</style>", "after"),
        ("&lt;p&gt; &#233;&#xe9;&eacute;", "<p> ééé"),
        ("<<b>", "<"),
    ],
)
def test_of_a_text_that_may_be_html_only_what_is_surely_markup_goes(text: str, shown: str) -> None:
    assert without_markup(text) == shown


@given(st.text(alphabet=st.characters(exclude_characters="&<")))
def test_what_has_neither_tags_nor_entities_stays(text: str) -> None:
    assert without_markup(text) == text


@pytest.mark.parametrize("piece", ["<a ", '<a "', "<!--", "<script>", "<a '\"", "</p ", "&#1", "<"])
def test_broken_markup_takes_no_long_time(piece: str) -> None:
    begun = time.process_time()
    without_markup(piece * 20_000)
    assert time.process_time() - begun < 5
