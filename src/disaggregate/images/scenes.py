"""Captioned scenes: small painted landscapes with their words, and the true word of every pixel."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import Bunch

from disaggregate.datasets import RandomState, make_generator, positive_int

HEIGHT, WIDTH = 64, 96
WORDS = ("boat", "grass", "house", "sand", "sky", "sun", "tree", "water")
GROUNDS = ("grass", "sand", "water")

Mask: TypeAlias = NDArray[np.bool_]
Layer: TypeAlias = NDArray[np.float64]


def make_scenes(n_images: int = 60, *, random_state: RandomState = None) -> Bunch:
    """Paint landscapes and caption each with the words of what can be seen in it.

    Each picture has an upper and a lower half: sky over grass, sand or water, or, with the horizon out of
    sight, one of these three beyond another. There may be a sun in the sky, a tree and a house on land and a
    boat on water. Colours, sizes and places vary, and every material has a texture of its own. No word is in
    every picture, so each can be learned from captions.

    Parameters
    ----------
    n_images : int, default=60
        Number of pictures.
    random_state : int, numpy Generator, numpy RandomState or None, default=None
        Seed of all that varies.

    Returns
    -------
    Bunch
        ``images`` (n_images, 64, 96, 3) of uint8, ``captions`` (a list of words for each), ``label_maps``
        (n_images, 64, 96): the index in ``words`` of the true word of each pixel, for evaluation, ``words``
        and ``DESCR``.

    Examples
    --------
    >>> from disaggregate.images import make_scenes
    >>> scenes = make_scenes(3, random_state=0)
    >>> scenes.images.shape
    (3, 64, 96, 3)
    """
    n_images = positive_int("n_images", n_images)
    rng = make_generator(random_state)
    canvases = [_paint_scene(rng) for _ in range(n_images)]
    label_maps = np.stack([canvas.words for canvas in canvases])
    return Bunch(
        images=np.stack([canvas.as_bytes() for canvas in canvases]),
        captions=[[WORDS[index] for index in np.unique(words)] for words in label_maps],
        label_maps=label_maps,
        words=list(WORDS),
        DESCR=f"{n_images} painted landscapes of {HEIGHT} by {WIDTH} pixels, each captioned with the words of "
        f"what can be seen in it, out of: {', '.join(WORDS)}.",
    )


def region_truth(labels: NDArray[np.int64], label_map: NDArray[np.int64], words: list[str]) -> NDArray[np.str_]:
    """Return the word that most pixels of each region have.

    Parameters
    ----------
    labels : array of shape (height, width)
        The region of each pixel, from 0.
    label_map : array of shape (height, width)
        The index in ``words`` of the true word of each pixel.
    words : list of str
        The words.

    Returns
    -------
    ndarray of shape (n_regions,)
        A word for each region.
    """
    n_regions = int(labels.max()) + 1
    pairs = labels.ravel() * len(words) + label_map.ravel()
    pixels = np.bincount(pairs, minlength=n_regions * len(words)).reshape(n_regions, len(words))
    most: NDArray[np.str_] = np.asarray(words)[pixels.argmax(axis=1)]
    return most


# ---- the canvas ----------------------------------------------------------------------------------------

DOWN, ACROSS = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)


class _Canvas:
    """Colours and words of the pixels; what is painted later hides what was there."""

    def __init__(self) -> None:
        self.colours = np.zeros((HEIGHT, WIDTH, 3))
        self.words = np.zeros((HEIGHT, WIDTH), dtype=np.int64)

    def paint(self, word: str, where: Mask, colour: Layer) -> None:
        """Fill a shape with one colour, or with the colours of a layer of the size of the canvas."""
        self.colours[where] = np.broadcast_to(colour, self.colours.shape)[where]
        self.words[where] = WORDS.index(word)

    def as_bytes(self) -> NDArray[np.uint8]:
        return np.round(255.0 * self.colours.clip(0.0, 1.0)).astype(np.uint8)


def _paint_scene(rng: np.random.Generator) -> _Canvas:
    canvas = _Canvas()
    horizon = rng.uniform(0.38, 0.58) * HEIGHT
    far, near = rng.choice(GROUNDS, size=2, replace=False)
    if rng.random() < 0.75:
        far = "sky"
    canvas.paint(far, np.full((HEIGHT, WIDTH), True), MATERIALS[far](rng))
    shore = horizon + rng.uniform(0.0, 2.5) * np.sin(ACROSS / rng.uniform(8.0, 20.0) + rng.uniform(0.0, 6.0))
    canvas.paint(near, shore <= DOWN, MATERIALS[near](rng))

    left, right = rng.permutation([rng.uniform(0.14, 0.36), rng.uniform(0.64, 0.86)]) * WIDTH
    if far == "sky" and rng.random() < 0.55:
        _paint_sun(canvas, rng, horizon)
    if near == "water":
        if rng.random() < 0.6:
            _paint_boat(canvas, rng, left, horizon)
        return canvas
    if rng.random() < 0.5:
        _paint_house(canvas, rng, left, horizon)
    if rng.random() < 0.55:
        _paint_tree(canvas, rng, right, horizon)
    return canvas


# ---- materials: a layer of colours for the whole canvas ------------------------------------------------


def _sky(rng: np.random.Generator) -> Layer:
    top = _around(rng, (0.30, 0.52, 0.86))
    bottom = _around(rng, (0.72, 0.84, 0.96))
    height = (DOWN / HEIGHT).clip(0.0, 0.6)[:, :, None] / 0.6
    clouds = (_cloud(rng, 3.0, 9.0) - 0.4).clip(0.0, 1.0)[:, :, None]
    return _grain(rng, top + (bottom - top) * height + 0.25 * clouds, 0.012)


def _grass(rng: np.random.Generator) -> Layer:
    blades = 0.09 * _cloud(rng, 1.6, 0.5) + 0.03 * _cloud(rng, 5.0, 9.0)
    return _grain(rng, _around(rng, (0.33, 0.60, 0.22)) + blades[:, :, None], 0.03)


def _sand(rng: np.random.Generator) -> Layer:
    dunes = 0.02 * _cloud(rng, 2.0, 12.0)
    return _grain(rng, _around(rng, (0.88, 0.78, 0.55)) + dunes[:, :, None], 0.045)


def _water(rng: np.random.Generator) -> Layer:
    ripples = 0.07 * _cloud(rng, 0.6, 4.0) + 0.04 * np.sin(DOWN * rng.uniform(0.9, 1.4) + _cloud(rng, 2.0, 8.0))
    return _grain(rng, _around(rng, (0.10, 0.36, 0.52)) + ripples[:, :, None], 0.02)


MATERIALS = {"sky": _sky, "grass": _grass, "sand": _sand, "water": _water}


def _around(rng: np.random.Generator, colour: tuple[float, float, float], spread: float = 0.03) -> Layer:
    """Vary a colour: mostly its brightness, and each of its parts a little."""
    return np.asarray(colour) + rng.normal(0.0, spread) + rng.normal(0.0, 0.6 * spread, size=3)


def _cloud(rng: np.random.Generator, down: float, across: float) -> Layer:
    """Draw smooth noise of unit variance, with these lengths of correlation."""
    noise = gaussian_filter(rng.standard_normal((HEIGHT, WIDTH)), (down, across), mode="wrap")
    scaled: NDArray[np.float64] = noise / noise.std()
    return scaled


def _grain(rng: np.random.Generator, colours: Layer, spread: float) -> Layer:
    """Add noise to every pixel, the same in all three colours, as film has."""
    return colours + rng.normal(0.0, spread, size=(HEIGHT, WIDTH, 1))


# ---- things: shapes on the canvas ----------------------------------------------------------------------


def _paint_sun(canvas: _Canvas, rng: np.random.Generator, horizon: float) -> None:
    radius = rng.uniform(5.0, 8.0)
    across, down = rng.uniform(radius + 2, WIDTH - radius - 2), rng.uniform(radius + 1, horizon - radius - 3)
    distance = np.hypot(DOWN - down, ACROSS - across)
    glow = 0.35 * np.exp(-((distance / (1.5 * radius)) ** 2))[:, :, None] * np.array([1.0, 0.8, 0.1])
    in_sky = canvas.words == WORDS.index("sky")
    canvas.colours[in_sky] += glow[in_sky]
    canvas.paint("sun", in_sky & (distance < radius), _grain(rng, _around(rng, (1.0, 0.87, 0.25)), 0.01))


def _paint_boat(canvas: _Canvas, rng: np.random.Generator, middle: float, horizon: float) -> None:
    half = rng.uniform(11.0, 15.0)
    keel = rng.uniform(horizon + 8.0, HEIGHT - 6.0)
    deck, top = keel - 5.0, keel - rng.uniform(22.0, 27.0)
    hull = (deck <= DOWN) & (keel > DOWN) & (np.abs(ACROSS - middle) < half - 0.7 * (DOWN - deck))
    canvas.paint("boat", hull, _grain(rng, _around(rng, (0.62, 0.13, 0.12)), 0.02))
    rise = (deck - 1.0 - DOWN) / (deck - top)  # 0 at the deck, 1 at the top of the mast
    along = ACROSS - middle
    sail = (rise > 0) & (along > 1.0 - 0.75 * half * (1 - rise)) & (along < 1.0 + 0.9 * half * (1 - rise))
    canvas.paint("boat", sail, _grain(rng, _around(rng, (0.94, 0.93, 0.90), 0.01), 0.015))
    mast = (np.abs(along - 1.0) < 0.8) & (top <= DOWN) & (deck > DOWN)
    canvas.paint("boat", mast, np.array([0.35, 0.25, 0.18]))


def _paint_house(canvas: _Canvas, rng: np.random.Generator, middle: float, horizon: float) -> None:
    half, tall, roof = rng.uniform(10.0, 13.0), rng.uniform(11.0, 15.0), rng.uniform(8.0, 11.0)
    floor = rng.uniform(horizon + 5.0, HEIGHT - 5.0)
    eaves = floor - tall
    along = np.abs(ACROSS - middle)
    walls = (along < half) & (eaves <= DOWN) & (floor > DOWN)
    bricks = 0.05 * (np.sin(2.1 * DOWN) > 0.6)[:, :, None]
    canvas.paint("house", walls, _grain(rng, _around(rng, (0.80, 0.62, 0.52)) - bricks, 0.015))
    tiles = (eaves - roof <= DOWN) & (eaves > DOWN) & (along < (half + 3.0) * (DOWN - eaves + roof) / roof)
    canvas.paint("house", tiles, _grain(rng, _around(rng, (0.60, 0.22, 0.17)), 0.03))
    windows = walls & (np.abs(along - 0.5 * half) < 2.2) & (np.abs(DOWN - eaves - 5.0) < 2.2)
    canvas.paint("house", windows, np.array([0.20, 0.24, 0.32]))


def _paint_tree(canvas: _Canvas, rng: np.random.Generator, middle: float, horizon: float) -> None:
    foot = rng.uniform(horizon + 6.0, HEIGHT - 4.0)
    radius = rng.uniform(8.0, 11.0)
    heart = foot - rng.uniform(9.0, 12.0) - radius
    trunk = (np.abs(ACROSS - middle) < 1.8) & (heart <= DOWN) & (foot > DOWN)
    canvas.paint("tree", trunk, _grain(rng, _around(rng, (0.36, 0.24, 0.14)), 0.03))
    distance = np.hypot(1.1 * (DOWN - heart), ACROSS - middle) + 0.8 * _cloud(rng, 1.5, 1.5)
    leaves = _around(rng, (0.10, 0.32, 0.13)) + 0.06 * _cloud(rng, 0.8, 0.8)[:, :, None]
    canvas.paint("tree", distance < radius, leaves)
