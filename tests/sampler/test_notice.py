"""People learn that they wait for a compiler when they do, and only then."""

import gc

import numba
import pytest

from disaggregate.sampler.compiled.notice import compile_notice
from disaggregate.sampler.prepare import prepare_by


def test_a_notice_is_printed_once_and_only_when_something_is_compiled(capsys):
    double, triple = numba.njit(lambda x: 2 * x), numba.njit(lambda x: 3 * x)
    with compile_notice():
        assert double(2) + triple(2) == 10
    assert capsys.readouterr().err.count("compiling the sampler") == 1
    with compile_notice():
        assert double(3) == 6
    assert capsys.readouterr().err == ""
    triple(0.5)
    assert capsys.readouterr().err == ""


def test_garbage_is_collected_again_once_the_compiler_is_done():
    def fails():
        assert not gc.isenabled()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        prepare_by("a name that no sampler has", fails)
    assert gc.isenabled()
