from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.ingest.normalise import AS_TYPED, NORMALISED, ONLY_CANONICAL, QueryNormalisation, prepare

OLD = unicodedata.ucd_3_2_0
TEXT = st.text(
    st.one_of(
        st.characters(codec="ascii"),
        st.characters(codec="utf-8").filter(lambda c: OLD.category(c) != "Cn" and unicodedata.category(c) != "Cs"),
        st.sampled_from(
            "\u00a0\u3000\u2028\x85\x1f\x0b\x7f\x9f\ufb01\u00bd\uff21\u03a3\u03c2\u0130\u0131\u212b\u0301 \t"
        ),
    ),
    max_size=30,
)
STEPS = st.builds(
    QueryNormalisation,
    nfkc=st.booleans(),
    case=st.booleans(),
    white_space=st.booleans(),
    control_characters=st.booleans(),
)


def plainly(text: str, steps: QueryNormalisation) -> str | None:
    """The same with Python's own means, one character at a time."""
    if steps == AS_TYPED:
        return text
    if steps.nfkc:
        text = unicodedata.normalize("NFKC", text)
    if steps.control_characters:
        text = "".join(c if unicodedata.category(c) != "Cc" else " " if c.isspace() else "" for c in text)
    if steps.white_space:
        text = " ".join("".join(" " if c.isspace() else c for c in text).split(" ")).strip(" ")
        while "  " in text:
            text = text.replace("  ", " ")
    if steps.case:
        text = "".join(c.lower()[0] for c in text)
    return text or None


@pytest.fixture(scope="module")
def prepared() -> EmbeddedEngine:
    with EmbeddedEngine(threads=1) as engine:
        prepare(engine)
        yield engine


@settings(max_examples=300)
@given(texts=st.lists(TEXT, min_size=1, max_size=20), steps=STEPS)
def test_the_engine_does_what_python_does(
    prepared: EmbeddedEngine, texts: list[str], steps: QueryNormalisation
) -> None:
    rows = prepared.run(f"select {steps.sql('q')} from (select unnest(?) as q)", [texts])
    assert [row[0] for row in rows] == [plainly(text, steps) for text in texts]


@pytest.mark.parametrize(
    ("typed", "normalised"),
    [
        ("Cheap  Flights", "cheap flights"),
        ("\uff23\uff41\uff46\u00e9\u00a0\u00bd", "café 1\u20442"),
        ("tab\tand\nline", "tab and line"),
        ("a\x00b\x07c", "abc"),
        (" \t ", None),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
    ],
)
def test_all_four_steps(prepared: EmbeddedEngine, typed: str, normalised: str | None) -> None:
    assert prepared.run(f"select {NORMALISED.sql('q')} from (select ?::varchar as q)", [typed]) == [(normalised,)]


def test_nulls_stay_null(prepared: EmbeddedEngine) -> None:
    assert prepared.run(f"select {NORMALISED.sql('q')} from (select null::varchar as q)") == [(None,)]


def test_steps_are_named_in_words() -> None:
    assert QueryNormalisation.parse("all") == QueryNormalisation.parse("") == NORMALISED
    assert QueryNormalisation.parse("white-space, case") == QueryNormalisation(white_space=True, case=True)
    assert str(QueryNormalisation.parse("nfkc,case")) == "nfkc,case"
    assert str(AS_TYPED) == "none"
    with pytest.raises(ParameterError, match="stemming"):
        QueryNormalisation.parse("nfkc,stemming")


def test_letters_left_to_the_engine_have_no_compatibility_forms(prepared: EmbeddedEngine) -> None:
    letters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    sql = f"select c from (select unnest(?) as c) where regexp_full_match(c, '[{ONLY_CANONICAL}]')"
    left = [str(row[0]) for row in prepared.run(sql, [letters])]
    assert len(left) > 30_000
    assert [c for c in left if unicodedata.normalize("NFKD", c) != unicodedata.normalize("NFD", c)] == []


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12), min_size=1, max_size=40))
@settings(max_examples=20, deadline=None)
def test_plain_texts_need_fewer_looks_and_come_out_the_same(texts: list[str]) -> None:
    with EmbeddedEngine(threads=1) as engine:
        prepare(engine)
        asked = ", ".join(NORMALISED.sql("t", plain=plain) for plain in (False, True))
        rows = engine.run(f"select {asked} from (select unnest(?) as t)", [texts])
    assert all(one == other for one, other in rows)
