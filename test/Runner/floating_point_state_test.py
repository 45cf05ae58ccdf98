#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The tools in processes whose libraries leave another floating-point state at the start and in each new thread, as
those of -ffast-math do: what they print and write has the bits of a usual process. Closes with `floating-point state: N
run, N failed`."""

import itertools
import pathlib
import platform
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

# MXCSR and the control word of the x87, as in the states of the Python package's test.
STATES = {
    "flush-to-zero": (0x9F80, 0x037F),
    "denormals-are-zero": (0x1FC0, 0x037F),
    "down": (0x3F80, 0x037F),
    "up": (0x5F80, 0x037F),
    "toward zero": (0x7F80, 0x037F),
    "x87 of 24 bits": (0x1F80, 0x007F),
    "all": (0xFFC0, 0x0C7F),
}
# Threads have the state of the thread that starts them, and then this one before their function.
LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static void set(void) {
  unsigned mxcsr = MXCSR;
  unsigned short control = CONTROL;
  __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
  __asm__ volatile("fldcw %0" : : "m"(control));
}
__attribute__((constructor)) static void begin(void) { set(); }

struct start { void *(*function)(void *); void *argument; };
static void *run(void *given) {
  struct start start = *(struct start *)given;
  free(given);
  set();
  return start.function(start.argument);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  struct start *start = malloc(sizeof *start);
  start->function = function;
  start->argument = argument;
  int code = create(thread, attributes, run, start);
  if (code)
    free(start);
  return code;
}
"""
PROGRAM = """
func.func @main(%x: tensor<64x32xf32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "s"}, tensor<2xf64> {ad.name = "c"},
                                                         tensor<64x32xf32> {ad.name = "t"}) {
  %a = ad.constant dense<[1.0e-308, 0.7]> : tensor<2xf64>
  %b = ad.constant dense<[3.0e-2, 0.3]> : tensor<2xf64>
  %c = ad.div %a, %b : tensor<2xf64>
  %k = ad.constant dense<1.0e-38> : tensor<64x32xf32>
  %t = ad.mul %x, %k : tensor<64x32xf32>
  %p = ad.dot %x, %x batch [] x [] contract [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %e = ad.exp %p : tensor<64x64xf32>
  %l = ad.log1p %e : tensor<64x64xf32>
  %s = ad.reduce_sum %l axes [0, 1] : tensor<64x64xf32> -> tensor<f32>
  return %s, %c, %t : tensor<f32>, tensor<2xf64>, tensor<64x32xf32>
}
"""
LOSS = """
func.func @main(%x: tensor<5xf32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "loss"}) {
  %t = ad.tanh %x : tensor<5xf32>
  %e = ad.exp %t : tensor<5xf32>
  %s = ad.reduce_sum %e axes [0] : tensor<5xf32> -> tensor<f32>
  return %s : tensor<f32>
}
"""


def commands(folder):
    """Of all tools that compute; {out} is a folder of the command's own."""
    program, loss = folder / "program.mlir", folder / "loss.mlir"
    program.write_text(PROGRAM)
    loss.write_text(LOSS)
    run = [runner.binary("ad-runner"), "--cache=off", "--arg=x=normal:1:0.1"]
    for target in ("cpu", "reference", "gpu-sim"):
        for numerics in ("reproducible", "fast"):
            yield [*run, program, f"--target={target}", f"--numerics={numerics}", "--threads=2", "--out-dir={out}/o"]
    yield [*run, loss, "--check-gradients"]
    yield [*run, program, "--trace={out}/t", "--trace-tensors=all"]
    yield [*run, program, "--precision=bf16", "--out-dir={out}/o"]
    yield [*run, program, "--emit={out}/p.adx"]
    yield [runner.binary("adrt-run"), folder / "p.adx", "--out-dir={out}/o"]
    yield [runner.binary("ad-opt"), program, "--ad-to-cpu", "-o", "{out}/p.mlir"]
    yield [runner.binary("ad-diff"), "tensors", folder / "left", folder / "right"]
    for name in ("shadow", "nan"):
        yield [runner.binary("ad-diff"), name, program, "--arg=x=normal:1:0.1"]
    yield [runner.binary("ad-diff"), "precision", program, "--arg=x=normal:1:0.1", "--policy=bf16", "--bound=l2=1e-2"]


def outcome(command, folder, library):
    """All that a command prints and writes, but for times and identifiers of runs."""
    folder.mkdir()
    words = [str(word).replace("{out}", str(folder)) for word in command]
    done = subprocess.run(words, capture_output=True, timeout=120,
                          env={**runner.os.environ, **({"LD_PRELOAD": str(library)} if library else {})})
    files = {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    for name in [name for name in files if name.endswith(("run.json", "manifest.json"))]:
        del files[name]
    place = str(folder).encode()
    return done.returncode, done.stdout.replace(place, b""), done.stderr.replace(place, b""), files


def prepare(folder):
    """What some of the commands read."""
    program = folder / "program.mlir"
    program.write_text(PROGRAM)
    for name, seed in (("left", 1), ("right", 2)):
        subprocess.run([runner.binary("ad-runner"), "--cache=off", program, f"--arg=x=normal:{seed}:0.1",
                        f"--out-dir={folder / name}"], check=True, capture_output=True)
    subprocess.run([runner.binary("ad-runner"), "--cache=off", program, "--arg=x=normal:1:0.1",
                    f"--emit={folder / 'p.adx'}"], check=True, capture_output=True)


def difference(usual, found):
    for what, left, right in zip(("exit code", "output", "messages"), usual, found):
        if left != right:
            return f"{what}: {left!r:.200} and {right!r:.200}"
    files = [name for name in usual[3].keys() | found[3].keys() if usual[3].get(name) != found[3].get(name)]
    return f"other bytes of {sorted(files)}" if files else None


def library(folder, number, words):
    """What puts a process and its threads into a state."""
    source, made = folder / f"state{number}.c", folder / f"state{number}.so"
    source.write_text(LIBRARY.replace("MXCSR", hex(words[0]), 1).replace("CONTROL", hex(words[1])))
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", str(made), str(source)], check=True)
    return made


def cases(folder):
    """(command, what is wrong) for each command in a usual process, and in states. Of pairs of a command and a state
    scripts/test.sh takes some, among which are all commands and all states."""
    prepare(folder)
    states = STATES if platform.machine() == "x86_64" else {}
    libraries = {state: library(folder, number, states[state]) for number, state in enumerate(states)}
    every = list(enumerate(commands(folder)))
    chosen = checks.sample(itertools.product([number for number, _ in every], states), 4)
    for number, command in every:
        label = " ".join(pathlib.Path(str(word)).name for word in command)
        usual = outcome(command, folder / f"usual{number}", None)
        yield label, f"exit code {usual[0]}: {usual[2].decode()[:300]}" if usual[0] else None
        for state in [state for other, state in chosen if other == number]:
            found = outcome(command, folder / f"{state}{number}", libraries[state])
            yield f"{state}: {label}", difference(usual, found)


if __name__ == "__main__":
    sys.exit(checks.run_cases("floating-point state", cases))
