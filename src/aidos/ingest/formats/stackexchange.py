"""StackExchange posts: ``Posts.xml`` of the official dumps, one ``<row .../>`` a line, and two Parquet layouts.

Questions and answers become posts; tag wikis and the other administrative kinds are passed over. A post whose author
is unknown (a deleted account) cannot be anybody's row and is reported as missing-person. A dump does not say which
site it is of, so ``forum`` stays null, and its ids are unique within one site alone.

No document type and no external entity can take part: a row is read as one element by itself, where XML allows
neither. Rows in the layout of the dumps are taken apart at the quotation marks; any other way of writing the same
row goes through the standard library's XML parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from aidos.core.records import POSTS, Schema
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import UnreadableError, moment, person, whole
from aidos.ingest.formats.markup import plain_text

__all__ = ["PARQUET_LAYOUTS", "ParquetLayout", "StackExchangePosts"]

KINDS = {"1": "question", "2": "answer"}
ATTRIBUTES = (
    *("Id", "PostTypeId", "ParentId", "AcceptedAnswerId", "CreationDate", "DeletionDate", "Score", "ViewCount", "Body"),
    *("OwnerUserId", "OwnerDisplayName", "LastEditorUserId", "LastEditorDisplayName", "LastEditDate"),
    *("LastActivityDate", "Title", "Tags", "AnswerCount", "CommentCount", "FavoriteCount", "ClosedDate"),
    *("CommunityOwnedDate", "ContentLicense"),
)
WRITTEN = frozenset(f" {name}=" for name in ATTRIBUTES)
"""What stands between the quotation marks of a row in the layout of the dumps."""
FRAME = re.compile(r"\s*(<\?xml[^>]*\?>|</?posts\s*/?>|<!--.*-->)\s*")
TAG = re.compile(r"[^<>|\s]+")


@dataclass(frozen=True, slots=True)
class ParquetLayout:
    """A Parquet file of known columns: what each column of the schema is read from."""

    title: str
    schema: Schema
    columns: Mapping[str, str]
    """Column of the schema to column of the file; numbers that are ids become text without a decimal point."""
    scope: str = ""
    """The file's column within which ids are unique; without it, people of two sites would become one."""
    scoped: tuple[str, ...] = ()
    """Columns of the schema that hold such ids, to be written as ``scope/id``."""


PARQUET_LAYOUTS = (
    ParquetLayout(
        "StackExchange posts of several sites",
        POSTS,
        {
            "post_id": "id",
            "author_id": "user_id",
            "timestamp": "created",
            "text": "text",
            "title": "title",
            "forum": "site",
            "kind": "type",
            "parent_id": "parent_id",
            "tags": "tags",
            "score": "score",
        },
        scope="site",
        scoped=("post_id", "author_id", "parent_id"),
    ),
    ParquetLayout(
        "StackExchange question titles",
        POSTS,
        {
            "post_id": "Id",
            "author_id": "OwnerUserId",
            "timestamp": "CreationDate",
            "text": "Title",
            "title": "Title",
            "score": "Score",
        },
    ),
)
"""The layouts, told apart by their column names; the titles are also the text where a file has no bodies."""


READ = {
    "Id": "post_id",
    "OwnerUserId": "author_id",
    "CreationDate": "timestamp",
    "Body": "text",
    "Title": "title",
    "PostTypeId": "kind",
    "ParentId": "parent_id",
    "Tags": "tags",
    "Score": "score",
}
"""The attributes that are read, and the columns they become."""
WANTED = tuple((f" {name}=", name) for name in READ)


class StackExchangePosts:
    """Posts.xml of a StackExchange data dump."""

    name = "stackexchange"
    title = "StackExchange Posts.xml"
    schema = POSTS

    def recognise(self, sample: Sample) -> Recognition | None:
        """By rows with a PostTypeId, or by the opening tag."""
        lines = [line for line in sample.lines if line.strip()]
        rows = [line for line in lines if line.lstrip().startswith("<row ") and " PostTypeId=" in line]
        if rows and 2 * len(rows) > len([line for line in lines if not FRAME.fullmatch(line)]):
            return Recognition(1.0, "XML rows with a PostTypeId, as in the StackExchange dumps")
        if lines and all(FRAME.fullmatch(line) for line in lines) and any("<posts" in line for line in lines):
            return Recognition(0.8, "the opening tag of a StackExchange dump of posts, with no rows")
        return None

    def columns(self) -> Mapping[str, str]:
        return READ

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        for number, line in lines:
            try:
                attributes = _attributes(line.strip())
                if attributes is None:
                    continue
                values = _post(attributes)
                if values is not None:
                    yield Row(number, values)
            except UnreadableError as bad:
                yield bad.at(number)


def _attributes(row: str) -> dict[str, str] | None:
    """The attributes of a row; None for the lines around the rows."""
    if not row.startswith("<row"):
        if row and not FRAME.fullmatch(row):
            raise UnreadableError("bad-line", "the line is not one whole row element")
        return None
    pieces = row[4:-2].rstrip().split('"')
    written = dict(zip(pieces[::2], pieces[1::2], strict=False))
    if (
        row.endswith("/>")
        and pieces[-1] == ""
        and len(pieces) == 2 * len(written) + 1
        and WRITTEN.issuperset(written)
        and row.find("<", 1) < 0
    ):
        try:
            return {name: _decode(written[key]) for key, name in WANTED if key in written}
        except ValueError:
            pass
    return _attributes_by_parser(row)


def _attributes_by_parser(row: str) -> dict[str, str]:
    try:
        element = ET.fromstring(row)  # noqa: S314 (one element that begins with its own tag: no entity can be declared)
    except (ET.ParseError, ValueError):
        element = None
    if element is None or element.tag != "row" or len(element):
        raise UnreadableError("bad-line", "the line is not one whole row element")
    return dict(element.attrib)


def _decode(value: str) -> str:
    """The value with its character references resolved; ValueError when it has others than the dumps use."""
    if "&" not in value:
        return value
    value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&#xA;", "\n")
    if value.count("&") != value.count("&amp;"):
        value = value.replace("&#xD;", "\r").replace("&apos;", "'").replace("&#x9;", "\t")
        if value.count("&") != value.count("&amp;"):
            raise ValueError
    return value.replace("&amp;", "&")


def _post(attributes: dict[str, str]) -> dict[str, object] | None:
    """The columns of a question or an answer; None for the other kinds of posts."""
    if "PostTypeId" not in attributes:
        raise UnreadableError("bad-line", "the row has no PostTypeId", "PostTypeId")
    kind = KINDS.get(attributes["PostTypeId"])
    if kind is None:
        return None
    post_id, body = attributes.get("Id"), attributes.get("Body")
    if not post_id:
        raise UnreadableError("bad-line", "the row has no Id", "Id")
    if body is None:
        raise UnreadableError("bad-line", "the row has no Body", "Body")
    tags = attributes.get("Tags")
    return {
        "post_id": post_id,
        "author_id": person(attributes.get("OwnerUserId"), "OwnerUserId"),
        "timestamp": moment(attributes.get("CreationDate"), "CreationDate"),
        "text": plain_text(body),
        "title": attributes.get("Title") or None,
        "kind": kind,
        "parent_id": attributes.get("ParentId") or None,
        "tags": " ".join(TAG.findall(tags)) if tags else None,
        "score": whole(attributes.get("Score"), "Score"),
    }
