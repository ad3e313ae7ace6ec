"""tf.keras.preprocessing.image: images as batches, each changed at random; of arrays, or of folders of files."""
from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, UnsupportedError
from ...common.unsupported import refusing
from .. import utils

__all__ = ["ImageDataGenerator", "Iterator", "NumpyArrayIterator", "img_to_array", "load_img"]

_MODES = {"rgb": "RGB", "grayscale": "L", "rgba": "RGBA"}
_ENDINGS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff", "gif")

_EPSILON = 1e-6  # beside a deviation


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = "float32") -> np.ndarray:
    """An image as an array; a gray one has one channel. -> dtype[height, width, channels]."""
    x = np.asarray(img, dtype)
    return x[:, :, None] if x.ndim == 2 else x


def load_img(path: Any, grayscale: bool = False, color_mode: str = "rgb", target_size: Any = None,
             interpolation: str = "nearest") -> Any:
    """An image of a file, as Pillow has it. target_size: height and width. Raises ImportError without Pillow."""
    from PIL import Image
    img = Image.open(path).convert(_MODES["grayscale" if grayscale else color_mode])
    return img.resize(target_size[1::-1], getattr(Image.Resampling, interpolation.upper())) if target_size else img


class _Files:
    """Images that are read when they are asked for. told: what load_img is told."""

    def __init__(self, paths: list[str], **told: Any) -> None:
        self.paths, self.told = paths, told

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> np.ndarray:
        return img_to_array(load_img(self.paths[index], **self.told))


class NumpyArrayIterator(utils.Sequence):
    """Batches of images from a generator, without end; by number, those of one pass. y: targets, or none."""

    def __init__(self, x: Any, y: Any, generator: ImageDataGenerator, batch_size: int, shuffle: bool,
                 weights: Any = None, seed: int | None = None) -> None:
        self.x: Any = x if isinstance(x, _Files) else np.asarray(x)
        self.y, self.weights = None if y is None else np.asarray(y), weights
        if self.y is not None and len(self.x) != len(self.y):
            raise ArgumentError("`x` (images tensor) and `y` (labels) should have the same length.",
                                found=f"{np.shape(x)} and {self.y.shape}")
        self.n, self.batch_size, self.shuffle, self._generator = len(self.x), batch_size, shuffle, generator
        self._random = np.random.RandomState(np.random.randint(1 << 31) if seed is None else seed)
        self.batch_index = 0
        self.on_epoch_end()

    def __len__(self) -> int:
        return math.ceil(self.n / self.batch_size)

    def on_epoch_end(self) -> None:
        """Begin the next pass, in another order if they are shuffled."""
        self._order = self._random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __getitem__(self, index: int) -> Any:
        chosen = self._order[index * self.batch_size:(index + 1) * self.batch_size]
        images = np.stack([self._generator.changed(self.x[i], self._random) for i in chosen])
        parts = [images, *(part[chosen] for part in (self.y, self.weights) if part is not None)]
        return tuple(parts) if len(parts) > 1 else images

    def __iter__(self) -> NumpyArrayIterator:
        return self

    def __next__(self) -> Any:
        """The next batch."""
        batch = self[self.batch_index]
        self.batch_index = (self.batch_index + 1) % len(self)
        if not self.batch_index:
            self.on_epoch_end()
        return batch

    next = __next__

    def reset(self) -> None:
        """Begin with the first batch."""
        self.batch_index = 0


Iterator = NumpyArrayIterator


