#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs that --emit writes as libraries, called from C: two programs whose functions and kernels have the same names in
one binary, as objects and as shared objects, give the bits of the reference interpreter, and need libadrt and the C
library alone. Closes with `libraries: N run, N failed`."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import numpy as np  # noqa: E402
import runner  # noqa: E402

BIN = pathlib.Path(runner.binary("ad-runner")).parent
LIBRARIES = pathlib.Path(os.environ.get("ADJOINT_LIBRARIES", BIN.parent / "lib"))
INCLUDE = pathlib.Path(os.environ.get("ADJOINT_INCLUDE", ROOT / "include"))
LLVM = pathlib.Path(os.environ.get("LLVM_DIR", "/usr/lib/llvm-22"))
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

# Both have a product and a softmax, and the second one sorts, rounds to bf16, and asks the host.
FIRST = """func.func @main(%x: tensor<?x64xf32> {ad.name = "x"}, %w: tensor<64x32xf32> {ad.name = "w"}) -> (tensor<?x32xf32> {ad.name = "y"}) {
  %p = ad.dot %x, %w : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  %y = ad.softmax %p axis 1 : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
"""
SECOND = """func.func @main(%x: tensor<5x64xf32> {ad.name = "x"}, %w: tensor<64x32xf32> {ad.name = "w"})
    -> (tensor<5x32xbf16> {ad.name = "y"}, tensor<5x32xi64> {ad.name = "order"}) {
  %more = ad.feed "more" : tensor<5x64xf32>
  %s = ad.add %x, %more : tensor<5x64xf32>
  %p = ad.dot %s, %w : (tensor<5x64xf32>, tensor<64x32xf32>) -> tensor<5x32xf32>
  ad.receive "product"(%p) : tensor<5x32xf32>
  %y = ad.softmax %p axis 1 : tensor<5x32xf32>
  %order = ad.argsort %y axis 1 : tensor<5x32xf32>
  %short = ad.cast %y : tensor<5x32xf32> -> tensor<5x32xbf16>
  return %short, %order : tensor<5x32xbf16>, tensor<5x32xi64>
}
"""
MAIN = r"""#include "first.h"
#include "libsecond.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_file(const char *name, void *data, size_t bytes) {
  FILE *file = fopen(name, "rb");
  if (!file || fread(data, 1, bytes, file) != bytes)
    exit(10);
  fclose(file);
}

static void write_file(const char *name, const adrt_tensor *tensor, size_t bytes) {
  FILE *file = fopen(name, "wb");
  if (!file || fwrite(tensor->data, 1, bytes, file) != bytes || fclose(file))
    exit(11);
}

static float x[5 * 64], w[64 * 32];

static int32_t feed(void *closure, const char *name, const adrt_tensor *destination) {
  ++*(int *)closure;
  memcpy(destination->data, x, sizeof(x));
  return strcmp(name, "more") ? ADRT_HOST_ERROR : ADRT_OK;
}

static int32_t receive(void *closure, const char *name, const adrt_tensor *values, int32_t count) {
  *(int *)closure += 10;
  write_file("product.bin", values, 5 * 32 * sizeof(float));
  return strcmp(name, "product") || count != 1 ? ADRT_HOST_ERROR : ADRT_OK;
}

static int32_t stop(void *closure) { return closure != NULL; }

int main(void) {
  int64_t shape[] = {5, 64}, weights[] = {64, 32}, wrong[] = {5, 63};
  adrt_tensor first[1], second[2];
  adrt_tensor arguments[2] = {{x, shape, 2, ADRT_F32, ADRT_HOST_MEMORY},
                                                 {w, weights, 2, ADRT_F32, ADRT_HOST_MEMORY}};
  int calls = 0;
  adrt_context *one = adrt_create(2), *two = adrt_create(0);
  if (!one || !two || adrt_abi_version() != ADRT_ABI_VERSION || first_main.argument_count != 2 ||
      first_main.arguments[0].shape[0] != -1 || strcmp(second_main.results[1].name, "order"))
    return 12;
  read_file("x.bin", x, sizeof(x));
  read_file("w.bin", w, sizeof(w));
  if (adrt_run(one, &first_main, arguments, first) != ADRT_OK) {
    fprintf(stderr, "%s\n", adrt_error(one));
    return 13;
  }
  /* Without a feed it fails. */
  if (adrt_run(two, &second_main, arguments, second) != ADRT_HOST_ERROR)
    return 14;
  printf("%s\n", adrt_error(two));
  adrt_on_feed(two, feed, &calls);
  adrt_on_receive(two, receive, &calls);
  if (adrt_run(two, &second_main, arguments, second) != ADRT_OK || *adrt_error(two)) {
    fprintf(stderr, "%s\n", adrt_error(two));
    return 15;
  }
  if (calls != 11 || first[0].rank != 2 || first[0].shape[0] != 5 || second[0].type != ADRT_BF16)
    return 16;
  write_file("y1.bin", &first[0], 5 * 32 * sizeof(float));
  write_file("y2.bin", &second[0], 5 * 32 * 2);
  write_file("order.bin", &second[1], 5 * 32 * sizeof(int64_t));
  arguments[0].shape = wrong;
  if (adrt_run(one, &first_main, arguments, first) != ADRT_PROGRAM_ERROR)
    return 17;
  printf("%s\n", adrt_error(one));
  arguments[0].shape = NULL;
  if (adrt_run(one, &first_main, arguments, first) != ADRT_PROGRAM_ERROR || !strstr(adrt_error(one), "has no shape"))
    return 19;
  arguments[0].shape = shape;
  adrt_on_interrupt(one, stop, &calls);
  printf("%d\n", adrt_run(one, &first_main, arguments, first));
  adrt_on_interrupt(one, NULL, NULL);
  if (adrt_run(one, &first_main, arguments, first) != ADRT_OK)
    return 18;
  adrt_destroy(one);
  adrt_destroy(two);
  adrt_destroy(NULL);
  return 0;
}
"""


