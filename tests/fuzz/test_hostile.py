from fuzz import hostile


def test_every_mistake_ends_as_it_should(capsys):
    assert hostile.main([]) == 0, capsys.readouterr().out
