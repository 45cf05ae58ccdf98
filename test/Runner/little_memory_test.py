# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Under limits on memory (ulimit -v), from the least with which it starts, each tool gives its results, or ends with
exit code 4 and says that memory is missing; Python raises an exception."""

import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(runner.binary("")).parent / "python"
FIRST = ROOT / "examples/first.mlir"
SECONDS = 60  # of one process, on a busy machine
STEP, STEPS = 3 << 20, 14
# Python has its own modules before the limit counts.
CALL = """
import resource, sys
import numpy as np
import adjoint
source, target, more = sys.argv[1:]
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(more)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    program = adjoint.compile(open(source).read(), target=target, cache="off", threads=2)
    print(program(np.ones(8, np.float32)))
except (MemoryError, adjoint.Error) as error:
    print(type(error).__name__)
"""
FUNCTION = """func.func @f{0}(%x: tensor<{1}x{2}xf32>, %w: tensor<{2}x{1}xf32>) -> tensor<{1}x{1}xf32> {{
  %d = ad.dot %x, %w : (tensor<{1}x{2}xf32>, tensor<{2}x{1}xf32>) -> tensor<{1}x{1}xf32>
  %t = ad.tanh %d : tensor<{1}x{1}xf32>
  return %t : tensor<{1}x{1}xf32>
}}
"""


def run(command, limit):
    """Exit code, output and errors under a limit in bytes."""
    def lower():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS,
                          preexec_fn=lower if limit else None)
    return done.returncode, done.stdout, done.stderr


def least_limit(tool):
    """Bytes with which the tool prints its help."""
    low, high = 0, 4 << 30
    while high - low > STEP // 2:
        middle = (low + high) // 2
        low, high = (low, middle) if run([tool, "--help"], middle)[0] == 0 else (middle, high)
    return high


def check_tool(command, must_lack=True):
    def check(folder):
        words = [str(word).replace("OUT", str(folder)) for word in command]
        expected, lacks = run(words, 0), 0
        assert expected[0] == 0, expected[2]
        least = least_limit(words[0])
        for limit in range(least, least + STEPS * STEP, STEP):
            code, output, errors = run(words, limit)
            lacks += code == 4
            good = code == 0 and output == expected[1] or code == 4 and "memory" in errors
            if not good:
                yield f"{limit >> 20} MiB: exit code {code}: {errors[:400]}"
        if must_lack and not lacks:
            yield f"memory was never missing from {least >> 20} MiB on"

    return check


def check_python(folder):
    command = ["env", "OPENBLAS_NUM_THREADS=1", f"PYTHONPATH={PYTHON}", sys.executable, "-c", CALL, FIRST, "cpu"]
    ends = set()
    # Below 16 MiB the C library ends the process.
    for more in (*range(16 << 20, STEPS * STEP, STEP), 1 << 30):
        code, output, errors = run([*command, more], 0)
        ends.add("Error" not in output)
        if code:
            yield f"{more >> 20} MiB more: exit code {code}: {errors[-400:]}"
    if ends != {False, True}:
        yield f"expected runs with and without results, got {ends}"


def make_checks(folder):
    tool = runner.binary
    many = folder / "many.mlir"
    many.write_text("".join(FUNCTION.format(n, 20 + n, 40 + n) for n in range(24)))
    adx = folder / "first.adx"
    subprocess.run([tool("ad-runner"), FIRST, "--target=gpu-sim", f"--emit={adx}"], check=True)
    values = ["--arg=x=normal:1", "--print"]
    yield "ad-opt", check_tool([tool("ad-opt"), many, "--ad-to-cpu", "-o", "OUT/lowered.mlir"])
    yield "ad-runner", check_tool([tool("ad-runner"), many, "--entry=f7", "--cache=off", "--emit=OUT/code.adx"])
    for target in "cpu", "reference", "gpu-sim":
        yield target, check_tool([tool("ad-runner"), FIRST, f"--target={target}", "--cache=off", *values], False)
    yield "adrt-run", check_tool([tool("adrt-run"), adx, *values], False)
    yield "ad-diff", check_tool([tool("ad-diff-programs"), "stages", FIRST, "--arg=x=normal:1"], False)
    if PYTHON.exists():
        yield "Python", check_python


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as made:
        sys.exit(checks.run_checks("little memory", list(make_checks(pathlib.Path(made)))))
