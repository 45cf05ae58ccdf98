# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""full_disk.py PROGRAM FOLDER: a limit on the size of files has the effect of a full disk."""

import os
import resource
import shutil
import subprocess
import sys

program, folder = sys.argv[1:]
LIMIT = 100_000
shutil.rmtree(folder, ignore_errors=True)


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


command = ["ad-runner", program, "--arg", "start=zeros", "--out-dir", folder]
runner = subprocess.run(command, stderr=subprocess.PIPE, preexec_fn=limit, timeout=60)
assert runner.returncode == 2, runner
assert b"'ad.receive' op receive 'count': cannot write" in runner.stderr, runner.stderr
assert b"File too large" in runner.stderr, runner.stderr

data = open(os.path.join(folder, "count.npy"), "rb").read()
count = int(data[10 : data.index(b"\n")].split(b"(")[1].split(b",")[0])
body = data[data.index(b"\n") + 1 :]
assert len(body) == 4 * count and count > 20_000, (len(body), count)
assert sorted(os.listdir(folder)) == ["count.npy", "manifest.json"], os.listdir(folder)
