# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Basic blocks and loops of a kernel, without what it only calls (slow paths of divisions). A loop is a strongly
connected component; inner loops are those that are left when no edge leads to its entries any more."""

import dataclasses
import functools

JUMPS = ("BRA", "BRX", "BRXU", "JMP", "JMX")
ENDS = ("EXIT", "RET")


def jumps(instruction):
    """On some chips ptxas leaves a loop by a call that never returns."""
    return instruction.base in JUMPS or (instruction.base == "CALL" and bool(instruction.targets))


def calls(instruction):
    return instruction.base == "CALL" and not instruction.targets


@dataclasses.dataclass
class Loop:
    blocks: frozenset  # starts of blocks, those of inner loops included
    inner: list

    def own(self):
        """Blocks that belong to no inner loop."""
        return self.blocks - frozenset().union(*(loop.blocks for loop in self.inner))

    def all(self):
        """This loop and those inside of it."""
        return [self, *(each for loop in self.inner for each in loop.all())]


class Graph:
    def __init__(self, kernel):
        self.kernel = kernel
        starts = {0, *kernel.labels.values()}
        starts |= {number + 1 for number, each in enumerate(kernel.instructions) if each.base
                   in (*JUMPS, *ENDS, "BSYNC", "CALL")}
        self.starts = sorted(start for start in starts if start < len(kernel.instructions))
        self.ends = dict(zip(self.starts, [*self.starts[1:], len(kernel.instructions)]))
        self.successors = {start: self.after(start) for start in self.starts}
        self.reached = reachable(self.successors, 0)

    def instructions(self, start):
        return self.kernel.instructions[start:self.ends[start]]

    def after(self, start):
        """The blocks that may follow one."""
        end = self.ends[start]
        last, found = self.kernel.instructions[end - 1], []
        if jumps(last):
            if not last.targets:
                raise ValueError(f"{self.kernel.name}: {last.opcode} without a list of its targets")
            found = [self.kernel.labels[name] for name in last.targets]
        elif last.base == "BSYNC" and (place := self.end_of_divergence(end - 1)) is not None:
            return [place]
        conditional = last.guard or any(operand.lstrip("!").startswith(("P", "UP")) for operand in last.operands)
        if end < len(self.kernel.instructions) and (conditional or not (jumps(last) or last.base in ENDS)):
            found.append(end)
        return sorted(set(found))

    def end_of_divergence(self, number):
        """Where threads go on that have met at a BSYNC: the label that the BSSY of the same register names."""
        register = self.kernel.instructions[number].operands[0]
        for instruction in reversed(self.kernel.instructions[:number]):
            if instruction.base == "BSSY" and instruction.operands[0] == register:
                return self.kernel.labels[instruction.targets[0]]
        return None

    @functools.cached_property
    def loops(self):
        """The outermost ones."""
        edges = {block: [after for after in self.successors[block] if after in self.reached] for block in self.reached}
        return loops_of(edges, frozenset(self.reached), {0})

    def innermost(self):
        return [each for loop in self.loops for each in loop.all() if not each.inner]


def reachable(edges, first):
    found, waiting = set(), [first]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += edges[block]
    return found


def loops_of(edges, blocks, starts):
    found = []
    for component in components(edges, blocks):
        if len(component) == 1 and not any(block in edges[block] for block in component):
            continue
        entries = {after for block in edges if block not in component for after in edges[block] if after in component}
        entries |= component & starts
        inside = {block: [after for after in edges[block] if after in component and after not in entries]
                  for block in component}
        found.append(Loop(frozenset(component), loops_of(inside, component, entries)))
    return sorted(found, key=lambda loop: min(loop.blocks))


def components(edges, blocks):
    """Tarjan's strongly connected components, without recursion."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(blocks):
        work = [] if root in order else [(root, iter(edges[root]))]
        if work:
            order[root] = low[root] = len(order)
            stack.append(root)
            on_stack.add(root)
        while work:
            block, following = work[-1]
            for after in following:
                if after not in order:
                    order[after] = low[after] = len(order)
                    stack.append(after)
                    on_stack.add(after)
                    work.append((after, iter(edges[after])))
                    break
                if after in on_stack:
                    low[block] = min(low[block], order[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[block])
                if low[block] == order[block]:
                    component = set(stack[stack.index(block):])
                    del stack[stack.index(block):]
                    on_stack -= component
                    found.append(frozenset(component))
    return found
