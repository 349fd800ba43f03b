"""Texts, logs and posts as documents, and how the kind of a source is found out."""

import os

import pytest

from aidos.core.profile import Kind
from aidos.errors import InputError
from aidos.ingest.history.document import LONGEST
from aidos.ingest.options import ReadOptions

LOG = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
POSTS = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1" CreationDate="2020-01-02T03:04:05.000" Score="1" Body="&lt;p&gt;Which flour?&lt;/p&gt;" \
OwnerUserId="42" Title="Bread" Tags="&lt;baking&gt;&lt;yeast&gt;" />
  <row Id="2" PostTypeId="2" ParentId="1" CreationDate="2020-01-03T03:04:05.000" Body="Rye." OwnerUserId="7" />
</posts>
"""


def log_rows(person, *queries):
    return "".join(f"{person}\t{query}\t2006-03-0{day} 10:00:00\t{click}\n" for day, query, click in queries)


def test_a_folder_of_texts_is_read_with_all_below_it_but_for_hidden_files_and_links(read, tmp_path):
    home = tmp_path / "notes"
    (home / "below").mkdir(parents=True)
    (home / ".private").mkdir()
    (home / "lentil-soup_2.txt").write_text("Red lentils, onions")
    (home / "below" / "page.html").write_text(
        "<html><title>Kiln &amp; clay</title><p>Fire<b>d</b></p><script>x()</script>"
    )
    (home / "picture.txt").write_bytes(b"\x89PNG\x00\x00")
    (home / "empty.md").write_text(" \n")
    (home / "data.bin").write_text("not a text by its name")
    (home / ".hidden.txt").write_text("hidden")
    (home / ".private" / "diary.txt").write_text("hidden")
    (tmp_path / "outside.txt").write_text("outside")
    (home / "link.txt").symlink_to(tmp_path / "outside.txt")
    (home / "loop").symlink_to(home)
    os.utime(home / "lentil-soup_2.txt", (1_600_000_000, 1_600_000_000))
    soup, kiln = read(home)
    assert soup.text == "lentil soup\nRed lentils, onions"
    assert (soup.kind, soup.time.timestamp()) == (Kind.TEXTS, 1_600_000_000)
    assert kiln.text == "Kiln & clay\nFired"


def test_only_the_beginning_of_a_long_text_is_kept(read, tmp_path):
    (tmp_path / "long.md").write_text("word " * 200_000)
    (found,) = read(tmp_path / "long.md")
    assert len(found.text) == LONGEST


@pytest.mark.parametrize("name", ["empty", "nothing"])
def test_folders_without_texts_are_refused(read, tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="holds no page, query or text"):
        read(tmp_path / name)


def test_a_query_is_one_document_however_often_it_was_asked_with_what_was_clicked(read, tmp_path):
    rows = log_rows(
        1, (1, "lentil soup", "\t"), (2, "lentil soup", "1\thttp://www.cooking.example/red?u=1"), (3, "chess", "\t")
    )
    (tmp_path / "log.txt").write_text(LOG + rows)
    soup, chess = read(tmp_path / "log.txt")
    assert soup.text == "lentil soup\ncooking red"
    assert (soup.kind, soup.visits, soup.time.day) == (Kind.SEARCH_LOG, 2, 2)
    assert (chess.text, chess.visits) == ("chess", 1)


def test_a_log_of_several_people_needs_one_to_be_chosen_and_names_nobody(read, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG + log_rows(8311, (1, "lentil soup", "\t")) + log_rows(8312, (1, "chess", "\t")))
    with pytest.raises(InputError, match="of 2 people") as caught:
        read(path)
    assert "--person" in caught.value.hint
    assert "831" not in f"{caught.value.message}{caught.value.hint}"
    assert [query.text for query in read(path, person="8312")] == ["chess"]
    with pytest.raises(InputError, match="no row of the person") as caught:
        read(path, person="somebody")
    assert "somebody" not in caught.value.message


def test_posts_of_one_member_come_with_title_and_tags(read, tmp_path):
    (tmp_path / "Posts.xml").write_text(POSTS)
    (bread,) = read(tmp_path / "Posts.xml", person="42")
    assert bread.text == "Bread\nWhich flour? baking yeast"
    assert bread.kind is Kind.POSTS
    assert [post.text for post in read(tmp_path / "Posts.xml", person="7")] == ["Rye."]


def test_prose_with_commas_is_a_text_and_a_log_in_a_txt_file_is_a_log(read, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear all, we meet on Monday, as ever\nBring tea, cake, and time\n")
    assert [text.kind for text in read(tmp_path / "letter.txt")] == [Kind.TEXTS]
    (tmp_path / "log.txt").write_text(LOG + log_rows(1, (1, "tea", "\t")))
    assert [text.kind for text in read(tmp_path / "log.txt")] == [Kind.SEARCH_LOG]


def test_what_is_said_about_a_table_is_believed(read, tmp_path):
    (tmp_path / "mine.txt").write_text("me;tea;2020-01-01 10:00:00\nme;cake;2020-01-02 10:00:00\n")
    column = ("client_id=c1", "user_query=c2", "timestamp=c3")
    options = ReadOptions(delimiter=";", header=False, column=column)
    assert [text.text for text in read(tmp_path / "mine.txt", options=options)] == ["tea", "cake"]


def test_tables_without_people_and_unknown_files_are_refused(read, tmp_path):
    (tmp_path / "results.run").write_text("1 Q0 doc1 1 2.5 tag\n1 Q0 doc2 2 1.5 tag\n")
    with pytest.raises(InputError, match="nobody wrote or searched"):
        read(tmp_path / "results.run")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    with pytest.raises(InputError):
        read(tmp_path / "picture.png")


def test_a_source_that_is_not_there_or_may_not_be_read_is_refused(read, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "places.sqlite")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "places.sqlite")
    with pytest.raises(InputError, match="pipe"):
        read(tmp_path / "pipe" / "places.sqlite")


def test_a_pattern_stands_for_its_files(read, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(name * 3)
    assert [text.text for text in read(tmp_path / "*.md")] == ["a\naaa", "b\nbbb"]
