"""HTML as communities store it, to plain text: tags dropped, entities decoded, code kept.

`plain_text` is for what is HTML for sure; `without_markup` for what may be: people also write `a < b`.

Tags that begin a new line on a page become a line break, so that words of two paragraphs do not run together; tags
inside a line leave nothing. Well-formed bodies, nearly all of them, take a short way of splitting at the angle
brackets that is about ten times as fast; whatever does not fit it (comments, stray brackets, scripts, brackets in
attributes) goes through the standard library's parser. Nothing here makes foreign HTML safe to show on a page.
"""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

__all__ = ["plain_text", "without_markup"]

LINE_TAGS = frozenset(
    (
        *("address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer", "form", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot"),
        *("th", "thead", "tr", "ul"),
    )
)
HIDDEN_TAGS = frozenset({"script", "style"})
RAW_TAGS = HIDDEN_TAGS | {"iframe", "noembed", "noframes", "noscript", "plaintext", "textarea", "title", "xmp"}
"""Tags whose content is not mark-up, or may not be in one version of the parser or another: never the short way."""
NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)(?=[\s/]|\Z)")
COMMON = {
    tag: "\n" if name in LINE_TAGS else ""
    for name in (*LINE_TAGS, "a", "b", "code", "em", "i", "kbd", "strong", "sub", "sup", "s", "del")
    for tag in (name, f"/{name}")
}


NAMES = frozenset(
    (
        *(LINE_TAGS | RAW_TAGS),
        *("a", "abbr", "acronym", "area", "audio", "b", "base", "bdi", "bdo", "big", "body", "button", "canvas"),
        *(
            "caption",
            "center",
            "cite",
            "code",
            "col",
            "colgroup",
            "data",
            "datalist",
            "del",
            "details",
            "dfn",
            "dialog",
        ),
        *("em", "embed", "fieldset", "figcaption", "font", "head", "html", "i", "img", "input", "ins", "kbd", "label"),
        *("legend", "link", "main", "map", "mark", "meta", "meter", "nav", "object", "optgroup", "option", "output"),
        *("param", "picture", "progress", "q", "rp", "rt", "ruby", "s", "samp", "select", "small", "source", "span"),
        *("strike", "strong", "sub", "summary", "sup", "svg", "template", "time", "tt", "u", "var", "video", "wbr"),
    )
)
"""What a tag may be called. What else stands between angle brackets is text: an address, a type, half of a sum."""
TAG = re.compile(r"</?([a-z][a-z0-9]*)(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?/?>", re.IGNORECASE)
UNSEEN = {
    re.compile(r"<!--"): re.compile(r"-->"),
    **{re.compile(rf"<{name}(\s[^<>]*)?>", re.I): re.compile(rf"</{name}\s*>", re.I) for name in HIDDEN_TAGS},
}
"""What a page does not show, by its beginning, and its end."""
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


def without_markup(text: str) -> str:
    """A text that may hold HTML or not: known tags and whole entities become what a page shows, all else stays."""
    if "<" in text:
        for begin, end in UNSEEN.items():
            text = _cut_out(text, begin, end)
        text = TAG.sub(_shown, text)
    return ENTITY.sub(lambda found: unescape(found[0]), text) if "&" in text else text


def _cut_out(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    """A text without what stands between; found step by step, so that what never ends is looked for once."""
    parts, at = [], 0
    while (opened := begin.search(text, at)) and (closed := end.search(text, opened.end())):
        parts.append(text[at : opened.start()])
        at = closed.end()
    return "".join((*parts, text[at:]))


def _shown(found: re.Match[str]) -> str:
    """What stands on the page where a tag was."""
    name = found[1].lower()
    if name not in NAMES:
        return found[0]
    return "\n" if name in LINE_TAGS else ""


def plain_text(body: str) -> str:
    """The words of an HTML body."""
    words = body if "<" not in body else _split_tags(body)
    if words is None:
        reader = _Reader()
        reader.feed(body)
        reader.close()
        words = "".join(reader.parts)
    elif "&" in words:
        words = unescape(words)
    while "\n\n" in words:  # a regular expression would take longer than all the rest
        words = words.replace("\n\n", "\n")
    return words.strip()


def _split_tags(body: str) -> str | None:
    """The body without its tags, entities untouched; None when it is not plainly well formed."""
    pieces = body.split("<")
    parts = [pieces[0]]
    for piece in pieces[1:]:
        tag, closed, rest = piece.partition(">")
        gap = COMMON.get(tag)
        if gap is None:
            gap = _gap(tag)
        if gap is None or not closed:
            return None
        parts.append(gap)
        parts.append(rest)
    return "".join(parts)


def _gap(tag: str) -> str | None:
    """What a tag leaves behind; None when it is not plainly a tag."""
    name = NAME.match(tag)
    if name is None or "'" in tag or tag.count('"') % 2:
        return None
    word = name[1].lower()
    return None if word in RAW_TAGS else "\n" if word in LINE_TAGS else ""


class _Reader(HTMLParser):
    """Collects the text of a body, whatever its state."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 (the parser's own signature)
        self.hidden += tag in HIDDEN_TAGS
        self._break(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 (the parser's own signature)
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self.hidden = max(0, self.hidden - (tag in HIDDEN_TAGS))
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)

    def _break(self, tag: str) -> None:
        if tag in LINE_TAGS:
            self.parts.append("\n")
