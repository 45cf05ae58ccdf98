# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Draws functions of activity.py and compares what ad-differentiate makes of them with differences: a gradient is
right, or there is an error at the operation that has no derivative. Each function is taken as it is written and after
passes that rewrite it first."""

import random
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import activity
import elements
import runner

# Passes in front of differentiation.
ORDERS = {"as written": [], "canonicalized": ["--canonicalize"], "inlined": ["--inline", "--canonicalize", "--cse"],
          "simplified": ["--ad-simplify"]}
TARGETS = ["reference", "cpu", "gpu-sim"]
SECOND_ORDER_TOLERANCE = 1e-5


class Case:
    """A function and its argument; `refused` says whether it has a construct without a derivative."""

    def __init__(self, number, refused=None, first=None):
        rng = random.Random(number)
        self.number, self.name = number, f"f{number}"
        while True:
            self.draw(rng, rng.random() < 0.35 if refused is None else refused, first)
            if activity.is_smooth(self.chain, *self.arguments):
                break

    def draw(self, rng, refused, first):
        element = rng.choice(["f64", "f64", "f64", "f32", "f32", "f16", "bf16"])
        self.chain = chain = activity.Chain(rng, element)
        steps = [rng.choice(activity.SCALARS + activity.TENSORS) for _ in range(rng.randint(1, 5))]
        if first and not refused:
            steps.insert(0, first)
        if refused:
            steps.insert(rng.randint(0, len(steps)), first or rng.choice(activity.REFUSED))
        for step in steps:
            step(chain)
            if rng.random() < 0.4:
                chain.tame()
        self.second_order = element == "f64" and chain.tolerance < 1e-6 and rng.random() < 0.5

        def numbers():
            some = np.array([rng.uniform(-1, 1) for _ in range(activity.SIZE)])
            return elements.decode(element, elements.encode(element, some))
        self.arguments = numbers(), rng.random() < 0.5, numbers()
        self.direction = numbers()

    def functions(self):
        """The function, and one whose gradient is the Hessian times a direction."""
        kind = f"tensor<{activity.SIZE}x{self.chain.element}>"
        text = re.sub(r"@(declared|declared_tensor|kept|global|square_plus)\b", rf"@\1_{self.chain.element}",
                      self.chain.function(self.name))
        if not self.second_order:
            return text
        return text + "\n".join([
            f"func.func private @{self.name}_slope(%x: {kind}, %cond: tensor<i1>, %table: {kind}, %d: {kind}) -> tensor<f64> {{",
            f"  %v, %g = ad.value_and_grad @{self.name}(%x, %cond, %table) wrt [0] : ({kind}, tensor<i1>, {kind}) -> (tensor<f64>, {kind})",
            f"  %p = ad.mul %g, %d : {kind}", f"  %s = ad.reduce_sum %p axes [0] : {kind} -> tensor<f64>",
            "  return %s : tensor<f64>", "}", ""])

    def inputs(self):
        """(name, element, array) of the arguments of @main."""
        element = self.chain.element
        named = {"x": self.arguments[0], "t": self.arguments[2], "d": self.direction}
        return [(f"{self.name}_{key}", element, elements.encode(element, array)) for key, array in named.items()] + [
            (f"{self.name}_c", "i1", np.array(self.arguments[1]))]

    def requests(self):
        """Lines of @main, and (value, element, shape, name) of its results."""
        n, element = self.name, self.chain.element
        kind, number = f"tensor<{activity.SIZE}x{element}>", f"tensor<{element}>"
        lines = [f"%{n}_v, %{n}_g = ad.value_and_grad @{n}(%{n}_x, %{n}_c, %{n}_t) wrt [0] : "
                 f"({kind}, tensor<i1>, {kind}) -> ({number}, {kind})"]
        results = [(f"{n}_v", number), (f"{n}_g", kind)]
        if self.second_order:
            lines.append(f"%{n}_s, %{n}_h = ad.value_and_grad @{n}_slope(%{n}_x, %{n}_c, %{n}_t, %{n}_d) wrt [0] : "
                         f"({kind}, tensor<i1>, {kind}, {kind}) -> ({number}, {kind})")
            results.append((f"{n}_h", kind))
        return lines, results

    def expected(self):
        chain = self.chain
        values = {"v": (chain.evaluate(*self.arguments), chain.tolerance),
                  "g": (activity.gradient(chain, *self.arguments), chain.tolerance)}
        if self.second_order:
            x, flag, table = self.arguments
            at = lambda h: activity.gradient(chain, x + h * self.direction, flag, table)
            central = lambda h: (at(h) - at(-h)) / (2 * h)
            values["h"] = ((4 * central(5e-4) - central(1e-3)) / 3, SECOND_ORDER_TOLERANCE)
        return values


def module(cases):
    """The text of all functions with a @main that requests all gradients, and where the bodies start."""
    declarations = activity.FUNCTIONS + (activity.OUTSIDE if any(case.chain.refused for case in cases) else "")
    named = lambda element: re.sub(r"@(\w+)", rf"@\1_{element}", declarations)
    text = "".join(re.sub(r"(?<![a-z])(x?)T\b", rf"\1{element}", named(element))
                   for element in sorted({case.chain.element for case in cases}))
    starts, inputs, lines, results = {}, [], [], []
    for case in cases:
        body = case.functions()
        starts[case.name] = text.count("\n") + 1 + case.chain.first
        text += body
        types = lambda kind: "tensor<i1>" if kind == "i1" else f"tensor<{activity.SIZE}x{kind}>"
        inputs += [f'%{name}: {types(kind)} {{ad.name = "{name}"}}' for name, kind, _ in case.inputs()]
        more, given = case.requests()
        lines += more
        results += given
    named = ", ".join(f'{kind} {{ad.name = "{name}"}}' for name, kind in results)
    text += "\n  ".join([f"func.func @main({', '.join(inputs)}) -> ({named}) {{", *lines,
                         f"return {', '.join(f'%{name}' for name, _ in results)} : "
                         f"{', '.join(kind for _, kind in results)}"])
    return text + "\n}\n", starts


def optimize(text, passes, *more):
    """What ad-opt makes of the text, as a finished process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(text)
        return subprocess.run([runner.binary("ad-opt"), str(path), "--allow-unregistered-dialect", *passes, *more],
                              capture_output=True, text=True, timeout=300)


