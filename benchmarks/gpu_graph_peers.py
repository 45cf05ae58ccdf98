# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The peer's side of graphs and workloads: it draws the inputs of a case, holds our results against an evaluation in f64,
and times eager PyTorch. gpu_peers.py asks it.

A result is right when its distance from the f64 value, relative to that value, is within the tolerance of the narrowest
type, or at most SLACK times the distance of PyTorch's own result. Distances are two: the Euclidean norm of all elements,
never more than CAP, so that zeros are wrong, and the largest of one element, so that one element is seen. Where PyTorch's
own result is off by more than CAP, as gradients through a saturated tanh are, ours is held against that result. Without
PyTorch, on a machine without a GPU, NumPy takes its place: gradients are then held against slopes of the loss in f64.
"""

import pickle
import time

import numpy as np

import sweep_peers
from gpu_ours import Failed

TOLERANCE = {"f64": 1e-10, "f32": 1e-4, "tf32": 1e-2, "bf16": 5e-2, "f16": 1e-2, "f8E4M3FN": 1e-2, "i8": 0, "i32": 0}
SLACK, CAP = 4, 0.25
SHORT, REPEATED = 1e-3, 20  # seconds of a run; shorter ones are repeated in a CUDA graph
STEP = 1e-5  # of differences in f64


def tolerance_of(case):
    kinds = [*case.elements, *(["tf32"] if case.narrow else [])]
    kinds = [kind for kind in kinds if not kind.startswith("i")] or kinds  # class numbers round nothing
    return max(TOLERANCE[kind] for kind in kinds)


def distances(got, truth):
    """By the norm and by the largest element; of arrays of NumPy or PyTorch in f64."""
    difference, size = got - truth, float((truth * truth).sum()) ** 0.5
    most = float(abs(truth).max()) if 0 not in truth.shape else 0.0
    error = float((difference * difference).sum()) ** 0.5
    largest = float(abs(difference).max()) if 0 not in truth.shape else 0.0
    return error / size if size else error, largest / most if most else largest


def is_right(error, peer, near, tolerance):
    """Of pairs of distances: ours and the peer's from f64, ours from the peer's. NaN is wrong."""
    if peer[0] > CAP:
        return max(near) <= tolerance
    return error[0] <= CAP and all(one <= max(tolerance, SLACK * other) for one, other in zip(error, peer))


def judge(errors, peers, nears, tolerance):
    """The answer about all results of a case, by name: the worst error, or what is wrong."""
    for name, error in errors.items():
        if not is_right(error, peers[name], nears[name], tolerance):
            raise Failed(f"{name} is off by {error[0]:.1e} (one element by {error[1]:.1e}), the peer's by "
                         f"{peers[name][0]:.1e} ({peers[name][1]:.1e}), expected at most {tolerance:.0e}")
    return {"seconds": 0, "error": max(error[0] for error in errors.values()),
            "peer_error": max(error[0] for error in peers.values())}


def load(folder, name):
    """Our result as (array, whether it holds bits of bf16)."""
    array = np.load(folder / f"{name}.npy")
    return (array.view(np.int16), True) if array.dtype == "V2" else (array, False)


class TorchGraphs:
    """`peer` is the Torch of gpu_peers.py."""

    name = "torch-eager"

    def __init__(self, peer):
        self.peer, self.torch = peer, peer.torch
        if peer.device == "cuda" and not self.torch.cuda.is_available():
            raise Failed("this PyTorch has no CUDA device")
        if peer.device == "cpu":
            self.torch.set_num_threads(1)

    def library(self):
        """What users compute once, such as masks, is kept."""
        library, kept = sweep_peers.Torch(self.torch), {}

        def once(key, make):
            if key not in kept:
                kept[key] = make()
            return kept[key]

        hidden, numbers = library.hidden, library.class_numbers
        library.hidden = lambda x: once(x.shape[-2:], lambda: hidden(x))
        library.class_numbers = lambda classes: once("classes", lambda: numbers(classes))
        return library

    def draw(self, case, seed):
        torch, device = self.torch, self.peer.device
        random, dtypes = torch.Generator(device).manual_seed(seed), sweep_peers.Torch(torch).dtypes
        for each in case.arguments:
            if each.low is None:
                yield torch.from_numpy(case.values(each.name)).to(device)
            elif each.element.startswith("i"):
                yield torch.randint(each.low, each.high + 1, each.shape, generator=random, device=device,
                                    dtype=dtypes[each.element])
            else:
                values = torch.rand(each.shape, generator=random, device=device)
                yield (values * (each.high - each.low) + each.low).to(dtypes[each.element])

    def inputs(self, case, folder, seed):
        self.given = list(self.draw(case, seed))
        for each, value in zip(case.arguments, self.given):
            value = value.cpu()
            bits = {"bf16": ("int16", "V2"), "f8E4M3FN": ("uint8", "V1")}.get(each.element)
            array = value.view(getattr(self.torch, bits[0])).numpy().view(bits[1]) if bits else value.numpy()
            np.save(folder / f"{each.name}.npy", array)

    def results(self, case, given):
        """With PyTorch's own types, or in f64 where the inputs are."""
        library = self.library()
        if given[0].dtype == self.torch.float64:
            library.dtypes = dict.fromkeys(library.dtypes, self.torch.float64)
        return [value.detach().double() for value in case.runner(library, given)()]

    def compare(self, case, folder, tolerance):
        torch, wide = self.torch, self.torch.float64
        truth = self.results(case, [value.to(wide, copy=True) for value in self.given])
        own = self.results(case, [value.clone() for value in self.given])
        errors, peers, nears = {}, {}, {}
        for name, expected, peer in zip(case.results, truth, own):
            array, is_bf16 = load(folder, name)
            got = torch.from_numpy(array).to(self.peer.device)
            got = (got.view(torch.bfloat16) if is_bf16 else got).double()
            if got.shape != expected.shape:
                raise Failed(f"{name} has the shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
            errors[name], peers[name] = distances(got, expected), distances(peer, expected)
            nears[name] = distances(got, peer)
        return judge(errors, peers, nears, tolerance)

    def time(self, case):
        peer = self.peer
        self.torch.backends.cuda.matmul.allow_tf32 = case.narrow
        run = case.runner(self.library(), [value.clone() for value in self.given])
        run()
        estimate = peer.seconds(run)[0]
        repeated = REPEATED if estimate < SHORT and peer.device == "cuda" else 1

        def several():
            for _ in range(repeated):
                run()

        launch, launches = peer.graph(several)
        seconds, clock = peer.seconds(launch)
        return {"seconds": seconds / repeated, "clock": clock, "launches": launches}

    def forget(self):
        self.given = None
        if self.peer.device == "cuda":
            self.torch.cuda.empty_cache()


class NumpyGraphs:
    """The same by NumPy in f64."""

    name = "numpy"

    def __init__(self):
        self.library = sweep_peers.Numpy(wide=True)

    def draw(self, each, random):
        """Numbers that the type of an argument holds exactly."""
        if each.element.startswith("i"):
            return random.integers(each.low, each.high + 1, each.shape).astype(np.float64)
        values = random.uniform(each.low, each.high, each.shape)
        if each.element == "f32":
            return values.astype(np.float32).astype(np.float64)
        steps = 8 if each.element == "f8E4M3FN" else 64
        return np.round(values * steps) / steps

    def stored(self, element, values):
        if element == "f8E4M3FN":
            return np.vectorize(self.eighth, otypes=[np.uint8])(values).view("V1")
        if element == "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
        return values.astype({"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}[element])

    def inputs(self, case, folder, seed):
        random = np.random.default_rng(seed)
        self.given = [self.draw(each, random) for each in case.arguments]
        for each, values in zip(case.arguments, self.given):
            np.save(folder / f"{each.name}.npy", self.stored(each.element, values))

    @staticmethod
    def eighth(value):
        """The f8E4M3FN of a multiple of 1/8 below 2: seven is the bias, three bits follow the leading one."""
        sign, number = 0x80 * (value < 0), int(abs(value) * 8)
        exponent = number.bit_length() - 1
        return sign | ((exponent + 4) << 3 | (number << 3 >> exponent) & 7 if number else 0)

    def evaluate(self, case, given):
        return [np.asarray(value, np.float64) for value in case.in_double(self.library, given)]

    def widened(self, folder, name):
        array, is_bf16 = load(folder, name)
        if is_bf16:
            array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float64)

    def compare(self, case, folder, tolerance):
        errors = {}
        for name, truth in zip(case.results, self.evaluate(case, self.given)):
            errors[name] = distances(self.widened(folder, name), truth)
        if case.wrt:
            gradients = {i: self.widened(folder, name) for i, name in zip(case.wrt, case.results[1:])}
            errors["the slope"] = [self.slope_error(case, gradients)] * 2
        none = dict.fromkeys(errors, (0, 0))
        return judge(errors, none, none, tolerance)

    def slope_error(self, case, gradients):
        """Of the loss in the direction of all gradients and a random one, relative to their norm."""
        random = np.random.default_rng(1)
        whole = sum(float((g * g).sum()) for g in gradients.values()) ** 0.5
        along = {}
        for i, gradient in gradients.items():
            noise = random.standard_normal(gradient.shape)
            along[i] = gradient / max(whole, 1e-30) + noise / np.sqrt(sum(g.size for g in gradients.values()))
        ends = [self.evaluate(case, [x + sign * STEP * along[i] if i in along else x for i, x in enumerate(self.given)])
                for sign in (1, -1)]
        slope = float((ends[0][0] - ends[1][0]) / (2 * STEP))
        given = sum(float((gradients[i] * along[i]).sum()) for i in gradients)
        return abs(slope - given) / max(abs(slope), 1e-30)

    def time(self, case):
        start = time.perf_counter()
        self.evaluate(case, self.given)
        return {"seconds": time.perf_counter() - start, "clock": "host", "launches": "one by one"}

    def forget(self):
        self.given = None


def make(peer):
    """For the Torch of gpu_peers.py, or for none."""
    return TorchGraphs(peer) if peer else NumpyGraphs()


def answer(graphs, folder, question):
    """`do`: what is to be done with a case of a part."""
    if question["do"] == "start":
        return {"seconds": 0, "form": graphs.name}
    case = pickle.loads((folder / "graphs.pickle").read_bytes())[question["part"]][question["number"]]
    place = folder.__class__(question.get("folder", ""))
    if question["do"] == "inputs":
        graphs.inputs(case, place, question["number"])
        return {"seconds": 0}
    if question["do"] == "compare":
        return graphs.compare(case, place, tolerance_of(case))
    if question["do"] == "time":
        return graphs.time(case)
    graphs.forget()
    return {"seconds": 0}
