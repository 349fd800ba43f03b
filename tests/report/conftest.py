"""A page that holds every block, made of text that a hostile file might hold."""

import pytest

from aidos.report import charts
from aidos.report.page import (
    Callout,
    Chapter,
    Check,
    CheckList,
    Code,
    DataTable,
    Facts,
    Figure,
    Link,
    Links,
    Page,
    Prose,
)

HOSTILE = (
    "<script>alert(1)</script> \" ' & <img src=x onerror=alert(1)> {{ 7 * 7 }} {% raw %} ]]> --> "
    "\x1b[31m\u202e\ud800\x00"
)


@pytest.fixture(scope="session")
def hostile():
    return HOSTILE


@pytest.fixture(scope="session")
def every_block():
    """Builds the page around any text."""

    def build(text, source=None):
        table = DataTable(caption=text, columns=(text, "count"), rows=((text, 3), (None, 4.5)))
        drawn = (
            charts.bar(text, [(text, 3), ("other", 1)], unit=text),
            charts.line(text, {text: [(1, 2), (2, 3)], "other": [(1, 1), (2, 2)]}, x_title=text, y_title=text),
            charts.histogram(text, [(0, 1, 4), (1, 2, 2)], x_title=text, y_title=text),
            charts.scatter(text, [(1, 10), (10, 1)], x_title=text, y_title=text),
        )
        checks = tuple(Check(label=text, outcome=outcome, detail=text) for outcome in ("passed", "failed", "skipped"))
        blocks = (
            Prose(f"{text}\n\n`{text}`"),
            Facts(((text, text), ("people", 1234567), ("share", 0.25))),
            table,
            *(Figure(chart=chart, caption=text, table=table) for chart in drawn),
            *(Callout(kind, text) for kind in ("promise", "finding", "caution")),
            *(Code(text=text, language=language) for language in ("command", "python", "recipe")),
            CheckList(checks),
            Links((Link(label=text, address="more/report.html", words=text),)),
        )
        chapters = tuple(Chapter(title=f"{text} {number}", blocks=blocks) for number in (1, 2, 3))
        return Page(title=text, lead=text, chapters=chapters, colophon=text, source=source)

    return build
