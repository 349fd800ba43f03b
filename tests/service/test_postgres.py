"""PostgreSQL, a real server that is started here and listens on a Unix socket alone."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from pathlib import Path

import psycopg
import pytest

from aidos.errors import InputError, ParameterError, ServiceError
from aidos.service.base import Clock, Retries
from aidos.service.opening import open_service
from aidos.service.postgres import Login, Postgres, TextTable, make_table

ROWS = [
    ("a", "Repairing a windmill", "The sails of the mill are mended with canvas."),
    ("b", "On the hill", "Coffee beside an old windmill; the sails were mended and canvas was lent by a sailor."),
    ("c", "Sailing", "Wind and canvas."),
    ("d", "", ""),
    ("B", "Sailing", "Wind and canvas."),
]
QUERY = "windmill"
QUICK = Retries(attempts=3, timeout=2, first_pause=0.01)


def binary(name):
    places = [os.environ.get("PATH", ""), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]
    return shutil.which(name, path=os.pathsep.join(places))


def unprivileged():
    """PostgreSQL refuses to run as root: somebody else, or nobody in particular where we are not root."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    return pytest.skip("root cannot run PostgreSQL and there is no user postgres or nobody")


@pytest.fixture(scope="module")
def server():
    """A connection string of a fresh server, and its process."""
    if not binary("initdb") or not binary("postgres"):
        pytest.skip("no PostgreSQL server is installed (initdb and postgres)")
    who = unprivileged()
    # Not tmp_path: the path of a socket has room for 107 letters only, and the server's user must get in.
    home = Path(tempfile.mkdtemp(prefix="aidos-pg-"))
    if who:
        os.chown(home, who["user"], who["group"])
    calm = {"cwd": home, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **who}
    initdb = [binary("initdb"), "-D", home / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(initdb, check=True, timeout=60, **calm)
    options = ("listen_addresses=", f"unix_socket_directories={home}", "fsync=off", "max_connections=10")
    command = [binary("postgres"), "-D", home / "data", *(part for option in options for part in ("-c", option))]
    process = subprocess.Popen(command, **calm)
    try:
        yield wait_until_ready(f"host={home} user=tester dbname=postgres"), process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
        shutil.rmtree(home)


def wait_until_ready(dsn):
    deadline = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return dsn


@pytest.fixture(scope="module")
def login(server):
    made = Login(dsn=server[0])
    assert make_table(made, ROWS, TextTable(vector="words")) == len(ROWS)
    execute(server[0], "CREATE SCHEMA odd", 'CREATE TABLE odd."no ""keys; --" ("the id" int, "T" text, "x%s" text)')
    execute(server[0], "INSERT INTO odd.\"no \"\"keys; --\" VALUES (10, NULL, 'windmills'), (9, 'windmill', NULL)")
    return made


def execute(dsn, *statements):
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = [connection.execute(statement) for statement in statements]
        return rows[-1].fetchall() if rows[-1].description else []


def found(login, query, table=None, size=10):
    with Postgres(login, table or TextTable(vector="words"), retries=QUICK) as service:
        return service.search(query, size)


def ids(*arguments, **options):
    return [result.object_id for result in found(*arguments, **options)]


def test_rows_come_by_cover_density_with_title_snippet_and_position(login):
    results = found(login, "windmill canvas")
    # The words stand 6 places apart in b and 9 in a.
    assert [(result.object_id, result.position) for result in results] == [("b", 1), ("a", 2)]
    assert results[0].score > results[1].score > 0
    assert (results[1].title, results[1].url) == ("Repairing a windmill", "")
    assert results[1].snippet == "The sails of the mill are mended with canvas."
    assert ids(login, "windmill canvas", size=1) == ["b"]


def test_words_are_stemmed_in_the_language(login):
    assert ids(login, "windmills mending") == ["b", "a"]
    assert ids(login, "windmills", TextTable(language="simple")) == []
    assert ids(login, "windmill", TextTable(language="simple")) == ["a", "b"]


def test_equal_ranks_are_ordered_by_the_bytes_of_the_id(login):
    assert ids(login, "wind") == ["B", "c"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"old windmill"', ["b"]),
        ("coffee or wind", ["B", "b", "c"]),
        ("windmill -coffee", ["a"]),
        ("'; DROP TABLE documents; --", []),
        ("a & ! (( | <-> :* \\ ' \" %s {} $1", []),
        ("the", []),
    ],
)
def test_what_people_type_is_understood_or_finds_nothing(login, query, expected):
    assert sorted(ids(login, query)) == expected


def test_a_table_of_ones_own_with_odd_names_and_nulls(login):
    table = TextTable(table='odd.no "keys; --', id="the id", title="T", text="x%s")
    results = found(login, "windmill", table)
    assert [(result.object_id, result.title, result.snippet) for result in results] == [
        ("10", "", "windmills"),
        ("9", "windmill", ""),
    ]


def test_the_vector_uses_its_index(server, login):
    plan = execute(
        server[0], "SET enable_seqscan = off", "EXPLAIN SELECT 1 FROM documents WHERE words @@ to_tsquery('windmill')"
    )
    assert "Bitmap Index Scan" in str(plan)


def test_searching_cannot_write(server, login):
    execute(server[0], "CREATE SEQUENCE counted")
    execute(
        server[0], "CREATE VIEW sly AS SELECT nextval('counted')::text AS id, title, text FROM documents WHERE id = 'a'"
    )
    with pytest.raises(ServiceError, match="25006"):
        found(login, "windmill", TextTable(table="sly"))


