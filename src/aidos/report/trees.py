"""A tree of topics as a picture: a line a topic, indented, each with a shape and a word for what becomes of it.

Shapes and words carry what colour carries: shown topics are full circles, others are hollow, sensitive ones squares,
and branches that are not shown are dashed. It is drawn directly, without a chart library, in the page's own colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from aidos.errors import ParameterError
from aidos.report.drawing import NARROW, WIDE, Chart, Drawing
from aidos.report.values import clean, fit

__all__ = ["MOST_LINES", "TreeLine", "tree"]

MOST_LINES = 120
"""More cannot be looked over."""
ROW, TOP, LETTER = 27, 8, 7.2
INDENT = 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLine:
    """One topic of the tree, parents before children."""

    name: str
    depth: int
    shown: bool
    """Whether it is drawn in full."""
    sensitive: bool
    word: str
    """What becomes of it, in a word or two."""


def tree(title: str, lines: Sequence[TreeLine]) -> Chart:
    """The picture of a tree, in two widths."""
    if len(lines) > MOST_LINES:
        raise ParameterError(f"a tree of {len(lines)} lines cannot be read", hint=f"draw {MOST_LINES} at most")
    shown = sum(line.shown for line in lines)
    words = f"A tree of {len(lines)} topics, of which {shown} are shown and {len(lines) - shown} are not."
    return Chart(title=title, description=words, wide=_drawing(lines, WIDE), narrow=_drawing(lines, NARROW))


def _drawing(lines: Sequence[TreeLine], width: int) -> Drawing:
    deepest = max((line.depth for line in lines), default=0)
    indent = min(INDENT if width > NARROW else 16.0, 0.4 * width / max(deepest, 1))
    body = [
        *_branches(lines, indent),
        *(_line(line, at, indent, width) for at, line in enumerate(lines)),
    ]
    return Drawing(width=width, height=TOP + ROW * max(len(lines), 1), body="".join(body))


def _branches(lines: Sequence[TreeLine], indent: float) -> Iterator[str]:
    """An elbow from every topic to the one above it; solid ones come last, over the dashes that run beside them."""
    above: list[int] = []
    solid: list[str] = []
    for at, line in enumerate(lines):
        del above[line.depth :]
        if above:
            across = _across(line.depth - 1, indent)
            path = f"M{across:.1f} {_middle(above[-1]):.1f}V{_middle(at):.1f}H{_across(line.depth, indent):.1f}"
            look = 'stroke="var(--series-1)"' if line.shown else 'stroke="var(--muted)" stroke-dasharray="2 3"'
            elbow = f'<path d="{path}" fill="none" stroke-width="1.3" {look}></path>'
            if line.shown:
                solid.append(elbow)
            else:
                yield elbow
        above.append(at)
    yield from solid


def _across(depth: int, indent: float) -> float:
    return 9.0 + depth * indent


def _middle(at: int) -> float:
    return TOP + ROW * (at + 0.5)


def _line(line: TreeLine, at: int, indent: float, width: int) -> str:
    left, middle = _across(line.depth, indent), _middle(at)
    paint = "var(--series-2)" if line.sensitive else "var(--series-1)" if line.shown else "var(--muted)"
    fill = paint if line.shown else "var(--paper)"
    if line.sensitive:
        shape = f'<rect x="{left - 5:.1f}" y="{middle - 5:.1f}" width="10" height="10" '
    else:
        shape = f'<circle cx="{left:.1f}" cy="{middle:.1f}" r="5.5" '
    shape += f'fill="{fill}" stroke="{paint}" stroke-width="1.8"></' + ("rect>" if line.sensitive else "circle>")
    ink = "currentColor" if line.shown else "var(--muted)"
    room = width - len(line.word) * LETTER - left
    name = fit(line.name, max((room - 26) / LETTER, 6))
    weight = ' font-weight="600"' if line.shown else ""
    word = _text(line.word, width, middle, paint if line.sensitive else ink, ' text-anchor="end"')
    dots = _leader(left + 23 + len(name) * (LETTER + 0.3), left + room - 6, middle)
    return f"{dots}{shape}{_text(name, left + 13, middle, ink, weight)}{word}"


def _leader(start: float, end: float, middle: float) -> str:
    """Dots that lead the eye from a name to its word."""
    if end - start < ROW:
        return ""
    path = f"M{start:.1f} {middle + 4:.1f}H{end:.1f}"
    return f'<path d="{path}" fill="none" stroke="var(--rule)" stroke-width="1.2" stroke-dasharray="1 5"></path>'


def _text(words: str, left: float, middle: float, ink: str, more: str) -> str:
    return (
        f'<text x="{left:.1f}" y="{middle + 4.5:.1f}" fill="{ink}" font-size="13"{more}>{escape(clean(words))}</text>'
    )
