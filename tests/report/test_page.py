import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.core.guarantee import ApproxDP, NoGuarantee, statement
from aidos.core.mechanism import Finding, Release
from aidos.errors import DISTRIBUTION, ParameterError
from aidos.report import charts, page
from aidos.report.page import Chapter, DataTable, Facts, Figure, Link, Page, Prose, render

STYLE = (Path(page.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
VOID = {"meta", "br", "img", "link", "input"}


class Reader(HTMLParser):
    """Every element with its attributes, and whether all that was opened is closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.unclosed, self.text = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            self.unclosed.append(tag)

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def rendered(every_block, hostile):
    return render(every_block(hostile))


@pytest.fixture(scope="module")
def reader(rendered):
    return Reader(rendered)


def test_hostile_text_in_every_block_stays_text(reader, rendered):
    assert reader.unclosed == []
    assert reader.open == []
    tags = Counter(tag for tag, _ in reader.elements)
    assert not tags.keys() & {"script", "img", "iframe", "object", "embed", "link", "form", "foreignobject", "a:href"}
    assert not [
        name for _, attributes in reader.elements for name in attributes if name.startswith("on") or name == "style"
    ]
    assert "{{ 7 * 7 }}" in "".join(reader.text)
    assert not re.search("[\x00\x1b\u202e\ud800]", rendered)
    rendered.encode("utf-8")


def test_every_block_shows_the_hostile_text_whole(reader):
    shown = "".join(reader.text)
    # Per chapter: prose 2, facts 2, tables 3 each x5, figures, callouts, code, checks; the charts cut theirs to fit.
    assert shown.count("<script>alert(1)</script>") > 3 * 40


def test_no_address_of_anything_outside_the_file(rendered, reader):
    assert "://" not in rendered
    assert "url(" not in rendered
    assert "@import" not in rendered
    targets = [
        a[name] for _, a in reader.elements for name in ("href", "src", "xlink:href", "action", "srcset") if name in a
    ]
    assert {target for target in targets if not target.startswith("#")} == {"more/report.html"}


def test_the_policy_forbids_scripts_and_loading(reader):
    policy = [a["content"] for a in reader.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_headings_descend_one_step_at_a_time(reader):
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch("h[1-6]", tag)]
    assert levels == [1, 2, 2, 2]


def test_ids_are_unique_and_every_reference_meets_one(reader):
    ids = Counter(a["id"] for _, a in reader.elements if "id" in a)
    assert set(ids.values()) == {1}
    references = [word for _, a in reader.elements for word in a.get("aria-labelledby", "").split()]
    anchors = [a["href"][1:] for a in reader.all("a") if a["href"].startswith("#")]
    assert set(references + anchors) <= set(ids)


def test_every_figure_has_caption_table_and_words_for_both_drawings(rendered):
    figures = re.findall(r"<figure .*?</figure>", rendered, re.S)
    assert len(figures) == 12
    for figure in figures:
        assert figure.count("<figcaption>") == figure.count("<details>") == figure.count("<table>") == 1
        assert figure.count('role="img"') == figure.count("<title id=") == figure.count("<desc id=") == 2


def test_tables_have_captions_and_scoped_headers(rendered, reader):
    assert rendered.count("<table>") == rendered.count("<caption ") == 15
    assert {a["scope"] for a in reader.all("th")} == {"col", "row"}


def test_every_colour_of_every_chart_is_a_variable_of_the_style(rendered):
    body = rendered.partition("</style>")[2]
    colours = set(re.findall(r'(?:fill|stroke|color)="([^"]*)"', body))
    assert colours >= {"currentColor", "var(--series-1)", "var(--series-2)"}
    names = {
        colour.removeprefix("var(").removesuffix(")") for colour in colours - {"none", "transparent", "currentColor"}
    }
    assert names <= set(re.findall(r"--[a-z0-9-]+(?=:)", STYLE))
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?=\")", body.replace('href="#', ""))


def test_the_same_page_gives_the_same_bytes(every_block):
    assert render(every_block("words")) == render(every_block("words"))


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=60).filter(str.strip), st.one_of(st.integers(), st.floats(), st.none(), st.booleans(), st.text())
)
def test_any_text_and_any_value_gives_a_well_formed_page(text, value):
    table = DataTable(caption=text, columns=(text,), rows=((value,),))
    html = render(
        Page(
            title=text, lead=text, chapters=(Chapter(title=text, blocks=(Prose(text), Facts(((text, value),)), table)),)
        )
    )
    read = Reader(html)
    assert (read.unclosed, read.open) == ([], [])
    html.encode("utf-8")


def test_a_page_of_a_release_shows_its_promise():
    promise = ApproxDP(epsilon=1.0, delta=1e-9)
    release = Release(value=1, guarantee=promise, mechanism=None, noise_source="operating system")
    html = render(Page(title="Counts", lead="", chapters=(), source=release))
    assert statement(promise) in html
    assert "note-promise" in html.partition("</style>")[2]
    assert "not for release" not in html


def test_a_release_without_a_guarantee_is_no_promise():
    release = Release(
        value=1, guarantee=NoGuarantee("a seed was given"), mechanism=None, noise_source="seed 7, repeatable"
    )
    body = render(Page(title="Counts", lead="", chapters=(), source=release)).partition("</style>")[2]
    assert "No promise" in body
    assert "a seed was given" in body
    assert "note-promise" not in body


@pytest.mark.parametrize("where", ["page", "chapter"])
def test_a_finding_anywhere_marks_the_page(where):
    finding = Finding(value=1, about="the people of the log")
    chapter = Chapter(title="Inside", blocks=(), source=finding if where == "chapter" else None)
    html = render(Page(title="Audit", lead="", chapters=(chapter,), source=finding if where == "page" else None))
    body = html.partition("</style>")[2]
    assert "<title>Not for release: Audit" in html
    assert 'class="stamp"' in body
    assert body.count("Finding: not for release") >= 3
    assert "the people of the log" in body


def test_a_page_about_nobody_carries_no_mark(every_block):
    body = render(every_block("words")).partition("</style>")[2]
    assert "not for release" not in body.lower()


def test_numbers_are_flush_right_and_words_are_not():
    table = DataTable(caption="c", columns=("name", "rows", "size"), rows=(("a", 1, "2 MB"), ("b", None, "3 MB")))
    assert [table.is_numeric(index) for index in range(3)] == [False, True, False]
    told = DataTable(caption="c", columns=("name", "size"), rows=(("a", "2 MB"),), numeric=("size",))
    assert told.is_numeric(1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Page(title=" ", lead="", chapters=()),
        lambda: Chapter(title="", blocks=()),
        lambda: DataTable(caption="", columns=("a",), rows=()),
        lambda: DataTable(caption="c", columns=(), rows=()),
        lambda: DataTable(caption="c", columns=("a", "b"), rows=(("secret",),)),
        lambda: Link(label="secret", address="javascript:alert(1)"),
        lambda: Link(label="secret", address="../secret.html"),
        lambda: Link(label="secret", address="/secret.html"),
        lambda: Link(label="secret", address="//secret/report.html"),
        lambda: Figure(
            chart=charts.bar("t", [], unit="u"), caption="", table=DataTable(caption="c", columns=("a",), rows=())
        ),
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_cells(make):
    with pytest.raises(ParameterError) as caught:
        make()
    assert "secret" not in caught.value.message


def test_without_vl_convert_figures_are_tables_and_the_page_says_once_how_to_get_charts(monkeypatch):
    def written():
        table = DataTable(caption="numbers", columns=("name", "value"), rows=(("a", 1), ("b", 2)))
        figure = Figure(chart=charts.bar("t", [("a", 1), ("b", 2)], unit="u"), caption="B is larger.", table=table)
        return render(Page(title="t", lead="l", chapters=(Chapter(title="c", blocks=(figure, figure)),)))

    drawn = written()
    assert drawn.count('<svg class="chart') == 4
    assert "pip install" not in drawn
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    undrawn = written()
    assert '<svg class="chart' not in undrawn
    assert "<details>" not in undrawn, "a table that stands for the picture is not folded away"
    assert undrawn.count("B is larger.") == undrawn.count("numbers</caption>") == 2
    assert undrawn.count(f"pip install &#34;{DISTRIBUTION}[report]&#34;") == 1


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_of_both_schemes_can_be_read(scheme):
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    colours = dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6})", blocks[scheme]))
    for name in ("--ink", "--muted", "--accent", "--warn"):
        assert contrast(colours[name], colours["--paper"]) >= 4.5
        assert contrast(colours[name], colours["--tint"]) >= 4.5
    for number in range(1, 7):
        assert contrast(colours[f"--series-{number}"], colours["--paper"]) >= 3
