from __future__ import annotations

import html
from xml.sax.saxutils import quoteattr

import pytest
from format_samples import POST, at, only_bad, only_row, parsed
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.records import POSTS
from aidos.ingest.formats.stackexchange import PARQUET_LAYOUTS, StackExchangePosts

SE = StackExchangePosts()
QUESTION = POST.format(id=5, kind=1)


def test_a_question() -> None:
    assert only_row(SE, QUESTION) == {
        "post_id": "5",
        "author_id": "9",
        "timestamp": at("2011-06-21T20:19:34.730000"),
        "text": "Which boat?",
        "title": "Boats & ships",
        "kind": "question",
        "parent_id": None,
        "tags": "boats sea-travel",
        "score": 8,
    }


def test_an_answer() -> None:
    row = only_row(SE, POST.format(id=6, kind=2).replace(' Title="Boats &amp; ships"', ' ParentId="5"'))
    assert (row["kind"], row["parent_id"], row["title"]) == ("answer", "5", None)


def test_tags_between_pipes() -> None:
    assert (
        only_row(SE, QUESTION.replace("&lt;boats&gt;&lt;sea-travel&gt;", "|boats|sea-travel|"))["tags"]
        == "boats sea-travel"
    )


@pytest.mark.parametrize(
    "other_spelling",
    [
        QUESTION.replace('Id="5"', "Id='5'", 1),
        QUESTION.replace(" />", "></row>"),
        QUESTION.replace('Score="8"', 'Score = "8"   NewAttribute="x"'),
        QUESTION.replace("Which", "&#87;hich"),
        QUESTION.strip(),
        QUESTION + "\r",
    ],
)
def test_other_spellings_of_the_same_row_give_the_same_post(other_spelling: str) -> None:
    assert only_row(SE, other_spelling) == only_row(SE, QUESTION)


def test_the_lines_around_the_rows_and_other_kinds_of_posts_give_no_row() -> None:
    lines = ('<?xml version="1.0" encoding="utf-8"?>', "<posts>", QUESTION, POST.format(id=7, kind=5), "", "</posts>")
    assert [row.line for row in parsed(SE, *lines)] == [3]


@pytest.mark.parametrize(
    ("line", "kind", "column"),
    [
        (QUESTION.replace(' OwnerUserId="9"', ' OwnerDisplayName="secret"'), "missing-person", "OwnerUserId"),
        (QUESTION.replace("2011-06-21", "21 secret"), "unreadable-time", "CreationDate"),
        (QUESTION.replace('Score="8"', 'Score="many secret"'), "bad-number", "Score"),
        (QUESTION.replace(' Id="5"', ""), "bad-line", "Id"),
        (QUESTION.replace(' PostTypeId="1"', ""), "bad-line", "PostTypeId"),
        (QUESTION.replace(" Body=", " LastEditorDisplayName="), "bad-line", "Body"),
        (QUESTION[:-30], "bad-line", ""),
        (QUESTION * 2, "bad-line", ""),
        (QUESTION.replace("Which", "Which <secret>"), "bad-line", ""),
        (QUESTION.replace("Which", "Which &secret;"), "bad-line", ""),
        (QUESTION.replace(' Id="5"', ' Id="5" Id="6"'), "bad-line", ""),
        ('<!DOCTYPE r [<!ENTITY secret "x">]>' + QUESTION, "bad-line", ""),
        ('<row Id="5" PostTypeId="1"><secret/></row>', "bad-line", ""),
        ("secret", "bad-line", ""),
    ],
)
def test_bad_rows(line: str, kind: str, column: str) -> None:
    bad = only_bad(SE, line)
    assert (bad.kind, bad.column) == (kind, column)
    assert "secret" not in bad.sentence


xml_text = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff"), max_size=60)


@given(xml_text, xml_text)
def test_any_words_come_back_whatever_the_spelling_of_the_row(title: str, words: str) -> None:
    written = f"Body={quoteattr('<p>' + html.escape(words) + '</p>')} Title={quoteattr(title)}"
    start = f'<row Id="1" PostTypeId="1" CreationDate="2011-06-21T20:19:34" OwnerUserId="9" {written}'
    for line in (start + " />", start + "></row>"):
        row = only_row(SE, line)
        assert row["text"] == words.strip()
        assert row["title"] == (title or None)


def test_parquet_layouts_name_columns_of_the_schema_and_every_required_one() -> None:
    required = {column.name for column in POSTS.columns if column.required}
    for layout in PARQUET_LAYOUTS:
        assert required <= layout.columns.keys() <= set(POSTS.names())
        assert set(layout.scoped) <= layout.columns.keys()
