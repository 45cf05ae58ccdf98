# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Contractions by wgmma in clusters of two blocks, on the emulated GPU: in every schedule the bits of sums in ascending
order, as without clusters, no finding of the checks, and half as many sectors read of the operand that both blocks
need."""

import functools
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from gpu_products import BIN, Product, to_bf16  # noqa: E402

# M, N, K, layout (t: transposed operand, ?: dynamic M), element type, batch, tile, blocks (0: as many as the kernel
# requests). Even and odd numbers of tiles along M, one of them, remainders along each axis, clusters that compute
# several tiles and none, multicast halves of B outside of the operand, rasterisation strips and a lower one.
CASES = [
    (256, 256, 64, "nn", "bf16", 0, "2x128x256", 0), (136, 264, 200, "nt", "f16", 0, "2x128x256", 2),
    (328, 72, 328, "tn", "bf16", 0, "2x128x256", 2),
    (264, 136, 72, "tt", "f16", 2, "2x128x256", 4), (256, 128, 320, "nn", "f16", 0, "2x128x128", 0),
    (392, 120, 400, "tt", "bf16", 0, "2x128x128", 2),
    (8, 136, 8, "tn", "bf16", 3, "2x128x128", 4), (1, 5, 136, "nt", "bf16", 0, "2x128x128", 2),
    (264, 40, 136, "nn", "f16", 2, "2x128x128", 8),
    (1160, 136, 16, "nt", "bf16", 0, "2x128x128", 6), (300, 136, 72, "nn?", "bf16", 0, "2x128x128", 2),
    (128, 264, 72, "nt?", "f16", 2, "2x128x256", 4),
    # Bytes, and f32 as tf32.
    (264, 264, 400, "nt", "i8", 0, "2x128x256", 2), (328, 136, 656, "nt", "i8", 2, "2x128x128", 4),
    (1, 5, 16, "nt", "i8", 0, "2x128x128", 0),
    (264, 264, 100, "nt", "f32", 0, "2x128x256", 2), (328, 136, 164, "nt", "f32", 2, "2x128x128", 4),
    (1, 5, 4, "nt", "f32", 0, "2x128x256", 0),
]


def wrong(case, folder):
    *shape, tile, blocks = case
    product = Product(folder, *shape, tile)
    if "multicast_mask" not in product.text:
        return "shares no operand"
    return product.wrong_bits(blocks or None)


def sectors_read(folder, shape, tile):
    """What TMA loads read of global memory, in sectors of 32 bytes."""
    done = Product(folder, *shape, tile).run(["eager"], more=["--stats"])
    found = re.findall(r" nvvm\.cp\.async\.bulk\.tensor\.shared\.cluster\.global: \d+ requests, (\d+) sectors, (\S+) times the minimum", done.stdout)
    if done.returncode or not found or any(float(share) != 1 for _, share in found):
        raise RuntimeError(f"reads {found}: {done.stderr}")
    return sum(int(sectors) for sectors, _ in found)


def wrong_reads(tile, folder):
    """For each output tile a block reads its tile of A; of two blocks in a cluster only one reads each part of B."""
    rows, columns = map(int, tile.split("x"))
    shape = (4 * rows, 2 * columns, 192, "nn", "bf16", 0)
    for name, blocks in ((tile, 1), (f"2x{tile}", 2)):
        expected = 4 * 2 * (rows + columns / blocks) * 192 * 2 / 32
        if (found := sectors_read(folder, shape, name)) != expected:
            return f"{name}: {found} sectors, expected {expected}"
    return None


def wrong_launch(folder):
    """Half a cluster is no launch."""
    done = Product(folder, 256, 128, 64, "nn", "bf16", 0, "2x128x128").run(["eager"], 3)
    return (None if done.returncode == 2 and "does not consist of clusters" in done.stderr
            else f"exit {done.returncode}: {done.stderr}")


LAUNCHED = """func.func @main(%a: tensor<?x2048x16xbf16> {ad.name = "a"}, %b: tensor<16x1024xbf16> {ad.name = "b"})
    -> (tensor<?x2048x1024xf32> {ad.name = "y"}) {
  %y = ad.dot %a, %b batch [] x [] contract [2] x [0] : (tensor<?x2048x16xbf16>, tensor<16x1024xbf16>) -> tensor<?x2048x1024xf32>
  return %y : tensor<?x2048x1024xf32>
}
"""


def wrong_program(folder):
    """Clusters chosen by shape, as a program launches them on few multiprocessors and on many; the number of tiles is
    dynamic. Small integers have exact sums."""
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((2, 2048, 16), (16, 1024)))
    (folder / "program.mlir").write_text(LAUNCHED)
    for name, values in (("a", a), ("b", b)):
        np.save(folder / f"{name}.npy", to_bf16(values).view("V2"))
    for sm_count in (1, 3, 132):
        subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--target=gpu-sim", "--numerics=fast",
                        "--cache=off", f"--sm-count={sm_count}",
                        *(f"--arg={name}={folder / name}.npy" for name in "ab"), f"--out-dir={folder}",
                        f"--report={folder}/report.json", "--traffic"],
                       check=True, capture_output=True, text=True)
        if not np.array_equal(np.load(folder / "y.npy"), a @ b):
            return f"{sm_count} SMs: other sums"
        [kernel] = json.loads((folder / "report.json").read_text())["traffic"]
        loaded = sum(access["sectors"] for access in kernel["accesses"]
                     if access["operation"].startswith("nvvm.cp.async.bulk"))
        if loaded != 2 * 16 * 8 * (128
                                   + 64) * 16 * 2 / 32:  # for each output tile its tile of A and half of its tile of B
            return f"{sm_count} SMs: {loaded} sectors loaded"
    return None


def main():
    tests = [(case, functools.partial(wrong, case)) for case in checks.sample(CASES, 6)]
    tests += [(f"sectors of {tile}", functools.partial(wrong_reads, tile)) for tile in ("128x256", "128x128")]
    return checks.run_checks("gpu-clusters", [*tests, ("half a cluster", wrong_launch), ("a program", wrong_program)])


if __name__ == "__main__":
    sys.exit(main())
