"""Where bytes go: files that are whole, links that are followed or replaced, pipes and devices."""

import os
import subprocess
import sys
import threading

import pytest

from skboot._base.values import is_same_file, takes_bytes, write_atomically


def put(text):
    return lambda file: file.write(text)


@pytest.mark.parametrize("follow", [True, False])
def test_a_link_is_followed_or_replaced(follow, tmp_path):
    mine, link = tmp_path / "mine", tmp_path / "link"
    mine.write_bytes(b"old")
    link.symlink_to(mine)
    write_atomically(link, put(b"new"), follow=follow)
    assert link.read_bytes() == b"new"
    assert link.is_symlink() == follow
    assert mine.read_bytes() == (b"new" if follow else b"old")
    assert sorted(os.listdir(tmp_path)) == ["link", "mine"]


@pytest.mark.parametrize("follow", [True, False])
def test_another_name_of_a_file_keeps_its_bytes(follow, tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.write_bytes(b"old")
    os.link(mine, other)
    write_atomically(other, put(b"new"), follow=follow)
    assert (mine.read_bytes(), other.read_bytes()) == (b"old", b"new")


def test_a_pipe_with_a_name_is_written_and_stays(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, put(b"text"))
    reader.join()
    assert found == [b"text"]
    assert takes_bytes(pipe)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_device_stays_a_device():
    write_atomically(os.devnull, put(b"text"))
    assert takes_bytes(os.devnull)


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_standard_output_is_written_between_what_is_printed(kind, tmp_path):
    code = """if True:
        from skboot._base.values import write_atomically
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            print("before")
            write_atomically(name, lambda file: file.write(b"bytes "))
        print("after")
    """
    command, target = [sys.executable, "-c", code], tmp_path / "out"
    if kind == "pipe":
        printed = subprocess.run(command, capture_output=True, check=True).stdout
    else:
        with target.open("wb") as file:
            subprocess.run(command, stdout=file, check=True)
        printed = target.read_bytes()
    assert printed.split() == 3 * [b"before", b"bytes"] + [b"after"]


def test_a_file_is_itself_by_any_name(tmp_path):
    mine, hard, soft = (tmp_path / name for name in ("mine", "hard", "soft"))
    mine.write_bytes(b"")
    os.link(mine, hard)
    soft.symlink_to("mine")
    for one in (mine, hard, soft):
        for other in (mine, hard, soft):
            assert is_same_file(one, other)
    copy = tmp_path / "copy"
    copy.write_bytes(b"")
    assert not is_same_file(mine, copy)
    assert not is_same_file(mine, tmp_path / "none")
    assert is_same_file(tmp_path / "none", tmp_path / "." / "none")
    assert not is_same_file(os.devnull, os.devnull)
