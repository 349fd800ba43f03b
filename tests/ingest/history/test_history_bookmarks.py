"""Bookmarks in JSON and HTML, as browsers export them."""

import json
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_history import A_DAY, firefox_backup, make_chrome_bookmarks

from aidos.core.profile import Kind
from aidos.errors import AidosError, InputError

NETSCAPE = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="{A_DAY}">Garden &amp; pots</H3>
    <DL><p>
        <DT><A HREF="https://roses.example/pruning?user=ann" ADD_DATE="{A_DAY}" ICON="data:image/png;base64,AAAA" \
TAGS="spring,thorns">Roses &lt;3</A>
        <DD>How to cut them
        <DT><A HREF="https://tulips.example/">Tulips</A>
    </DL><p>
    <DT><A HREF="https://chess.example/" ADD_DATE="soon">Chess</A>
    <DT><A HREF="javascript:void(0)">A button</A>
    <DT><A>No address</A>
</DL><p>
"""


def test_bookmarks_in_html_have_title_address_folder_tags_and_description(read, tmp_path):
    (tmp_path / "bookmarks.html").write_text(NETSCAPE)
    roses, tulips, chess = read(tmp_path / "bookmarks.html")
    assert roses.kind is Kind.HTML_BOOKMARKS
    assert " ".join(roses.text.split()) == "Roses <3 roses pruning Garden & pots spring thorns How to cut them"
    assert int(roses.time.timestamp()) == A_DAY
    assert tulips.text.split() == ["Tulips", "tulips", "Garden", "&", "pots"]
    assert chess.text.split() == ["Chess", "chess"]
    assert chess.time is None


def test_long_files_in_html_lose_nothing_where_they_are_cut_into_pieces(read, tmp_path):
    lines = [f'<DT><A HREF="https://site.example/{"x" * (at % 90)}">Title {at} end</A>\n' for at in range(3_000)]
    (tmp_path / "b.html").write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n" + "".join(lines) + "</DL>")
    found = read(tmp_path / "b.html")
    assert [page.text.split("\n")[0] for page in found] == [f"Title {at} end" for at in range(3_000)]


def test_bookmarks_of_chrome_have_their_folder(read, tmp_path):
    pages = [("https://soup.example/lentil", "Soup"), ("chrome://flags", "Flags")]
    (soup,) = read(make_chrome_bookmarks(tmp_path / "Bookmarks", pages))
    assert soup.kind is Kind.CHROME_BOOKMARKS
    assert soup.text == "Soup\nsoup lentil\nKitchen"
    assert int(soup.time.timestamp()) == A_DAY


def test_backups_of_firefox_can_be_read_packed_or_not(read, tmp_path):
    content = firefox_backup([("https://soup.example/lentil", "Soup", "warm,red"), ("place:sort=8", "Recent", "")])
    (tmp_path / "plain.json").write_text(content)
    packed = pa.Codec("lz4_raw").compress(content.encode(), asbytes=True)
    (tmp_path / "b.jsonlz4").write_bytes(b"mozLz40\x00" + len(content.encode()).to_bytes(4, "little") + packed)
    plain = read(tmp_path / "plain.json")
    assert [page.text for page in plain] == ["Soup\nsoup lentil\nKitchen warm red"]
    assert plain[0].kind is Kind.FIREFOX_BOOKMARKS
    assert read(tmp_path / "b.jsonlz4") == plain


def test_packed_backups_that_are_damaged_or_promise_too_much_are_refused(read, tmp_path):
    path = tmp_path / "b.jsonlz4"
    for size in (100, 1 << 31):
        path.write_bytes(b"mozLz40\x00" + size.to_bytes(4, "little") + b"\xf0\x01\x02")
        with pytest.raises(InputError, match="damaged"):
            read(path)


def test_json_bookmarks_that_are_cut_off_are_refused(read, tmp_path):
    path = make_chrome_bookmarks(tmp_path / "Bookmarks", [("https://soup.example/", "Soup")])
    path.write_text(path.read_text()[:-40])
    with pytest.raises(InputError, match="not whole"):
        read(path)


def test_bookmarks_without_a_page_are_refused(read, tmp_path):
    with pytest.raises(InputError, match="holds no page"):
        read(make_chrome_bookmarks(tmp_path / "Bookmarks", []))


def test_folders_may_be_deeper_than_anybody_makes_them(read, tmp_path):
    node = '{"type": "url", "url": "https://deep.example/", "name": "Deep"}'
    for _ in range(95):
        node = f'{{"type": "folder", "name": "f", "children": [{node}]}}'
    (tmp_path / "Bookmarks").write_text(f'{{"roots": {{"other": {node}}}, "version": 1}}')
    assert [page.text for page in read(tmp_path / "Bookmarks")] == ["Deep\ndeep\nf"]


NODES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "children", "url", "uri", "name", "title", "date_added"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NODES)
def test_json_of_any_shape_is_read_or_refused(read, tmp_path, node):
    for tree in ({"roots": {"other": node}}, {"type": "text/x-moz-place-container", "children": node}):
        (tmp_path / "Bookmarks").write_text(json.dumps(tree))
        with suppress(AidosError):
            read(tmp_path / "Bookmarks")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["<DL>", "</DL>", "<A HREF='https://a.example/'>", "</A>", "<DD>", "<H3>", "</", "w", "<!--"])
    )
)
def test_html_of_any_shape_is_read_or_refused(read, tmp_path, pieces):
    (tmp_path / "b.html").write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1>" + "".join(pieces))
    with suppress(AidosError):
        read(tmp_path / "b.html")
