from disaggregate.groups.forms import as_list


def test_as_list_takes_a_generator():
    assert as_list((k for k in range(3)), "y") == [0, 1, 2]
