# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints the images of the fat binary in a file of MLIR, one per line: `ptx sm_80`, `elf sm_86`.

The container of the CUDA toolkit: a header of 16 bytes (magic, version, own size, size of what follows), then images,
each with a header (kind, version, own size, size of the image; the chip's number at byte 28).
"""

import re
import struct
import sys

KINDS = {1: "ptx", 2: "elf"}
MAGIC = 0xBA55ED50


def binary_in(text):
    quoted = re.search(r'gpu\.binary.*?#gpu\.object<#nvvm\.target<.*?>, "((?:[^"\\]|\\.)*)"', text, re.DOTALL).group(1)
    return re.sub(r"\\([0-9A-F]{2}|.)", lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1],
                  quoted).encode("latin1")


def main():
    with open(sys.argv[1], encoding="latin1") as file:
        binary = binary_in(file.read())
    magic, _, at, size = struct.unpack_from("<IHHQ", binary)
    if magic != MAGIC or at + size != len(binary):
        sys.exit("not a fat binary")
    while at < len(binary):
        kind, _, header, size = struct.unpack_from("<HHIQ", binary, at)
        (chip,) = struct.unpack_from("<I", binary, at + 28)
        print(KINDS[kind], f"sm_{chip}")
        at += header + size


if __name__ == "__main__":
    main()