def command(*words, folder=None, ok=True):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert not ok or done.returncode == 0, f"{words[0]} ended with {done.returncode}: {done.stderr[:1000]}"
    return done


def emit(folder, name, text, path, *options):
    (folder / f"{name}.mlir").write_text(text)
    return command(BIN / "ad-runner", f"{name}.mlir", "--numerics=reproducible", f"--emit={path}", "--cache=off", *options,
                   folder=folder)


def expected(folder, name, *options):
    """The results of the reference interpreter."""
    out = folder / f"{name}-out"
    command(BIN / "ad-runner", f"{name}.mlir", "--numerics=reproducible", "--target=reference", "--arg=x=x.npy",
            "--arg=w=w.npy", f"--out-dir={out}", *options, folder=folder)
    return out


def called_from_c(ending, folder):
    rng = np.random.default_rng(7)
    arrays = {"x": rng.normal(size=(5, 64)).astype(np.float32), "w": rng.normal(size=(64, 32)).astype(np.float32)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        array.tofile(folder / f"{name}.bin")
    np.save(folder / "more.npy", arrays["x"][None])
    emit(folder, "first", FIRST, f"first{ending}")
    emit(folder, "second", SECOND, f"libsecond{ending}")
    (folder / "main.c").write_text(MAIN)
    compiler = LLVM / "bin" / "clang"
    command(compiler, "-std=c99", *STRICT, f"-I{INCLUDE}", "main.c", f"./first{ending}", f"./libsecond{ending}",
            f"-L{LIBRARIES}", "-ladrt", "-lm", f"-Wl,-rpath,{LIBRARIES}:{folder}", "-o", "both", folder=folder)
    (folder / "headers.cpp").write_text('#include "first.h"\n#include "libsecond.h"\n')
    command(compiler, "-x", "c++", "-std=c++17", *STRICT, f"-I{INCLUDE}", "-fsyntax-only", "headers.cpp", folder=folder)
    lines = command("./both", folder=folder).stdout.splitlines()
    wanted = ["second.mlir:3:11: 'ad.feed' .*the host has no feed 'more'", "argument 0 must have size 64 in dimension 1, but has 63",
              "130"]
    for line, pattern in zip(lines, wanted, strict=True):
        if not re.search(pattern, line):
            yield f"expected {pattern!r}, got {line!r}"
    first, second = expected(folder, "first"), expected(folder, "second", "--feed=more=more.npy")
    for file, element, reference in [("y1", "f32", first / "y.npy"), ("y2", "bf16", second / "y.npy"),
                                     ("order", "i64", second / "order.npy")]:
        wanted = elements.load(reference, element)
        found = np.fromfile(folder / f"{file}.bin", wanted.dtype).reshape(wanted.shape)
        if not elements.same_bits(element, found, wanted).all():
            yield f"{file} has other bits than the reference"
    linked = command("ldd", "both", folder=folder).stdout
    if "LLVM" in linked or "MLIR" in linked or "libadrt.so." not in linked:
        yield f"needs other libraries: {linked}"


def local_symbols(folder):
    """One global function, and of the runtime and the C library alone."""
    emit(folder, "first", FIRST, "first.o", "--cpu=x86-64")
    lines = command("nm", "first.o", folder=folder).stdout.splitlines()
    defined = [line.split()[-1] for line in lines if line.split()[-2] not in "Ut" and line.split()[-2].isupper()]
    if defined != ["first_main_entry"]:
        yield f"defines {defined}, expected first_main_entry alone"
    undefined = [line.split()[-1] for line in lines if line.split()[-2] == "U"]
    wrong = [name for name in undefined if not name.startswith("adrt_") and name not in ("fmaf", "fma", "memcpy", "memset")]
    if wrong:
        yield f"needs {wrong}"


def same_bytes(folder):
    """Of a source in two folders. Without a map they differ, since run-time errors name the source."""
    contents = {}
    for name in ("one", "a-longer-name"):
        (folder / name).mkdir()
        source = folder / name / "second.mlir"
        source.write_text(SECOND)
        for ending in (".o", ".so", ".adx"):
            for mapped in (True, False):
                path = folder / name / f"second{ending}"
                command(BIN / "ad-runner", source, f"--emit={path}", "--cache=off", "--cpu=x86-64",
                        *([f"--path-prefix-map={folder / name}/=/src/"] if mapped else []))
                contents.setdefault((ending, mapped), []).append(path.read_bytes())
    for (ending, mapped), (first, second) in contents.items():
        if (first == second) != mapped:
            yield f"{ending}{'' if mapped else ' without a map'}: the bytes {'differ' if mapped else 'are the same'}"
        if mapped and b"/src/second.mlir" not in first:
            yield f"{ending}: the map is not applied"


def refusals(folder):
    (folder / "first.mlir").write_text(FIRST)
    for options, pattern in [(["--arg=w=zeros"], "'w' has a source; emit FILE.adx, or pass the argument in C"),
                             (["--target=gpu-sim"], "libraries of programs for target cpu only; emit FILE.adx for gpu-sim"),
                             (["--path-prefix-map=src"], "expected --path-prefix-map OLD=NEW, found 'src'"),
                             (["--target=reference"], "no compiled code for target 'reference'")]:
        done = command(BIN / "ad-runner", "first.mlir", "--emit=first.so", *options, folder=folder, ok=False)
        if done.returncode != 2 or not re.search(pattern, done.stderr):
            yield f"{options}: exit code {done.returncode}, {done.stderr}"
        if (folder / "first.so").exists():
            yield f"{options}: a file is written"
    (folder / "first.h").mkdir()
    done = command(BIN / "ad-runner", "first.mlir", "--emit=first.so", folder=folder, ok=False)
    if done.returncode != 2 or "first.h': Is a directory" not in done.stderr or (folder / "first.so").exists():
        yield f"without a header: exit code {done.returncode}, {done.stderr}"


def main():
    return checks.run_checks("libraries", [("objects", lambda folder: called_from_c(".o", folder)),
                                           ("shared objects", lambda folder: called_from_c(".so", folder)),
                                           ("symbols", local_symbols), ("folders", same_bytes), ("refusals", refusals)])


if __name__ == "__main__":
    sys.exit(main())
