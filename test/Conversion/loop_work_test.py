# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What one iteration of a reverse loop writes does not depend on how many iterations there are.

Loops read rows of a tensor of as many rows as there are iterations, or replace them. The memory plan says which bytes
the kernels and copies in the bodies of all loops write: results that are not updates in place, and each `ad.copy`.
Their number must be the same for two trip counts."""

import math
import os
import pathlib
import re
import subprocess
import sys

OPT = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-opt")
PIPELINE = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion", "--ad-to-cpu-kernels"]
TRIPS = (24, 48)
WIDTH = 16

HEAD = """func.func private @loss({arguments}) -> tensor<f32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant {trips} : index
  %m = arith.constant {all_but_one} : index
"""
ROW = "tensor<1x16xf32>"
LOOP = "  %h = scf.for %i = %c0 to %{to} step %c1 iter_args(%a = %w) -> " + ROW + " {{\n"
END = "    scf.yield %t : " + ROW + "\n  }}\n"
TAIL = """  %y = ad.reduce_sum %h axes [0, 1] : {result} -> tensor<f32>
  return %y : tensor<f32>
}}
func.func @main({arguments}) -> ({types}) {{
  %y, %dx, %dw = ad.value_and_grad @loss(%x, %w) wrt [0, 1] : ({inputs}) -> ({types})
  return %y, %dx, %dw : {types}
}}
"""


def read(name, at, of="x"):
    return f"    %{name} = ad.dynamic_slice %{of}[%{at}, %c0] : {{x}} -> {ROW}\n"


def step(*parts):
    lines, value = "", "a"
    for part in parts:
        lines += f"    %{part}_m = ad.mul %{value}, %{part} : {ROW}\n"
        value = f"{part}_m"
    return lines + f"    %t = ad.tanh %{value} : {ROW}\n"


NEXT = "    %j = arith.addi %i, %c1 : index\n"
TWO = LOOP.replace("{to}", "m") + NEXT + read("r", "i") + read("s", "j") + step("r", "s") + END
BODIES = {
    "one row": LOOP.replace("{to}", "n") + read("r", "i") + step("r") + END,
    "two rows": TWO,
    "one row twice": LOOP.replace("{to}", "n") + read("r", "i") + read("s", "i") + step("r", "s") + END,
    "the same rows": LOOP.replace("{to}", "n") + f"    %r = ad.slice %x [3, 0] strides [1, 1] : {{x}} -> {ROW}\n"
                     + step("r") + END,
    "every second element": LOOP.replace("{to}", "n")
    + f"""    %p = ad.slice %x [3, 0] strides [2, 2] : {{x}} -> tensor<2x8xf32>
    %r = ad.reshape %p : tensor<2x8xf32> -> {ROW}
""" + step("r") + END,
    "overlapping windows": LOOP.replace("{to}", "m")
    + f"""    %p = ad.dynamic_slice %x[%i, %c0] : {{x}} -> tensor<2x16xf32>
    %r = ad.reduce_sum %p axes [0] keep_dims : tensor<2x16xf32> -> {ROW}
""" + step("r") + END,
    "two loops": TWO.replace("%h", "%g") + TWO.replace("iter_args(%a = %w)", "iter_args(%a = %g)"),
    "inner loop": LOOP.replace("{to}", "m")
    + f"""    %t = scf.for %k = %c0 to %c2 step %c1 iter_args(%b = %a) -> {ROW} {{{{
      %j = arith.addi %i, %k : index
""" + read("r", "j") + f"""      %p = ad.mul %b, %r : {ROW}
      %u = ad.sin %p : {ROW}
      scf.yield %u : {ROW}
    }}}}
""" + END,
    "branch": LOOP.replace("{to}", "n") + f"""    %low = arith.cmpi ult, %i, %c2 : index
    %t = scf.if %low -> ({ROW}) {{{{
""" + read("r", "i") + f"""      %p = ad.mul %a, %r : {ROW}
      %q = ad.sin %p : {ROW}
      scf.yield %q : {ROW}
    }}}} else {{{{
      %u = ad.cos %a : {ROW}
      scf.yield %u : {ROW}
    }}}}
""" + END,
    "branch in a branch": LOOP.replace("{to}", "m") + f"""    %low = arith.cmpi ult, %i, %c2 : index
    %t = scf.if %low -> ({ROW}) {{{{
      %none = arith.cmpi eq, %i, %c0 : index
""" + read("r", "i") + f"""      %s = scf.if %none -> ({ROW}) {{{{
        scf.yield %a : {ROW}
      }}}} else {{{{
        %j = arith.addi %i, %c1 : index
    """ + read("v", "j") + f"""        %u = ad.cos %v : {ROW}
        scf.yield %u : {ROW}
      }}}}
      %p = ad.mul %s, %r : {ROW}
      %q = ad.sin %p : {ROW}
      scf.yield %q : {ROW}
    }}}} else {{{{
""" + read("v", "i") + f"""      %u = ad.cos %v : {ROW}
      scf.yield %u : {ROW}
    }}}}
""" + END,
    "row after a branch": LOOP.replace("{to}", "m") + f"""    %low = arith.cmpi ult, %i, %c2 : index
    %b = scf.if %low -> ({ROW}) {{{{
""" + read("r", "i") + f"""      scf.yield %r : {ROW}
    }}}} else {{{{
      scf.yield %a : {ROW}
    }}}}
