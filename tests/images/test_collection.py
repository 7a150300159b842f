"""All regions of all pictures are in one table, and each knows its picture."""

import numpy as np
import pytest
from skimage.io import imsave

from disaggregate.images import collect_regions, make_scenes, region_features, segment


@pytest.fixture
def scenes(seed):
    return make_scenes(3, random_state=seed)


def test_rows_are_those_of_each_picture_in_turn(scenes):
    regions = collect_regions(scenes.images, scenes.captions, method="ncut", n_regions=6)
    assert len(regions.labels) == 3
    for number, image in enumerate(scenes.images):
        labels = segment(image, "ncut", 6)
        assert np.array_equal(regions.labels[number], labels)
        rows = regions.features[regions.groups == number]
        assert np.allclose(rows, region_features(image, labels))
    assert regions.captions == [frozenset(caption) for caption in scenes.captions]


def test_the_index_counts_regions_in_each_picture(scenes):
    regions = collect_regions(scenes.images)
    sizes = [labels.max() + 1 for labels in regions.labels]
    assert regions.index.tolist() == [(image, region) for image in range(3) for region in range(sizes[image])]
    assert regions.captions is None


def test_files_give_the_regions_of_their_pictures(scenes, tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for path, image in zip(paths, scenes.images, strict=True):
        imsave(path, image, check_contrast=False)
    from_files, from_arrays = collect_regions(paths), collect_regions(list(scenes.images))
    assert from_files.features.equals(from_arrays.features)


def test_errors_name_the_picture(scenes):
    with pytest.raises(ValueError, match=r"images\[1\]: A picture of floats must hold values from 0 to 1"):
        collect_regions([scenes.images[0], 255.0 * np.ones((4, 4, 3))])


def test_captions_of_another_number_are_refused(scenes):
    with pytest.raises(ValueError, match=r"got 2 captions for 3 pictures\. Put None where"):
        collect_regions(scenes.images, scenes.captions[:2])
