# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The cost sheet of a kernel: what its loops cost an SM, element by element of the largest tensor."""

import collections
import dataclasses
import re

import chips
import flight
import mix
import opcodes
import streams
from loops import Graph

ACCESS_BYTES = 16
FENCES = re.compile(r"MEMBAR\.(?!ALL\.CTA)|ERRBAR|CCTL\.IVALL")


@dataclasses.dataclass
class LoopCost:
    """One loop without its inner ones, for one thread and iteration."""
    instructions: list
    traffic: collections.Counter  # bytes of each large tensor
    elements: float  # that an iteration passes
    index_integers: int
    inner_elements: float = 0  # the same of the loops inside, at most

    def __post_init__(self):
        self.units = mix.units(self.instructions)
        self.bytes = mix.accesses(self.instructions)
        self.products = mix.products(self.instructions)
        self.multiplies = sum(i.base in ("IMAD", "IMUL") and opcodes.unit_of(i) == "integer" for i in self.instructions)
        self.shuffles = sum(i.base in ("SHFL", "REDUX") for i in self.instructions)

    @property
    def count(self):
        return len(self.instructions)

    def kind(self):
        """Equal for a loop and those that finish what it leaves: they go through the same tensors with the same
        instructions."""
        return frozenset(self.traffic), frozenset(i.base for i in self.instructions
                                                  if opcodes.unit_of(i) not in ("move", "control", "uniform"))

    def weight(self):
        """How much of the kernel's work it does."""
        return self.elements, self.count

    def product_weight(self):
        return self.products, self.units["fp32"] + self.units["fp64"], self.count


@dataclasses.dataclass
class Sheet:
    name: str
    kind: str
    chip: str
    registers: int
    spills: int  # bytes
    shared: int  # bytes of a block
    threads: int  # of a block
    blocks: int  # of the launch
    warps: int  # that an SM holds, of those that are launched
    fences: int  # in loops
    in_flight: float  # bytes of an SM, stores in proportion
    main: LoopCost
    # Instructions by unit, "instructions" and "index integers"; empty if no loop passes over the elements.
    per_element: collections.Counter
    clocks: dict  # for a warp's element, or for an iteration of the main loop: how long each unit is busy


def live_instructions(graph, blocks):
    return [instruction for block in sorted(blocks) if not mix.is_slow_path(graph.instructions(block))
            for instruction in graph.instructions(block)]


def clocks_of(cost, chip):
    """How long each unit of an SM is busy with one warp's iteration."""
    rate = lambda count, per_clock: count * chips.WARP / per_clock  # noqa: E731
    shared_bytes = cost.bytes["shared_reads"] + cost.bytes["shared_writes"] + cost.bytes["copies"]
    return {
        "issue": cost.count / chips.ISSUES,
        "fp32": rate(cost.units["fp32"], chip.fp32) + rate(cost.multiplies, chips.INTEGERS),
        "integer": rate(cost.units["integer"] - cost.multiplies + cost.units["select"], chips.INTEGERS),
        "fp64": rate(cost.units["fp64"], chip.fp64),
        "special": rate(cost.units["special"], chips.SPECIALS),
        "shared": rate(cost.shuffles, chips.SHUFFLES) + rate(shared_bytes, chips.SHARED_PER_CLOCK),
        "tensor": cost.products / chip.products,
        "memory": rate(sum(cost.traffic.values()), chip.bytes_per_clock()),
    }


def cost_of(instructions, kernel, traced):
    """`traced` says which tensors memory instructions read or write, and which instructions work on data."""
    accessed, from_data = traced
    traffic = collections.Counter()
    for instruction in instructions:
        tensors = accessed.get(instruction.address, frozenset()) & kernel.large
        if len(tensors) == 1:
            traffic[min(tensors)] += opcodes.access_bytes(instruction)
    elements = max((size / kernel.tensors[number].element_bytes for number, size in traffic.items()), default=0)
    if not elements:
        bytes_read = mix.accesses(instructions)["shared_reads"]
        elements = bytes_read / max(tensor.element_bytes for tensor in kernel.tensors) if kernel.kind == "row" else 0
    return LoopCost(instructions, traffic, elements, mix.index_integers(instructions, from_data))


