# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What a compiled program (docs/adx.md) asks of a GPU, by the instructions in its PTX."""

import json
import re
import struct

# Risks, by what in the code shows them.
FEATURES = {
    "wgmma": r"\bwgmma\.mma_async", "cluster": r"\.(?:req|explicit)\w*cluster|barrier\.cluster",
    "tensor map": r"cp\.async\.bulk\.tensor",
    "cp.async": r"\bcp\.async\.c[ag]", "mma.sync": r"\bmma\.sync", "tf32": r"\.tf32\b",
}


def sections(file):
    content = file.read_bytes()
    found = {}
    for number in range(struct.unpack_from("<Q", content, 24)[0]):
        name, offset, length = struct.unpack_from("<16sQQ", content, 64 + 32 * number)
        found[name.rstrip(b"\0").decode()] = content[offset:offset + length]
    return found


def description(file):
    return json.loads(sections(file)["description"])


def features(file):
    """Names of FEATURES; none for programs of the emulated GPU."""
    code = sections(file)["device"].decode(errors="replace")
    return sorted(name for name, pattern in FEATURES.items() if re.search(pattern, code))
