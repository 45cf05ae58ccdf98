# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Ten programs that fail where one thing does that no GPU has been seen to do yet: each names what its code must
contain."""

import numpy as np

SIZE, ITERATIONS = 256, 6


def function(arguments, result, body):
    return f"func.func @main({arguments}) -> {result} {{\n{body}}}\n"


def loop(type_of_value, iteration):
    """A program that applies `iteration`, from %v to %y, to its argument."""
    body = f"""\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %iterations = arith.constant {ITERATIONS} : index
  %last = scf.for %i = %c0 to %iterations step %c1 iter_args(%v = %x) -> {type_of_value} {{
{iteration}
    scf.yield %y : {type_of_value}
  }}
  return %last : {type_of_value}
"""
    return body


def elementwise():
    t = "tensor<1000xf32>"
    return function(f'%x: {t} {{ad.name = "x"}}', f'({t} {{ad.name = "y"}})',
                    f"  %y = ad.gelu %x : {t}\n  return %y : {t}\n"), ["--arg=x=normal:1"]


def long_rows():
    """A row waits in shared memory between the passes of a softmax."""
    t = "tensor<3x20000xf32>"
    return (function(f'%x: {t} {{ad.name = "x"}}', f'({t} {{ad.name = "y"}})',
                     f"  %y = ad.softmax %x axis 1 : {t}\n  return %y : {t}\n"),
            ["--arg=x=normal:1"])


def graph():
    t = "tensor<300xf32>"
    iteration = f"    %a = ad.exp %v : {t}\n    %s = ad.reduce_sum %a axes [0] : {t} -> tensor<f32>\n    %y = ad.div %a, %s : {t}, tensor<f32>"
    return function(f'%x: {t} {{ad.name = "x"}}', f'({t} {{ad.name = "y"}})', loop(t, iteration)), ["--arg=x=normal:1"]


def graph_of_clusters(folder):
    """Each iteration permutes the columns of a matrix of -1, 0 and 1 by a product, and changes its sign: exact in every
    mode."""
    t = f"tensor<{SIZE}x{SIZE}xbf16>"
    rng = np.random.default_rng(0)
    values, signs = rng.integers(-1, 2, (SIZE, SIZE)), rng.choice([-1, 1], SIZE)
    permutation = np.zeros((SIZE, SIZE), int)
    permutation[rng.permutation(SIZE), np.arange(SIZE)] = signs
    for name, array in {"x": values, "b": permutation}.items():
        bits = array.astype(np.float32).view(np.uint32) >> 16
        np.save(folder / f"clusters-{name}.npy", bits.astype(np.uint16).view("V2"))
    iteration = f"    %p = ad.dot %v, %b : ({t}, {t}) -> {t}\n    %r = ad.relu %p : {t}\n    %y = ad.sub %p, %r : {t}"
    return (function(f'%x: {t} {{ad.name = "x"}}, %b: {t} {{ad.name = "b"}}', f'({t} {{ad.name = "y"}})',
                     loop(t, iteration)),
            [f"--arg={name}={folder / f'clusters-{name}.npy'}" for name in "xb"])


def feed_and_receive():
    t, s = "tensor<300xf32>", "tensor<f32>"
    iteration = f"""\
    %f = ad.feed "f" : {t}
    %a = ad.add %v, %f : {t}
    %s = ad.reduce_sum %a axes [0] : {t} -> {s}
    ad.receive "s"(%s) : {s}
    %y = ad.tanh %a : {t}"""
    return function(f'%x: {t} {{ad.name = "x"}}', f'({t} {{ad.name = "y"}})',
                    loop(t, iteration)), ["--arg=x=zeros", "--feed=f=normal:2"]


def programs(folder):
    """(name, text, options, mode, options of the compiler, what its code must contain) of those that are compared with
    the reference."""
    cluster = ["--tile", "2x128x128"]
    for name, (text, options), mode, flags, needs in [
            ("elementwise", elementwise(), "reproducible", [], []),
            ("shared-memory", long_rows(), "reproducible", [], []),
            ("graph", graph(), "reproducible", ["--fuse", "single"], []),
            ("graph-cluster", graph_of_clusters(folder), "fast", [*cluster, "--fuse", "single"], ["cluster", "wgmma"]),
            ("feed-receive", feed_and_receive(), "reproducible", [], [])]:
        yield name, text, options, mode, flags, needs


# Contractions, whose other modes are compared within a bound: name, shape as in gpu_contractions_test.py, mode, options
# of the compiler, needs.
CONTRACTIONS = [
    ("cp-async", (128, 128, 128, "nt", "f32", 0), "strict", [], ["cp.async"]),
    ("mma-sync", (65, 130, 200, "nn", "bf16", 0), "fast", [], ["mma.sync"]),
    ("wgmma", (128, 128, 256, "nn", "bf16", 0), "fast", ["--tile", "128x128"], ["wgmma", "tensor map"]),
    ("wgmma-cluster", (SIZE, SIZE, 256, "nn", "bf16", 0), "fast", ["--tile", "2x128x128"], ["wgmma", "cluster"]),
    ("tf32-map", (128, 128, 64, "nt", "f32", 0), "fast,narrow", [], ["wgmma", "tf32"]),
]
