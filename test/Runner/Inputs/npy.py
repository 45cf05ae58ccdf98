# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""npy.py show FILE… | make FILE DTYPE SHAPE: prints or makes .npy files with the standard library alone."""

import ast
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    return header, data[10 + length :]


def show(path):
    header, data = read(path)
    formats = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q", "|i1": "b", "|b1": "?"}
    item = formats.get(header["descr"], "B")
    count = len(data) // struct.calcsize(item)
    print(header["descr"], header["shape"], list(struct.unpack(f"<{count}{item}", data)))


def make(path, dtype, shape):
    """Counts up from 0."""
    shape = tuple(int(size) for size in shape.split("x")) if shape else ()
    item = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q"}[dtype]
    count = 1
    for size in shape:
        count *= size
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}) + " \n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}{item}", *range(count)))


if sys.argv[1] == "show":
    for name in sys.argv[2:]:
        show(name)
else:
    make(*sys.argv[2:])
