"""The compressed file gives back what was put in, and refuses what is not one."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import InputError
from aidos.model.archive import write_archive
from aidos.model.taxonomies.cache import KIND, VERSION, digest_of, load_taxonomy, save_taxonomy
from aidos.model.taxonomies.reading import open_taxonomy
from aidos.model.taxonomies.records import ImportedTaxonomy
from aidos.model.topics import default_taxonomy

texts = st.text(max_size=12).filter(lambda text: "\n" not in text and text.encode("utf-8", "ignore").decode() == text)


@st.composite
def imported(draw):
    above = draw(st.lists(st.integers(0, 20), max_size=20))
    topics = [Topic("t0", "", "all")]
    for at, parent in enumerate(above, start=1):
        words = tuple(draw(st.lists(texts.filter(bool), max_size=3)))
        topics.append(Topic(f"t{at}", f"t{min(parent, at - 1)}", draw(texts), draw(texts), draw(texts), words))
    taxonomy = Taxonomy.of(topics)
    supports = {leaf.id: draw(st.floats(0.1, 1e9)) for leaf in taxonomy.leaves() if draw(st.booleans())}
    return ImportedTaxonomy(taxonomy=taxonomy, format="paths", leaf_supports=supports, remarks=("a remark",))


@given(imported())
def test_what_is_kept_comes_back(tmp_path_factory, made):
    path = tmp_path_factory.mktemp("kept") / "t.taxonomy"
    save_taxonomy(made, path)
    again = open_taxonomy(path)
    assert again == made
    assert list(again.taxonomy.walk()) == list(made.taxonomy.walk())
    assert digest_of(again.taxonomy) == digest_of(made.taxonomy)


def test_the_digest_depends_on_every_text_and_on_the_order_of_siblings():
    base = [Topic("r", "", "R"), Topic("a", "r", "A", words=("x", "y")), Topic("b", "r", "B")]
    changed = [
        [base[0], base[2], base[1]],
        [base[0], Topic("a", "r", "A", words=("xy",)), base[2]],
        [base[0], base[1], Topic("b", "a", "B")],
        [base[0], base[1], Topic("b", "r", "B", "money")],
        [base[0], base[1], Topic("b", "r", "B", "", "money")],
    ]
    digests = {digest_of(Taxonomy.of(topics)) for topics in [base, *changed]}
    assert len(digests) == 6


def test_a_hundred_thousand_topics_load_in_seconds(tmp_path):
    topics = [Topic("0", "", "all"), *(Topic(str(at), str(at // 8), f"topic {at}") for at in range(1, 100_000))]
    path = tmp_path / "large.taxonomy"
    save_taxonomy(ImportedTaxonomy(taxonomy=Taxonomy.of(topics), format="paths"), path)
    before = time.process_time()
    again = load_taxonomy(path)
    assert time.process_time() - before < 8
    assert len(again.taxonomy) == 100_000
    assert again.taxonomy["99999"].parent == "12499"


@pytest.mark.parametrize("share", [0.3, 0.7, 0.97])
def test_a_file_that_was_cut_is_refused(tmp_path, share):
    path = tmp_path / "t.taxonomy"
    save_taxonomy(ImportedTaxonomy(taxonomy=default_taxonomy(), format="aidos"), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match="damaged"):
        open_taxonomy(path)


def archive(path, parents, *, kind=KIND, version=VERSION, number=None, digest="x"):
    number = len(parents) if number is None else number
    words = [f"t{at}" for at in range(number)] * 5
    arrays = {"parents": np.array(parents, dtype=np.int32), "supports": np.full(len(parents), np.nan)}
    facts = {"from": "paths", "remarks": [], "digest": digest}
    write_archive(path, kind=kind, version=version, facts=facts, words=words, arrays=arrays)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"parents": [-1, 2, 1]}, "damaged"),
        ({"parents": [-1, -1]}, "damaged"),
        ({"parents": []}, "damaged"),
        ({"parents": [-1, 0], "number": 1}, "damaged"),
        ({"parents": [-1, 0]}, "digest"),
        ({"parents": [-1, 0], "kind": "something else"}, "does not hold"),
        ({"parents": [-1, 0], "version": 99}, "format 99"),
    ],
)
def test_another_archive_is_refused(tmp_path, options, words):
    path = tmp_path / "t.taxonomy"
    archive(path, **options)
    with pytest.raises(InputError, match=words):
        open_taxonomy(path)
