# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Precision policies and what they say about a program, written apart from ad-autocast: the oracle of its tests.

`expected` reads a program as `ad-opt --mlir-print-op-generic --mlir-print-debuginfo` prints it, and gives the types of
operands and results of each operation once the policy is applied; `differences` compares them with the program that
ad-autocast made."""

import pathlib
import re

BUILTIN = pathlib.Path(__file__).resolve().parents[2] / "lib/Numerics/Policies/bf16.yaml"
RULES = ["always", "follow", "never"]
BYTES = ["f8E4M3FN", "f8E5M2"]
NARROW = ["f32", "bf16", "f16"]  # the types that policies are about
OTHER = ["f64", "f8E4M3FN", "f8E5M2"]
HEADER = re.compile(r'^\s*(?:(?P<results>%[\w:, %]+) = )?"(?P<name>[\w.]+)"\((?P<operands>[^)]*)\)')
SIGNATURE = re.compile(r': \((?P<operands>[^()]*)\) -> (?P<results>\([^()]*\)|\S+?)(?: loc\((?P<loc>[^)]*)\))?$')


def parse(text):
    """The lists and words of a policy in YAML, as the built-in files write it."""
    plain = re.sub(r"#.*", "", text)
    lists = {key: value.replace(",", " ").split() for key, value in re.findall(r"(\w+): \[([^\]]*)\]", plain)}
    words = dict(re.findall(r"^(\w+): (\w+)$", plain, re.M))
    result = "f32" if words["compute"] in BYTES else words["compute"]
    policy = {"result": result, "default": "never", **words}
    return {**policy, **{rule: lists.get(rule, []) for rule in RULES}}


# Results that stay in f32: the logarithms of the sums of attention, and statistics.
KEPT = [("ad.attention", 1), ("ad.batch_norm", 1), ("ad.batch_norm", 2)]

# Each operation that policies are about is in a list of the built-in ones.
GOVERNED = {name for rule, names in parse(BUILTIN.read_text()).items() if rule in RULES for name in names}


def write(policy):
    lines = [f"{key}: {policy[key]}" for key in ("compute", "result", "default")]
    return "\n".join(lines + [f"{rule}: [{', '.join(policy[rule])}]" for rule in RULES]) + "\n"


def element(type):
    found = re.fullmatch(r"tensor<(?:[\d?]+x)*(\w+)>", type)
    return found[1] if found else None


def with_element(type, new):
    return re.sub(r"\w+>$", lambda _: "x".join([*type[7:-1].split("x")[:-1], new]) + ">", type) if "x" not in type \
        else type[:type.rindex("x") + 1] + new + ">"


class Operation:
    def __init__(self, name, operands, operand_types, result, result_types, loc):
        self.name, self.operands, self.operand_types = name, operands, operand_types
        self.result, self.result_types, self.loc = result, result_types, loc


def split_types(text):
    return [part.strip() for part in text.strip().strip("()").split(", ") if part.strip()]


def read(text):
    """The operations of a module in generic form without those that have regions, whose types are boundaries."""
    for line in text.splitlines():
        header, signature = HEADER.match(line), SIGNATURE.search(line)
        if header and signature:
            yield Operation(header["name"], header["operands"].split(", ") if header["operands"] else [],
                            split_types(signature["operands"]), header["results"],
                            split_types(signature["results"]), signature["loc"])


def rule_of(policy, name):
    """The rule of an operation; None if a policy is not about it. ad.cast_stochastic has operands of f32 alone."""
    short = name.removeprefix("ad.")
    if short not in GOVERNED:
        return None
    default = "never" if short == "cast_stochastic" else policy["default"]
    return next((rule for rule in RULES if short in policy[rule]), default)


def result_name(op, at):
    """`%3#1` of `%3:2`."""
    return op.result if len(op.result_types) == 1 else f"{op.result.split(':')[0]}#{at}"


def widest(types):
    return types[0] if len(set(types)) == 1 else "f32"


def in_bytes(policy, op, current, now):
    """A dot of operands as they are; its largest magnitudes are f32."""
    first = next(element(type) for type in op.operand_types if element(type) in NARROW)
    op.name = "ad.scaled_dot"
    op.operand_types = [with_element(type, new) for type, new in zip(op.operand_types, current)]
    if element(op.result_types[0]) == first:
        op.result_types[0] = with_element(op.result_types[0], policy["result"])
        now[op.result] = policy["result"]
    op.result_types += ["tensor<f32>", "tensor<f32>"]


def expected(policy, text):
    """The operations with their types under the policy."""
    now = {}  # the element types of results that have changed
    for op in read(text):
        rule = rule_of(policy, op.name)
        current = [now.get(name, element(type)) for name, type in zip(op.operands, op.operand_types)]
        floats = [type for type in current if type in NARROW]
        if op.name == "tensor.dim":
            op.operand_types = [with_element(type, new) if new in NARROW else type
                                for type, new in zip(op.operand_types, current)]
        elif rule and floats and not any(type in OTHER for type in current):
            if rule == "always" and policy["compute"] in BYTES:
                in_bytes(policy, op, current, now)
                yield op
                continue
            computed = {"always": policy["compute"], "follow": widest(floats), "never": "f32"}[rule]
            first = next(element(type) for type in op.operand_types if element(type) in NARROW)
            contracts = rule == "always" and op.name in ("ad.dot", "ad.gemm", "ad.conv")
            made = policy["result"] if contracts else computed
            op.operand_types = [with_element(type, computed) if element(type) in NARROW else type
                                for type in op.operand_types]
            for at, type in enumerate(op.result_types):
                if element(type) == first and (op.name, at) not in KEPT:
                    op.result_types[at] = with_element(type, made)
                    now[result_name(op, at)] = made
        if op.name == "func.return":  # names begin again
            now.clear()
        yield op


def differences(policy, before, after):
    """What ad-autocast made of a program against what the policy says. Casts with the location of the operation that
    requires them are the pass's own; of several casts with one location the program has the last."""
    made = list(read(after))
    at = casts = 0
    last = {cast.loc: place for place, cast in enumerate(made) if cast.name == "ad.cast"}
    known = set()  # operands and types of the pass's own casts, and their results
    for op in expected(policy, before):
        while at < len(made) and not (made[at].name == op.name and made[at].loc == op.loc
                                      and (op.name != "ad.cast" or at == last[op.loc])):
            if made[at].name != "ad.cast":
                return f"{made[at].name} at {made[at].loc} is not {op.name} at {op.loc}", casts
            cast = (made[at].operands[0], made[at].result_types[0])
            if cast in known or cast[0] in known:
                return f"{cast[0]} is cast to {cast[1]} again, or is a cast of the pass itself", casts
            known |= {cast, made[at].result}
            casts, at = casts + 1, at + 1
        if at == len(made):
            return f"{op.name} at {op.loc} is missing", casts
        found = made[at]
        if op.name == "func.return":
            known.clear()
        if (found.operand_types, found.result_types) != (op.operand_types, op.result_types):
            return (f"{op.name} at {op.loc}: expected {op.operand_types} -> {op.result_types}, found "
                    f"{found.operand_types} -> {found.result_types}"), casts
        at += 1
    return None, casts
