"""Every published layout becomes the tree it means; files here are small and written for the tests."""

import gzip
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import MissingExtraError, ParameterError
from aidos.model.taxonomies.reading import FORMATS, MARKED, open_taxonomy, read_taxonomy, write_native
from aidos.model.taxonomies.records import ROOT_NAME, ImportedTaxonomy

IAB = "\r\n".join(
    [
        "Relational ID System\t\t\tContent Taxonomy v9 Tiered Categories\t\t\t\tExtension",
        "Unique ID\tParent\tName\tTier 1\tTier 2\tTier 3\tTier 4\t",
        "10\t\tGardens\tGardens\t\t\t\t",
        "11\t10\tRoses \tGardens\tRoses\t\t\t",
        "QX7\t11\tOld Roses\tGardens\tWrong\tOld Roses\t\t",
        "20\t\tAilments\tAilments\t\t\t\t SCD",
        "",
    ]
)
SHOPIFY = """# Shopify Product Taxonomy - Categories: 2099-01
# Format: {GID} : {Ancestor name} > ... > {Category name}

gid://shopify/TaxonomyCategory/zz          : Boats & Rafts
gid://shopify/TaxonomyCategory/zz-1        : Boats & Rafts > Oars
gid://shopify/TaxonomyCategory/zz-1-2      : Boats & Rafts > Oars > Carbon Oars
gid://shopify/TaxonomyCategory/yy          : Kites
"""
CHROME = """| ID  | Topic                    |
| --- | ------------------------ |
| 1   | /Boats & Rafts           |
| 350 | /Boats & Rafts/Oars      |
| 7   | /Kites                   |
"""
DMOZ = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="urn:r" xmlns:d="urn:d" xmlns="urn:x">
  <!-- Generated -->
  <Topic r:id=""><catid>0</catid><narrow r:resource="Top"/></Topic>
  <Topic r:id="Top"><catid>1</catid><d:Title>Top</d:Title></Topic>
  <Topic r:id="Top/Water_Sports">
    <catid>2</catid>
    <d:Title>Water Sports</d:Title>
    <d:Description>Boats &amp; &lt;b&gt;boards&lt;/b&gt; of \x03all kinds.</d:Description>
    <narrow r:resource="Top/Water_Sports/Rowing"/>
    <symbolic r:resource="Boats:Top/Boats"/>
  </Topic>
  <Alias r:id="Boats:Top/Boats"><d:Title>Boats</d:Title></Alias>
  <Topic r:id="Top/Water_Sports/Rowing/Clubs"><catid>3</catid></Topic>
