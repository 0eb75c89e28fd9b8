"""Batches of images without end: from arrays, folders and tables of file names."""

from __future__ import annotations

import os
import threading
import warnings

import numpy as np

from everflow.keras.backend.config import floatx, image_data_format
from everflow.keras.preprocessing.image.files import array_to_img, img_to_array, load_img, warn_of_channels
from everflow.keras.utils.sequences import Sequence
from everflow.platform.signatures import takes

# Arguments of iterators, with their defaults: of all of them, and of those over files.
_OF_ALL = 'seed=None, data_format=None, save_to_dir=None, save_prefix="", save_format="png"'
_OF_FILES = f"""target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical", batch_size=32, shuffle=True,
    {_OF_ALL}"""


class Iterator(Sequence):
    """Base of iterators over n samples: both a Sequence and an endless generator.

    Args:
        n: How many samples.
        batch_size: How many elements make a batch.
        shuffle: Whether the order is changed at random, anew for each epoch.
        seed: A number that makes the random numbers the same in each run of the program.

    Example:
        >>> issubclass(tf.keras.preprocessing.image.NumpyArrayIterator, tf.keras.preprocessing.image.Iterator)
        True
    """

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    batch_index = total_batches_seen = 0
    index_array = None

    def __init__(self, n, batch_size, shuffle, seed):
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.lock, self.index_generator = threading.Lock(), self._flow_index()

    def _set_index_array(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError(f"There is no batch {idx}: an epoch has {len(self)}.")
        return self._get_batches_of_transformed_samples(self._rows(self.batch_size * idx, self.index_array is None))

    def _rows(self, first, anew):
        """The samples of a batch from the `first` place on; with a seed, each batch has random numbers of its own."""
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if anew:
            self._set_index_array()
        return self.index_array[first : first + self.batch_size]

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self):
        self._set_index_array()

    def reset(self):
        """Begin anew."""
        self.batch_index = 0

    def _flow_index(self):
        self.reset()
        while True:
            begins = self.batch_index == 0
            first = 0 if self.n == 0 else (self.batch_index * self.batch_size) % self.n
            self.batch_index = self.batch_index + 1 if self.n > first + self.batch_size else 0
            yield self._rows(first, begins)

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self):
        """The next batch."""
        with self.lock:
            index_array = next(self.index_generator)
        # Loading and transforming isn't under the lock: threads do it side by side.
        return self._get_batches_of_transformed_samples(index_array)

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError

    def _note(self, image_data_generator, data_format, dtype, save_to_dir, save_prefix, save_format, **others):
        """Note what changes images, how arrays are laid out, and where changed images are saved."""
        self.image_data_generator = image_data_generator
        self.data_format = image_data_format() if data_format is None else data_format
        self.dtype = floatx() if dtype is None else dtype
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format

    def _begin(self, n, batch_size, shuffle, seed, **others):
        Iterator.__init__(self, n, batch_size, shuffle, seed)

    def _save(self, batch, index_array):
        if not self.save_to_dir:
            return
        for i, j in enumerate(index_array):
            image = array_to_img(batch[i], self.data_format, scale=True)
            name = f"{self.save_prefix}_{j}_{np.random.randint(10000)}.{self.save_format}"
            image.save(os.path.join(self.save_to_dir, name))


def _checked_subset(subset):
    if subset not in {"training", "validation"}:
        raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')
    return subset


def _part(subset, fraction, count):
    """The slice of samples that belongs to "training" or "validation"."""
    split = int(count * fraction)
    return slice(None, split) if _checked_subset(subset) == "validation" else slice(split, None)


