"""A page that holds every block, opened in a real browser: `pytest -m browser`.

Needs playwright, axe-playwright-python (it brings axe-core along) and a Chromium. Which one: the environment variable
AIDOS_CHROMIUM, or ``chromium`` on the path, or the one that playwright installed.
"""

import os
import shutil
from datetime import date, timedelta

import pytest

from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import Finding, Release
from aidos.report import charts
from aidos.report.dots import Dot, DotRow, dots
from aidos.report.page import (
    Callout,
    Card,
    Chapter,
    Check,
    CheckList,
    Code,
    DataTable,
    Facts,
    Figure,
    Link,
    Links,
    ListedItem,
    Page,
    Prose,
    TwoLists,
    render,
)

pytestmark = pytest.mark.browser
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

READ = (
    *("main p", ".lead", ".note-text p", ".note-word", ".stamp", ".facts dt", ".facts dd", "caption", "td", "th"),
    *(".figure-number", ".check-word", ".check-detail", ".colophon p", "a", "summary", "pre code", "svg.chart text"),
    *(".card h3", ".card-marks li", "blockquote", "mark", ".card-source", ".card-notes dt", ".card-notes dd"),
    *("h4", ".listed", ".listed-source", ".listed-move", ".moved-up .listed-move", ".moved-down .listed-move"),
    ".link-words",
)
CONTRAST = """(selector) => {
    const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = numbers(colour).slice(0, 3).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        const colour = getComputedStyle(element).backgroundColor;
        return numbers(colour).length === 4 && numbers(colour)[3] === 0 ? behind(element.parentElement) : colour;
    };
    return [...document.querySelectorAll(selector)].map((element) => {
        const style = getComputedStyle(element);
        const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
        const [low, high] = [light(ink), light(behind(element))].sort((one, other) => one - other);
        return (high + 0.05) / (low + 0.05);
    });
}"""


def sample_page():
    days = [(date(2006, 3, 1) + timedelta(days=number), 1000 + 37 * number % 400) for number in range(60)]
    topics = [
        ("Health: symptoms, remedies and everything a person would rather not be known for", 18230),
        ("Travel", 90),
    ]
    series = {
        name: [(0.1 * 10**step, step + row) for step in range(3)] for row, name in enumerate(("one", "two", "three"))
    }
    bins = [(2**power, 2 ** (power + 1), 40 * power) for power in range(1, 6)]
    weights = [
        DotRow(
            name=name,
            dots=tuple(Dot(value=at + off, low=at + off - 1, high=at + off + 1, full=at > 0) for off in (0, 0.3)),
        )
        for name, at in (("Health: symptoms, remedies and everything else", 2.0), ("Travel", -0.5))
    ]
    ranks = [(rank, 1000 / rank) for rank in range(1, 60)]
    table = DataTable(
        caption="Files",
        columns=("file", "rows", "people", "recognised because", "time span"),
        rows=(("a-file-with-a-name-that-nobody-would-type.tsv.gz", 1284002, 2000, "its own header was seen", None),)
        * 2,
    )
    figures = (
        charts.line("Queries a day", {"queries": days}, x_title="day", y_title="queries"),
        charts.bar("Queries by topic", topics, unit="queries"),
        charts.line("Recall", series, x_title="epsilon", y_title="share of frequent queries", log="x"),
        charts.histogram("Per person", bins, x_title="queries per person", y_title="people", log_x=True),
        charts.scatter("By rank", ranks, x_title="rank of the query", y_title="times asked"),
        charts.bar("Nothing", [], unit="queries"),
        dots("Weights", weights, sides=("lower for you", "higher for you"), series=("before", "after"), unit="weight"),
    )
    outcomes = ("passed", "failed", "skipped")
    release = Release(
        value=1, guarantee=ApproxDP(epsilon=1, delta=1e-9), mechanism=None, noise_source="operating system"
    )
    chapters = (
        Chapter(
            title="What came in",
            blocks=(Prose("Read by `aidos check`.\n\nWhole."), Facts((("rows", 1284002),) * 5), table),
        ),
        Chapter(
            title="What it shows",
            source=release,
            blocks=tuple(Figure(chart=chart, caption="It is so.", table=table) for chart in figures),
        ),
        Chapter(
            title="What it means",
            source=Finding(value=1, about="the people of the log"),
            blocks=(
                *(Callout(kind, "Words. " * 30) for kind in ("promise", "finding", "caution")),
                *(
                    Code(text="aidos check " + "x" * 120, language=language)
                    for language in ("command", "python", "recipe")
                ),
                Card(
                    title="a query " + "x" * 60,
                    marks=("rank 1 of 10", "the whole query", "depends on ties"),
                    quotation=(("Some words, ", False), ("marked", True), (" and " + "y" * 90, False)),
                    source="Posted 2024-03-01",
                    notes=(("Why here", ("A sentence.", "Another one.")), ("To lower it", ("A third. " * 20,))),
                ),
                TwoLists(
                    title="two lists " + "x" * 60,
                    marks=("personalised with a probability of 97%",),
                    names=("Without your account", "With your account"),
                    lists=(
                        (ListedItem(title="y" * 90, source="site.example.org"), ListedItem(title="Another")),
                        (
                            ListedItem(title="Another", source="z" * 80, move="up", words="up 1 place: about Hiking"),
                            ListedItem(title="y" * 90, move="down", words="down 1 place"),
                        ),
                    ),
                ),
                Links(
                    (Link(label="Another page " + "x" * 60, address="more/report.html", words="Every `chart`. " * 9),)
                ),
                CheckList(tuple(Check(label="A check", outcome=outcome, detail="Why `so`.") for outcome in outcomes)),
            ),
        ),
    )
    return Page(title="Every block in one page", lead="For the eye and for `axe`.", chapters=chapters, colophon="aidos")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("AIDOS_CHROMIUM") or shutil.which("chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=QUIET)
        yield started
        started.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(sample_page()), encoding="utf-8")
    return path