def costs_of(loop, graph, kernel, traced):
    """Of the loop, and then of those inside."""
    inner = [cost for each in loop.inner for cost in costs_of(each, graph, kernel, traced)]
    own = cost_of(live_instructions(graph, loop.own()), kernel, traced)
    own.inner_elements = max((cost.elements for cost in inner), default=0)
    return [own, *inner]


def passing_loops(costs):
    """Those that pass over the elements. Others lie around them, or finish what they leave: those take fewer elements
    at once, of the same tensors or by the same instructions; or they join sums in shared memory, one by one."""
    best = {}
    for cost in sorted(costs, key=lambda cost: cost.elements):
        if cost.elements > cost.inner_elements and (cost.traffic or cost.bytes["shared_reads"] >= ACCESS_BYTES):
            best[cost.kind()] = cost
    return list(best.values())


def sum_per_element(costs):
    total = collections.Counter()
    for cost in costs:
        for unit, count in {**cost.units, "instructions": cost.count, "index integers": cost.index_integers}.items():
            total[unit] += count / cost.elements
    return total


def block_in_flight(costs, kernel, accessed, threads):
    """Bytes that a block has on their way: loads of the loop that loads most, or copies to shared memory."""
    def loaded(instruction):
        is_large = bool(accessed.get(instruction.address, frozenset()) & kernel.large)
        return opcodes.access_bytes(instruction) if opcodes.is_load(instruction) and is_large else 0

    def copied(instruction):
        return opcodes.access_bytes(instruction) if instruction.base == "LDGSTS" else 0

    if any(instruction.base == "UTMALDG" for instruction in kernel.code.instructions):
        return kernel.shared
    loads = max(costs, key=lambda cost: sum(map(loaded, cost.instructions))).instructions
    found = [flight.loaded_per_wait(loads, loaded) * threads]
    copying = [cost.instructions for cost in costs if cost.bytes["copies"]]
    for instructions in copying:
        # Where no wait is in the loop, a block waits for all that it copies: rows of operands.
        rows = sum(tensor.shape[-1] * tensor.element_bytes for number, tensor in enumerate(kernel.operands) if number
                   in kernel.large)
        waited = flight.async_per_wait(instructions, copied)
        found.append(min(kernel.shared, rows if waited is None else waited * threads))
    return max(found)


def share_of_reads(kernel):
    read = sum(tensor.bytes for number, tensor in enumerate(kernel.tensors) if number in kernel.large
               and number < len(kernel.operands))
    return read / sum(kernel.tensors[number].bytes for number in kernel.large)


def make(kernel, chip_name):
    chip, graph = chips.CHIPS[chip_name], Graph(kernel.code)
    first = streams.FIRST_ARGUMENT[chip_name]
    traced = streams.trace(graph, {first + place: number for place, number in kernel.pointers.items()})
    costs = [cost for loop in graph.loops for cost in costs_of(loop, graph, kernel, traced)]
    costs = costs or [cost_of(live_instructions(graph, graph.reached), kernel, traced)]
    main = max(costs, key=LoopCost.product_weight if kernel.kind == "contraction" else LoopCost.weight)
    passing = passing_loops(costs)
    per_element = sum_per_element(passing)
    blocks, threads = kernel.grid(chip.sm_count)
    holds = chips.resident_blocks(chip, kernel.registers, kernel.shared, threads)
    clocks = collections.Counter()
    for cost in [main] if kernel.kind == "contraction" else passing or [main]:
        for unit, count in clocks_of(cost, chip).items():
            clocks[unit] += count / (cost.elements or 1)
    if kernel.kind == "contraction":
        clocks.pop("memory")  # tiles come from the second-level cache
    reads = 1 if kernel.kind == "contraction" else share_of_reads(kernel)
    return Sheet(
        kernel.name, kernel.kind, chip_name, kernel.registers, kernel.spills, kernel.shared, threads, blocks,
        warps=min(holds, -(-blocks // chip.sm_count)) * chips.round_up(threads, chips.WARP) // chips.WARP,
        fences=sum(bool(FENCES.match(i.opcode)) for loop in graph.loops for block in loop.blocks
                   for i in graph.instructions(block)),
        in_flight=block_in_flight(costs, kernel, traced[0], threads) * min(holds, blocks / chip.sm_count) / reads
        if reads else 0,
        main=main, per_element=per_element, clocks=clocks)
