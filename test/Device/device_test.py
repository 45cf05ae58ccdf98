#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The bundle for machines with a GPU (bundle.py), made for the emulated one: its check passes, and names a result that
differs, one that leaves its bound, and a program that does not run. What is made for a GPU needs no newer CPU. Packs
that fail leave nothing."""

import functools
import json
import shutil
import subprocess
import sys

import bundles
from bundles import BIN, ROOT

import numpy as np  # isort: skip

import adx
import canonical
import checks
import gpu_kernels
import gpu_make
import judge

# What x86-64-v3 has, by LLVM's names.
FEATURES = set("64bit avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 "
               "x87 xsave".split())
NO_DEVICE = 4


def check(made):
    done = subprocess.run([sys.executable, made / "check.py"], capture_output=True, text=True, cwd=made.parent,
                          env=bundles.environment())
    return done.returncode, done.stdout + done.stderr


def unchanged(only, least, folder):
    code, said = check(bundles.make(folder / "bundle", only))
    if code or " 0 failed" not in said or int(said.split("device: ")[1].split()[0]) < least:
        return f"expected at least {least} programs that pass: {said}"
    return None


def named(only, damage, expected, folder, expected_code=1):
    made = bundles.make(folder / "bundle", only)
    damage(made)
    code, said = check(made)
    return None if code == expected_code and expected in said else f"exit code {code}, expected '{expected}': {said}"


def change_manifest(change, made):
    manifest = json.loads((made / "manifest.json").read_text())
    for case in manifest["cases"]:
        change(case)
    (made / "manifest.json").write_text(json.dumps(manifest))


def expect_other_bits(case):
    case["results"] = {name: digest[::-1] for name, digest in case["results"].items()}


def expect_another_result(case):
    case["results"]["more"] = ""


def expect_exactness(case):
    for variant in case["variants"]:
        variant["bound"] = {**variant["bound"], "relative": 0, "absolute": -1}


def truncate(made):
    for file in made.glob("cases/*/program.adx"):
        file.write_bytes(file.read_bytes()[:-1])


def refuse_to_start(made, text):
    """What the loader of an older system does, or the kernel of one for another CPU."""
    (made / "adrt-run").write_text(text)


def canonical_bits(folder):
    """Another NaN is the same result; another zero, element, shape or type is not."""
    quiet, other = folder / "quiet.npy", folder / "other.npy"
    kinds = {"f64": ("<u8", 0x7FF8 << 48, 0xFFF0 << 48 | 1), "f32": ("<u4", 0x7FC00000, 0xFF800001),
             "f16": ("<u2", 0x7E00, 0xFC01),
             "bf16": ("<u2", 0x7FC0, 0xFF81), "f8E4M3FN": ("<u1", 0x7F, 0xFF), "f8E5M2": ("<u1", 0x7E, 0xFD)}
    for element, (word, one, another) in kinds.items():
        dtype = {"f64": "<f8", "f32": "<f4", "f16": "<f2"}.get(element, f"V{np.dtype(word).itemsize}")

        def digest(file, words, shape=(2, 2), dtype=dtype, word=word, element=element):
            np.save(file, np.array(words, word).view(dtype).reshape(shape))
            return canonical.digest(file, element)

        first = digest(quiet, [one, 1, 0, 2])
        if digest(other, [another, 1, 0, 2]) != first:
            yield f"{element}: another NaN is another result"
        infinity = canonical.LARGEST[element]
        sign = 1 << (8 * np.dtype(word).itemsize - 1)
        for words, shape in [([infinity, 1, 0, 2], (2, 2)), ([one, 1, sign, 2], (2, 2)), ([one, 1, 0, 3], (2, 2)),
                             ([one, 1, 0, 2], (4,))]:
            if digest(other, words, shape) == first:
                yield f"{element}: {words} in {shape} are the same result"
    np.save(other, np.zeros((2, 2), "<i4"))
    np.save(quiet, np.zeros((2, 2), "<f4"))
    if canonical.digest(other, "i32") == canonical.digest(quiet, "f32"):
        yield "another type is the same result"


def bounds(folder):
    """Values that leave the bound are named, of a result and of the one that is rounded once more, and so is another
    shape."""
    bound = {"element": "f32", "relative": 0.0, "absolute": 0.1}
    for name in ("expected", "given"):
        (folder / name).mkdir()

    def complaint(dot, total):
        for place, first, second in (("expected", np.zeros(3), np.zeros(3)), ("given", dot, total)):
            np.save(folder / place / "dot.npy", first.astype(np.float32))
            np.save(folder / place / "sum.npy", second.astype(np.float32))
        return judge.outside(bound, folder / "expected", folder / "given")

    near, far, none = np.array([0.05, 0, -0.05]), np.array([0, 0.2, 0]), np.array([0, np.nan, 0])
    wanted = [(near, near, None), (far, near, "dot.npy leaves"), (near, far, "sum.npy leaves"),
              (none, near, "dot.npy leaves"),
              (np.zeros(2), near, "dot.npy has the shape (2,), expected (3,)")]
    for dot, total, expected in wanted:
        found = complaint(dot, total)
        if (found is None) != (expected is None) or expected and expected not in found:
            yield f"expected {expected}, got {found}"


def made_for_other_cpus(folder):
    """What is packed for a GPU runs on its CPUs, too."""
    made = bundles.make(folder / "bundle", "dot-9x17x1", "cuda")
    kernel = next(gpu_kernels.kernels(gpu_kernels.SMALL))
    gpu_make.emit(BIN / "ad-runner", made, "kernel", kernel.program(), "cuda", "sm_90a", kernel.mode)
    files = sorted(made.glob("**/*.adx"))
    if len(files) != 2:
        yield f"expected a case and a kernel, got {files}"
    for file in files:
        if unexpected := set(adx.description(file)["features"]) - FEATURES:
            yield f"{file.name} needs {', '.join(sorted(unexpected))}"


def packing(folder, python):
    """scripts/gpu.sh with commands in place of those that set up, build and compile."""
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    (folder / "scripts" / "setup.sh").write_text("#!/bin/sh\n")
    with (folder / "scripts" / "common.sh").open("a") as common:
        common.write(f'build() {{ :; }}\nPYTHON=make\nmake() {{ {python}; }}\n')
    return subprocess.run(["bash", folder / "scripts" / "gpu.sh", "pack", folder / "pack"], capture_output=True,
                          text=True)


def refused_packs(folder):
    """A pack for an unknown chip is refused at once, in the words of ad-runner; one that fails, or is too large, leaves
    nothing; a whole one is named with its size."""
    done = subprocess.run(["bash", ROOT / "scripts" / "gpu.sh", "pack", folder / "pack", "--chip", "sm_99"],
                          capture_output=True, text=True)
    by_runner = subprocess.run([BIN / "ad-runner", "none.mlir", "--target=gpu-sim", "--chip=sm_99"],
                               capture_output=True, text=True).stderr
    said = done.stderr.removeprefix("gpu.sh: ").strip()
    if not done.returncode or done.stdout or not said or not by_runner.startswith(f"ad-runner: error: {said}"):
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}, by ad-runner: {by_runner}"
    for name, python, code, expected in [
            ("fails", 'mkdir -p "$folder/cases"; return 1', 1, "compiling the cases"),
            ("large", 'mkdir -p "$folder"; head -c 15100000 /dev/urandom >"$folder/data"', 1,
             "bytes, expected at most 15000000"),
            ("whole", 'mkdir -p "$folder/cases"; echo data >"$folder/cases/a.txt"', 0, "pack.tar.xz, 0.0 MB")]:
        (folder / name).mkdir()
        done = packing(folder / name, python)
        left = [file.name for file in (folder / name).glob("pack*")]
        if done.returncode != code or expected not in done.stdout + done.stderr or bool(left) != (code == 0):
            yield f"{name}: exit code {done.returncode}, {left}: {done.stdout}{done.stderr}"
    listed = subprocess.run(["tar", "-tf", folder / "whole" / "pack.tar.xz"], capture_output=True, text=True,
                            check=True).stdout
    if listed.split() != ["pack/cases/a.txt"]:
        yield f"the pack holds {listed}"


def refused_without_gpu(folder):
    """What would run on a GPU says that there is none, and where the driver was looked for."""
    made = bundles.make(folder / "bundle", "smoke-elementwise", "cuda")
    (made / "gpu.json").write_text('{"target": "cuda"}')
    nowhere = bundles.environment(ADJOINT_LIBCUDA=folder / "nowhere.so")
    for command in ([made / "run.py"], [ROOT / "benchmarks" / "gpu.py", "--from", made]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=nowhere)
        if (done.returncode != NO_DEVICE or "the driver cannot be loaded" not in done.stderr
                or "nowhere.so" not in done.stderr):
            yield f"{command[0].name}: exit code {done.returncode}, {done.stderr}"


def main():
    return checks.run_checks("device", checks.sample([
        ("programs", functools.partial(unchanged, "program-square", 1)),
        ("contractions", functools.partial(unchanged, "dot-40x72x104", 4)),
        ("random programs", functools.partial(unchanged, "graphs-8", 2)),
        ("canonical bits", canonical_bits),
        ("bounds", bounds),
        ("another bit", functools.partial(named, "dot-9x17x1", functools.partial(change_manifest, expect_other_bits),
                                          "differs from the reference in dot.npy, sum.npy")),
        ("a missing result", functools.partial(named, "dot-9x17x1",
                                               functools.partial(change_manifest, expect_another_result),
                                               "wrote ['dot', 'sum'], expected ['dot', 'more', 'sum']")),
        ("outside of the bound", functools.partial(named, "dot-40x72x104-tt-bf16-0",
                                                   functools.partial(change_manifest, expect_exactness),
                                                   "FAILED: dot-40x72x104-tt-bf16-0-fast: dot.npy leaves the bound")),
        ("a bound around nothing", functools.partial(named, "dot-40x72x104-tt-bf16-0",
                                                     functools.partial(change_manifest, expect_other_bits),
                                                     "fast: its reproducible run gives no results to compare with")),
        ("other CPUs", made_for_other_cpus),
        ("packs that fail", refused_packs),
        ("without a GPU", refused_without_gpu),
        *((f"adrt-run that does not start: {said}",
           functools.partial(named, "dot-9x17x1", functools.partial(refuse_to_start, text=text), said,
                             expected_code=NO_DEVICE))
          for said, text in {"GLIBC_2.36 not found": "#!/bin/sh\necho GLIBC_2.36 not found >&2; exit 1\n",
                             "Exec format error": "\x7fELF"}.items()),
        ("a damaged program", functools.partial(named, "dot-9x17x1", truncate, "exit code 2")),
    ], 3))


if __name__ == "__main__":
    sys.exit(main())
