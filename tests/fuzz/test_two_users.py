import pytest

from fuzz import two_users
from fuzz.hostile import make_files

DRAWS, CHECKPOINT = "fit with draws in a folder", "fit with a checkpoint"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    make_files(folder)
    return folder


@pytest.fixture(scope="module")
def alone(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_users, "READERS", ("predict",))
        return two_users.run_alone(folder, (two_users.OLD, 1, 2))


def test_every_command_that_shares_a_file_is_tried():
    tried = {kind for pair in two_users.pairs() for kind in pair}
    assert tried == set(two_users.KINDS)
    assert ("predict", "report") not in two_users.pairs()  # they only read the same model


@pytest.mark.parametrize("pair", [("fit", "predict"), (DRAWS, DRAWS), (CHECKPOINT, CHECKPOINT)])
def test_both_get_what_they_get_alone_or_one_is_refused(pair, alone, folder):
    assert two_users.try_pair(pair, alone, folder, 0.1) in ("both went well", "one was refused")


def test_what_is_nobodys_is_noticed(alone, folder):
    assert two_users.try_pair(("predict", "predict"), alone, folder, 0.0) == "both went well"
    given = ("predict", "predict"), (1, 2), [0, 0], alone, folder
    (folder / ".part").touch()
    assert "left behind" in two_users._wrong(*given)
    (folder / ".part").unlink()
    assert two_users._wrong(*given) is None
    (folder / "out.csv").write_text("cut")
    assert "out.csv is nobody's" in two_users._wrong(*given)
    (folder / "model.dgz").write_bytes(alone.files[2])
    assert "the model is nobody's" in two_users._wrong(*given)
