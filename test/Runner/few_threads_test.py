# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each tool, and Python, gives the same bits when the system lets it start none of its threads, or only the first few.
Work that needs a thread or a process of its own ends with an error. Nothing crashes or waits without an end."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = pathlib.Path(runner.binary("")).parent / "python"
ALLOWED = range(9)  # how many threads start
SECONDS = 60  # of one process, on a busy machine
CPUS = len(os.sched_getaffinity(0))  # a pool of one starts no thread
VALUES = ["--arg=x=normal:1", "--arg=w=normal:2", "--feed=f=normal:3"]
NO_WATCHDOG = "--timeout-kernel needs a thread, and none can be started"
NO_PROCESS = "raise the limit on processes (see ulimit -u)"
CALL = """
import sys
import numpy as np
import adjoint
source, target, out = sys.argv[1:]
x, w = (np.arange(rows * columns, dtype=np.float32).reshape(rows, columns) % 7 for rows, columns in ((96, 64), (64, 80)))
program = adjoint.compile(open(source).read(), target=target, cache="off", threads=8)
np.save(out, program(x, w, feeds={"f": lambda shape: np.ones(shape, np.float32)}, receives={})[0])
"""


def layer(number):
    return f"""
func.func private @layer{number}(%x: tensor<96x80xf32>) -> tensor<96x80xf32> {{
  %e = ad.exp %x : tensor<96x80xf32>
  %t = ad.tanh %e : tensor<96x80xf32>
  return %t : tensor<96x80xf32>
}}
"""


# Functions, which the passes treat on several threads; kernels long enough for the pool; a stream of received values.
LAYERS = 6
PROGRAM = """
func.func @main(%x: tensor<96x64xf32> {ad.name = "x"}, %w: tensor<64x80xf32> {ad.name = "w"})
    -> (tensor<96x80xf32> {ad.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = ad.dot %x, %w : (tensor<96x64xf32>, tensor<64x80xf32>) -> tensor<96x80xf32>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %s) -> tensor<96x80xf32> {
    %f = ad.feed "f" : tensor<80xf32>
    %b = ad.broadcast %f : tensor<80xf32> -> tensor<96x80xf32>
    %n = ad.add %v, %b : tensor<96x80xf32>
    ad.receive "n"(%n) : tensor<96x80xf32>
    scf.yield %n : tensor<96x80xf32>
  }
"""
NEXT = "  %y{} = func.call @layer{}(%{}) : (tensor<96x80xf32>) -> tensor<96x80xf32>\n"
PROGRAM += "".join(NEXT.format(n, n, f"y{n - 1}" if n else "y") for n in range(LAYERS))
PROGRAM += f"  return %y{LAYERS - 1} : tensor<96x80xf32>\n}}\n"
PROGRAM += "".join(map(layer, range(LAYERS)))

# Enough code for LLVM to compile it in parts.
SIZES = [(20 + number, 50 + 3 * number, 33 + number) for number in range(4)]
PARTS = "func.func @main({}) -> ({}) {{\n{}  return {} : {}\n}}\n".format(
    ", ".join(f'%x{n}: tensor<{m}x{k}xf32> {{ad.name = "x{n}"}}, %w{n}: tensor<{k}x{c}xf32> {{ad.name = "w{n}"}}'
              for n, (m, k, c) in enumerate(SIZES)),
    ", ".join(f"tensor<{m}x{c}xf32>" for m, k, c in SIZES),
    "".join(f"  %d{n} = ad.dot %x{n}, %w{n} : (tensor<{m}x{k}xf32>, tensor<{k}x{c}xf32>) -> tensor<{m}x{c}xf32>\n"
            f"  %t{n} = ad.tanh %d{n} : tensor<{m}x{c}xf32>\n" for n, (m, k, c) in enumerate(SIZES)),
    ", ".join(f"%t{n}" for n in range(len(SIZES))), ", ".join(f"tensor<{m}x{c}xf32>" for m, k, c in SIZES))
HOVER = ROOT / "test/Tools/ad-lsp-server.test"
AFFINE = ["--kernel=affine", "--grid=4", "--block=64", "--arg=out:f32:256", "--arg=out:f32:256", "--arg=i32:256",
          "--no-race-detection", "--threads=4", "--out=OUT/x.npy", "--out=OUT/y.npy"]


def preload(folder):
    library = folder / "few_threads.so"
    subprocess.run(["clang-22", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library,
                    HERE / "Inputs/few_threads.c", "-ldl"], check=True)
    return library


