#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Convolutions and pooling on one core: ours in `strict` compared with PyTorch, in f32.

Layers of residual networks and of speech models, their gradients, and pooling, in both layouts of images; then each
layer of ResNet-18 and of MobileNet, forward and backward (`--only resnet`, `--only mobilenet`). Results are
compared first. Ours is the time of the kernels, a peer's that of a call from Python. NumPy, whose convolution is a
product with copies of all windows, stands beside where PyTorch is missing.
"""

import pathlib
import sys
import tempfile

import measure

NAME = "convolutions"
OPTIONS = measure.parse_options(__doc__, rounds=5)
measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

try:
    import torch
    torch.set_num_threads(1)
except ImportError as error:
    torch = None
    print(f"torch: missing ({error})")

SECONDS = 0.3  # of a contender in a round
TOLERANCE = 1e-4


class Layer:
    """A convolution of images (count, height, width, channels), or of sequences, in the layout `last` or `first`: where
    the channels are. `part` is the result, or the gradient of the input or the filter."""

    def __init__(self, name, x, made, kernel, stride=1, padding=0, depthwise=False, layout="last", part="result"):
        self.name, self.x, self.kernel, self.stride, self.padding = name, x, kernel, stride, padding
        self.made, self.depthwise, self.layout, self.part = made, depthwise, layout, part
        self.rank = len(kernel)

    def __str__(self):
        return self.name

    @property
    def places(self):
        return [(n + 2 * self.padding - k) // self.stride + 1 for n, k in zip(self.x[1:-1], self.kernel)]

    @property
    def flops(self):
        channels = 1 if self.depthwise else self.x[-1]
        return 2 * self.x[0] * np.prod(self.places) * self.made * np.prod(self.kernel) * channels

    def shapes(self):
        """Of input, filter and result as ours has them."""
        count, *sizes, channels = self.x
        of_filter = [*self.kernel, channels] if self.depthwise else [*self.kernel, channels, self.made]
        if self.layout == "last":
            return self.x, of_filter, [count, *self.places, self.made]
        return [count, channels, *sizes], [self.made, channels, *self.kernel], [count, self.made, *self.places]

    def dims(self):
        digits = "01"[:self.rank]
        if self.layout == "first":
            return f"bc{digits},oc{digits}->bo{digits}"
        return f"b{digits}c,{digits}c->b{digits}c" if self.depthwise else f"b{digits}c,{digits}co->b{digits}o"

    def text(self):
        x, w, y = ("tensor<" + "x".join(map(str, shape)) + "xf32>" for shape in self.shapes())
        lists = "".join(f" {name} {[value] * self.rank}" for name, value in
                        (("strides", self.stride), ("low", self.padding), ("high", self.padding)))
        conv = f'ad.conv %x, %w dims "{self.dims()}"{lists} : ({x}, {w}) -> {y}'
        if self.part == "result":
            return (f'func.func @main(%x: {x} {{ad.name = "x"}}, %w: {w} {{ad.name = "w"}}) -> ({y} {{ad.name = "r"}}) '
                    f"{{\n  %r = {conv}\n  return %r : {y}\n}}\n")
        number, kind = (0, x) if self.part == "input" else (1, w)
        return (f"func.func private @f(%x: {x}, %w: {w}) -> {y} {{\n  %r = {conv}\n  return %r : {y}\n}}\n"
                f'func.func @main(%x: {x} {{ad.name = "x"}}, %w: {w} {{ad.name = "w"}}, %g: {y} {{ad.name = "g"}}) '
                f'-> ({kind} {{ad.name = "r"}}) {{\n'
                f"  %y, %r = ad.vjp @f(%x, %w) cotangents(%g) wrt [{number}] : ({x}, {w}, {y}) -> ({y}, {kind})\n"
                f"  return %r : {kind}\n}}\n")

    def arrays(self):
        rng = np.random.default_rng(0)
        return {name: rng.normal(size=shape).astype(np.float32) for name, shape in zip("xwg", self.shapes())
                if name != "g" or self.part != "result"}

    def in_torch(self, arrays):
        """A function of PyTorch, and its result in our layout."""
        last = self.layout == "last"
        form = torch.channels_last if last and self.rank == 2 else torch.contiguous_format
        to_first = lambda a: np.moveaxis(a, -1, 1) if last else a
        x = torch.tensor(to_first(arrays["x"])).contiguous(memory_format=form)
        w = arrays["w"]
        if last:
            w = np.moveaxis(w, -1, 0)[:, None] if self.depthwise else np.moveaxis(w, (-1, -2), (0, 1))
        w = torch.tensor(np.ascontiguousarray(w)).contiguous(memory_format=form)
        groups = self.x[-1] if self.depthwise else 1
        back = lambda t: np.moveaxis(t.numpy(), 1, -1) if last else t.numpy()
        if self.part == "result":
            function = torch.nn.functional.conv1d if self.rank == 1 else torch.nn.functional.conv2d
            call = lambda: function(x, w, stride=self.stride, padding=self.padding, groups=groups)
            return call, back(call())
        g = torch.tensor(to_first(arrays["g"])).contiguous(memory_format=form)
        lists = [[value] * self.rank for value in (self.stride, self.padding, 1)]
        wanted = [self.part == "input", self.part == "filter", False]
        call = lambda: torch.ops.aten.convolution_backward(g, x, w, None, *lists, False, [0] * self.rank, groups, wanted)
        made = call()[0 if self.part == "input" else 1]
        if self.part == "filter" and last:
            made = made.numpy()
            return call, np.moveaxis(made[:, 0], 0, -1) if self.depthwise else np.moveaxis(made, (0, 1), (-1, -2))
        return call, back(made)

    def in_numpy(self, arrays):
        """The same for results in the layout `last`."""
        pads = [(0, 0), *[(self.padding, self.padding)] * self.rank, (0, 0)]
        axes = tuple(range(1, self.rank + 1))

        def call():
            windows = np.lib.stride_tricks.sliding_window_view(np.pad(arrays["x"], pads), self.kernel, axes)
            windows = windows[(slice(None), *[slice(None, None, self.stride)] * self.rank)]
            if self.depthwise:
                return np.einsum("bhwcij,ijc->bhwc", windows, arrays["w"])
            ends = list(range(self.rank + 2, 2 * self.rank + 2))
            return np.tensordot(windows, arrays["w"], ([*ends, self.rank + 1], list(range(self.rank + 1))))

        return call, call()

    def peers(self, arrays):
        if torch:
            return {"torch": self.in_torch(arrays)}
        return {"numpy": self.in_numpy(arrays)} if self.layout == "last" and self.part == "result" else {}


class Pool(Layer):
    """The largest element of windows of 3 x 3, with a step of 2."""

    def __init__(self, name, x, layout="last"):
        super().__init__(name, x, x[-1], (3, 3), 2, 1, layout=layout)

    def text(self):
        x, _, y = ("tensor<" + "x".join(map(str, shape)) + "xf32>" for shape in self.shapes())
        place = lambda inner, outer: [outer, *inner, outer] if self.layout == "last" else [outer, outer, *inner]
        lists = f"window {place((3, 3), 1)} strides {place((2, 2), 1)} low {place((1, 1), 0)} high {place((1, 1), 0)}"
        return (f'func.func @main(%x: {x} {{ad.name = "x"}}) -> ({y} {{ad.name = "r"}}) {{\n'
                f"  %r = ad.reduce_window max %x {lists} : {x}\n  return %r : {y}\n}}\n")

    def arrays(self):
        return {"x": super().arrays()["x"]}

    def in_torch(self, arrays):
        last = self.layout == "last"
        x = torch.tensor(np.moveaxis(arrays["x"], -1, 1) if last else arrays["x"])
        x = x.contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)
        call = lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)
        return call, np.moveaxis(call().numpy(), 1, -1) if last else call().numpy()

    def in_numpy(self, arrays):
        def call():
            padded = np.pad(arrays["x"], ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
            return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))[:, ::2, ::2].max((-1, -2))

        return call, call()


IMAGES = [8, 56, 56, 64]
CASES = [
    Layer("3x3, 64 to 64", IMAGES, 64, (3, 3), 1, 1),
    Layer("3x3, 64 to 64, gradient of the input", IMAGES, 64, (3, 3), 1, 1, part="input"),
    Layer("3x3, 64 to 64, gradient of the filter", IMAGES, 64, (3, 3), 1, 1, part="filter"),
    Layer("3x3, 64 to 64, channels first", IMAGES, 64, (3, 3), 1, 1, layout="first"),
    Layer("3x3, 64 to 128, stride 2", IMAGES, 128, (3, 3), 2, 1),
    Layer("3x3, 64 to 128, stride 2, gradient of the input", IMAGES, 128, (3, 3), 2, 1, part="input"),
    Layer("7x7, 3 to 64, stride 2", [4, 112, 112, 3], 64, (7, 7), 2, 3),
    Layer("1x1, 256 to 128", [8, 28, 28, 256], 128, (1, 1)),
    Layer("3x3, depthwise", [8, 56, 56, 96], 96, (3, 3), 1, 1, depthwise=True),
    Layer("3 of 1500, 80 to 384", [2, 1500, 80], 384, (3,), 1, 1),
    Pool("largest of 3x3", [8, 112, 112, 64]),
    Pool("largest of 3x3, channels first", [8, 112, 112, 64], layout="first"),
]
COUNT = 8
# (size of the image, channels, made, kernel, stride), each form once.
RESNET_18 = [(224, 3, 64, 7, 2), (56, 64, 64, 3, 1), (56, 64, 128, 3, 2), (56, 64, 128, 1, 2), (28, 128, 128, 3, 1),
             (28, 128, 256, 3, 2), (28, 128, 256, 1, 2), (14, 256, 256, 3, 1), (14, 256, 512, 3, 2), (14, 256, 512, 1, 2),
             (7, 512, 512, 3, 1)]
# (size of the image, channels, stride of the depthwise convolution, made by the pointwise one after it).
MOBILENET = [(112, 32, 1, 64), (112, 64, 2, 128), (56, 128, 1, 128), (56, 128, 2, 256), (28, 256, 1, 256), (28, 256, 2, 512),
             (14, 512, 1, 512), (14, 512, 2, 1024), (7, 1024, 1, 1024)]


def layers():
    """Those of both networks, as (name, size, channels, made, kernel, stride, whether it is depthwise)."""
    for size, channels, made, kernel, stride in RESNET_18:
        yield "resnet", size, channels, made, kernel, stride, False
    yield "mobilenet", 224, 3, 32, 3, 2, False
    for size, channels, stride, made in MOBILENET:
        yield "mobilenet", size, channels, channels, 3, stride, True
        yield "mobilenet", size // stride, channels, made, 1, 1, False


for network, size, channels, made, kernel, stride, depthwise in layers():
    for part in ("result", "input", "filter"):
        if part == "input" and channels == 3:
            continue  # images have no gradient
        of_part = "" if part == "result" else f", gradient of the {part}"
        form = f"{kernel}x{kernel}, depthwise {channels}" if depthwise else f"{kernel}x{kernel}, {channels} to {made}"
        CASES.append(Layer(f"{network} {size}: {form}, stride {stride}{of_part}", [COUNT, size, size, channels], made,
                           (kernel, kernel), stride, kernel // 2, depthwise, part=part))


def check(case, folder, arguments, peers):
    """Ends the program if our result is not that of the peers."""
    ours = measure.Ours(folder, case.text(), arguments)
    made = np.load(ours.results(arguments) / "r.npy")
    for peer, (_, theirs) in peers.items():
        error = np.max(np.abs(made - theirs)) / np.max(np.abs(theirs))
        if made.shape != theirs.shape or not error <= TOLERANCE:
            sys.exit(f"{NAME}: {case}: the result is off that of {peer} by {error:.1e}, expected at most {TOLERANCE:.0e}")
    return ours


def main():
    rows = []
    print(f"milliseconds on one core (GFLOP/s), ours strict, median of {OPTIONS.rounds} interleaved rounds")
    for case in measure.select(CASES, OPTIONS, NAME):
        with tempfile.TemporaryDirectory() as name:
            folder, arguments, arrays = pathlib.Path(name), {}, case.arrays()
            for argument, array in arrays.items():
                np.save(folder / f"{argument}.npy", array)
                arguments[argument] = folder / f"{argument}.npy"
            peers = case.peers(arrays)
            ours = check(case, folder, arguments, peers)
            seconds = measure.take_turns({"ours": lambda: ours.time(10),
                                          **{peer: measure.timed(call, SECONDS) for peer, (call, _) in peers.items()}}, OPTIONS.rounds)
        rows.append({"case": str(case), "seconds": seconds})
        shown = (f"{peer} {1e3 * value:.2f} ({case.flops / value / 1e9:.1f})" for peer, value in seconds.items())
        print(f"{str(case):48} " + "  ".join(shown), flush=True)
        measure.write_json(OPTIONS, rows)
    for peer in ("torch", "numpy"):
        ratios = {row["case"]: row["seconds"][peer] / row["seconds"]["ours"] for row in rows if peer in row["seconds"]}
        for case, value in ratios.items():
            measure.close(NAME, value, peer, case)
        measure.close_with_mean(NAME, ratios, peer)


if __name__ == "__main__":
    main()
