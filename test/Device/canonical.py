# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The SHA-256 of a tensor's bits, the same wherever the sign and payload of a NaN differ: those are the CPU's. Used
where cases are made, and where they are run."""

import hashlib

import numpy as np

# What only the magnitude of a NaN exceeds, as bits.
LARGEST = {"f64": 0x7FF0000000000000, "f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80, "f8E4M3FN": 0x7E,
           "f8E5M2": 0x7C}


def canonical(array, element):
    """The array as words of its elements' size, in the order of C; every NaN has all bits set but the sign."""
    word = np.dtype(f"u{array.dtype.itemsize}")
    words = np.ascontiguousarray(array).reshape(-1).view(word).copy()
    if element in LARGEST:
        magnitude = word.type(np.iinfo(word).max >> 1)
        words[(words & magnitude) > LARGEST[element]] = magnitude
    return words


def digest(file, element):
    """Of an .npy file with elements of that type: of its type, shape and bits."""
    array = np.load(file)
    head = f"{element} {array.dtype.itemsize} {array.shape}\n"
    return hashlib.sha256(head.encode() + canonical(array, element).tobytes()).hexdigest()


def digests(folder, elements):
    """By name, of each tensor in a folder."""
    return {file.stem: digest(file, elements[file.stem]) for file in sorted(folder.glob("*.npy"))}


def widened(array, element):
    """The values of an array in f64; NumPy stores bf16 as two bytes without a type."""
    if element == "bf16":
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)