class Case:
    """A command, in which OUT stands for its folder of results; `refusal` is an error that it may end with. With no
    thread to start, `least` are refused, each time that the command wants one."""

    def __init__(self, name, command, variables=(), refusal=None, least=1, stdin=None):
        self.name, self.command, self.variables, self.refusal = name, command, dict(variables), refusal
        self.least, self.stdin = least, stdin

    def run(self, out, **limits):
        """Exit code, output, errors, the files of results, and how much did not start."""
        out.mkdir()
        refused = out.parent / f"{out.name}.refused"
        environment = {**os.environ, **self.variables, "OPENBLAS_NUM_THREADS": "1"}
        environment.update({name: str(value) for name, value in limits.items()}, AD_REFUSED=str(refused))
        command = [str(word).replace("OUT", str(out)) for word in self.command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment,
                              input=self.stdin and self.stdin.read_text())
        # The manifest of the folder has digests of the run.
        files = {path.name: path.read_bytes() for path in sorted(out.iterdir()) if path.suffix != ".json"}
        return done.returncode, done.stdout, done.stderr, files, refused.stat().st_size if refused.exists() else 0


def make_cases(folder):
    program, tool = folder / "program.mlir", runner.binary
    program.write_text(PROGRAM)
    parts = folder / "parts.mlir"
    parts.write_text(PARTS)
    adx = {target: folder / f"{target}.adx" for target in ("cpu", "gpu-sim")}
    for target, path in adx.items():
        subprocess.run([tool("ad-runner"), program, f"--target={target}", "--cache=off", f"--emit={path}"], check=True)
    values = [*VALUES, "--threads=8", "--out-dir=OUT"]
    yield Case("ad-opt", [tool("ad-opt"), program, "--ad-to-cpu", "-o", "OUT/lowered.mlir"], least=int(CPUS > 1))
    yield Case("ad-lsp-server", [tool("ad-lsp-server"), "-lit-test"], least=0, stdin=HOVER)
    yield Case("ad-gpu-emulate", [tool("ad-gpu-emulate"), ROOT / "test/Emulator/Inputs/elementwise.mlir", *AFFINE])
    for target in "cpu", "reference", "gpu-sim":
        yield Case(f"ad-runner {target}", [tool("ad-runner"), program, f"--target={target}", "--cache=off", *values])
    yield Case("ad-runner --emit", [tool("ad-runner"), program, "--cache=off", "--emit=OUT/code.adx"])
    # Those of the signals, of MLIR and of LLVM.
    yield Case("parts of a program", [tool("ad-runner"), parts, "--cache=off", "--emit=OUT/code.adx"],
               least=3 if CPUS > 1 else 1)
    for target, path in adx.items():
        yield Case(f"adrt-run {target}", [tool("adrt-run"), path, *values])
    yield Case("a watchdog", [tool("adrt-run"), adx["gpu-sim"], *values, "--timeout-kernel=1000"], refusal=NO_WATCHDOG)
    yield Case("ad-diff", [tool("ad-diff"), "stages", program, *VALUES])
    for target in ("cpu", "gpu-sim") if PYTHON.exists() else ():
        yield Case(f"Python {target}", [sys.executable, "-c", CALL, program, target, "OUT/y.npy"],
                   {"PYTHONPATH": str(PYTHON)})


def wrong_end(case, expected, found):
    """What is wrong with a run in which some threads could not start."""
    code, output, errors, files, refused = found
    if case.refusal and refused and code == 4 and case.refusal in errors:
        return None
    if code != expected[0]:
        return f"exit code {code}, expected {expected[0]}: {errors[:400]}"
    if files != expected[3] or output != expected[1]:
        return f"other results, {len(files)} of {len(expected[3])} files: {errors[:400]}"
    return None


def check(folder):
    library = preload(folder)
    for number, case in enumerate(checks.sample(make_cases(folder), 6)):
        expected = case.run(folder / f"{number}")
        if expected[0] != 0 or not (expected[3] or expected[1]):
            yield case.name, f"ended with {expected[0]} with all threads: {expected[2][:400]}"
            continue
        for count in ALLOWED if case.least else ALLOWED[:1]:
            try:
                found = case.run(folder / f"{number}-{count}", LD_PRELOAD=library, AD_THREADS_TO_START=count)
                wrong = wrong_end(case, expected, found)
                if count == 0 and found[-1] < case.least:
                    wrong = f"{found[-1]} threads were refused, expected {case.least}"
            except subprocess.TimeoutExpired:
                wrong = f"does not end in {SECONDS} seconds"
            yield f"{case.name}, {count} threads start", wrong


def check_processes(folder):
    """The linker and the runs of ad-diff are processes."""
    library, program = preload(folder), folder / "program.mlir"
    program.write_text(PROGRAM)
    commands = {4: [runner.binary("ad-runner"), program, "--cache=off", "--emit=OUT/code.adx"],
                2: [runner.binary("ad-diff"), "bisect", program, *VALUES, "--a=--numerics=fast", "--b=--fuse=single"]}
    for code, command in commands.items():
        found = Case("", command).run(folder / f"{code}", LD_PRELOAD=library, AD_NO_PROCESSES=1)
        good = found[0] == code and (NO_PROCESS if code == 4 else "could not be started") in found[2] and not found[3]
        yield f"{command[0]} without processes", None if good else f"exit code {found[0]}: {found[2][:400]}"


def check_all(folder):
    for each in check, check_processes:
        part = folder / each.__name__
        part.mkdir()
        yield from each(part)


if __name__ == "__main__":
    sys.exit(checks.run_cases("few threads", check_all))
