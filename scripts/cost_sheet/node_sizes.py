# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the host computes for a divided reduction (decisions 0018 and 0050), a sort (decision 0068) or a kernel of several
launches: the function that
`ad-emit-gpu` writes next to the kernel is evaluated, so that the sheet has no second definition of it."""

import re

NAME, TRUTH = r"%([\w.$-]+)", {"true": 1, "false": 0}
OPERATION = re.compile(r'%(\S+) = "?([\w.]+)"?[ (]([^:]*?)\)?(?: <\{[^}]*\}>)? :')
COMPUTE = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.minui": min,
    "arith.maxui": max,
    "arith.divui": lambda a, b: a // b,
    "arith.remui": lambda a, b: a % b,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.shli": lambda a, b: a << b,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.index_cast": lambda a: a,
    "arith.select": lambda condition, a, b: a if condition else b,
    "llvm.intr.ctlz": lambda a: 64 - a.bit_length(),
}
COMPARE = {"ugt": lambda a, b: a > b, "ult": lambda a, b: a < b, "uge": lambda a, b: a >= b, "ule": lambda a, b: a <= b,
           "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}


class Unknown(Exception):
    """The function has an operation that is not known here."""


def functions(text, suffix="partial_sizes"):
    """The functions of all divided kernels of a module, or of sorts, by the names of the kernels."""
    return {found[1]: found[0] for found in
            re.finditer(rf"^  func\.func private @([\w.$-]+)\${suffix}\(.*?^  }}$", text, re.M | re.S)}


def evaluate(function, unknown_size, sm_count):
    """The leaves of a node, the bytes of all nodes and the threads that compute them, where dynamic sizes are
    `unknown_size`. A kernel that would not be divided at these sizes has nodes of one leaf."""
    leaves, size, threads = results(function, unknown_size, sm_count)
    return max(leaves, 1), size, threads


def merges(function, unknown_size):
    """How many launches merge the runs of a sort."""
    return results(function, unknown_size)[1]


def stages(text, unknown_size):
    """{function of a stage: (kernel, blocks)} of the kernels of several launches (ad.launch_stages)."""
    found = {}
    for kernel, function in functions(text, "stage_sizes").items():
        declared = re.search(rf"^  func\.func private @{re.escape(kernel)}\(.*ad\.launch_stages = \[([^]]*)\]", text, re.M)
        suffixes = re.findall(r'"([^"]+)"', declared[1])
        for suffix, blocks in zip(suffixes, results(function, unknown_size)[1:], strict=True):
            found[kernel + suffix] = kernel, blocks
    return found


def results(function, unknown_size, *last):
    """What the function returns, where `last` are its last arguments."""
    head, *lines = function.splitlines()
    arguments = re.findall(NAME + r": ([!\w.]+)", head.split(" -> ")[0])
    values = {name: unknown_size for name, kind in arguments if kind == "index"}
    values |= {name: value for (name, _), value in zip(arguments[len(arguments) - len(last):], last)}
    for line in lines:
        if found := re.match(r"\s*return ([^:]*) :", line):
            return [values[name] for name in re.findall(NAME, found[1])]
        if found := re.match(r"\s*" + NAME + r" = arith\.constant (\S+)", line):
            values[found[1]] = int(TRUTH.get(found[2], found[2]))
        elif found := OPERATION.match(line.strip()):
            operands = [values[name] for name in re.findall(NAME, found[3])]
            if found[2] == "arith.cmpi":
                values[found[1]] = int(COMPARE[found[3].split()[0].rstrip(",")](*operands))
            elif found[2] in COMPUTE:
                values[found[1]] = COMPUTE[found[2]](*operands)
            else:
                raise Unknown(f"cannot evaluate {line.strip()}")
    raise Unknown("the function returns nothing")