class NumpyArrayIterator(Iterator):
    """Batches of images of an array, with their labels and weights.

    Args:
        x: The images, an array with four axes.
        y: The labels of the images.
        image_data_generator: What changes the images.
        batch_size: How many elements make a batch.
        shuffle: Whether the order is changed at random, anew for each epoch.
        sample_weight: The weights of the images.
        seed: A number that makes the random numbers the same in each run of the program.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        save_to_dir: A folder to write the images to, for a look at them.
        save_prefix: What the names of those files begin with.
        save_format: The format of those files.
        subset: `training` or `validation`, where the generator has a split.
        dtype: The type of the images.

    Example:
        >>> generator = tf.keras.preprocessing.image.ImageDataGenerator()
        >>> batches = tf.keras.preprocessing.image.NumpyArrayIterator(np.ones([10, 8, 8, 3]), np.arange(10), generator, 4)
        >>> images, labels = next(batches)
        >>> images.shape, labels
        ((4, 8, 8, 3), array([0, 1, 2, 3]))
    """

    @takes(
        f"""x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, {_OF_ALL}, subset=None,
        dtype=None""",
    )
    def __init__(self, x, y, image_data_generator, sample_weight, subset, **settings):
        self._note(image_data_generator, **settings)
        if isinstance(x, (tuple, list)):
            more = [np.asarray(other) for other in x[1]] if isinstance(x[1], list) else [np.asarray(x[1])]
            x = x[0]
            if any(len(other) != len(x) for other in more):
                raise ValueError(f"Arrays in `x` have different lengths: {[len(x), *(len(other) for other in more)]}.")
        else:
            more = []
        for name, other in (("y", y), ("sample_weight", sample_weight)):
            if other is not None and len(x) != len(other):
                raise ValueError(f"There are {len(x)} images in `x` and {len(other)} entries in `{name}`.")
        if subset is not None:
            fraction = image_data_generator._validation_split
            part, *both = (_part(name, fraction, len(x)) for name in (subset, "validation", "training"))
            if y is not None and not np.array_equal(*(np.unique(y[rows]) for rows in both)):
                raise ValueError(
                    "Some classes are in one of the training and validation subsets only: shuffle arrays that are sorted."
                )
            x, more = x[part], [other[part] for other in more]
            y = None if y is None else y[part]
            sample_weight = None if sample_weight is None else sample_weight[part]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = more
        if self.x.ndim != 4:
            raise ValueError(f"Images come as a batch, of rank 4, not as an array of shape {self.x.shape}.")
        warn_of_channels(self.x, self.data_format)
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self._begin(self.x.shape[0], **settings)

    def _get_batches_of_transformed_samples(self, index_array):
        batch = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        generator = self.image_data_generator
        for i, j in enumerate(index_array):
            x = self.x[j]
            x = generator.apply_transform(x.astype(self.dtype), generator.get_random_transform(x.shape))
            batch[i] = generator.standardize(x)
        self._save(batch, index_array)
        more = [other[index_array] for other in self.x_misc]
        output = (batch if not more else [batch, *more],)
        if self.y is None:
            return output[0]
        output += (self.y[index_array],)
        if self.sample_weight is not None:
            output += (self.sample_weight[index_array],)
        return output


_OF_PROCESSING = "target_size color_mode data_format save_to_dir save_prefix save_format subset interpolation".split()


