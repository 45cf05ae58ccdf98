# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Installs the package into a folder of its own and builds an outside CMake project against it, whose program gives the sum of three times
a tensor and its gradient."""

import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")).resolve().parent
PROJECT = pathlib.Path(__file__).resolve().parent / "project"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def embed(folder):
    prefix, build = folder / "prefix", folder / "build"
    if run("cmake", "--install", BUILD, "--prefix", prefix).returncode:
        return False
    configure = ["cmake", "-G", "Ninja", "-S", PROJECT, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix};/usr/lib/llvm-22"]
    configure += ["-DCMAKE_CXX_COMPILER=clang++-22", "-DCMAKE_C_COMPILER=clang-22"]
    configure += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22", "-DCMAKE_BUILD_TYPE=Release"]
    if run(*configure).returncode or run("cmake", "--build", build).returncode:
        return False
    done = run(build / "embedder")
    # The sum of 3 x for x = (1, 2, 3.5, -4), then its gradient.
    if done.stdout.splitlines() != ["7.5 3 3 3 3 ", "embedded: differentiated and lowered"]:
        print(f"embedder: other values than expected: {done.stdout}")
        return False
    return done.returncode == 0


def main():
    with tempfile.TemporaryDirectory() as name:
        failed = 0 if embed(pathlib.Path(name)) else 1
    print(f"embedding: 1 run, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
