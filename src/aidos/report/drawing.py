"""From a Vega-Lite specification to SVG that belongs to the page it stands in.

The renderer is given sentinel colours; each is replaced by a CSS variable, so that one drawing follows light and dark.
What comes out is rebuilt from an allow-list of elements and attributes: no ids, classes, styles, references or foreign
URLs, not even the SVG namespace (inside HTML an ``<svg>`` needs none). Fonts are the page's. A chart is drawn twice,
once wide and once for a phone, because text that is scaled down with a picture cannot be read. Where the renderer (the
extra ``report``) is not installed a chart has words and no drawing, and pages show the numbers instead.

It does not promise the same bytes from different versions of vl-convert, only from the same one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

from aidos.errors import ParameterError
from aidos.report.values import clean

__all__ = ["INK", "MUTED", "NARROW", "PAPER", "RULE", "SERIES", "WIDE", "Chart", "Drawing", "draw"]

WIDE, NARROW = 640, 340
"""The two widths, in pixels, that a chart is made for: a desk and a phone."""

INK, MUTED, RULE, PAPER = "#010101", "#010102", "#010103", "#010104"
SERIES = ("#010111", "#010112", "#010113", "#010114", "#010115", "#010116")
"""Sentinel colours for specifications: text, quiet text, hairlines, background, and one for each series."""

_COLOURS = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    PAPER: "var(--paper)",
    **{sentinel: f"var(--series-{number})" for number, sentinel in enumerate(SERIES, start=1)},
}
_ELEMENTS = frozenset({"g", "path", "line", "rect", "circle", "text", "tspan"})
_PAINTS = frozenset({"fill", "stroke"})
_GEOMETRY = frozenset({"d", "transform", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "r", "cx", "cy"})
_LOOKS = frozenset(
    {"stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity"}
    | {"stroke-opacity", "text-anchor", "font-size", "font-weight"}
)
_ATTRIBUTES = _PAINTS | _GEOMETRY | _LOOKS
_PAINT = re.compile(r"none|transparent|currentColor|var\(--[a-z0-9-]+\)")
_PLAIN = re.compile(r"[A-Za-z0-9 .,()+-]*")
_LONG_DECIMAL = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")

_CONFIG: dict[str, Any] = {
    "aria": False,
    "background": None,
    "padding": {"left": 0, "right": 4, "top": 2, "bottom": 2},
    "font": "Liberation Sans",
    "view": {"stroke": None},
    "axis": {
        "domainColor": RULE,
        "gridColor": RULE,
        "tickColor": RULE,
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 6,
        "ticks": False,
        "labelOverlap": "greedy",
    },
    "text": {"fontSize": 13, "color": INK},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """One picture: its size and the elements inside the ``<svg>``, refused unless they are harmless and themed."""

    width: float
    height: float
    body: str

    def __post_init__(self) -> None:
        try:
            root = ET.fromstring(f"<svg>{self.body}</svg>")  # noqa: S314  # no DOCTYPE, so no entities, fits in an element
        except ET.ParseError as error:
            raise ParameterError("a drawing is not well-formed SVG", hint="make it with aidos.report.charts") from error
        for element in root.iter():
            if element is not root:
                _refuse_foreign(element)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in its two widths, with the words that stand for it where it cannot be seen."""

    title: str
    description: str
    wide: Drawing | None = None
    """None where it cannot be drawn here; then the narrow one is missing too."""
    narrow: Drawing | None = None


def draw(title: str, description: str, spec: Callable[[int], Mapping[str, Any]]) -> Chart:
    """The chart whose specification, for a given width in pixels, is ``spec(width)``."""
    try:
        from vl_convert import vegalite_to_svg  # an extra
    except ImportError:
        return Chart(title=title, description=description)
    wide, narrow = (_drawing(spec(width), width, vegalite_to_svg) for width in (WIDE, NARROW))
    return Chart(title=title, description=description, wide=wide, narrow=narrow)


def _drawing(spec: Mapping[str, Any], width: int, vegalite_to_svg: Callable[..., str]) -> Drawing:
    # An empty list of allowed addresses: a specification that names one is refused instead of fetched.
    svg = vegalite_to_svg(dict(spec), vl_version="6.1", config=_CONFIG, allowed_base_urls=[])
    root = ET.fromstring(svg)  # noqa: S314  # the renderer's own output
    # The full width even where the picture needs less: all charts of a page scale alike, and a wider font has room.
    full = max(float(width), float(root.get("width", 0)))
    return Drawing(width=full, height=float(root.get("height", 0)), body="".join(_inside(root)))


def _inside(parent: ET.Element) -> Iterator[str]:
    """The children of an element, rebuilt from what is allowed; what draws nothing is left out."""
    for child in parent:
        tag = child.tag.rpartition("}")[2]
        if tag not in _ELEMENTS or child.get("display") == "none":
            continue
        content = escape(clean(child.text or "")) if tag in {"text", "tspan"} else ""
        content += "".join(_inside(child))
        attributes = "".join(_attributes(child))
        if tag == "g" and not content:
            continue
        if tag == "g" and not attributes:
            yield content
        elif "background" not in child.get("class", ""):
            yield f"<{tag}{attributes}>{content}</{tag}>"


def _attributes(element: ET.Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name not in _ATTRIBUTES or (name == "opacity" and value == "1") or value == "translate(0,0)":
            continue
        words = _COLOURS.get(value, value) if name in _PAINTS else _LONG_DECIMAL.sub(_two_places, value)
        yield f" {name}={quoteattr(words)}"


def _two_places(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _refuse_foreign(element: ET.Element) -> None:
    """Raise unless the element and its attributes are on the list and every colour is a variable of the page."""
    allowed = element.tag in _ELEMENTS and all(
        name in _ATTRIBUTES and (_PAINT if name in _PAINTS else _PLAIN).fullmatch(value)
        for name, value in element.attrib.items()
    )
    if not allowed:
        raise ParameterError(
            f"a drawing holds a <{clean(str(element.tag))}> that may not stand in a page",
            hint="make drawings with aidos.report.charts: plain shapes and text in the page's own colours",
        )