class BatchFromFilesMixin:
    """What iterators over files share: how an image is read and a batch is made."""

    @takes(f"image_data_generator, {', '.join(_OF_PROCESSING)}")
    def set_processing_attrs(self, image_data_generator, target_size, color_mode, data_format, subset, **kept):
        """Note how images are read and where transformed ones are saved."""
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        channels = {"rgb": 3, "rgba": 4, "grayscale": 1}.get(color_mode)
        if channels is None:
            raise ValueError(f'Invalid color mode: {color_mode}; expected "rgb", "rgba", or "grayscale".')
        self.color_mode = color_mode
        self.data_format = data_format
        self.image_shape = (
            (*self.target_size, channels) if data_format == "channels_last" else (channels, *self.target_size)
        )
        self.__dict__.update(kept)
        self.subset, self.split = subset, None
        if subset is not None:
            fraction = image_data_generator._validation_split
            self.split = (0, fraction) if _checked_subset(subset) == "validation" else (fraction, 1)

    def _note_files(self, image_data_generator, class_mode, dtype, **settings):
        """Note how batches are made of files, from the arguments of a constructor."""
        self.set_processing_attrs(image_data_generator, **{name: settings[name] for name in _OF_PROCESSING})
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}")
        self.class_mode = class_mode
        self.dtype = floatx() if dtype is None else dtype

    def _in_subset(self, values):
        """The part of names or columns that the subset takes."""
        return values[int(self.split[0] * len(values)) : int(self.split[1] * len(values))] if self.split else values

    def _get_batches_of_transformed_samples(self, index_array):
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        generator, paths = self.image_data_generator, self.filepaths
        for i, j in enumerate(index_array):
            image = load_img(
                paths[j], color_mode=self.color_mode, target_size=self.target_size, interpolation=self.interpolation
            )
            x = img_to_array(image, data_format=self.data_format)
            image.close()
            if generator:
                x = generator.standardize(generator.apply_transform(x, generator.get_random_transform(x.shape)))
            batch[i] = x
        self._save(batch, index_array)
        labels = self._labels_of(batch, index_array)
        if labels is None:
            return batch
        if self.sample_weight is None:
            return batch, labels
        return batch, labels, self.sample_weight[index_array]

    def _labels_of(self, batch, index_array):
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode in {"binary", "sparse"}:
            return np.array([self.classes[i] for i in index_array], dtype=self.dtype)
        if self.class_mode == "categorical":
            labels = np.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
            for i, j in enumerate(index_array):
                labels[i, self.classes[j]] = 1.0
            return labels
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        return None

    filepaths = property(lambda self: self._filepaths, doc="The paths of all images.")

    @property
    def labels(self):
        """The labels of all images."""
        raise NotImplementedError

    @property
    def sample_weight(self):
        """The weights of all images, or None."""
        raise NotImplementedError


class DirectoryIterator(BatchFromFilesMixin, Iterator):
    """Batches of images of a folder that has a subfolder for each class.

    Args:
        directory: The folder.
        image_data_generator: What changes the images.
        target_size: The height and width of the images.
        color_mode: `grayscale`, `rgb` or `rgba`.
        classes: The names of the subfolders; all if None.
        class_mode: What labels are: `categorical`, `binary`, `sparse`, `input` or None.
        batch_size: How many elements make a batch.
        shuffle: Whether the order is changed at random, anew for each epoch.
        seed: A number that makes the random numbers the same in each run of the program.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        save_to_dir: A folder to write the images to, for a look at them.
        save_prefix: What the names of those files begin with.
        save_format: The format of those files.
        follow_links: Whether links to folders are followed.
        subset: `training` or `validation`, where the generator has a split.
        interpolation: How images are resized: `nearest`, `bilinear` or `bicubic`.
        dtype: The type of the elements.

    Example:
        >>> for name in ("cats", "dogs"):
        ...     tf.gfile.MakeDirs("animals/" + name)
        ...     tf.keras.preprocessing.image.save_img(f"animals/{name}/1.png", np.zeros([4, 4, 3]))
        >>> generator = tf.keras.preprocessing.image.ImageDataGenerator()
        >>> batches = tf.keras.preprocessing.image.DirectoryIterator("animals", generator, target_size=(8, 8))
        Found 2 images belonging to 2 classes.
        >>> images, labels = next(batches)
        >>> images.shape, labels.shape
        ((2, 8, 8, 3), (2, 2))
    """

    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    @takes(
        f"""directory, image_data_generator, {_OF_FILES}, follow_links=False, subset=None, interpolation="nearest",
        dtype=None""",
    )
    def __init__(self, directory, image_data_generator, classes, follow_links, data_format, **settings):
        data_format = image_data_format() if data_format is None else data_format
        self._note_files(image_data_generator, data_format=data_format, **settings)
        self.directory = directory
        if not classes:
            classes = [name for name in sorted(os.listdir(directory)) if os.path.isdir(os.path.join(directory, name))]
        self.num_classes = len(classes)
        self.class_indices = {name: i for i, name in enumerate(classes)}
        self.filenames, numbers = [], []
        for name in classes:
            found = self._files_of(os.path.join(directory, name), follow_links)
            self.filenames += found
            numbers += [self.class_indices[name]] * len(found)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, dtype="int32")
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(directory, name) for name in self.filenames]
        self._begin(self.samples, **settings)

    def _files_of(self, folder, follow_links):
        """The images below a folder, relative to the one that holds it; the part of them that the subset takes."""
        base = os.path.basename(folder)
        found = []
        for root, _, files in sorted(os.walk(folder, followlinks=follow_links), key=lambda item: item[0]):
            for name in sorted(files):
                if name.lower().endswith(self.white_list_formats):
                    found.append(os.path.join(base, os.path.relpath(os.path.join(root, name), folder)))
        return self._in_subset(found)

    labels = property(lambda self: self.classes)
    sample_weight = property(lambda self: None)


