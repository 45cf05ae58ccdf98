#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each call of the CUDA driver is made to fail in its turn, with a library in the driver's place: the error names the call, behind a
launch also the kernel and its place in the source, and all that was made is given back. Closes with `driver: N run, N failed`."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PROGRAM = ROOT / "test/Runner/cuda-transfers.mlir"
LIBRARY = BIN.parent / "lib/libad-fake-cuda.so"
# Nobody can repair these, and the process is about to end.
RELEASES = {"cuMemFree", "cuMemFreeHost", "cuEventDestroy", "cuStreamDestroy", "cuModuleUnload", "cuDevicePrimaryCtxRelease"}
MEMORY = {"cuMemAlloc": "the device has not enough memory for", "cuMemHostAlloc": "there is not enough memory for"}
# Without an answer the code is for the oldest chip, which runs everywhere.
ASKED = {"cuDeviceGetAttribute"}
LOADING = {"cuInit": "cuInit", "cuDeviceGetCount": "the driver finds no GPU"}
LEAST_CALLS = 18


def run(failing):
    command = [BIN / "ad-runner", PROGRAM, "--target", "cuda", "--feed", "f=arange"]
    environment = {**os.environ, "ADJOINT_LIBCUDA": str(LIBRARY), "AD_FAKE_CUDA": failing}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def calls(text):
    return re.findall(r"^fake: (cu\w+)", text, re.M)


def complaint(call):
    done = run(call)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    left = re.findall(r"cuDevicePrimaryCtxRelease (\d+) left|(fake: \w+ of something unknown)", done.stderr)
    if any(count != "0" for count, _ in left):
        return f"not all is given back: {done.stderr[-600:]}"
    if call in RELEASES | ASKED:
        return None if done.returncode == 0 else f"ended with {done.returncode}: {errors}"
    if done.returncode != (4 if call in LOADING else 2) or len(errors) != 1:
        return f"ended with {done.returncode}: {errors}"
    if {**MEMORY, **LOADING}.get(call, f"{call}: CUDA_ERROR_FAKE") not in errors[0]:
        return f"does not name the call: {errors}"
    # What was asked for behind a launch may be the kernel's fault.
    launched = "cuLaunchKernel" in calls(done.stderr)
    located = re.match(rf".*{PROGRAM.name}:\d+:\d+: error: .*behind kernel 'elementwise_0'", errors[0])
    return f"has no kernel or no place: {errors}" if launched and call not in MEMORY and not located else None


def main():
    normal = run("")
    every = sorted(set(calls(normal.stderr)))
    failed = 0
    if normal.returncode or len(every) < LEAST_CALLS:
        failed += 1
        print(f"the program ended with {normal.returncode} and made {len(every)} calls: {normal.stderr[-500:]}")
    for call in every:
        wrong = complaint(call)
        if wrong:
            failed += 1
            print(f"{call}: {wrong}", flush=True)
    print(f"driver: {len(every)} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
