# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What there is on this machine: the GPU, as adrt-run and the driver know it, the tools of CUDA, and packages of
peers."""

import ctypes
import glob
import importlib.metadata
import os
import pathlib
import platform
import re
import shutil

import processes

SECONDS = 60  # that a description of the machine may take
PACKAGES = ["torch", "triton", "jax", "jaxlib", "cupy-cuda13x", "numpy"]
FOLDERS = ["/usr/local/cuda/bin", "/usr/local/nvidia/bin"]
NSIGHT = "/opt/nvidia/nsight-compute/*"
SMI = ["--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"]


def find(name):
    """The path of a tool, or None."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *FOLDERS, *sorted(glob.glob(NSIGHT), reverse=True)])
    return shutil.which(name, path=path)


def does_not_start(bundle, deadline):
    """Why adrt-run does not start here, or None."""
    try:
        done = processes.run([bundle / "adrt-run", "--version"], deadline.clamp(SECONDS))
        wrong = None if done.ok() else done.complaint()
    except OSError as error:
        wrong = str(error)
    return f"adrt-run does not start here ({wrong}); it needs x86-64 Linux with glibc 2.36 or newer" if wrong else None


def describe(bundle, deadline):
    """What adrt-run says about this machine, and how it ended."""
    return processes.run([bundle / "adrt-run", "--env"], deadline.clamp(SECONDS))


def missing_gpu(described):
    """Why there is no GPU, or None. A driver may hang or crash when it is loaded."""
    found = re.search(r"^GPU: none: (.*)", described.said, re.MULTILINE)
    return found[1] if found else None if described.ok() else f"adrt-run --env {described.complaint()}"


def share_driver(said):
    """Lets peers find the driver where adrt-run has found it: they know the loader's folders alone. After the others,
    since the peers have libraries of their own, which may have namesakes there."""
    try:
        ctypes.CDLL("libcuda.so.1")
        return
    except OSError:
        pass
    found = re.search(r"^GPU driver: .*?, (/.*)/", said, re.MULTILINE)
    if found:
        folders = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), found[1]]
        os.environ["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(folders))


def versions():
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def environment(bundle, deadline):
    """A row about this machine. nvidia-smi adds what it knows, where it is installed."""
    smi = find("nvidia-smi")
    said = processes.run([smi, *SMI], deadline.clamp(SECONDS)).said if smi else "not installed"
    return {"adrt": describe(bundle, deadline).said, "nvidia_smi": said, "platform": platform.platform(),
            "python": platform.python_version(),
            "packages": versions(), "tools": {name: find(name) or "not installed"
                                              for name in ("ncu", "compute-sanitizer")},
            "cpus": os.cpu_count(), "folder": pathlib.Path(bundle).name}
