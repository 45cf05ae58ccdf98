# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The files that are changed: written once by the tools, in a folder that tools only read afterwards."""

import os
import re
import resource
import shutil
import subprocess

import numpy as np

from runner import ROOT, binary

MLIR_OPT = "/usr/lib/llvm-22/bin/mlir-opt"
HOW_DO_I = sorted((ROOT / "examples/how-do-i").glob("*.mlir"))
FEED = """func.func @main(%x: tensor<8xf32> {ad.name = "x"}) -> (tensor<8xf32> {ad.name = "y"}) {
  %b = ad.feed "batch" : tensor<8xf32>
  %m = ad.mul %x, %b : tensor<8xf32>
  %y = ad.tanh %m : tensor<8xf32>
  %s = ad.reduce_mean %y axes [0] : tensor<8xf32> -> tensor<f32>
  ad.receive "mean"(%s) : tensor<f32>
  return %y : tensor<8xf32>
}
"""
# Deeper than the parser of text allows; made by mlir-opt, which has no limit but its stack.
# The text before, (what opens, what is inside, what closes), the text after, and how often it opens.
MAIN, RETURN, OFTEN = "func.func @main(%x: tensor<f32>) -> tensor<f32> ", " return %x : tensor<f32> }", (300, 20000)
DEEP = [
    ("func.func @main(%x: ", ("tuple<", "f32", ">"), ") { return }", OFTEN),
    ("func.func @main(%x: ", ("() -> (", "i1", ")"), ") { return }", OFTEN),
    (MAIN + "attributes {a = ", ("[", "1", "]"), "} {" + RETURN, OFTEN),
    (MAIN + "attributes {a = ", ("{a = ", "1", "}"), "} {" + RETURN, OFTEN),
    (MAIN + "{" + RETURN + " loc(", ('callsite("f" at ', "unknown", ")"), ")", OFTEN),
    (MAIN + "{ %c = arith.constant true ", ("scf.if %c { ", "", " }"), RETURN, (300, 6000)),
]
STACK = 4 << 30


def fails_upstream(path, seconds):
    """Whether mlir-opt, which has nothing of ours, crashes or hangs on a file. Its reader of bytecode may write behind
    its memory without being caught: the allocator of glibc that checks finds that out."""
    command = [MLIR_OPT, path, "--allow-unregistered-dialect", "-o", "/dev/null"]
    checking = {"LD_PRELOAD": "libc_malloc_debug.so.0", "GLIBC_TUNABLES": "glibc.malloc.check=3"}
    try:
        return any(subprocess.run(command, capture_output=True, timeout=seconds,
                                  env={**os.environ, **more}).returncode < 0 for more in ({}, checking))
    except subprocess.TimeoutExpired:
        return True


def run(*words, folder):
    subprocess.run(list(map(str, words)), check=True, capture_output=True, cwd=folder)


def arguments_of(text):
    """Options for the arguments of @main of the examples."""
    head = re.search(r"@main\((.*?)\)\s*(->|{\n|$)", text, re.S)[1]
    for shape, element, name in re.findall(r'tensor<((?:[\d?]+x)*)(\w+)> {ad.name = "(\w+)"', head):
        yield f"--arg={name}={'normal:1' if element[0] == 'f' or element == 'bf16' else 'zeros'}"
        for axis, size in enumerate(shape.split("x")):
            if size == "?":
                yield f"--dim={name}.{axis}=5"


def programs():
    """{name: (text, options to run it)} of programs without loops, which end whatever their numbers are."""
    texts = {path.name: path.read_text() for path in [ROOT / "examples/first.mlir", *HOW_DO_I]}
    return {name: (text.encode(), list(arguments_of(text))) for name, text in texts.items()
            if not re.search(r"scf\.(for|while)|ad\.feed", text)}


def loops():
    """Texts of programs that may run long when their numbers change: they are only compiled."""
    paths = [*HOW_DO_I, ROOT / "test/Runner/Inputs/trace.mlir"]
    return [text.encode() for path in paths if re.search(r"scf\.(for|while)|ad\.feed", text := path.read_text())]


def deep_bytecode(folder):
    """Bytecode of things in things. mlir-opt has no limit but its stack."""
    def room():
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    for head, (opening, middle, closing), end, depths in DEEP:
        for depth in depths:
            (folder / "deep.mlir").write_text(head + opening * depth + middle + closing * depth + end)
            subprocess.run([MLIR_OPT, "deep.mlir", "--emit-bytecode", "--mlir-print-debuginfo", "-o", "deep.mlirbc",
                            "--mlir-disable-threading"], preexec_fn=room, check=True, cwd=folder, capture_output=True)
            yield (folder / "deep.mlirbc").read_bytes()


def make_adx(fixed):
    """.adx files of a program without weights and with them, and of the emulated GPU."""
    for name, options in (("plain", []), ("weights", ["--arg=x=normal:3"]), ("gpu", ["--target=gpu-sim"])):
        run(binary("ad-runner"), "first.mlir", "--cache=off", f"--emit={name}.adx", *options, folder=fixed)


class Seeds:
    """All files, in `fixed`."""

    def __init__(self, fixed):
        fixed.mkdir()
        self.fixed, self.programs, self.loops = fixed, programs(), loops()
        values = np.linspace(-1, 1, 8, dtype=np.float32)
        np.save(fixed / "x.npy", values)
        np.save(fixed / "batch.npy", np.outer(np.arange(1, 4, dtype=np.float32), values))
        shutil.copy(ROOT / "examples/first.mlir", fixed)
        shutil.copy(ROOT / "test/Emulator/Inputs/elementwise.mlir", fixed)
        (fixed / "feed.mlir").write_text(FEED)
        policy = subprocess.run([binary("ad-runner"), "--print-precision=bf16"], check=True, capture_output=True).stdout
        (fixed / "policy.yaml").write_bytes(policy)
        runner = [binary("ad-runner"), "feed.mlir", "--cache=off", "--arg=x=x.npy", "--feed=batch=batch.npy,cycle"]
        run(*runner, "--list-rewrites=rewrites.tsv", "--out-dir=out", folder=fixed)
        run(*runner, "--rewrites-only=rewrites.tsv", "--precision=policy.yaml", "--trace=trace", "--trace-tensors=y,s",
            folder=fixed)
        for stage in fixed.glob("trace/feed_*"):
            stage.unlink()
        make_adx(fixed)
        self.kernels = [path.read_bytes() for path in sorted((ROOT / "test/Emulator/Inputs").glob("*.mlir"))]
        self.bytecode = self._bytecode()

    def _bytecode(self):
        found = []
        scratch = self.fixed.parent / "bytecode"
        scratch.mkdir()
        for name, (text, options) in self.programs.items():
            (scratch / name).write_bytes(text)
            run(binary("ad-opt"), name, "--emit-bytecode", "--mlir-print-debuginfo", "-o", "out.mlirbc", folder=scratch)
            found.append(((scratch / "out.mlirbc").read_bytes(), options))
        self.deep = list(deep_bytecode(scratch))
        shutil.rmtree(scratch)
        return found

    def read(self, name):
        return (self.fixed / name).read_bytes()
