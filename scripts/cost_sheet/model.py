# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What a kernel may cost at most, from its work and the chip alone.

Little's law: to keep the memory busy, bandwidth x latency bytes have to be on their way. The H100 has 3.35 TB/s for 132
SMs, 25.4 bytes per nanosecond for each; with a latency under load of 970 ns that is 24 KB. Measurements of others lie
around it: without load the latency is a quarter to a third of that, and CUB's transformations are tuned to 16 KB on the
A100, 32 KB on the H100 and 48 KB on the H200 (cub/device/dispatch/tuning/tuning_transform.cuh)."""

import dataclasses
import math

import chips

IN_FLIGHT = 24 << 10  # bytes of an SM
ACCESS_BYTES = 16  # that a thread should read or write at once

# Integer instructions. Numbers of elements and addresses have two words.
PER_ACCESS = 4  # the address is added up, and the place compared with the end
PER_SHARED_ACCESS = 2  # an address of one word
PER_SWIZZLE = 8  # line and piece of a tile, and where its words change places
PER_QUOTIENT = 4  # and rest, by a size that is known and a power of two
PER_SLICE = 4  # what lies in a part of the result: the place less its beginning, and compared with its end
PER_RECIPROCAL = 12  # the same of other sizes: a product of four words
PER_ITERATION = 6  # count on, compare, and what all addresses begin with

TENSOR_SHARE = 0.9  # of the time that tensor cores are busy, if nothing waits
FMA_SHARE = 0.8  # of the instructions that multiply and add, in products of threads: tiles have few loads for each


@dataclasses.dataclass(frozen=True)
class Miss:
    bound: str
    figure: float
    limit: float

    def is_worse_than(self, figure):
        return self.figure < figure if self.bound in AT_LEAST else self.figure > figure


AT_LEAST = ("bytes in flight", "share of products", "loops over elements")


def run_length(kernel):
    """Neighbouring elements that a thread can take at once: 16 bytes of the widest large tensor, where rows have whole
    runs. Tensors that all have one shape are one long row."""
    tensors = [tensor for tensor in kernel.tensors if tensor.elements > 1]
    widest = max((kernel.tensors[number].element_bytes for number in kernel.large), default=ACCESS_BYTES)
    run = max(1, ACCESS_BYTES // widest)
    if kernel.kind == "elementwise" and len({tensor.shape for tensor in tensors}) == 1:
        return run
    return math.gcd(run, *(tensor.shape[-1] for tensor in tensors if tensor.shape[-1] > 1))


def integers_allowed(kernel):
    """Integer instructions for indices, per element of the largest tensor."""
    run, shape = run_length(kernel), max(kernel.tensors, key=lambda tensor: tensor.elements).shape
    tensors = [tensor for tensor in kernel.tensors if tensor.elements > 1]
    integers = PER_ITERATION + PER_ACCESS * sum(max(1, tensor.element_bytes * run / ACCESS_BYTES) for tensor in tensors)
    others = [tensor for tensor in tensors if tensor.shape != shape]
    if others or kernel.kind not in ("elementwise", "row"):
        integers += sum(PER_RECIPROCAL if size & (size - 1) else PER_QUOTIENT for size in shape[1:])
    integers += PER_QUOTIENT * sum(len(tensor.shape) - 1 for tensor in others)
    if kernel.kind == "generic":
        integers += PER_SLICE * len(others)
    if kernel.kind == "transposition":
        # Words of a run are spread over lines of a tile, in one loop, and read as a run in another.
        words = max(1, run * min(4, kernel.tensors[0].element_bytes) // 4)
        integers += (words + 1) * PER_SHARED_ACCESS + PER_SWIZZLE + PER_ITERATION
    if kernel.kind == "row" and kernel.launch.get("dynamic_shared_bytes"):
        # A loop brings the row to shared memory, and one goes through it for each sum and for the results.
        integers += PER_ITERATION + PER_SHARED_ACCESS + (kernel.sums + 1) * (2 * PER_SHARED_ACCESS + PER_ITERATION)
    return integers / run


def figures(kernel, sheet):
    """(bound, figure, limit) of all that is bounded."""
    yield "spilled bytes", sheet.spills, 0
    yield "local accesses", sheet.main.units["local"], 0
    yield "fences in loops", sheet.fences, 0
    if kernel.kind == "contraction":
        yield figure_of_products(sheet)
        return
    if kernel.name.endswith("$merge"):  # reads nodes, which are few, and not the operands
        return
    if kernel.operands:
        read = sum(tensor.bytes for tensor in kernel.operands) / chips.CHIPS[sheet.chip].sm_count
        yield "bytes in flight", sheet.in_flight, min(IN_FLIGHT, read)
    # If no loop over the elements was found in the code, the bound on instructions per element would hold for nothing.
    yield "loops over elements", bool(sheet.per_element), 1
    if sheet.per_element:
        yield "index integers", sheet.per_element["index integers"], integers_allowed(kernel)


def figure_of_products(sheet):
    if sheet.main.products:
        return "share of products", sheet.clocks["tensor"] / max(sheet.clocks.values()), TENSOR_SHARE
    unit = "fp64" if sheet.main.units["fp64"] else "fp32"
    return "share of products", sheet.main.units[unit] / sheet.main.count, FMA_SHARE


def misses(kernel, sheet):
    for bound, figure, limit in figures(kernel, sheet):
        if figure < limit if bound in AT_LEAST else figure > limit:
            yield Miss(bound, figure, limit)
