"""People are told that they wait for a compiler when they do, and only then."""

import numba

from disaggregate.sampler.compiled.notice import told_of_compiling


def test_a_notice_is_printed_once_and_only_when_something_is_compiled(capsys):
    double, triple = numba.njit(lambda x: 2 * x), numba.njit(lambda x: 3 * x)
    with told_of_compiling():
        assert double(2) + triple(2) == 10
    assert capsys.readouterr().err.count("compiling the sampler") == 1
    with told_of_compiling():
        assert double(3) == 6
    assert capsys.readouterr().err == ""
    triple(0.5)
    assert capsys.readouterr().err == ""
