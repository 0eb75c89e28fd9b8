"""Programs without a loop over time."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.by_hand.registry import Step, by_hand, integers, training, uniform
from benchmarks.programs import SIZE


@by_hand
def scalars() -> Step:
    a, b, c = (torch.tensor(x) for x in (1.0, 2.0, 3.0))
    return lambda: ((a + b) * c - a).item()


@by_hand
def linear() -> Step:
    x, y, model = uniform(64, 4), uniform(64), nn.Linear(4, 1)
    return training([model], lambda: F.mse_loss(model(x).squeeze(1), y), torch.optim.SGD, lr=0.05)


@by_hand
def perceptron() -> Step:
    x, y = uniform(100, 784), integers(10, 100)
    model = nn.Sequential(nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 10))
    averages = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-4)
    rate = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99 ** (1 / 600))

    def step() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        rate.step()
        averages.update_parameters(model)
        return loss.item()

    return step


@by_hand
def plain_copy() -> Step:
    """What the programs about memory are measured by."""
    x, y = torch.ones(SIZE), torch.empty(SIZE)
    return lambda: y.copy_(x)


@by_hand
def elementwise() -> Step:
    x = uniform(1_000_000)

    @torch.no_grad()
    def step() -> float:
        y = x
        for _ in range(10):
            y = torch.sigmoid(y * 1.2 - 0.3) + y.clamp(min=0.1) * 0.4
        return y.sum().item()

    return step


@by_hand
def lenet() -> Step:
    x, y = uniform(64, 1, 28, 28), integers(10, 64)
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10)),
    )
    return training([model], lambda: F.cross_entropy(model(x), y))


class _Block(nn.Module):
    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        before = 16 if stride == 1 else channels // stride
        self.first = nn.Conv2d(before, channels, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(before, channels, 1, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = F.relu(self.norms[0](self.first(x)))
        return F.relu(F.relu(self.norms[1](self.second(h))) + self.shortcut(x))


@by_hand
def residual_network() -> Step:
    x, y = uniform(16, 3, 32, 32), integers(10, 16)
    blocks = nn.Sequential(*(_Block(*s) for s in ((16, 1), (32, 2), (64, 2))))
    trunk = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), blocks)
    last = nn.Linear(64, 10)
    return training([trunk, last], lambda: F.cross_entropy(last(trunk(x).mean([2, 3])), y))


@by_hand
def adversarial_networks() -> Step:
    z, images = uniform(16, 64), uniform(16, 1, 28, 28)
    maker = nn.Sequential(
        *(nn.Linear(64, 7 * 7 * 32), nn.Unflatten(1, (32, 7, 7)), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.ConvTranspose2d(32, 16, 5, 2, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 5, 2, 2, 1), nn.Tanh()),
    )
    judge = nn.Sequential(
        *(nn.Conv2d(1, 16, 5, 2, 2), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 5, 2, 2), nn.LeakyReLU(0.2)),
        *(nn.Flatten(), nn.Linear(7 * 7 * 32, 1)),
    )

    def cost(images: torch.Tensor, truth: float) -> torch.Tensor:
        logits = judge(images)
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, truth))

    judging, making = (torch.optim.Adam(m.parameters(), lr=2e-4, betas=(0.5, 0.999)) for m in (judge, maker))

    def step() -> None:
        made = maker(z)
        judging.zero_grad()
        (cost(images, 1.0) + cost(made.detach(), 0.0)).backward()
        judging.step()
        making.zero_grad()
        cost(made, 1.0).backward()
        making.step()

    return step


@by_hand
def variational_autoencoder() -> Step:
    x = uniform(100, 784)
    encoder, heads = nn.Sequential(nn.Linear(784, 400), nn.Softplus()), nn.Linear(400, 40)
    decoder = nn.Sequential(nn.Linear(20, 400), nn.Softplus(), nn.Linear(400, 784))

    def loss() -> torch.Tensor:
        mean, log_variance = heads(encoder(x)).chunk(2, 1)
        logits = decoder(mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean))
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1)
        return (reconstruction + divergence).mean()

    return training([encoder, heads, decoder], loss)


@by_hand
def text_cnn() -> Step:
    words, y = integers(10000, 64, 50), integers(2, 64)
    embedding = nn.Embedding(10000, 128)
    filters = nn.ModuleList(nn.Conv1d(128, 64, height) for height in (3, 4, 5))
    last = nn.Linear(192, 2)

    def loss() -> torch.Tensor:
        h = embedding(words).transpose(1, 2)
        found = torch.cat([F.relu(f(h)).amax(2) for f in filters], 1)
        return F.cross_entropy(last(F.dropout(found, 0.5)), y)

    return training([embedding, filters, last], loss)


@by_hand
def word_vectors() -> Step:
    word, neighbour = integers(50000, 128), integers(50000, 128)
    vectors, weights, biases = (nn.Embedding(50000, n, sparse=True) for n in (128, 128, 1))

    def loss() -> torch.Tensor:
        noise = torch.randint(0, 50000, (64,))
        found = vectors(word)
        true = (found * weights(neighbour)).sum(1) + biases(neighbour)[:, 0]
        false = found @ weights(noise).t() + biases(noise)[:, 0]
        return (F.softplus(-true) + F.softplus(false).sum(1)).mean()

    return training([vectors, weights, biases], loss, torch.optim.SGD, lr=1.0)


@by_hand
def dqn() -> Step:
    screens, actions, targets = uniform(32, 4, 84, 84), integers(6, 32), uniform(32)
    model = nn.Sequential(
        *(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6)),
    )

    def loss() -> torch.Tensor:
        return F.huber_loss(model(screens).gather(1, actions[:, None])[:, 0], targets)

    return training([model], loss, torch.optim.RMSprop, lr=2.5e-4, alpha=0.95, eps=0.01)


@by_hand
def wide_and_deep() -> Step:
    ids, numbers, y = integers(100000, 256, 20), uniform(256, 13), integers(2, 256).float()
    wide, embedding = nn.Embedding(100000, 1, sparse=True), nn.Embedding(100000, 16, sparse=True)
    deep = nn.Sequential(nn.Linear(333, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def loss() -> torch.Tensor:
        h = torch.cat([embedding(ids).flatten(1), numbers], 1)
        return F.binary_cross_entropy_with_logits(wide(ids).sum([1, 2]) + deep(h).squeeze(1), y)

    return training([wide, embedding, deep], loss, torch.optim.Adagrad, lr=0.05)


@by_hand
def small_transformer() -> Step:
    words, y = integers(5000, 8, 64), integers(2, 8)
    embedding, positions = nn.Embedding(5000, 96), nn.Embedding(64, 96)
    layer = nn.TransformerEncoderLayer(96, 4, 384, 0.1, "gelu", batch_first=True)
    layers, last = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(96, 2)

    def loss() -> torch.Tensor:
        return F.cross_entropy(last(layers(embedding(words) + positions.weight)[:, 0]), y)

    return training([embedding, positions, layers, last], loss)


@by_hand
def actor_critic() -> Step:
    seen, taken, returns = torch.randn(20, 8), integers(4, 20), torch.randn(20)
    trunk = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
    policy, values = nn.Linear(64, 4), nn.Linear(64, 1)
    parameters = [p for m in (trunk, policy, values) for p in m.parameters()]
    optimizer = torch.optim.RMSprop(parameters, lr=7e-4, alpha=0.99, eps=1e-5)

    def step() -> float:
        optimizer.zero_grad()
        h = trunk(seen)
        logs = F.log_softmax(policy(h), 1)
        advantage = returns - values(h).squeeze(1)
        entropy = -(logs.exp() * logs).sum(1).mean()
        loss = -(logs.gather(1, taken[:, None])[:, 0] * advantage.detach()).mean() - 0.01 * entropy
        loss = loss + 0.5 * advantage.square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
        return loss.item()

    return step
