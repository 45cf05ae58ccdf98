#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels that a program has itself, with slices, inserts, casts, elements and sizes at drawn places, inside of their
tensors and outside: the reference interpreter says which. On compiled targets each gives the same bits, is refused when
it is compiled, or ends with an error as the reference does. Places are numbers, arguments, and arithmetic on arguments
that has no result on some CPUs: shifts by too much, quotients by zero, conversions of what does not fit, signs of NaN.

Closes with `kernels: N run, N failed`. Where a kind of step ran in fewer than 5 % of 200 cases or more, or fewer than a
fifth of the cases gave values on the compiled targets, the campaign proves nothing and fails too."""

import collections
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import campaign
import runner

SIZES = (1, 2, 5, 8, 17)
NUMBERS = (-(2**63), -(2**31), -1, 0, 0, 1, 1, 2, 3, 4, 5, 8, 17, 63, 64, 2**31, 2**40, 2**62, 2**63 - 1)
WRAPS = ((4, 2**64 // 3 + 1), (9, 2**61))  # sizes and strides: 64 bits of the last index are inside of the tensor
FLOATS = (0.0, 1.0, 2.5, -1.0, 300.0, 1e10, 1e30, np.inf, -np.inf, np.nan, -np.nan)
STEPS = ("slice", "insert", "cast", "generic", "element")
MIN_SHARE, MIN_VALUES, MIN_CASES = 0.05, 0.2, 200
SECONDS = 60
# The reference makes whole tensors: of a slice of four thousand million elements, for minutes.
REFERENCE_ADDRESSES = 3 << 30
LACK_OF_MEMORY = 4  # an exit code: the reference makes each tensor, and a compiled kernel only those of its results
# Of compilers that do not take a kernel; errors of a run say what the reference says.
REFUSALS = (" op expected ", " op is not supported in a program", " emitter cannot compute in place")
COPY = """  %r{n} = linalg.generic {{indexing_maps = [affine_map<(d0) -> ({index})>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins({value} : {type}) outs(%o{n} : tensor<{size}xf32>) {{
  ^bb0(%e{n}: f32, %u{n}: f32):
    %s{n} = arith.addf %e{n}, {addend} : f32
    linalg.yield %s{n} : f32
  }} -> tensor<{size}xf32>"""
MAIN = """func.func @main(%x: {type} {{ad.name = "x"}}, %y: tensor<4xf32> {{ad.name = "y"}}, %a: tensor<i64> {{ad.name = "a"}},
                %b: tensor<i64> {{ad.name = "b"}}, %f: tensor<f32> {{ad.name = "f"}}) -> ({result} {{ad.name = "r"}}) {{
  %p = tensor.extract %a[] : tensor<i64>
  %q = tensor.extract %b[] : tensor<i64>
  %g = tensor.extract %f[] : tensor<f32>
  %0 = ad.launch @k(%x, %y, %p, %q, %g){tied} : ({type}, tensor<4xf32>, i64, i64, f32) -> {result}
  return %0 : {result}
}}
"""


class Kernel:
    """The text of a kernel, and what its steps are."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])
        self.lines, self.count, self.kinds = [], 0, set()
        self.size = self.pick(SIZES)
        self.type = self.pick(["tensor<?xf32>", f"tensor<{self.size}xf32>"])
        self.values = [("%x", self.type), ("%y", "tensor<4xf32>")]
        self.addend = "%g"
        for _ in range(int(self.rng.integers(1, 4))):
            kind = self.pick(STEPS)
            self.kinds.add(kind)
            getattr(self, kind)()
        self.result = self.finish()

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def name(self):
        self.count += 1
        return self.count

    def emit(self, text):
        self.lines.append("  " + text)

    # --- Numbers

    def integer(self, depth=0):
        """An i64 that the kernel computes."""
        if depth > 2 or self.rng.random() < 0.4:
            return self.pick(["%p", "%q"])
        n = self.name()
        if self.rng.random() < 0.3:
            return self.of_float(n)
        lhs, rhs = self.integer(depth + 1), self.integer(depth + 1)
        operation = self.pick(["shli", "shrui", "shrsi", "divsi", "remsi", "divui", "addi", "muli", "andi", "minsi",
                               "maxsi"])
        self.emit(f"%i{n} = arith.{operation} {lhs}, {rhs} : i64")
        return f"%i{n}"

    def of_float(self, n):
        kind = self.pick(["fptosi", "fptoui", "bitcast", "copysign"])
        if kind == "bitcast":
            self.emit(f"%t{n} = arith.bitcast %g : f32 to i32")
            self.emit(f"%i{n} = arith.extsi %t{n} : i32 to i64")
        elif kind == "copysign":
            self.emit(f"%c{n} = arith.constant 3.0 : f32")
            self.emit(f"%t{n} = math.copysign %c{n}, %g : f32")
            self.emit(f"%i{n} = arith.fptosi %t{n} : f32 to i64")
        else:
            self.emit(f"%i{n} = arith.{kind} %g : f32 to i64")
        return f"%i{n}"

    def place(self, likely):
        """(how it is written, whether it is a number): one of these that fit, any number, or one that is computed."""
        kind = self.rng.random()
        if kind < 0.6:
            return str(self.pick(likely)), True
        if kind < 0.7:
            return str(max(self.pick(NUMBERS), 0)), True
        n, value = self.name(), self.integer()
        self.emit(f"%d{n} = arith.index_cast {value} : i64 to index")
        return f"%d{n}", False

    def places(self, strides):
        """Offset, size, whether that is a number, and stride."""
        if self.rng.random() < 0.06:
            (size, stride), n = self.pick(WRAPS), self.name()
            self.emit(f"%d{n} = arith.constant {stride} : index")
            return "0", str(size), True, f"%d{n}"
        (offset, _), (size, known), (stride, _) = (self.place(likely) for likely in ((0, 0, 1), (1, 2, 4), strides))
        return offset, size, known, stride

    # --- Steps

    def slice(self):
        value, type_ = self.pick(self.values)
        offset, size, known, stride = self.places((1, 1, 2))
        n, made = self.name(), f"tensor<{size if known else '?'}xf32>"
        self.emit(f"%r{n} = tensor.extract_slice {value}[{offset}] [{size}] [{stride}] : {type_} to {made}")
        self.values.append((f"%r{n}", made))

    def insert(self):
        (value, type_), (into, into_type) = self.pick(self.values), self.pick(self.values)
        offset, size, known, stride = self.places((1,))
        if self.rng.random() < 0.5 and type_ != "tensor<?xf32>":  # as many elements as there are
            size, known = type_[len("tensor<"):-len("xf32>")], True
        if (type_ != "tensor<?xf32>" or known) and type_ != f"tensor<{size if known else '?'}xf32>":
            n = self.name()
            made = f"tensor<{size if known else '?'}xf32>"
            self.emit(f"%r{n} = tensor.cast {value} : {type_} to tensor<?xf32>" if made == "tensor<?xf32>" else
                      f"%h{n} = tensor.cast {value} : {type_} to tensor<?xf32>")
            if made != "tensor<?xf32>":
                self.emit(f"%r{n} = tensor.cast %h{n} : tensor<?xf32> to {made}")
            value, type_ = f"%r{n}", made
        n = self.name()
        self.emit(f"%r{n} = tensor.insert_slice {value} into {into}[{offset}] [{size}] [{stride}] : {type_} into {into_type}")
        self.values.append((f"%r{n}", into_type))

    def cast(self):
        value, type_ = self.pick(self.values)
        made = self.pick(["tensor<?xf32>", f"tensor<{self.pick([self.size, self.size, *SIZES])}xf32>"])
        if "tensor<?xf32>" in (type_, made) and type_ != made:
            n = self.name()
            self.emit(f"%r{n} = tensor.cast {value} : {type_} to {made}")
            self.values.append((f"%r{n}", made))

    def generic(self, value=None, size=None):
        value, type_ = value or self.pick(self.values)
        known = type_[len("tensor<"):-len("xf32>")]
        size = size or (known if known != "?" else str(self.pick([self.size, 1, 4])))
        n = self.name()
        self.emit(f"%o{n} = tensor.empty() : tensor<{size}xf32>")
        index = self.pick(["d0"] * 20 + ["d0 floordiv 2" if known != "?" else "d0"] * 6 +
                          ["d0 mod 0", "d0 floordiv 0", f"(d0 - {2**63 - 1} - 1) floordiv -1"])
        self.lines.append(COPY.format(n=n, index=index, value=value, type=type_, size=size, addend=self.addend))
        self.values.append((f"%r{n}", f"tensor<{size}xf32>"))

    def element(self):
        value, type_ = self.pick(self.values)
        index, n = self.place((0, 0, 1)), self.name()
        where = index[0]
        if index[1]:
            self.emit(f"%d{n} = arith.constant {where} : index")
            where = f"%d{n}"
        self.emit(f"%v{n} = tensor.extract {value}[{where}] : {type_}")
        self.addend = f"%v{n}"

    def finish(self):
        """The last value, as it is or copied by a loop."""
        value, type_ = self.values[-1]
        if "?" in type_ or self.rng.random() < 0.7 or value in ("%x", "%y"):
            self.generic((value, type_), None if "?" not in type_ else str(self.pick([self.size, 1, 2, 4])))
            value, type_ = self.values[-1]
        self.emit(f"ad.yield {value} : {type_}")
        return type_

    def used(self):
        """The statements that the result needs: those without a use have no effect, and are dropped by compilers."""
        needed, kept = set(), []
        for line in reversed(self.lines):
            names = re.findall(r"%\w+", line)
            if line.strip().startswith("ad.yield") or names[0] in needed:
                kept.insert(0, line)
                needed.update(names)
        return kept

    def text(self):
        head = f"ad.kernel private @k(%x: {self.type}, %y: tensor<4xf32>, %p: i64, %q: i64, %g: f32) -> {self.result} " \
               "attributes {kernel_class = \"generic\"} {\n"
        # What a program says of ties is not believed.
        tied = f" {{tied = array<i64: {self.pick([-1, 0, 1])}>}}" if self.rng.random() < 0.2 else ""
        return head + "\n".join(self.used()) + "\n}\n" + MAIN.format(type=self.type, result=self.result, tied=tied)

    def arguments(self):
        return {"x": np.arange(1, self.size + 1, dtype=np.float32), "y": np.float32([-1, -2, -3, -4]),
                "a": np.int64(self.pick(NUMBERS)), "b": np.int64(self.pick(NUMBERS)),
                "f": np.float32(self.pick(FLOATS))}


def outcome(command, folder, target):
    """(exit code, the bits of the result or None, the messages)."""
    out = folder / target

    def limit_memory():
        if target == "reference":
            resource.setrlimit(resource.RLIMIT_AS, (REFERENCE_ADDRESSES,) * 2)

    try:
        done = subprocess.run([*command, f"--target={target}", f"--out-dir={out}"], capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return None, None, "does not end"
    file = out / "r.npy"
    bits = np.load(file) if done.returncode == 0 else None
    return done.returncode, bits, done.stderr


def same(left, right):
    """Bit for bit, but for NaNs, which are one."""
    return left.shape == right.shape and np.array_equal(left, right, equal_nan=True) and \
        np.array_equal(np.signbit(left)[~np.isnan(left)], np.signbit(right)[~np.isnan(right)])


def complaint(expected, found, target):
    """What is wrong with a compiled target, or None; and whether it gave values."""
    code, bits, errors = found
    if expected[0] == LACK_OF_MEMORY and code in (0, LACK_OF_MEMORY):
        return None
    # Programs make the memory of their results before they test places: of two errors another one comes first.
    if expected[0] == 1 and code == LACK_OF_MEMORY and "not enough memory for a result" in errors:
        return None
    if code == 0:
        if expected[0] != 0:
            return f"{target} gives {bits}, the reference refuses: {expected[2][:200]}"
        return None if same(expected[1], bits) else f"{target} gives {bits}, the reference {expected[1]}"
    isRefused = code == 1 and "error: " in errors and "internal error" not in errors and "out of bounds:" not in errors
    if not isRefused:
        return f"{target} ends with {code}: {errors[:300]}"
    if expected[0] == 0 and not any(refusal in errors for refusal in REFUSALS):
        return f"{target} refuses at run time what the reference computes: {errors[:300]}"
    return None


def check(seed, number):
    """(the complaint or None, kinds of steps, whether both compiled targets gave values, the reference's exit code)."""
    kernel = Kernel(seed, number)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = folder / "kernel.mlir"
        program.write_text(kernel.text())
        command = [runner.binary("ad-runner"), str(program), "--cache=off", "--numerics=reproducible"]
        for name, array in kernel.arguments().items():
            np.save(folder / f"{name}.npy", array)
            command.append(f"--arg={name}={folder / name}.npy")
        expected = outcome(command, folder, "reference")
        if expected[0] not in (0, 1, LACK_OF_MEMORY) or "custom op" in expected[2]:
            return f"the reference ends with {expected[0]}: {expected[2][:300]}", kernel.kinds, False, expected[0]
        found = {target: outcome(command, folder, target) for target in ("cpu", "gpu-sim")}
        wrong = [complaint(expected, each, target) for target, each in found.items()]
        gave = all(each[0] == 0 for each in found.values())
        return next((each for each in wrong if each), None), kernel.kinds, gave, expected[0]


def report(given, number, text):
    kernel = Kernel(given.seed, number)
    folder = pathlib.Path(given.out) / f"kernels-{given.seed}-{number}"
    path = runner.ROOT / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / "kernel.mlir").write_text("".join(f"// {line}\n" for line in text.splitlines()) + kernel.text())
    for name, array in kernel.arguments().items():
        np.save(path / f"{name}.npy", array)
    print(f"case {number}: {text.splitlines()[0][:300]}\n  {folder / 'kernel.mlir'}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    kinds, codes, values, failed = collections.Counter(), collections.Counter(), 0, 0
    batches = campaign.in_batches(lambda numbers: {number: check(given.seed, number) for number in numbers}, given)
    for number, (wrong, steps, gave, code) in batches:
        kinds.update(steps)
        codes[code] += 1
        values += gave
        if wrong:
            failed += 1
            if failed <= given.keep:
                report(given, number, wrong)
    print(f"steps: {', '.join(f'{kind} {kinds[kind]}' for kind in STEPS)}; the reference computed {codes[0]} and refused "
          f"{codes[1]}; {values} gave values on all targets")
    rare = campaign.rare_kinds(given, kinds, STEPS, MIN_SHARE, MIN_CASES, "have a step of kind")
    idle = given.count >= MIN_CASES and values < MIN_VALUES * given.count
    if idle:
        print("too few kernels gave values on the compiled targets")
    print(f"kernels: {given.count} run, {failed} failed")
    return bool(failed or rare or idle)


if __name__ == "__main__":
    sys.exit(main())
