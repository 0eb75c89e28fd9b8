"""The work of `input.py`'s pipelines by torch.utils.data.DataLoader, as its users write it: a Dataset, workers, a collate
function. Two worker processes, as there are two calls at a time there.
"""

from __future__ import annotations

import io
import struct

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler

from everflow.protos.example_pb2 import Example

LOADERS = {}
WORKERS = 2


def loader(make):
    """Note a function that makes the DataLoader of a pipeline from the files of a folder."""
    LOADERS[make.__name__] = make
    return make


class Rows(Dataset):
    """Records or lines that are kept in memory, each decoded when it is asked for; over and over again."""

    def __init__(self, rows, decode):
        self.rows, self.decode = rows, decode

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        return self.decode(self.rows[index % len(self.rows)])


def records(path: str) -> list[bytes]:
    found = []
    with open(path, "rb") as file:
        while header := file.read(12):
            found.append(file.read(struct.unpack("<Q", header[:8])[0]))
            file.read(4)
    return found


def lines(path: str) -> list[str]:
    with open(path) as file:
        return file.read().splitlines()


def example(serialized: bytes):
    return Example.FromString(serialized).features.feature


def dense_features(serialized):
    found = example(serialized)
    return (
        np.array(found["dense"].float_list.value, np.float32),
        np.array(found["ids"].int64_list.value),
        found["label"].int64_list.value[0],
    )


def picture(serialized):
    found = example(serialized)
    image = Image.open(io.BytesIO(found["image"].bytes_list.value[0])).convert("RGB")
    return image, found["label"].int64_list.value[0]


@loader
def examples(folder):
    def decode(serialized):
        return (*dense_features(serialized), list(example(serialized)["words"].bytes_list.value))

    def joined(rows):
        *dense, words = zip(*rows)
        return [torch.as_tensor(np.stack(column)) for column in dense], words

    return DataLoader(Rows(records(f"{folder}/examples"), decode), 256, num_workers=WORKERS, collate_fn=joined)


@loader
def single_examples(folder):
    return DataLoader(Rows(records(f"{folder}/examples"), dense_features), 256, num_workers=WORKERS)


@loader
def queues(folder):
    def decode(serialized):
        image, label = picture(serialized)
        return np.asarray(image, np.float32) / 255.0, label

    rows = Rows(records(f"{folder}/images"), decode)
    return DataLoader(rows, 32, sampler=RandomSampler(rows, num_samples=1 << 15), num_workers=WORKERS)


@loader
def resized(folder):
    def decode(serialized):
        image, label = picture(serialized)
        return np.asarray(image.resize((96, 96), Image.BILINEAR), np.float32), label

    return DataLoader(Rows(records(f"{folder}/images"), decode), 32, num_workers=WORKERS)


@loader
def augmented(folder):
    def decode(serialized):
        image, label = picture(serialized)
        x = torch.as_tensor(np.array(image))
        top, left = torch.randint(0, 23, ()), torch.randint(0, 73, ())
        x = x[top : top + 128, left : left + 128].float()
        if torch.rand(()) < 0.5:
            x = x.flip(1)
        x = x + (torch.rand(()) * 120 - 60)
        return (x - x.mean()) / torch.clamp(x.std(), min=x.numel() ** -0.5), label

    return DataLoader(Rows(records(f"{folder}/images"), decode), 32, num_workers=WORKERS)


@loader
def words(folder):
    table = {f"w{n}": n for n in range(2000)}

    class Buckets(IterableDataset):
        def __iter__(self):
            buckets = [[] for _ in range(4)]
            while True:
                for line in lines(f"{folder}/words.txt"):
                    ids = torch.tensor([table.get(word, 2000) for word in line.split()])
                    bucket = buckets[sum(len(ids) >= bound for bound in (10, 20, 30))]
                    bucket.append(ids)
                    if len(bucket) == 64:
                        yield torch.nn.utils.rnn.pad_sequence(bucket, batch_first=True)
                        bucket.clear()

    return DataLoader(Buckets(), None, num_workers=WORKERS)


@loader
def csv(folder):
    def decode(line):
        *numbers, label, name = line.split(",")
        return np.array(numbers, np.float32), int(label), name

    return DataLoader(Rows(lines(f"{folder}/numbers.csv"), decode), 128, shuffle=True, num_workers=WORKERS)


@loader
def arrays(folder):
    random = np.random.RandomState(0)
    images, labels = random.randint(0, 256, (4096, 28, 28)).astype(np.uint8), random.randint(0, 10, 4096)

    def decode(row):
        return row[0].astype(np.float32) / 255.0, np.eye(10, dtype=np.float32)[row[1]]

    return DataLoader(Rows(list(zip(images, labels)), decode), 128, shuffle=True, num_workers=WORKERS)


@loader
def generator(folder):
    class Generated(IterableDataset):
        def __iter__(self):
            row = np.arange(32, dtype=np.float32)
            while True:
                yield row * 2.0 + 1.0, 1

    return DataLoader(Generated(), 64, num_workers=WORKERS)


@loader
def lenet(folder):
    """Losses of training steps in eager torch."""

    def decode(serialized):
        found = example(serialized)
        pixels = np.frombuffer(found["image"].bytes_list.value[0], np.uint8).astype(np.float32) / 255.0
        return pixels.reshape(1, 28, 28), found["label"].int64_list.value[0]

    rows = Rows(records(f"{folder}/digits"), decode)
    sampler = RandomSampler(rows, num_samples=1 << 17)
    batches = DataLoader(rows, 128, sampler=sampler, num_workers=WORKERS, drop_last=True)
    layers = []
    for before, after in ((1, 20), (20, 50)):
        layers += [torch.nn.Conv2d(before, after, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2)]
    dense = [torch.nn.Flatten(), torch.nn.Linear(50 * 49, 500), torch.nn.ReLU(), torch.nn.Linear(500, 10)]
    model = torch.nn.Sequential(*layers, *dense)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for images, labels in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        yield loss.item()