""" + NEXT + read("s", "j") + step("b", "s") + END,
    "replaced rows": """  %h = scf.for %i = %c0 to %m step %c1 iter_args(%c = %x) -> {x} {{
    %a = ad.dynamic_slice %c[%i, %c0] : {x} -> """ + ROW + "\n" + NEXT + read("r", "j", "c") + step("r", "w") + """
    %d = ad.dynamic_update_slice %c, %t[%j, %c0] : {x}, """ + ROW + """
    scf.yield %d : {x}
  }}
""",
}


def program(body, trips):
    x = f"tensor<{trips}x{WIDTH}xf32>"
    inputs = f"{x}, {ROW}"
    return (HEAD + body + TAIL).format(
        x=x, trips=trips, all_but_one=trips - 1, arguments=f"%x: {x}, %w: {ROW}", inputs=inputs,
        types=f"tensor<f32>, {inputs}", result=x if "-> {x} {{" in body else ROW)


def size_of(type_text):
    """Bytes of a tensor of f32, 0 of anything else."""
    sizes = re.fullmatch(r"tensor<((?:\d+x)*)f32>", type_text)
    return 4 * math.prod(int(size) for size in sizes[1].split("x")[:-1]) if sizes else 0


def numbers(name, text):
    found = re.search(rf"\b{name} = array<i64: ([^>]*)>", text)
    return [int(number) for number in found[1].split(",")] if found else []


def destinations(line):
    return re.search(r" into\(([^)]*)\)", line)[1].split(", ")


def types_of(text):
    return [part.strip() for part in re.split(r",\s*(?![^<]*>)", text.strip().strip("()")) if part.strip()]


def names_of(line):
    """The results of an operation, one by one."""
    left = line.split(" = ")[0].strip()
    base, _, count = left.partition(":")
    return [f"{base}#{k}" for k in range(int(count))] if count else [left]


class Plan:
    """Counts what the bodies of loops write."""

    def __init__(self, text):
        self.buffers, self.copies, self.loops, self.written = {}, set(), 0, 0
        self.lines = [line.strip() for line in text[text.index("func.func @main"):].splitlines()]
        self.run(1, len(self.lines))

    def end_of(self, start):
        """The line that closes what line `start` opens, passing by an else."""
        depth = 0
        for number in range(start, len(self.lines)):
            line = self.lines[number]
            depth += line.endswith("{") - line.startswith("}")
            if depth == 0:
                return number
        raise AssertionError("no end")

    def run(self, start, end):
        number = start
        while number < end:
            line = self.lines[number]
            if " = scf." in line and line.endswith("{"):
                number = self.run_region(number)
            elif "ad.launch" in line:
                self.run_launch(line)
            elif "= ad.copy" in line:
                self.run_copy(line)
            elif "= ad.reshape" in line or "= tensor.cast" in line:
                operand = re.search(r"(?:ad.reshape|tensor.cast) ([^ ]+)", line)[1]
                self.buffers[names_of(line)[0]] = self.buffers.get(operand)
            number += 1

    def run_launch(self, line):
        inputs = re.search(r"@\w+\(([^)]*)\)", line)[1].split(", ")
        buffers, tied = destinations(line), numbers("tied", line)
        types = types_of(line.rsplit("->", 1)[1])
        for k, (name, type_text) in enumerate(zip(names_of(line), types, strict=True)):
            in_place = tied and tied[k] >= 0 and self.buffers.get(inputs[tied[k]]) == buffers[k]
            self.written += size_of(type_text) if self.loops and not in_place else 0
            self.buffers[name] = buffers[k]

    def run_copy(self, line):
        source, type_text = re.search(r"ad\.copy (\S+) .* : (.*)$", line).groups()
        assert source not in self.copies, line  # no carries are swapped
        name = names_of(line)[0]
        self.copies.add(name)
        self.buffers[name] = destinations(line)[0]
        self.written += size_of(type_text) if self.loops else 0

    def run_region(self, start):
        header, end = self.lines[start], self.end_of(start)
        is_loop = " = scf.for " in header
        if is_loop:
            carried = [pair.split(" = ") for pair in re.search(r"iter_args\((.*)\) -> ", header)[1].split(", ")]
            for name, init in carried:
                self.buffers[name] = self.buffers.get(init)
        self.loops += is_loop
        block = start + 1
        for number in range(start + 1, end + 1):
            closes = number == end or (self.lines[number] == "} else {" and self.end_of(start) == end
                                       and self.depth(start, number) == 0)
            if closes:
                self.run(block, number - 1)
                yielded = self.lines[number - 1].removeprefix("scf.yield ").split(" : ")[0].split(", ")
                block = number + 1
        self.loops -= is_loop
        for name, value in zip(names_of(header), yielded, strict=True):
            self.buffers[name] = self.buffers.get(value)
        return end

    def depth(self, start, number):
        lines = self.lines[start:number]
        return sum(line.endswith("{") - line.startswith("}") for line in lines) - 1


def written(body, trips):
    done = subprocess.run([OPT, "-", *PIPELINE], input=program(body, trips), capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return Plan(done.stdout).written


def main():
    failed = 0
    for name, body in BODIES.items():
        few, many = (written(body, trips) for trips in TRIPS)
        whole = TRIPS[0] * WIDTH * 4
        if few != many or not 0 < few:
            failed += 1
            print(f"{name}: an iteration of each loop writes {few} bytes with {TRIPS[0]} iterations, but {many} with "
                  f"{TRIPS[1]}; the tensor has {whole}")
    print(f"{len(BODIES)} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