class ImageDataGenerator:
    """Images changed at random: shifted, turned, zoomed, mirrored, scaled. Ranges are of a side's share, or degrees.

    featurewise_*: by the moments of all images, which fit(x) takes; samplewise_*: by each one's own.
    """

    mean: Any = None
    std: Any = None

    def __init__(self, featurewise_center: bool = False, samplewise_center: bool = False,
                 featurewise_std_normalization: bool = False, samplewise_std_normalization: bool = False,
                 zca_whitening: bool = False, zca_epsilon: float = 1e-6, rotation_range: float = 0,
                 width_shift_range: Any = 0.0, height_shift_range: Any = 0.0, brightness_range: Any = None,
                 shear_range: float = 0.0, zoom_range: Any = 0.0, channel_shift_range: float = 0.0,
                 fill_mode: str = "nearest", cval: float = 0.0, horizontal_flip: bool = False,
                 vertical_flip: bool = False, rescale: float | None = None,
                 preprocessing_function: Callable[[np.ndarray], np.ndarray] | None = None,
                 data_format: str | None = None, validation_split: float = 0.0, dtype: Any = "float32") -> None:
        if zca_whitening or data_format == "channels_first":
            raise UnsupportedError("no whitening by zca, and channels come last")
        self._center, self._scale = featurewise_center, featurewise_std_normalization
        self._own_center, self._own_scale = samplewise_center, samplewise_std_normalization
        self.rotation_range, self.shear_range, self.channel_shift_range = (
            rotation_range, shear_range, channel_shift_range)
        self.shifts, self.brightness_range = (height_shift_range, width_shift_range), brightness_range
        self.zoom_range = zoom_range if isinstance(zoom_range, (list, tuple)) else (1 - zoom_range, 1 + zoom_range)
        self.fill_mode, self.cval, self.flips = fill_mode, cval, (vertical_flip, horizontal_flip)
        self.rescale, self.preprocessing_function, self.dtype = rescale, preprocessing_function, dtype
        self._held = validation_split

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Take the mean and the deviation of all images, channel by channel."""
        images = np.asarray(x, self.dtype)
        self.mean, self.std = images.mean((0, 1, 2)), images.std((0, 1, 2))

    def flow(self, x: Any, y: Any = None, batch_size: int = 32, shuffle: bool = True, sample_weight: Any = None,
             seed: int | None = None, save_to_dir: Any = None, save_prefix: str = "", save_format: str = "png",
             subset: str | None = None) -> NumpyArrayIterator:
        """Batches of images, without end. x: number[n, height, width, channels]."""
        if np.ndim(x) != 4:
            raise ArgumentError("Input data in `NumpyArrayIterator` should have rank 4.", found=np.shape(x))
        part = self._part(len(x), subset)
        y, weights = (each if each is None else each[part] for each in (y, sample_weight))
        return NumpyArrayIterator(x[part], y, self, batch_size, shuffle, weights, seed)

    def _part(self, count: int, subset: str | None) -> slice:
        cut = int(count * self._held)
        return {"validation": slice(cut), "training": slice(cut, None), None: slice(None)}[subset]

    def flow_from_directory(self, directory: str, target_size: Any = (256, 256), color_mode: str = "rgb",
                            classes: Any = None, class_mode: str | None = "categorical", batch_size: int = 32,
                            shuffle: bool = True, seed: int | None = None, save_to_dir: Any = None,
                            save_prefix: str = "", save_format: str = "png", follow_links: bool = False,
                            subset: str | None = None, interpolation: str = "nearest") -> NumpyArrayIterator:
        """Batches of the images in folders, one for each class, whose number is its place among the sorted names."""
        names = list(classes or sorted(each.name for each in os.scandir(directory) if each.is_dir()))
        files: list[tuple[str, int]] = []
        for number, name in enumerate(names):
            own = sorted(os.path.relpath(os.path.join(folder, each), directory)
                         for folder, _, inside in os.walk(os.path.join(directory, name), followlinks=follow_links)
                         for each in inside if each.lower().endswith(_ENDINGS))
            files += [(each, number) for each in own[self._part(len(own), subset)]]
        print(f"Found {len(files)} images belonging to {len(names)} classes.")
        numbers = np.array([number for _, number in files], np.int32)
        x = _Files([os.path.join(directory, each) for each, _ in files], color_mode=color_mode,
                   target_size=tuple(target_size), interpolation=interpolation)
        y = None if class_mode is None else np.eye(len(names), dtype="f")[numbers] if class_mode == "categorical" else (
            numbers.astype("f"))
        found: Any = NumpyArrayIterator(x, y, self, batch_size, shuffle, seed=seed)
        found.filenames, found.classes, found.samples = [each for each, _ in files], numbers, len(files)
        found.class_indices, found.num_classes = {name: i for i, name in enumerate(names)}, len(names)
        return found

    def changed(self, x: np.ndarray, chance: np.random.RandomState) -> np.ndarray:
        """An image changed at random, and standardized."""
        return self.standardize(self._moved(x.astype(self.dtype), chance))

    def random_transform(self, x: np.ndarray, seed: int | None = None) -> np.ndarray:
        """An image changed at random."""
        return self._moved(np.asarray(x, self.dtype), np.random.RandomState(seed))

    def standardize(self, x: np.ndarray) -> np.ndarray:
        """An image scaled and centered as it is told."""
        x = x if self.preprocessing_function is None else self.preprocessing_function(x)
        x = x if self.rescale is None else x * np.asarray(self.rescale, x.dtype)
        x = x - x.mean() if self._own_center else x
        x = x / (x.std() + _EPSILON) if self._own_scale else x
        x = x - self.mean if self._center and self.mean is not None else x
        return x / (self.std + _EPSILON) if self._scale and self.std is not None else x

    def _moved(self, x: np.ndarray, chance: np.random.RandomState) -> np.ndarray:
        turned, sheared = (math.radians(chance.uniform(-each, each)) if each else 0.0
                           for each in (self.rotation_range, self.shear_range))
        shift = [_shift(each, side, chance) for each, side in zip(self.shifts, x.shape)]
        least, most = self.zoom_range
        zoom = chance.uniform(least, most, size=2) if (least, most) != (1.0, 1.0) else np.ones(2)
        if turned or sheared or any(shift) or (zoom != 1).any():
            cos, sin = math.cos(turned), math.sin(turned)
            turn, shear = np.array([[cos, -sin], [sin, cos]]), np.array([[1.0, -math.sin(sheared)],
                                                                         [0.0, math.cos(sheared)]])
            x = self._sampled(x, turn @ shear @ np.diag(zoom), turn @ np.array(shift))
        if self.channel_shift_range:
            shifts = chance.uniform(-self.channel_shift_range, self.channel_shift_range)
            x = np.clip(x + shifts, x.min(), x.max()).astype(x.dtype)
        for axis, may in enumerate(self.flips):
            x = np.flip(x, axis) if may and chance.random_sample() < 0.5 else x
        return x if self.brightness_range is None else x * np.asarray(chance.uniform(*self.brightness_range), x.dtype)

    def _sampled(self, x: np.ndarray, matrix: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """The image whose place p has what x has nearest to matrix · (p - middle) + middle + shift."""
        sizes = np.array(x.shape[:2])
        middle = (sizes / 2 - 0.5)[:, None]
        places = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij")).reshape(2, -1)
        found = np.rint(matrix @ (places - middle) + middle + shift[:, None]).astype(int)
        inside = ((found >= 0) & (found < sizes[:, None])).all(0)
        if self.fill_mode == "wrap":
            found %= sizes[:, None]
        elif self.fill_mode == "reflect":
            found %= 2 * sizes[:, None]
            found = np.minimum(found, 2 * sizes[:, None] - 1 - found)
        rows, columns = np.clip(found, 0, sizes[:, None] - 1)
        values = x[rows, columns]
        if self.fill_mode == "constant":
            values[~inside] = self.cval
        return values.reshape(x.shape)


def _shift(most: Any, side: int, chance: np.random.RandomState) -> float:
    """So many pixels along a side: of a share of it, whole pixels, or one of those given."""
    if isinstance(most, (list, tuple, np.ndarray)):
        return float(chance.choice(most) * chance.choice([-1, 1]))
    return float(chance.uniform(-most, most) * (side if most < 1 else 1)) if most else 0.0


__getattr__ = refusing("tf.keras.preprocessing.image", __name__)
