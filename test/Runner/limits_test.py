#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Numbers at the limits of options, and files that do not end: each works, or is an error of the command line with
advice; nothing is truncated silently, crashes or reads without an end. Closes with `limits: N run, N failed`."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", HERE.parents[1] / "build/release/bin"))
MATRIX = """func.func @main(%x: tensor<?x?xTYPE> {ad.name = "x"}) -> tensor<?x?xTYPE> {
  %y = ad.neg %x : tensor<?x?xTYPE>
  return %y : tensor<?x?xTYPE>
}
"""
SMALL = ["--dim", "x.0=1", "--dim", "x.1=3"]
HUGE = "99999999999999999999"
DONE = 0, ""
SIZES = "expected --dim NAME.AXIS=N with numbers from 0 to 9223372036854775807, found"
SECONDS = "expected --timeout-kernel with a number of seconds from 1e-9 to 1e9, found"
SEED = "with a SEED from 0 to 18446744073709551615"
SCALE = "with a SCALE that f64 has"


def run(tool, program, *options, **keywords):
    """Exit code and errors; a program that does not end has neither."""
    try:
        done = subprocess.run([BIN / tool, program, *options], capture_output=True, text=True, timeout=60, **keywords)
    except subprocess.TimeoutExpired:
        return None, "it does not end"
    return done.returncode, done.stderr


def expect(name, answer, code, text=""):
    good = answer[0] == code and text in answer[1] and (code != 0 or not answer[1])
    return name, None if good else f"expected exit code {code} and '{text}', got {answer[0]}: {answer[1][:300]}"


def sizes(program, tool):
    cases = {"-1": SIZES, HUGE: SIZES, "9223372036854775808": SIZES, "1e3": SIZES, "0x10": SIZES, "nan": SIZES,
             "": SIZES,
             "9223372036854775807": "is too large", "4611686018427387904": "is too large",
             "1099511627776": "not enough memory"}
    for size, text in cases.items():
        code = 4 if text == "not enough memory" else 2
        yield expect(f"size {size}", run(tool, program, "--arg", "x=zeros", "--dim", f"x.0={size}", "--dim", "x.1=2"),
                     code, text)
    for rows, columns in ("4294967296", "4294967296"), ("3037000500", "3037000500"), ("0", "9223372036854775807"):
        answer = run(tool, program, "--arg", "x=zeros", "--dim", f"x.0={rows}", "--dim", f"x.1={columns}")
        yield expect(f"sizes {rows} x {columns}", answer, 2, "is too large for this machine")
    for axis, text in (HUGE, SIZES), ("-1", SIZES), ("4294967296", "has rank 2"):
        yield expect(f"axis {axis}", run(tool, program, "--arg", "x=zeros", *SMALL, "--dim", f"x.{axis}=2"), 2, text)
    yield expect("axis twice", run(tool, program, "--arg", "x=zeros", *SMALL, "--dim", "x.0=2"), 2,
                 "--dim x.0 is given twice")
    yield expect("no elements", run(tool, program, "--arg", "x=zeros", "--dim", "x.0=0", "--dim", "x.1=3"), *DONE)


def counts(program, tool):
    for option, low, high in ("--threads", 0, 1024), ("--repeat", 1, 10000000), ("--warmup", 0, 10000000):
        expected = f"expected {option} with a number from {low} to {high}, found"
        for count in str(low - 1), str(high + 1), "4294967296", "4294967297", HUGE, "1e2", "0x10", "nan":
            yield expect(f"{option} {count}", run(tool, program, "--arg", "x=zeros", *SMALL, option, count), 2,
                         expected)
        others = ["--repeat", "1"] if option == "--warmup" else []
        yield expect(f"{option} {low}", run(tool, program, "--arg", "x=zeros", *SMALL, option, str(low), *others),
                     *DONE)


def seconds(program, tool, *target):
    for time in "1e300", "1e-300", "5e-324", "1e-10", "1e-400", "1e9999", "nan", "inf", "-1", "0", "-0", "1s", "1e10":
        answer = run(tool, program, *target, "--arg", "x=zeros", *SMALL, "--timeout-kernel", time)
        yield expect(f"{time} seconds", answer, 2, SECONDS)
    for time in "1e9", "60":
        yield expect(f"{time} seconds", run(tool, program, *target, "--arg", "x=zeros", *SMALL, "--timeout-kernel",
                                            time), *DONE)


def seeds(program, tool, *target):
    shuffled = [*target, "--arg", "x=zeros", *SMALL, "--schedule", "shuffled", "--seed"]
    for seed in "-1", "4294967296", HUGE, "1e3", "nan":
        yield expect(f"--seed {seed}", run(tool, program, *shuffled, seed), 2,
                     "expected --seed with a number from 0 to 4294967295, found")
    for seed in "0", "4294967295":
        yield expect(f"--seed {seed}", run(tool, program, *shuffled, seed), *DONE)


