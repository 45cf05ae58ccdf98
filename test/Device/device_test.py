#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The bundle for machines with a GPU, made for the emulated one: its check passes, and names a result that differs, one that leaves
its bound, and a program that does not run. The benchmark measures a small case. What is made for a GPU needs no newer processor."""

import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "Support"))
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import gpu  # noqa: E402
import run as packed  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
# What x86-64-v3 has, by LLVM's names.
FEATURES = set("64bit avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 "
               "x87 xsave".split())


def bundle(folder, only, target="gpu-sim"):
    made = folder / "bundle"
    subprocess.run([sys.executable, HERE / "bundle.py", made, "--target", target, "--only", only], check=True, capture_output=True)
    return made


def check(made):
    done = subprocess.run([sys.executable, made / "check.py"], capture_output=True, text=True, cwd=made.parent,
                          env={name: value for name, value in os.environ.items() if name != "ADJOINT_BIN"})
    return done.returncode, done.stdout + done.stderr


def unchanged(only, least, folder, damage=lambda made: None):
    made = bundle(folder, only)
    damage(made)
    code, said = check(made)
    if code or " 0 failed" not in said or int(said.split("device: ")[1].split()[0]) < least:
        return f"expected at least {least} cases that pass: {said}"
    return None


def named(only, damage, expected, folder, expected_code=1):
    made = bundle(folder, only)
    damage(made)
    code, said = check(made)
    return None if code == expected_code and expected in said else f"exit code {code}, expected '{expected}': {said}"


def change_bytes(made):
    for file in made.glob("cases/*/expected/*.npy"):
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)


def change_nans(made):
    """What another processor writes for NaN is no difference."""
    changed = 0
    for file in made.glob("cases/*/expected/*.npy"):
        array = np.load(file)
        if array.dtype == np.float32 and np.isnan(array).any():
            array.view(np.uint32)[np.isnan(array)] ^= 0x80000001
            np.save(file, array)
            changed += 1
    assert changed, "no case gives a NaN"


def change_values(made, name):
    for file in made.glob(f"cases/*-fast/expected/{name}.npy"):
        array = np.load(file)
        (array.view(np.uint16) if array.dtype.itemsize == 2 else array)[...] = 0
        np.save(file, array)


def change_shape(made):
    for file in made.glob("cases/*-fast/expected/dot.npy"):
        np.save(file, np.load(file)[1:])


def truncate(made):
    for file in made.glob("cases/*/program.adx"):
        file.write_bytes(file.read_bytes()[:-1])


def refuse_to_start(made, text):
    """What the loader of an older system does, or the kernel of one for another processor."""
    (made / "adrt-run").write_text(text)


def description(file):
    """The section of that name in a compiled program (docs/adx.md)."""
    content = file.read_bytes()
    for number in range(struct.unpack_from("<Q", content, 24)[0]):
        name, offset, length = struct.unpack_from("<16sQQ", content, 64 + 32 * number)
        if name.rstrip(b"\0") == b"description":
            return json.loads(content[offset:offset + length])
    raise RuntimeError(f"{file} has no description")


def made_for_other_processors(folder):
    """What is packed for a GPU runs on the processors beside it, too."""
    made = bundle(folder, "dot-9x17x1", "cuda")
    kernel = next(gpu.kernels(gpu.SMALL))
    gpu.emit(BIN / "ad-runner", made, "kernel", kernel.program(gpu.FEW), "cuda", "sm_90a", kernel.mode)
    files = sorted(made.glob("**/*.adx"))
    if len(files) != 2:
        yield f"expected a case and a kernel, got {files}"
    for file in files:
        if unexpected := set(description(file)["features"]) - FEATURES:
            yield f"{file.name} needs {', '.join(sorted(unexpected))}"


def measured(folder):
    """What the benchmark for GPUs says of a kernel, a training step and the digits on the emulated one, where no peer has to be
    installed."""
    gpu = [sys.executable, ROOT / "benchmarks" / "gpu.py"]
    subprocess.run([*gpu, "--target", "gpu-sim", "--make", folder / "made"], check=True)
    for case, ours in {"softmax f32 32x64": ["ours"], "gradient bf16 64x64": ["ours"], "training step, 1": ["ours", "ours-one-by-one"], "digits": ["ours", "ours-one-by-one"]}.items():
        command = [*gpu, "--from", folder / "made", "--rounds", "1", "--only", case, "--json", folder / "rows.json"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        rows = json.loads((folder / "rows.json").read_text())
        if len(rows) != 1 or not all(rows[0]["seconds"].get(name, 0) > 0 for name in ours):
            yield f"expected times of {case} for {ours}, got {rows}"


def failing_benchmark(folder):
    """A case that fails is named, the others are measured and written; a difference that noise hides fails too."""
    command = [sys.executable, ROOT / "benchmarks" / "gpu.py"]
    subprocess.run([*command, "--target", "gpu-sim", "--make", folder / "made"], check=True)
    number = [str(kernel) for kernel in gpu.kernels(gpu.SMALL)].index("softmax f32 32x64")
    (folder / "made" / f"kernel{number}-{gpu.FEW}.adx").write_bytes(b"")
    done = subprocess.run([*command, "--from", folder / "made", "--rounds", "1", "--only", "32x64", "--json", folder / "rows.json"],
                          capture_output=True, text=True)
    rows = [row["case"] for row in json.loads((folder / "rows.json").read_text())]
    if done.returncode != 1 or "FAILED: softmax f32 32x64: " not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    if rows != ["layer_norm f32 32x64", "gelu f32 32x64"]:
        yield f"wrote {rows}"
    if gpu.seconds_of_step(lambda count, repeat: count if repeat > 3 else 0, 8) != 1:
        yield "expected a second for a step"
    try:
        yield f"expected no difference, got {gpu.seconds_of_step(lambda count, repeat: 1 / count, 8)}"
    except gpu.Failed:
        pass


def start(folder, check, *options):
    """run.py beside a check.py of that text, where nvidia-smi finds a GPU. It takes Ctrl-C, which the background of a script, and what
    that starts, ignores."""
    shutil.copy(HERE / "run.py", folder)
    (folder / "check.py").write_text(check)
    (folder / "nvidia-smi").write_text("#!/bin/sh\necho A GPU, 1, 2, 3, 4\n")
    (folder / "nvidia-smi").chmod(0o755)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen([sys.executable, folder / "run.py", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})


def reported(folder):
    """The report is there when a part is over: done, interrupted or late; nothing follows when adrt-run does not start. Each case of the benchmark belongs to one part."""
    process = start(folder, "print('checked')", "--no-benchmark")
    process.communicate()
    if process.returncode or "checked" not in (folder / "report.md").read_text():
        yield f"exit code {process.returncode}, {(folder / 'report.md').read_text()}"
    process = start(folder, "import sys; sys.exit(4)")
    said, _ = process.communicate()
    if process.returncode != packed.NO_DEVICE or "benchmarks" in said:
        yield f"exit code {process.returncode}, {said}"
    # Goes on until it is killed, however long that takes on a busy machine; this process holds its input open.
    process = start(folder, "import sys; print('begun', flush=True); sys.stdin.read()")
    while process.stdout.readline() not in ("begun\n", ""):
        pass
    process.send_signal(signal.SIGINT)
    process.wait()
    said = (folder / "report.md").read_text()
    if process.returncode != packed.INTERRUPTED or "begun\ninterrupted\n" not in said:
        yield f"exit code {process.returncode}, {said}"
    report = packed.Report(folder / "late.md", "A report")
    with contextlib.redirect_stdout(None):
        code = packed.run("late", ["-c", "import time; time.sleep(60)"], report, 0.01)
    if not code or "FAILED: ran longer than 0.01 minutes" not in (folder / "late.md").read_text():
        yield f"exit code {code}, {(folder / 'late.md').read_text()}"
    for name, *_ in gpu.cases(folder, gpu.LARGE, [], "cuda"):
        if sum(part in name for part in packed.BENCHMARKS) != 1:
            yield f"'{name}' is not in one part"


def refused_packs(folder):
    """A pack for an unknown chip is refused at once, in the words of ad-runner; one that fails leaves nothing."""
    pack = ["bash", ROOT / "scripts" / "gpu.sh", "pack", folder / "pack"]
    done = subprocess.run([*pack, "--chip", "sm_99"], capture_output=True, text=True)
    by_runner = subprocess.run([BIN / "ad-runner", "none.mlir", "--target=gpu-sim", "--chip=sm_99"], capture_output=True, text=True).stderr
    said = done.stderr.removeprefix("gpu.sh: ").strip()
    if not done.returncode or done.stdout or not said or not by_runner.startswith(f"ad-runner: error: {said}"):
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}, by ad-runner: {by_runner}"
    if (folder / "pack").exists():
        yield "a pack that is refused leaves its folder"
    # The same script with commands in place of those that set up, build and compile.
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    (folder / "scripts" / "setup.sh").write_text("#!/bin/sh\n")
    (folder / "scripts" / "common.sh").open("a").write("build() { :; }\nPYTHON=fail\nfail() { mkdir -p \"$folder/cases\"; return 1; }\n")
    done = subprocess.run(["bash", folder / "scripts" / "gpu.sh", *pack[2:]], capture_output=True, text=True)
    if not done.returncode or "compiling the cases" not in done.stdout or (folder / "pack").exists():
        yield f"a pack that fails leaves its folder, or is not begun: {done.stdout}{done.stderr}"


def refused_without_gpu(folder):
    """What would run on a GPU says that there is none."""
    (folder / "gpu.json").write_text('{"target": "cuda"}')
    if pathlib.Path("/proc/driver/nvidia/version").exists():
        return
    commands = {"no driver of an NVIDIA GPU": [ROOT / "benchmarks" / "gpu.py", "--from", folder],
                "nvidia-smi finds no GPU": [HERE / "run.py", "--report", folder / "report.md"]}
    for said, command in commands.items():
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
        if done.returncode != 4 or said not in done.stderr:
            yield f"{command[0].name}: exit code {done.returncode}, {done.stderr}"


def main():
    return checks.run_checks("device", [
        ("programs", functools.partial(unchanged, "check-", 1)),
        ("contractions", functools.partial(unchanged, "dot-40x72x104", 2)),
        ("random programs", functools.partial(unchanged, "graphs-8", 2)),
        ("another NaN", functools.partial(unchanged, "graphs-16", 2, damage=change_nans)),
        ("another bit", functools.partial(named, "dot-9x17x1", change_bytes, "differs from the reference in dot.npy, sum.npy")),
        *((f"{name} outside of the bound",
           functools.partial(named, "dot-40x72x104-tt-bf16-0-fast", functools.partial(change_values, name=name), f"{name}.npy leaves the bound"))
          for name in ("dot", "sum")),
        ("another shape", functools.partial(named, "dot-40x72x104-tt-bf16-0-fast", change_shape, "dot.npy has the shape")),
        ("other processors", made_for_other_processors),
        ("the benchmark", measured),
        ("a failing benchmark", failing_benchmark),
        ("the report", reported),
        ("packs that fail", refused_packs),
        ("without a GPU", refused_without_gpu),
        *((f"adrt-run that does not start: {said}",
           functools.partial(named, "dot-9x17x1", functools.partial(refuse_to_start, text=text), said, expected_code=packed.NO_DEVICE))
          for said, text in {"GLIBC_2.36 not found": "#!/bin/sh\necho GLIBC_2.36 not found >&2; exit 1\n", "Exec format error": "\x7fELF"}.items()),
        ("a damaged program", functools.partial(named, "dot-9x17x1", truncate, "exit code 2")),
    ])


if __name__ == "__main__":
    sys.exit(main())
