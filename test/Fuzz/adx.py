#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Changes files of ad-runner --emit and has adrt-run load them: each is loaded, or refused with a message.

Most get a checksum that fits. Nothing else happens. No code of a changed file runs: an argument that no program has
ends adrt-run before.

    adx.py [--count N] [--seed S]

Closes with `adx: N run, N failed`."""

import argparse
import hashlib
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PROGRAM = ROOT / "test/Runner/gpu-sim.mlir"
STRANGER = "no argument has this name"
HEAD, DIGEST, ROW = 32, 32, 32
NUMBERS = [0, 1, 2, 63, 64, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]


def emit(folder):
    files = []
    for target in ("cpu", "gpu-sim", "cuda"):
        path = folder / f"{target}.adx"
        weights = ["--arg", "p=normal:1"] if target == "cpu" else []
        subprocess.run([BIN / "ad-runner", PROGRAM, "--target", target, "--emit", path, *weights], check=True)
        files.append(path.read_bytes())
    return files


def seal(content):
    content[HEAD:HEAD + DIGEST] = hashlib.sha256(content[:HEAD] + content[HEAD + DIGEST:]).digest()


def ranges(content):
    """The ranges whose changes test more than those of the code: header and table, the description, the header of the
    code, and its end."""
    rows = [struct.unpack_from("<QQ", content, HEAD + DIGEST + index * ROW + 16) for index in range(4)]
    code, length = rows[1]
    return [(8, HEAD), (HEAD + DIGEST, rows[0][0]), (rows[0][0], sum(rows[0])), (code, code + 512),
            (code, code + length),
            (code + max(0, length - 2048), code + length), (rows[3][0] - 64, len(content))]


def change(content, source):
    begin, end = source.choice(ranges(content))
    begin, end = max(0, begin), min(end, len(content))
    position = source.randrange(begin, max(begin + 1, end))
    kind = source.randrange(5)
    if kind == 0 and position < len(content):
        content[position] ^= 1 << source.randrange(8)
    elif kind == 1:
        number = struct.pack("<Q", source.choice(NUMBERS))
        position -= position % 8
        content[position:position + 8] = number[:len(content) - position]
    elif kind == 2:
        del content[position:position + source.randrange(1, 64)]
    elif kind == 3:
        content[position:position] = bytes(source.randrange(256) for _ in range(source.randrange(1, 64)))
    else:
        other = source.randrange(len(content))
        length = source.randrange(1, 64)
        content[position:position + length] = content[other:other + length]


def mutate(content, source):
    content = bytearray(content)
    for _ in range(source.choice([1, 1, 2, 4])):
        change(content, source)
        if len(content) < HEAD + DIGEST + 4 * ROW:
            return bytes(content)
    if source.random() < 0.9:  # of the same length
        struct.pack_into("<Q", content, 16, len(content))
        seal(content)
    return bytes(content)


def problem(content, path):
    path.write_bytes(content)
    done = subprocess.run([BIN / "adrt-run", path, "--arg", f"{STRANGER}=zeros"], capture_output=True, timeout=60)
    text = done.stderr.decode(errors="replace")
    if done.returncode in (1, 2, 4) and text.startswith("adrt-run: error: ") and len(text) < 100000:
        return None, text
    return f"ended with {done.returncode}: {text[:500]}", text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    source = random.Random(given.seed)
    failed = loaded = 0
    keep = ROOT / "build/fuzz/adx"
    with tempfile.TemporaryDirectory() as name:
        files = emit(pathlib.Path(name))
        for number in range(given.count):
            content = mutate(source.choice(files), source)
            wrong, text = problem(content, pathlib.Path(name) / "changed.adx")
            loaded += STRANGER in text
            if wrong:
                failed += 1
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{given.seed}-{number}.adx").write_bytes(content)
                print(f"{keep / f'{given.seed}-{number}.adx'}: {wrong}", flush=True)
    print(f"{loaded} were loaded")
    print(f"adx: {given.count} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
