"""Files that are whole or not there, and that stay as private as they were."""

import os
import stat
from types import SimpleNamespace

import pytest

from disaggregate.cli.main import main
from disaggregate.storage.atomic_files import atomic_write, require_disk_space, require_writable


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_private_file_stays_private_and_is_so_while_it_is_written(tmp_path):
    target = tmp_path / "m.dgz"
    target.write_text("old")
    target.chmod(0o600)
    with atomic_write(target) as partial:
        assert mode(partial) == 0o600
        partial.write_text("new")
    assert (mode(target), target.read_text()) == (0o600, "new")


def test_a_new_file_is_as_open_as_the_process_allows(tmp_path):
    before = os.umask(0o077)
    try:
        with atomic_write(tmp_path / "m.dgz") as partial:
            assert mode(partial) == 0o600
    finally:
        os.umask(before)
    assert mode(tmp_path / "m.dgz") == 0o600


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "m.dgz"
    target.write_text("old")
    with pytest.raises(FileNotFoundError), atomic_write(target) as partial:
        partial.with_name("none").rename(partial)
    assert [path.name for path in tmp_path.iterdir()] == ["m.dgz"]
    assert target.read_text() == "old"


@pytest.fixture(params=["link", "pipe", "folder", "dangling"])
def no_file(request, tmp_path):
    path = tmp_path / request.param
    if request.param == "link":
        (tmp_path / "elsewhere").write_text("old")
        path.symlink_to(tmp_path / "elsewhere")
    elif request.param == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    elif request.param == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    return path


def test_links_pipes_and_folders_are_not_replaced(no_file):
    before = no_file.lstat()
    with pytest.raises(OSError, match="give the path of"), atomic_write(no_file):
        pass
    with pytest.raises(OSError, match="give the path of"):
        require_writable(no_file)
    assert no_file.lstat() == before


@pytest.mark.parametrize("output", ["pipe", "link.csv", "/dev/null", "x" * 252 + ".csv", "x" * 245 + ".csv"])
def test_the_command_line_refuses_them_before_any_work(tmp_path, monkeypatch, capsys, output):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "link.csv").symlink_to("elsewhere")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert main(["effects", "model.dgz", "people.csv", "-o", output]) == 2
    assert "choose another place" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_disk_without_room_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=2**20))
    require_disk_space(tmp_path / "new folder" / "m.dgz", 2**20)
    with pytest.raises(OSError, match="will take 2 MB or more, and 1 MB are free"):
        require_disk_space(tmp_path / "new folder" / "m.dgz", 2**21)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=2**15))
    with pytest.raises(OSError, match=r"will take 0\.50 MB or more, and 0\.03 MB are free"):
        require_disk_space(tmp_path / "m.dgz", 2**19)
    assert not list(tmp_path.iterdir())
