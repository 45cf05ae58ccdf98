#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each call of a fake CUDA driver fails in one run: the error names the call, and after a launch also the kernel and
its location in the source; everything that was created is destroyed. A device with too little memory is an error with
the bytes that were wanted and those that there are. Closes with `driver: N run, N failed`."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
# Feeds and received values, iterations that become graphs, one of which is updated, and measured runs of an argument that is
# overwritten.
PROGRAMS = {"cuda-transfers.mlir": ["--feed", "f=arange"],
            "cuda-graphs.mlir": ["--entry", "numbered", "--fuse", "single", "--arg", "x=zeros"],
            "bench.mlir": ["--entry", "donated", "--arg", "x=zeros", "--fuse", "single", "--bench", "--repeat", "2"]}
LIBRARY = BIN.parent / "lib/libad-fake-cuda.so"
# Errors of these calls are ignored: the process is about to end.
RELEASES = {"cuMemFree", "cuMemFreeHost", "cuEventDestroy", "cuStreamDestroy", "cuModuleUnload",
            "cuDevicePrimaryCtxRelease",
            "cuGraphDestroy", "cuGraphExecDestroy"}
# The memory of the device in bytes; no program needs the last.
SIZES = [0, *(1 << power for power in range(2, 15)), 1 << 30]
LACK = re.compile(r"error: (?:'[\w.]+' op )?the device has not enough memory for .*?(\d+) bytes.*: (\d+) of (\d+) bytes are free$")
# If this call fails, the code is for the oldest chip, which runs everywhere.
QUERIES = {"cuDeviceGetAttribute"}
# Without graphs kernels are launched one by one.
GRAPHS = {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode", "cuGraphInstantiateWithFlags",
          "cuGraphExecKernelNodeSetParams"}
LOADING = {"cuInit": "cuInit", "cuDeviceGetCount": "the driver finds no GPU"}
MIN_CALLS = {"cuda-transfers.mlir": 24, "cuda-graphs.mlir": 20, "bench.mlir": 20}


def run(program, failing, memory=None):
    command = [BIN / "ad-runner", ROOT / "test/Runner" / program, "--target", "cuda", *PROGRAMS[program]]
    environment = {**os.environ, "ADJOINT_LIBCUDA": str(LIBRARY), "AD_FAKE_CUDA": failing}
    if memory is not None:
        environment["AD_FAKE_CUDA_MEMORY"] = str(memory)
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def calls(text):
    return re.findall(r"^fake: (cu\w+)", text, re.M)


def complaint(program, call):
    done = run(program, call)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    left = re.findall(r"cuDevicePrimaryCtxRelease (\d+) left|(fake: \w+ of something unknown)", done.stderr)
    if any(count != "0" for count, _ in left):
        return f"not all is given back: {done.stderr[-600:]}"
    if call in GRAPHS:
        warned = re.search(rf"warning: .*{program}:\d+:\d+: kernels are launched one by one: {call}: CUDA_ERROR_FAKE",
                           done.stderr)
        launched = "cuLaunchKernel" in calls(done.stderr.partition("warning:")[2])
        return None if done.returncode == 0 and warned and launched else f"ended with {done.returncode}, no warning or no launch: {errors}"
    if call in RELEASES | QUERIES:
        return None if done.returncode == 0 else f"ended with {done.returncode}: {errors}"
    if done.returncode != 4 or len(errors) != 1:
        return f"ended with {done.returncode}: {errors}"
    if LOADING.get(call, f"{call}: CUDA_ERROR_FAKE") not in errors[0]:
        return f"does not name the call: {errors}"
    # An error of a call after a launch may be the kernel's fault.
    launched = "cuLaunchKernel" in calls(done.stderr)
    located = re.match(rf".*{program}:\d+:\d+: error: .*after kernel '\w+'", errors[0])
    return f"has no kernel or no location: {errors}" if launched and not located else None


def complaint_about_memory(program, size):
    done = run(program, "", size)
    if size == SIZES[-1]:
        return None if done.returncode == 0 else f"ended with {done.returncode}: {done.stderr[-300:]}"
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    found = LACK.search(errors[0]) if len(errors) == 1 else None
    if not found:
        return None if done.returncode == 0 and size else f"ended with {done.returncode}: {errors}"
    wanted, free, total = map(int, found.groups())
    good = done.returncode == 4 and free < wanted and free <= total == size
    return None if good else f"ended with {done.returncode}: {errors}"


def main():
    total = failed = 0
    for program in PROGRAMS:
        normal = run(program, "")
        every = sorted(set(calls(normal.stderr)))
        if normal.returncode or len(every) < MIN_CALLS[program]:
            failed += 1
            print(f"{program} ended with {normal.returncode} and made {len(every)} calls: {normal.stderr[-500:]}")
        for call in every:
            wrong = complaint(program, call)
            if wrong:
                failed += 1
                print(f"{program}: {call}: {wrong}", flush=True)
        for size in SIZES:
            wrong = complaint_about_memory(program, size)
            if wrong:
                failed += 1
                print(f"{program}: {size} bytes: {wrong}", flush=True)
        total += len(every) + len(SIZES)
    print(f"driver: {total} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