</RDF>
"""


def write(tmp_path, text, name="taxonomy.txt"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def parents(taxonomy):
    return {topic.id: topic.parent for topic in taxonomy.walk()}


def test_iab_goes_by_ids_and_parents_and_keeps_the_publishers_mark(tmp_path):
    found = open_taxonomy(write(tmp_path, IAB))
    assert found.format == "iab"
    assert parents(found.taxonomy) == {"root": "", "10": "root", "11": "10", "QX7": "11", "20": "root"}
    assert found.taxonomy["11"].name == "Roses"
    assert [topic.id for topic in found.taxonomy.walk() if topic.sensitive] == ["20"]
    assert found.taxonomy["20"].sensitive == MARKED
    assert found.taxonomy["root"].name == ROOT_NAME
    assert "2 main topics and no root" in found.remarks[0]


def test_shopify_lines_and_json_give_the_same_tree(tmp_path):
    lines = open_taxonomy(write(tmp_path, SHOPIFY))
    prefix = "gid://shopify/TaxonomyCategory/"
    rows = [
        ("zz", None, "Boats & Rafts"),
        ("zz-1", "zz", "Oars"),
        ("zz-1-2", "zz-1", "Carbon Oars"),
        ("yy", None, "Kites"),
    ]
    categories = [
        {"id": prefix + topic, "name": name, "parent_id": parent and prefix + parent, "attributes": []}
        for topic, parent, name in rows
    ]
    verticals = [{"prefix": "zz", "categories": categories[:3]}, {"prefix": "yy", "categories": categories[3:]}]
    said = open_taxonomy(write(tmp_path, json.dumps({"version": "2099-01", "verticals": verticals})))
    assert lines.format == said.format == "shopify"
    assert lines.taxonomy == said.taxonomy
    assert parents(said.taxonomy) == {"root": "", "zz": "root", "zz-1": "zz", "zz-1-2": "zz-1", "yy": "root"}


def test_shopify_json_of_the_first_layout(tmp_path):
    categories = [
        {"public_id": "ZZ", "name": "Boats", "parent_id": None},
        {"public_id": "ZZ-1", "name": "Oars", "parent_id": "ZZ"},
    ]
    text = json.dumps({"version": "0", "verticals": [{"name": "Boats", "categories": categories}]})
    assert parents(read_taxonomy(write(tmp_path, text))) == {"ZZ": "", "ZZ-1": "ZZ"}


def test_chrome_topics_with_and_without_numbers(tmp_path):
    found = open_taxonomy(write(tmp_path, CHROME))
    assert found.format == "chrome"
    assert parents(found.taxonomy) == {"root": "", "1": "root", "350": "1", "7": "root"}
    assert found.taxonomy["350"].name == "Oars"
    bare = "| Topic |\n| --- |\n| /Boats |\n| /Boats/Oars |\n| /Kites |\n"
    assert parents(read_taxonomy(write(tmp_path, bare))) == {
        "root": "",
        "/Boats": "root",
        "/Boats/Oars": "/Boats",
        "/Kites": "root",
    }


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_dmoz_is_read_as_a_stream_packed_or_not(tmp_path, pack):
    found = open_taxonomy(write(tmp_path, pack(DMOZ.encode())))
    assert found.format == "dmoz"
    assert parents(found.taxonomy) == {
        "Top": "",
        "Top/Water_Sports": "Top",
        "Top/Water_Sports/Rowing": "Top/Water_Sports",
        "Top/Water_Sports/Rowing/Clubs": "Top/Water_Sports/Rowing",
    }
    assert found.taxonomy["Top/Water_Sports"].name == "Water Sports"
    assert found.taxonomy["Top/Water_Sports"].description == "Boats & boards of all kinds."


@pytest.mark.parametrize(
    "text",
    ["# a remark\nArts\nArts > Music\nArts > Film > Noir\nFood\n", "/Arts\n/Arts/Music\n/Arts/Film/Noir\n/Food\n"],
)
def test_path_lists_of_both_kinds_add_what_no_line_names(tmp_path, text):
    found = open_taxonomy(write(tmp_path, "\ufeff" + text))
    assert found.format == "paths"
    assert parents(found.taxonomy) == {
        "root": "",
        "Arts": "root",
        "Arts > Music": "Arts",
        "Arts > Film": "Arts",
        "Arts > Film > Noir": "Arts > Film",
        "Food": "root",
    }
    assert found.taxonomy["Arts > Film > Noir"].name == "Noir"


def test_a_list_with_one_main_topic_needs_no_other_root(tmp_path):
    found = open_taxonomy(write(tmp_path, "Arts > Music\nArts > Film\n"))
    assert found.taxonomy.root == "Arts"
    assert found.remarks == ()


def test_a_made_root_takes_a_free_name(tmp_path):
    found = open_taxonomy(write(tmp_path, "root > leaf\nother\n"))
    assert found.taxonomy.root == "root-"
    assert len(found.taxonomy) == 4


def test_the_file_of_aidos_with_supports_and_in_any_order_of_columns(tmp_path):
    text = "name\tid\tparent\tsupport\twords\nAll\ta\t\t\t\nTea\tt\ta\t2.5\tleaf cup\nCoffee\tc\ta\t\t\n"
    found = open_taxonomy(write(tmp_path, text))
    assert found.format == "aidos"
    assert found.taxonomy["t"].words == ("leaf", "cup")
    tree = found.tree()
    assert tree.supports[tree.place("t")] == 2.5
    assert tree.supports[0] == 3.5


names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)


@st.composite
def taxonomies(draw):
    above = draw(st.lists(st.integers(0, 20), max_size=20))
    topics = [Topic("t0", "", draw(names))]
    for at, parent in enumerate(above, start=1):
        words = tuple(draw(st.lists(names, max_size=3)))
        topics.append(
            Topic(f"t{at}", f"t{min(parent, at - 1)}", draw(names), draw(st.sampled_from(["", "money"])), "", words)
        )
    return Taxonomy.of(topics)


@given(taxonomies(), st.booleans())
def test_what_is_written_as_a_table_is_read_as_it_was(tmp_path_factory, taxonomy, with_supports):
    supports = {leaf.id: 0.1 + at for at, leaf in enumerate(taxonomy.leaves())} if with_supports else {}
    path = tmp_path_factory.mktemp("native") / "t.tsv"
    write_native(ImportedTaxonomy(taxonomy=taxonomy, format="aidos", leaf_supports=supports), path)
    again = open_taxonomy(path)
    assert list(again.taxonomy.walk()) == list(taxonomy.walk())
    assert again.leaf_supports == supports


@pytest.mark.slow
def test_diagnoses_come_from_the_package():
    pytest.importorskip("simple_icd_10_cm", reason="extra taxonomies", exc_type=ImportError)
    found = open_taxonomy("icd-10-cm")
    taxonomy = found.taxonomy
    assert len(taxonomy) > 90_000
    assert [step.id for step in taxonomy.path("A00.0")] == ["root", "1", "A00-A09", "A00", "A00.0"]
    assert all(taxonomy[chapter].sensitive == "health" for chapter in taxonomy.children["root"])
    assert all(taxonomy.sensitive_category(leaf.id) == "health" for leaf in taxonomy.leaves()[:50])
    assert taxonomy["A00.0"].words


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(MissingExtraError) as caught:
        open_taxonomy("icd-10-cm")
    assert caught.value.extra == "taxonomies"


def test_a_format_may_be_named_and_a_wrong_name_is_told(tmp_path):
    path = write(tmp_path, "Gardens\nKitchens\n")
    assert len(read_taxonomy(path, format_name="paths")) == 3
    with pytest.raises(ParameterError, match="'shopfy'") as caught:
        read_taxonomy(path, format_name="shopfy")
    assert "shopify" in caught.value.hint


def test_every_format_is_named_as_it_is_listed():
    assert all(name == known.name and known.title for name, known in FORMATS.items())