@pytest.mark.parametrize(
    ("table", "code", "hint"),
    [
        (TextTable(table="nowhere"), "42P01", "name of the table"),
        (TextTable(title="headline"), "42703", "columns"),
        (TextTable(language="klingon"), "42704", "language"),
    ],
)
def test_wrong_names_are_said_with_what_to_do(login, table, code, hint):
    with pytest.raises(ServiceError, match=code) as caught:
        found(login, QUERY, table)
    assert hint in caught.value.hint
    assert "windmill" not in "".join(traceback.format_exception(caught.value))


def test_a_search_that_takes_too_long_is_cancelled_by_the_server(server, login):
    execute(server[0], "CREATE VIEW slow AS SELECT id, title, text || pg_sleep(5)::text AS text FROM documents")
    start = time.monotonic()
    with (
        Postgres(login, TextTable(table="slow"), retries=Retries(timeout=0.2)) as service,
        pytest.raises(ServiceError, match="57014"),
    ):
        service.search("windmill")
    assert time.monotonic() - start < 4


def backends(dsn):
    asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'aidos' AND pid <> pg_backend_pid()"
    return [row[0] for row in execute(dsn, asked)]


def test_a_server_that_no_longer_answers_is_given_up_in_time(server, login):
    with Postgres(login, TextTable(vector="words"), retries=Retries(attempts=1, timeout=0.2)) as service:
        assert len(service.search("windmill")) == 2
        (backend,) = backends(server[0])
        os.kill(backend, signal.SIGSTOP)
        start = time.monotonic()
        try:
            with pytest.raises(ServiceError, match=r"did not answer within 0\.2 s"):
                service.search("windmill")
        finally:
            os.kill(backend, signal.SIGCONT)
        assert time.monotonic() - start < 4
        assert len(service.search("windmill")) == 2


def test_a_broken_connection_is_made_anew(server, login):
    pauses = []
    clock = Clock(sleep=pauses.append, draw=lambda: 0.0)
    with Postgres(login, TextTable(vector="words"), retries=QUICK, clock=clock) as service:
        assert len(service.search("windmill")) == 2
        execute(server[0], *(f"SELECT pg_terminate_backend({pid}, 5000)" for pid in backends(server[0])))
        assert len(service.search("windmill")) == 2
    assert pauses == [0.005]


def test_a_server_that_is_not_there_is_tried_again(tmp_path):
    pauses = []
    clock = Clock(sleep=pauses.append)
    with (
        Postgres(Login(dsn=f"host={tmp_path} dbname=x"), retries=QUICK, clock=clock) as service,
        pytest.raises(ServiceError, match=r"could not be reached or broke off \(tried 3 times\)"),
    ):
        service.search("windmill")
    assert len(pauses) == 2


def test_a_server_that_refuses_is_not_asked_again(server):
    pauses = []
    login = Login(dsn=server[0].replace("dbname=postgres", "dbname=elsewhere"))
    with (
        Postgres(login, retries=QUICK, clock=Clock(sleep=pauses.append)) as service,
        pytest.raises(ServiceError, match="refuses the connection"),
    ):
        service.search("windmill")
    assert pauses == []


def test_a_table_is_made_whole_or_not_at_all(server, login):
    half = TextTable(table="half", vector="words")
    for rows, error in (
        ([ROWS[0], ROWS[0]], ServiceError),
        ([ROWS[0], ("x", "half \ud83d", "")], InputError),
        ([ROWS[0], ("x", "zero \0", "")], InputError),
    ):
        with pytest.raises(error) as caught:
            make_table(login, rows, half)
        assert "windmill" not in str(caught.value)
    with pytest.raises(ServiceError, match="42P07"):
        make_table(login, ROWS, TextTable(vector="words"))
    with pytest.raises(ParameterError, match="tsvector"):
        make_table(login, ROWS, TextTable(table="half"))
    assert execute(server[0], "SELECT to_regclass('half')") == [(None,)]


def test_one_line_opens_it(server, login):
    with open_service(f"postgres:{server[0]}?table=documents&vector=words", {}) as service:
        assert [result.object_id for result in service.search("coffee")] == ["b"]
        assert service.name == "postgres:documents"


def test_passwords_in_connection_strings_are_refused_and_not_repeated():
    for dsn in ("host=x password=swordfish", "postgresql://me:swordfish@db.example.org/x", "swordfish = = ="):
        with pytest.raises(ParameterError) as caught:
            Login(dsn=dsn)
        assert "swordfish" not in "".join(traceback.format_exception(caught.value))
    login = Login(dsn="host=x", user="me", password="swordfish")
    assert "swordfish" not in repr(login) + repr(Postgres(login))


@pytest.mark.parametrize("names", [{"table": ""}, {"table": "a."}, {"id": ""}, {"text": "a\0"}, {"vector": "\0"}])
def test_tables_without_names_are_refused(names):
    with pytest.raises(ParameterError, match="names"):
        TextTable(**names)


@pytest.mark.parametrize(("query", "size", "error"), [(" ", 1, InputError), ("a", 0, ParameterError)])
def test_what_cannot_be_asked_is_refused(query, size, error):
    with pytest.raises(error):
        Postgres(Login(dsn="host=nowhere.example.org")).search(query, size)
