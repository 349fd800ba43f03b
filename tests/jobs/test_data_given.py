"""Data as people have them: files by name, tables through the same reader."""

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.errors import InputError, ParameterError, Problem
from aidos.jobs.inputs import as_files

COLUMNS = {"query_id": ["q", "q"], "score": [2.0, 1.0]}


def test_names_pass_as_they_are(tmp_path):
    for given, names in (("a", ("a",)), (tmp_path, (str(tmp_path),)), (["a", tmp_path], ("a", str(tmp_path)))):
        with as_files(given) as files:
            assert files == names


@pytest.mark.parametrize(
    "table",
    [pa.table(COLUMNS), pd.DataFrame(COLUMNS, index=[7, 8]), duckdb.sql("from (values ('q', 2.0)) t(query_id, score)")],
)
def test_a_table_becomes_a_private_file_that_goes_away(table):
    with as_files(table) as (file,):
        assert pq.read_table(file).column_names == ["query_id", "score"]
        kept = file
    with pytest.raises(FileNotFoundError):
        pq.read_table(kept)


def test_errors_speak_of_the_table_and_not_of_our_file():
    with pytest.raises(InputError) as caught, as_files(pa.table(COLUMNS)) as (file,):
        problem = Problem(kind="odd", file=file, sentence="is odd", remedy="mend it")
        raise InputError(f"{file}: is odd", hint=f"look at {file}", problems=[problem])
    assert caught.value.message == "the table: is odd"
    assert caught.value.hint == "look at the table"
    assert str(caught.value.problems[0]) == "the table: is odd"


def test_what_is_no_data_is_refused_without_quoting_it():
    for wrong in (5, {"a": 1}, [1, 2], object()):
        with pytest.raises(ParameterError, match="data cannot be a"), as_files(wrong):
            pass
    secret = pd.DataFrame({"query": ["xyzzy", 5]})
    with pytest.raises(InputError, match="cannot be read as a table") as caught, as_files(secret):
        pass
    assert "xyzzy" not in caught.value.message
