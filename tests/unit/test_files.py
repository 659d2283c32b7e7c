"""Files that are there whole, or not at all."""

import os

import pytest

from pegasos.files import atomically


def test_a_file_appears_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "new"
    with atomically(path) as file:
        file.write(b"first ")
        assert not path.exists()
        file.write(b"second")
    assert path.read_bytes() == b"first second"
    assert os.listdir(tmp_path) == ["new"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"old")

    def fail_half_way():
        with atomically(path) as file:
            file.write(b"new")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="middle"):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    with atomically(tmp_path / "new"):
        pass
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_writing_changes_nothing_that_other_threads_see(tmp_path, monkeypatch):
    # The umask belongs to the process: two threads that set it and set it back could leave it open for good.
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was changed"))
    with atomically(tmp_path / "new") as file:
        file.write(b"x")
    assert (tmp_path / "new").read_bytes() == b"x"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # so that opening it for writing does not wait
    try:
        with atomically(path) as file:
            file.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert path.is_fifo()


def test_the_file_behind_a_link_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "behind").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("behind")
    with atomically(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "behind").read_bytes() == b"new"