@pytest.fixture(params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.fixture(params=[1280, 390], ids=["desk", "phone"])
def width(request):
    return request.param


@pytest.fixture
def opened(browser, file, scheme, width):
    """The page, with all that it asked for and complained of."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.requested, page.complaints = [], []
    page.on("request", lambda request: page.requested.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(file.as_uri())
    yield page
    context.close()


def test_it_opens_quietly_and_asks_for_nothing(opened, file):
    opened.wait_for_timeout(200)
    assert opened.requested == [file.as_uri()]
    assert opened.complaints == []


def test_nothing_sticks_out_to_the_side(opened, width):
    opened.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    assert opened.evaluate("document.documentElement.scrollWidth") == width


def test_text_can_be_read_in_both_schemes(opened):
    ratios = {selector: opened.evaluate(CONTRAST, selector) for selector in READ}
    assert all(ratios.values()), "a kind of text is missing from the page"
    assert {selector: min(found) for selector, found in ratios.items() if min(found) < 4.5} == {}


def test_the_scheme_changes_the_paper_and_the_charts(opened, scheme):
    paper = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(252, 251, 248)" if scheme == "light" else "rgb(21, 24, 27)")
    bar = opened.evaluate("getComputedStyle(document.querySelector('svg.chart [fill=\"var(--series-1)\"]')).fill")
    assert bar == ("rgb(14, 90, 109)" if scheme == "light" else "rgb(111, 183, 200)")


def test_each_figure_shows_the_drawing_made_for_the_width(opened, width):
    shown = opened.evaluate(
        "[...document.querySelectorAll('svg.chart')].filter((e) => e.checkVisibility()).map((e) => e.classList[1])"
    )
    assert shown == ["wide" if width == 1280 else "narrow"] * 7


def test_text_in_charts_is_large_enough_and_inside_the_page(opened, width):
    boxes = opened.evaluate(
        "[...document.querySelectorAll('svg.chart text')].filter((e) => e.checkVisibility())"
        ".map((e) => e.getBoundingClientRect()).map((box) => [box.left, box.right, box.height])"
    )
    assert min(left for left, _, _ in boxes) >= 0
    assert max(right for _, right, _ in boxes) <= width
    assert min(height for _, _, height in boxes) >= 11


def test_the_first_tab_is_the_way_past_the_head(opened):
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.className") == "skip"
    assert opened.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.activeElement.id") == "main"


def test_print_is_light_and_shows_the_numbers(opened):
    opened.emulate_media(media="print")
    assert opened.evaluate("getComputedStyle(document.body).color") == "rgb(30, 34, 38)"
    assert opened.evaluate("document.querySelector('details table').getBoundingClientRect().height") > 40
    assert opened.pdf().startswith(b"%PDF")


def test_axe_finds_nothing(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    opened.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    response = axe.Axe().run(opened).response
    assert {"color-contrast", "html-has-lang", "svg-img-alt"} <= {rule["id"] for rule in response["passes"]}
    violations = response["violations"]
    assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in violations] == []


def test_the_policy_stops_an_injected_script_and_picture(browser, tmp_path):
    """What would happen if a hole were found: the page's own policy still lets nothing run or load."""
    html = render(Page(title="t", lead="", chapters=()))
    holed = tmp_path / "holed.html"
    attack = "<script>document.title = 'ran'</script><img src='file:///nowhere.png' onerror=\"document.title = 'ran'\">"
    holed.write_text(html.replace("</main>", f"{attack}</main>"), encoding="utf-8")
    page = browser.new_page()
    requested = []
    page.on("requestfinished", lambda request: requested.append(request.url))
    page.goto(holed.as_uri())
    page.wait_for_timeout(200)
    assert page.title() == "t | aidos"
    assert requested == [holed.as_uri()]
    page.close()
