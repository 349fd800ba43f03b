"""Small files that a user named: regular files alone, of bounded size, and never a wait."""

import os
import socket

import pytest

from aidos.engine.inputs import open_input, read_bytes, read_text
from aidos.errors import InputError


def test_a_file_is_read(tmp_path):
    file = tmp_path / "rules.txt"
    file.write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
    assert read_bytes(file).startswith(b"\xef\xbb\xbf")
    assert read_text(file) == "café\n"
    with open_input(file) as opened:
        assert opened.read(3) == b"\xef\xbb\xbf"


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe or a device, a file was expected"):
        read_text(tmp_path / "pipe")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device):
    with pytest.raises(InputError, match="is a pipe or a device"):
        read_bytes(device)


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a directory, a file was expected"):
        read_text(tmp_path)


def test_a_socket_is_refused(tmp_path, monkeypatch, socket_enabled):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("here")
        with pytest.raises(InputError, match="is a socket or a device"):
            read_text(tmp_path / "here")


@pytest.mark.parametrize("name", ["nothing", "a\0b", "x" * 5000, "file/below"])
def test_what_is_not_there_is_said(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="there is no file"):
        read_text(tmp_path / name)


def test_a_link_in_a_circle_is_no_file(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError, match="there is no file"):
        read_text(tmp_path / "loop")


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_file_that_one_may_not_read(tmp_path):
    (tmp_path / "secret").touch(mode=0)
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path / "secret")


def test_a_file_that_is_too_large_is_refused_without_being_read(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="larger than 67,108,864 bytes"):
        read_text(tmp_path / "large")
    with pytest.raises(InputError, match="larger than 10 bytes"):
        read_text(tmp_path / "large", most=10)


def test_text_that_is_not_utf8_is_told_by_its_line(tmp_path):
    (tmp_path / "latin").write_bytes(b"one\ntwo\ncaf\xe9")
    with pytest.raises(InputError, match="line 3: the text is not in UTF-8"):
        read_text(tmp_path / "latin")