def random_floats(program, tool):
    cases = {"normal:" + HUGE: SEED, "normal:-1": SEED, "normal:18446744073709551616": SEED, "normal:1e3": SEED,
             "normal:": SEED,
             "normal:1:inf": SCALE, "normal:1:nan": SCALE, "uniform:1:1e400": SCALE, "normal:1:1e-400": SCALE,
             "normal:1:": SCALE,
             "normal:1:2:3": "expected normal:SEED[:SCALE], found",
             "normal:1:1e39": "a SCALE of 1e+39 is too large for random values of type f32",
             "uniform:1:1e308": "is too large for",
             "uniform:1:1e-60": "a SCALE of 1e-60 is too small for random values of type f32"}
    for source, text in cases.items():
        yield expect(source, run(tool, program, "--arg", f"x={source}", *SMALL), 2, text)
    for source in "normal:18446744073709551615", "normal:1:0", "normal:1:-5", "uniform:1:1e38", "uniform:0:1e-30":
        yield expect(source, run(tool, program, "--arg", f"x={source}", *SMALL), *DONE)


def random_integers(program, tool):
    below = "random values of type i32 need a SCALE from 1 to 2147483648 without a fraction"
    for scale in "1e10", "1e300", "2147483649", "0", "-7", "0.5", "2.5":
        yield expect(f"integers below {scale}", run(tool, program, "--arg", f"x=uniform:1:{scale}", *SMALL), 2, below)
    for scale in "1", "2147483648":
        yield expect(f"integers below {scale}", run(tool, program, "--arg", f"x=uniform:1:{scale}", *SMALL), *DONE)


def devices(tool):
    for device in "/dev/zero", "/dev/urandom", "/dev/null":
        yield expect(f"{tool} {device}", run(tool, device), 2,
                     f"cannot read '{device}': it is a device, expected a file or a pipe")
    yield expect(f"{tool} in a folder", run(tool, "/"), 2, "cannot read '/'")


def pipes(source, compiled, folder):
    """Pipes work, with and without names, and need not end."""
    values = ["--arg", "x=zeros", *SMALL]
    for tool, program in ("ad-runner", source), ("adrt-run", compiled):
        for name in "-", "/dev/stdin":
            with subprocess.Popen(["cat", program], stdout=subprocess.PIPE) as pipe:
                yield expect(f"{tool} {name}", run(tool, name, *values, stdin=pipe.stdout), *DONE)
        fifo = folder / f"{tool}.fifo"
        os.mkfifo(fifo)
        with subprocess.Popen(["cp", program, fifo]):
            yield expect(f"{tool} from a named pipe", run(tool, fifo, *values), *DONE)
    head = compiled.read_bytes()[:24]
    endless = [("adrt-run", "cat /dev/zero", "does not begin as an .adx file does"),
               ("ad-runner", "yes", "is longer than 268435456 bytes"),
               ("adrt-run", f"printf '{''.join(f'{chr(92)}{byte:03o}' for byte in head)}'; cat /dev/zero",
                "the file is damaged")]
    for tool, command, text in endless:
        with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as pipe:
            answer = run(tool, "/dev/stdin", stdin=pipe.stdout)
            pipe.stdout.close()
            yield expect(f"{tool} from {command[:20]}", answer, 2, text)
            pipe.terminate()


def weights(source, compiled, folder):
    """A size that would do nothing is refused with --emit, and adrt-run refuses a size that contradicts a stored argument."""
    path = folder / "weights.adx"
    yield expect("size of no weight", run("ad-runner", source, "--emit", path, "--dim", "x.0=1"), 2,
                 "--emit runs nothing: give --dim to adrt-run, or argument 'x' a source")
    yield expect("size of a weight", run("ad-runner", source, "--emit", path, "--arg", "x=arange", *SMALL), *DONE)
    yield expect("the same size", run("adrt-run", path, *SMALL), *DONE)
    yield expect("another size", run("adrt-run", path, "--dim", "x.0=2"), 2,
                 "--dim x.0=2: the program has size 1 there")
    yield expect("over a weight", run("adrt-run", path, "--dim", "x.0=2", "--dim", "x.1=2", "--arg", "x=zeros"), *DONE)


def cases(folder):
    programs = {}
    for kind in "f32", "i32":
        source = folder / f"{kind}.mlir"
        source.write_text(MATRIX.replace("TYPE", kind))
        for target in "cpu", "gpu-sim":
            programs[kind, target] = folder / f"{kind}.{target}.adx"
            subprocess.run([BIN / "ad-runner", source, "--target", target, "--emit", programs[kind, target]],
                           check=True)
        programs[kind] = source
    for tool, floats, integers, emulated in (
            ("ad-runner", programs["f32"], programs["i32"], (programs["f32"], "ad-runner", "--target", "gpu-sim")),
            ("adrt-run", programs["f32", "cpu"], programs["i32", "cpu"], (programs["f32", "gpu-sim"], "adrt-run"))):
        for group in (sizes(floats, tool), counts(floats, tool), seconds(*emulated), seeds(*emulated),
                      random_floats(floats, tool), random_integers(integers, tool), devices(tool)):
            for name, wrong in group:
                yield f"{tool}: {name}", wrong
    yield from pipes(programs["f32"], programs["f32", "cpu"], folder)
    yield from weights(programs["f32"], programs["f32", "cpu"], folder)


def main():
    return checks.run_cases("limits", cases)


if __name__ == "__main__":
    sys.exit(main())
