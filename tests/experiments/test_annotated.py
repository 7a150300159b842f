import pytest

from disaggregate.experiments import annotated
from disaggregate.experiments.annotated import find_robomedia, read_robomedia, simulate_scenes

REGIONS = """\
split,image,region,f00,f01,labels
train,a,1,1.0,0.0,cat
train,a,2,3.0,1.0,
train,b,1,5.0,0.0,dog|cat
test,c,1,3.0,2.0,dog
test,c,2,1.0,2.0,
"""
CAPTIONS = """\
split,image,words,file
train,a,cat|mat,a.jpg
train,b,dog,b.jpg
test,c,dog,c.jpg
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "robomedia").mkdir()
    (tmp_path / "robomedia" / "regions.csv").write_text(REGIONS, encoding="utf-8")
    (tmp_path / "robomedia" / "captions.csv").write_text(CAPTIONS, encoding="utf-8")
    return tmp_path


def test_the_folder_is_found_in_its_parent_or_by_itself(folder):
    assert find_robomedia(folder) == find_robomedia(folder / "robomedia") == folder / "robomedia"
    assert find_robomedia(folder / "elsewhere") is None


def test_regions_and_captions_are_read(folder):
    data = read_robomedia(folder / "robomedia")
    assert data.X.shape == (3, 2)
    assert data.image.tolist() == [0, 0, 1]
    assert data.captions == [{"cat", "mat"}, {"dog"}]
    assert data.shown == [{"dog"}]  # the region without a label cannot be judged by
    assert data.shown_in_training == [{"cat"}, set(), {"dog", "cat"}]


def test_features_are_on_the_scale_of_the_training_regions(folder):
    data = read_robomedia(folder / "robomedia")
    assert data.X.mean(axis=0) == pytest.approx([0.0, 0.0])
    assert data.X_test[0] == pytest.approx([0.0, (2.0 - 1.0 / 3.0) / (2.0**0.5 / 3.0)])


def test_words_are_learned_when_common_and_judged_when_shown(folder, monkeypatch):
    monkeypatch.setattr(annotated, "FEWEST_CAPTIONS", 1)
    monkeypatch.setattr(annotated, "FEWEST_REGIONS", 1)
    assert read_robomedia(folder / "robomedia").words == ["dog"]


def test_scenes_stand_in():
    data = simulate_scenes(0, n_train=12, n_test=6)
    assert len(data.captions) == 12
    assert set(data.image) == set(range(12))
    assert len(data.X) == len(data.image) == len(data.shown_in_training)
    assert len(data.X_test) == len(data.shown)
    assert all(len(label) == 1 for label in data.shown)
