"""Two fits do not write to one checkpoint or folder, and none starts anew over another's."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from disaggregate.storage.locks import locked
from tests.helpers.interrupted_fits import fit, model_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOLD = """
import sys, time
from disaggregate.storage.locks import locked
with locked(checkpoint=sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_what_is_held_is_refused_and_then_free(tmp_path):
    path = tmp_path / "run.dgc"
    with locked(checkpoint=path, draws_to=None):
        with pytest.raises(ValueError, match="in use by another fit"), locked(checkpoint=path):
            pass
        with locked(checkpoint=tmp_path / "other.dgc"):
            pass
    with locked(checkpoint=path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_another_process_is_refused_until_the_first_is_killed(tmp_path):
    path = tmp_path / "run.dgc"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match="in use by another fit"), locked(checkpoint=path):
            pass
        os.kill(holder.pid, signal.SIGKILL)
    with locked(checkpoint=path):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_forked_process_that_lives_on_holds_nothing(tmp_path):
    reader, writer = os.pipe()
    holder = os.fork()
    if holder == 0:
        with locked(checkpoint=tmp_path / "run.dgc"):
            if os.fork() == 0:  # the worker of a pool
                os.read(reader, 1)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(holder, 0)
    with locked(checkpoint=tmp_path / "run.dgc"):
        assert os.write(writer, b"x") == 1
    os.close(reader)
    os.close(writer)


def test_a_folder_that_cannot_be_written_is_left_to_who_writes(tmp_path):
    with locked(checkpoint=tmp_path / "none" / "run.dgc"):
        assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["checkpoint", "draws_to"])
def test_a_fit_takes_nothing_that_another_has(name, tmp_path):
    path = tmp_path / "it"
    with locked(**{name: path}), pytest.raises(ValueError, match=f"{name}=.* is in use by another fit"):
        fit(model_of("sparse", n_draws=5, n_burn=5), **{name: path})
    assert not path.exists()


def test_a_checkpoint_is_not_started_over_without_a_word(tmp_path):
    path = tmp_path / "run.dgc"
    first = fit(model_of("sparse", n_draws=5, n_burn=5), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="exists already"):
        fit(model_of("sparse", n_draws=5, n_burn=5), checkpoint=path)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="belongs to a fit with random_state="):
        fit(model_of("sparse", n_draws=5, n_burn=5, random_state=987), checkpoint=path, resume=True)
    again = fit(model_of("sparse", n_draws=5, n_burn=5), checkpoint=path, resume=True)
    np.testing.assert_array_equal(again.posterior_.delta2, first.posterior_.delta2)
