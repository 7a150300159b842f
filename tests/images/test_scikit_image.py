"""scikit-image is an extra: nothing imports it before a picture is worked on, and its absence is explained."""

import subprocess
import sys

import numpy as np
import pytest

from disaggregate.images import region_features, segment


def test_importing_the_package_does_not_import_scikit_image():
    code = "import sys, disaggregate, disaggregate.images; sys.exit('skimage' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("work", [segment, lambda image: region_features(image, np.zeros((4, 4), dtype=int))])
def test_missing_scikit_image_says_how_to_install_it(monkeypatch, work):
    for part in ("segmentation", "color"):
        monkeypatch.setitem(sys.modules, f"skimage.{part}", None)
    with pytest.raises(ImportError, match=r"pip install 'disaggregate\[images\]'"):
        work(np.zeros((4, 4, 3)))