#===- Gradients that exist -===#


def wrong_values(case, got, how):
    for key, (expected, tolerance) in case.expected().items():
        value = elements.decode(case.chain.element, got[f"{case.name}_{key}"])
        scale = max(1.0, np.abs(expected).max())
        if not np.abs(value - expected).max() <= tolerance * scale:
            what = {"v": "value", "g": "gradient", "h": "second derivative"}[key]
            yield f"{how}: {what} {value}, expected {expected}"


def run_all(cases, text, how, target):
    """{name: complaint}; the halves of a module that fails are run by themselves."""
    with tempfile.TemporaryDirectory() as folder:
        given = []
        for case in cases:
            for name, element, array in case.inputs():
                elements.save(Path(folder) / f"{name}.npy", element, array)
                given.append(f"--arg={name}={folder}/{name}.npy")
        results = [(name, case.chain.element) for case in cases for name, _ in case.requests()[1]]
        try:
            got = runner.run(text, given, results, [f"--target={target}"])
        except runner.Failure as failure:
            return {case.number: f"{how} on {target}: {failure}" for case in cases}
    return {case.number: complaint for case in cases for complaint in wrong_values(case, got, f"{how} on {target}")}


def check_right(cases, targets):
    """{number: complaint} about functions whose gradients exist. `targets` lists the targets of each order."""
    complaints = {}
    text, _ = module(cases)
    for how, passes in ORDERS.items():
        done = optimize(text, passes) if passes else None
        if done and done.returncode:
            failed = {case.number: f"{how}: exit code {done.returncode}: {done.stderr[:1000]}" for case in cases}
        else:
            failed = {}
            for target in targets[how]:
                failed |= run_all(cases, done.stdout if done else text, how, target)
        if len(failed) > 1 and len(cases) > 1:
            middle = len(cases) // 2
            return check_right(cases[:middle], targets) | check_right(cases[middle:], targets)
        complaints |= failed
    return complaints


#===- Gradients that do not -===#

ERROR = re.compile(r"^[^:\n]*:(\d+):\d+: error: (?:'([\w.]+)' op )?(.*)$", re.M)


def check_refused(cases):
    """{number: complaint} about functions with constructs that have no derivative: each is named at its line."""
    complaints = {}
    text, starts = module(cases)
    lines = text.splitlines()
    expected = {case.number: {(starts[case.name] + line, op) for line, op in case.chain.refused} for case in cases}
    names = dict(set().union(*expected.values()))
    for how, passes in ORDERS.items():
        done = optimize(text, passes, "--ad-differentiate")
        found = {(int(line), op) for line, op, _ in ERROR.findall(done.stderr)}
        # A pass may give an operation another name: a call of a known function.
        if passes:
            found = {(line, names.get(line, op)) for line, op in found}
        if done.returncode != 1:
            complaints |= {case.number: f"{how}: exit code {done.returncode}, expected errors\n{done.stderr[:300]}"
                           for case in cases}
            continue
        for case in cases:
            named = expected[case.number] & found
            missing = expected[case.number] - found
            if not named or (missing and how == "as written"):
                complaints[case.number] = f"{how}: no error names {sorted(missing)}"
        for line, op in found - set().union(*expected.values()):
            case = max((case for case in cases if starts[case.name] <= line), key=lambda case: starts[case.name],
                       default=cases[0])
            complaints[case.number] = f"{how}: unexpected error about {op} at {lines[line - 1].strip()}"
    return complaints


def check(cases, rng):
    """{number: complaint} about cases of both kinds. One order, drawn, runs on all targets, the others on the
    reference interpreter."""
    refused = [case for case in cases if case.chain.refused]
    right = [case for case in cases if not case.chain.refused]
    drawn = rng.choice(list(ORDERS))
    targets = {how: TARGETS if how == drawn else TARGETS[:1] for how in ORDERS}
    return (check_right(right, targets) if right else {}) | (check_refused(refused) if refused else {})