class DataFrameIterator(BatchFromFilesMixin, Iterator):
    """Batches of images whose names, and labels, are columns of a pandas DataFrame."""

    allowed_class_modes = {"binary", "categorical", "input", "multi_output", "raw", "sparse", None}

    @takes(
        f"""dataframe, directory=None, image_data_generator=None, x_col="filename", y_col="class", weight_col=None,
        {_OF_FILES}, subset=None, interpolation="nearest", dtype="float32", validate_filenames=True""".replace(
            "data_format=None", 'data_format="channels_last"'
        ),
    )
    def __init__(
        self,
        dataframe,
        directory,
        image_data_generator,
        x_col,
        y_col,
        weight_col,
        classes,
        validate_filenames,
        **settings,
    ):
        self._note_files(image_data_generator, **settings)
        self.directory = directory or ""
        paths = [os.path.join(self.directory, name) for name in dataframe[x_col]]
        keep = np.array([not validate_filenames or self._is_image(path) for path in paths], dtype=bool)
        if (~keep).any():
            warnings.warn(
                f'Found {(~keep).sum()} invalid image filename(s) in x_col="{x_col}". These filename(s) will be ignored.',
                stacklevel=2,
            )
        columns = {name: np.asarray(dataframe[name])[keep] for name in self._label_columns(y_col) if name is not None}
        if weight_col is not None:
            columns[weight_col] = np.asarray(dataframe[weight_col])[keep]
        names = np.asarray(dataframe[x_col])[keep]
        if self._has_classes:
            names, columns = self._only_classes(names, columns, y_col, classes)
        names, columns = self._in_subset(names), {name: self._in_subset(values) for name, values in columns.items()}
        self.filenames = list(names)
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        self._sample_weight = None if weight_col is None else columns[weight_col]
        self.samples = len(self.filenames)
        self._set_labels(columns, y_col)
        print(
            f"Found {self.samples} validated image filenames"
            + (f" belonging to {len(self.class_indices)} classes." if self._has_classes else ".")
        )
        self._begin(self.samples, **settings)

    _has_classes = property(lambda self: self.class_mode in {"categorical", "binary", "sparse"})

    def _label_columns(self, y_col):
        if self.class_mode in {"input", None}:
            return []
        return y_col if isinstance(y_col, (list, tuple)) else [y_col]

    def _is_image(self, path):
        return path.lower().endswith(self.white_list_formats) and os.path.isfile(path)

    def _only_classes(self, names, columns, y_col, classes):
        labels = columns[y_col]
        classes = sorted(set(labels)) if classes is None else list(classes)
        self.class_indices = {name: i for i, name in enumerate(classes)}
        keep = np.array([label in self.class_indices for label in labels], dtype=bool)
        return names[keep], {name: values[keep] for name, values in columns.items()}

    def _set_labels(self, columns, y_col):
        if self._has_classes:
            self.classes = [self.class_indices[label] for label in columns[y_col]]
        elif self.class_mode == "multi_output":
            self._targets = [np.stack(columns[name]) for name in y_col]
        elif self.class_mode == "raw":
            several = isinstance(y_col, (list, tuple))
            self._targets = np.stack([columns[name] for name in y_col], axis=1) if several else columns[y_col]

    labels = property(lambda self: self.classes if self._has_classes else self._targets)
    sample_weight = property(lambda self: self._sample_weight)
