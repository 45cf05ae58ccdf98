#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Files that want more than to be read: modules whose locations name pipes, that are nested beyond any stack or hold
control characters, kernels that leave their tensors, traces that name files outside of their folder, folders of outputs
with links and pipes in them, and programs that need more memory than they may have. Each ends with an error, its exit
code and printable text. Closes with `untrusted files: N run, N failed`."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

PROGRAM = str(runner.ROOT / "examples/first.mlir")
TARGETS = ("reference", "cpu", "gpu-sim")
SECONDS = 20
SECRET = "the first line of a file that nobody named"


def run(name, *words, **options):
    try:
        done = subprocess.run([runner.binary(name), *map(str, words)], capture_output=True, timeout=SECONDS, **options)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"does not end: {name} {' '.join(map(str, words))}") from None
    done.stderr, done.stdout = done.stderr.decode(errors="replace"), done.stdout.decode(errors="replace")
    return done


def unprintable(text):
    return [c for c in text if not (c.isprintable() or c in "\n\t")]


def problem(done, code, *parts):
    """What is wrong with the end of a tool, or nothing."""
    if done.returncode != code:
        yield f"exit code {done.returncode}, expected {code}: {done.stderr[:300]}"
    for part in parts:
        if part not in done.stderr:
            yield f"no '{part}' in: {done.stderr[:300]}"
    if unprintable(done.stderr) or unprintable(done.stdout):
        yield f"prints {unprintable(done.stderr + done.stdout)[:5]}"
    if SECRET in done.stderr:
        yield "shows the line of another file"


def bytecode(text, folder):
    """By upstream's driver, on a stack without a limit."""
    source, target = folder / "source.mlir", folder / "module.mlirbc"
    source.write_text(text)
    words = ["--emit-bytecode", "--mlir-very-unsafe-disable-verifier-on-parsing", "--verify-each=0",
             "--allow-unregistered-dialect"]
    unlimited = lambda: resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2)
    subprocess.run(["mlir-opt", str(source), *words, "-o", str(target)], check=True, capture_output=True,
                   preexec_fn=unlimited, timeout=600)
    return target


# --- Modules

def check_locations(folder):
    """No tool opens a file that a location names: a pipe has no end."""
    pipe, secret = folder / "pipe", folder / "secret.txt"
    os.mkfifo(pipe)
    secret.write_text(SECRET + "\n")
    for name in (pipe, secret, "/dev/zero"):
        text = ('func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n'
                f'  %r = "ad.neg"(%a) : (tensor<2xf32>) -> tensor<3xf32> loc("{name}":1:1)\n'
                '  return %r : tensor<3xf32>\n}\n')
        module = folder / "module.mlir"
        module.write_text(text.replace("ad.neg", "unknown.neg"))
        binary = bytecode(text.replace("ad.neg", "unknown.neg"), folder)
        module.write_text(text)
        for tool in ("ad-opt", "ad-runner"):
            yield from problem(run(tool, module), 1, f"{name}:1:1: error: 'ad.neg' op requires the same type")
            yield from problem(run(tool, binary), 1, "unknown")


def nested_operations(depth):
    return "func.func @main(%c: i1) {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "return\n}\n"


def aliases(first, line, depth):
    lines = [first] + [line.format(i=i, j=i - 1) for i in range(1, depth)]
    return "\n".join(lines) + "\nmodule attributes {{a.a = {0}}} {{ func.func @main() {{ return }} }}\n"


# On a quarter of a usual stack, since upstream's driver takes a minute to write bytecode of four times the depth.
STACK, DEPTH = 2 << 20, 5000
NESTED = {
    "operations": nested_operations(DEPTH),
    "attributes": aliases("#a0 = []", "#a{i} = [#a{j}]", DEPTH).format(f"#a{DEPTH - 1}"),
    "types": aliases("!t0 = tuple<>", "!t{i} = tuple<!t{j}>", DEPTH).format(f"!t{DEPTH - 1}"),
    "parts": aliases("#a0 = []", "#a{i} = [#a{j}, #a{j}]", 200).format("#a199"),
}
# What is written as text in bytecode.
TERMS = " + ".join(f"d0 floordiv {number}" for number in range(2, 20000))
EXPRESSION = f"func.func @main() attributes {{a.a = affine_map<(d0) -> ({TERMS})>}} {{ return }}\n"


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))


def check_nested(name, text):
    def check(folder):
        files = [bytecode(text, folder)] if name != "parts" else []  # which upstream would write out
        module = folder / "module.mlir"
        module.write_text(text)
        for file in [module, *files]:
            for tool in ("ad-opt", "ad-runner"):
                yield from problem(run(tool, file, preexec_fn=small_stack), 1, "expected ")

    return f"nested {name}", check


# In a map, whatever is before the bracket and in comments, and as an index.
SPELLINGS = {
    "blank": "func.func @main() attributes {a.a = affine_map <(d0) -> (TERMS)>} { return }\n",
    "comment": "func.func @main() attributes {a.a = affine_map<(d0) -> ( // >\n TERMS)>} { return }\n",
    "index": "func.func @main(%m: memref<?xf32>, %d0: index) { %x = affine.load %m[TERMS] : memref<?xf32>\n return }\n",
}


def check_expressions(folder):
    files = [bytecode(EXPRESSION, folder)]
    for name, text in SPELLINGS.items():
        for kind, terms in (("sum", "+d0" * 100000), ("signs", "-" * 100000 + "d0"), ("words", " mod 3" * 100000)):
            files.append(folder / f"{name}-{kind}.mlir")
            files[-1].write_text(text.replace("TERMS", "d0" + terms if kind != "signs" else terms).replace(
                "d0", "%d0" if name == "index" else "d0"))
    for file in files:
        for tool in ("ad-opt", "ad-runner"):
            yield from problem(run(tool, file), 1, "expected affine expressions of at most 1024 operators")


def check_long_chains(folder):
    """Emitters walk from the results of a kernel to its arguments."""
    copy = ("  %{0} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = [\"parallel\"]}} "
            "ins(%{1} : tensor<4xf32>) outs(%e : tensor<4xf32>) {{ ^bb0(%a: f32, %o: f32): linalg.yield %a : f32 }} "
            "-> tensor<4xf32>")
    module = folder / "module.mlir"
    for length, code in ((900, 0), (25000, 1)):
        body = "\n".join(["  %e = tensor.empty() : tensor<4xf32>",
                          *(copy.format(i + 1, i) for i in range(length)), f"  ad.yield %{length} : tensor<4xf32>"])
        module.write_text("#map = affine_map<(d0) -> (d0)>\nad.kernel private @k(%0: tensor<4xf32>) -> tensor<4xf32> "
                          f'attributes {{kernel_class = "generic"}} {{\n{body}\n}}\n'
                          "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                          "  %y = ad.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n")
        for target in ("cpu", "gpu-sim"):
            done = run("ad-runner", module, "--cache=off", "--arg=arg0=arange", "--print", f"--target={target}",
                       preexec_fn=small_stack)
            yield from problem(done, code, *["in chains of at most 1000"][:code])
            if code == 0 and "[0. 1. 2. 3.]" not in done.stdout:
                yield f"{target}: {done.stdout}"


def check_arrays(folder):
    """Bytecode may give an array any type of elements; MLIR's printer ends the process when they are no numbers: when a
    module is printed (the first program), or in an error of the reader (the second)."""
    kept = 'ad.neg %a {llvm.x = array<i64: 0>} : !t\n  return %r : !t'
    axes = 'ad.reduce_sum %a axes [0] : !t -> tensor<f64>\n  return %r : tensor<f64>'
    element = bytes([3, 0x11, *[0] * 8])  # one, in 8 bytes
    for body in (kept, axes):
        result = body.split(" : ")[-1]
        source, module = folder / "source.mlir", folder / "module.mlirbc"
        source.write_text(f"!t = tensor<2xf64>\nfunc.func @main(%a: !t) -> {result} {{\n  %r = {body}\n}}\n")
        yield from problem(run("ad-opt", source, "--emit-bytecode", "-o", module), 0)
        before, *after = module.read_bytes().split(element)
        assert before[-2] == 0x23 and len(after) == 1, (before[-4:], len(after))
        refused = 0
        for kind in range(8):
            module.write_bytes(before[:-1] + bytes([2 * kind + 1]) + element + after[0])
            done = run("ad-opt", module)
            refused += done.returncode
            yield from problem(done, done.returncode and 1, *["error"] * done.returncode)
        if refused < 2:
            yield f"{refused} arrays refused"


def check_later_blocks(folder):
    """Types of the arguments of all blocks count."""
    module = folder / "module.mlir"
    for first, line in (("!t0 = tuple<>", "!t{} = tuple<!t{}>"), ("!t0 = tuple<>", "!t{0} = tuple<!t{1}, !t{1}>")):
        depth = 20000 if line.count("!t") == 2 else 60
        text = "\n".join([first, *(line.format(i, i - 1) for i in range(1, depth))])
        module.write_text(text + "\nfunc.func @main() {\n  return\n^bb1(%z: !t" + str(depth - 1) + "):\n  return\n}\n")
        for tool in ("ad-opt", "ad-runner"):
            yield from problem(run(tool, module), 1, "expected types")


def check_characters(folder):
    texts = {
        "func.func @main() { // \x1b[31m\n return }\n": "control character",
        "func.func @main() { // \u009b31m\n return }\n": "control character",
        'func.func @main(%x: tensor<f32> {ad.name = "a\\1B[2J"}) { return }\n': "printable characters",
        'func.func @main(%x: tensor<f32> {ad.name = "a\u202eb"}) { return }\n': "control character",
        'func.func @main(%x: tensor<f32> {ad.name = "a\\FF"}) { return }\n': "printable characters",
        'func.func @main() { %f = ad.feed "f\\0A" : tensor<f32>\n return }\n': "printable characters",
        'func.func @main(%x: tensor<f32>) { ad.receive "r\\07"(%x) : tensor<f32>\n return }\n': "printable characters",
        'func.func @main(%x: tensor<f32>) { %y = "ad.\\1B[32mx"(%x) : (tensor<f32>) -> tensor<f32>\n return }\n': "error",
        'func.func @"\\1B[2J"() { return }\n func.func @main() { func.call @no() : () -> ()\n return }\n': "error",
    }
    module = folder / "module.mlir"
    for text, part in texts.items():
        module.write_text(text)
        yield from problem(run("ad-opt", module), 1, part)
        done = run("ad-runner", module)
        yield from problem(done, done.returncode if done.returncode in (1, 2) else 1, "error: ")
    yield from problem(run("ad-runner", folder / "no\x1b[31mfile"), 2, "no\\u{1B}[31mfile")


def check_lines(folder):
    """A line feed of a file does not begin a message."""
    forged = "a\nerror: all is well"
    module = folder / "module.mlir"
    module.write_text("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n %no = arith.constant false\n"
                      ' ad.require 1 %no() "a\\0Aerror: all is well"\n return %x : tensor<f32> }\n')
    targets = ("reference", "cpu", "gpu-sim")
    tools = [["ad-runner", module, "--arg=arg0=zeros", f"--target={target}"] for target in targets]
    tools += [[tool, folder / forged] for tool in ("ad-opt", "ad-runner", "adrt-run", "ad-gpu-emulate")]
    tools.append(["ad-diff", "runs", folder / forged, folder])
    trace = traced(folder)
    run_file = trace / "run.json"
    for option in ("entry", "numerics", "kernels"):
        changed = json.loads(run_file.read_text())
        changed["options"][option] = forged
        shutil.copytree(trace, folder / option)
        (folder / option / "run.json").write_text(json.dumps(changed))
        tools.append(["ad-runner", f"--replay={folder / option}"])
    for words in tools:
        done = run(*words)
        if done.returncode == 0 or "all is well" not in done.stderr:
            yield f"{words}: exit code {done.returncode}, {done.stderr}"
        if "\nerror" in done.stderr:
            yield f"{words}: a line of the file is a message: {done.stderr}"


# --- Traces

def traced(folder):
    trace = folder / "trace"
    done = run("ad-runner", PROGRAM, "--cache=off", "--arg=x=normal:1", f"--trace={trace}", "--trace-tensors=all")
    assert done.returncode == 0, done.stderr
    return trace


def outside(folder, inside):
    """A file next to the trace, with the content that the trace has."""
    target = folder / ("outside" + inside.suffix)
    shutil.copy(inside, target)
    return target


def check_unknown_names(folder):
    """Names in bytecode may hold any bytes: those of an operation and of its dialect, and of another's attribute."""
    text = 'func.func @main() attributes {otherXs.one} {\n  "unkXown.oddXs"() : () -> ()\n  return\n}\n'
    module = bytecode(text, folder)
    for name in (b"unkXown", b"oddXs", b"otherXs"):
        for byte in (b"\0", b"\x1b", b"\xff"):
            changed = folder / "changed.mlirbc"
            changed.write_bytes(module.read_bytes().replace(name, name.replace(b"X", byte)))
            for words in (["ad-opt"], ["ad-opt", "--ad-simplify"], ["ad-runner"]):
                yield from problem(run(*words, changed), 1, "dialect 'unk" if name != b"unkXown" else "own")
            yield from problem(run("ad-opt", "--allow-unregistered-dialect", changed, "-o", folder / "out"), 0)


def check_names(folder):
    trace = traced(folder)
    info = json.loads((trace / "run.json").read_text())
    changes = {
        ("program",): trace / info["program"],
        ("inputs", 0, "file"): trace / info["inputs"][0]["file"],
        ("outputs", 0, "file"): trace / info["outputs"][0]["file"],
        ("options", "precision"): folder / "policy.yaml",
        ("options", "rewrites_only"): folder / "list.tsv",
    }
    (folder / "policy.yaml").write_text("compute: bf16\n")
    (folder / "list.tsv").write_text("")
    for path, source in changes.items():
        target = outside(folder, source)
        for name in (str(target), f"../{target.name}", f"inputs/../../{target.name}"):
            changed = json.loads((trace / "run.json").read_text())
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = name
            other = folder / "other"
            shutil.rmtree(other, ignore_errors=True)
            shutil.copytree(trace, other)
            (other / "run.json").write_text(json.dumps(changed))
            yield from problem(run("ad-runner", f"--replay={other}"), 2, "is not a file of", "stays in the folder")
            if path == ("program",):
                yield from problem(run("ad-diff", "runs", trace, other), 2, "is not a file of")


def check_sources(folder):
    """A file of a trace is that file, not the form of a source that its name looks like."""
    program, values = folder / "program.mlir", folder / "g.npy"
    program.write_text('func.func @main() -> tensor<2xf32> {\n %f = ad.feed "g" : tensor<2xf32>\n'
                       " return %f : tensor<2xf32> }\n")
    np.save(values, np.float32([[1, 2]]))
    trace, secret = folder / "trace", folder / "secret.npy"
    np.save(secret, np.float32([[42, 42]]))
    done = run("ad-runner", program, "--cache=off", f"--feed=g={values}", f"--trace={trace}")
    assert done.returncode == 0, done.stderr
    info = json.loads((trace / "run.json").read_text())
    for name in ("feeds/g.npy,cycle", "normal:1"):
        info["feeds"][0]["file"] = name
        (trace / "run.json").write_text(json.dumps(info))
        (trace / "feeds" / "g.npy").rename(trace / name)
        (trace / "feeds" / "g.npy").symlink_to(secret)
        done = run("ad-runner", f"--replay={trace}", "--print")
        yield from problem(done, 0)
        if "42" in done.stdout or "[1. 2.]" not in done.stdout:
            yield f"{name}: other values than recorded: {done.stdout}"
        (trace / "feeds" / "g.npy").unlink()
        (trace / name).rename(trace / "feeds" / "g.npy")


def check_links(folder):
    trace = traced(folder)
    info = json.loads((trace / "run.json").read_text())
    for name in ("run.json", info["program"], info["inputs"][0]["file"], info["outputs"][0]["file"]):
        for make, part in ((lambda path, target: path.symlink_to(target), "a link leads out of the folder"),
                           (lambda path, target: os.mkfifo(path), "is not a regular file")):
            other = folder / "other"
            shutil.rmtree(other, ignore_errors=True)
            shutil.copytree(trace, other)
            (other / name).unlink()
            make(other / name, outside(folder, trace / name))
            yield from problem(run("ad-runner", f"--replay={other}"), 2, part)
            if name in ("run.json", info["program"]):
                yield from problem(run("ad-diff", "runs", trace, other), 2, part)
    inner = folder / "inner"
    shutil.copytree(trace, inner)
    (inner / "moved.mlir").write_bytes((inner / info["program"]).read_bytes())
    (inner / info["program"]).unlink()
    (inner / info["program"]).symlink_to("moved.mlir")
    yield from problem(run("ad-runner", f"--replay={inner}"), 0)


def check_records(folder):
    trace = traced(folder)
    table = (trace / "records.tsv").read_text()
    for name in ("../outside.npy", str(folder / "outside.npy")):
        shutil.copy(trace / "values/0.npy", folder / "outside.npy")
        other = folder / "other"
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(trace, other)
        (other / "records.tsv").write_text(table.replace("values/0.npy", name))
        yield from problem(run("ad-diff", "runs", trace, other), 2, "stays in the folder")


def check_options(folder):
    """Recorded options outside of the ranges of the command line, and sources that are files."""
    trace = traced(folder)
    info = json.loads((trace / "run.json").read_text())
    for name, value in (("sm_count", 0), ("sm_count", 65536), ("threads", 100000), ("tile", "0x0"), ("tile", "-1x1"),
                        ("chip", "\x1b[31m"), ("cpu", "a b"), ("fuse", "../x"), ("schedule", "\n"),
                        ("precision", "/etc/hostname"), ("precision", "bf16 ")):
        info["options"] = {**json.loads((trace / "run.json").read_text())["options"], name: value, "target": "gpu-sim"}
        other = folder / "other"
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(trace, other)
        (other / "run.json").write_text(json.dumps(info))
        yield from problem(run("ad-runner", f"--replay={other}"), 2, name)
    program = folder / "fed.mlir"
    program.write_text('func.func @main() -> tensor<f32> { %f = ad.feed "f" : tensor<f32>\n return %f : tensor<f32> }\n')
    fed, secret = folder / "fed", folder / "secret"
    assert run("ad-runner", program, "--cache=off", "--feed=f=zeros", f"--trace={fed}").returncode == 0
    secret.write_text(SECRET)
    info = json.loads((fed / "run.json").read_text())
    info["feeds"][0].update(file="", source=str(secret))
    (fed / "run.json").write_text(json.dumps(info))
    yield from problem(run("ad-runner", f"--replay={fed}", "--print"), 0)


# --- Kernels of the program

HEAD = '#map = affine_map<(d0) -> (d0)>\n'
KERNEL = """ad.kernel private @k({arguments}) -> {result} attributes {{kernel_class = "generic"}} {{
{body}
}}
func.func @main(%x: tensor<?xf32> {{ad.name = "x"}}, %n: tensor<i64> {{ad.name = "n"}}) -> {result} {{
  %e = tensor.extract %n[] : tensor<i64>
  %j = arith.index_cast %e : i64 to index
  %0 = ad.launch @k({operands}){sizes} : ({types}) -> {result}
  return %0 : {result}
}}
"""
COPY = """  %r = linalg.generic {indexing_maps = [MAP, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<SIZExf32>) outs(%o : tensor<OUTxf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<OUTxf32>
  ad.yield %r : tensor<OUTxf32>"""


def copy(size, out, index="d0"):
    return COPY.replace("MAP", f"affine_map<(d0) -> ({index})>").replace("SIZE", size).replace("OUT", out)


KERNELS = {
    "slice": ("  %s = tensor.extract_slice %x[%j] [8] [1] : tensor<?xf32> to tensor<8xf32>\n"
              "  %o = tensor.empty() : tensor<8xf32>\n" + copy("8", "8")),
    "constant slice": ("  %s = tensor.extract_slice %x[90000000] [8] [1] : tensor<?xf32> to tensor<8xf32>\n"
                       "  %o = tensor.empty() : tensor<8xf32>\n" + copy("8", "8")),
    "stride": ("  %s = tensor.extract_slice %x[0] [8] [%j] : tensor<?xf32> to tensor<8xf32>\n"
               "  %o = tensor.empty() : tensor<8xf32>\n" + copy("8", "8")),
    "valid stride": ("  %c = arith.constant 2 : index\n  %k = arith.minsi %j, %c : index\n"
                     "  %s = tensor.extract_slice %x[0] [4] [%k] : tensor<?xf32> to tensor<4xf32>\n"
                     "  %o = tensor.empty() : tensor<8xf32>\n" + copy("4", "8", "d0 floordiv 2")),
    "nothing written": "  %r = tensor.empty() : tensor<8xf32>\n  ad.yield %r : tensor<8xf32>",
    "part written": ("  %o = tensor.empty() : tensor<8xf32>\n"
                     "  %t = tensor.extract_slice %x[0] [4] [1] : tensor<?xf32> to tensor<4xf32>\n"
                     "  %r = tensor.insert_slice %t into %o[2] [4] [1] : tensor<4xf32> into tensor<8xf32>\n"
                     "  ad.yield %r : tensor<8xf32>"),
    "insert": ("  %o = tensor.empty() : tensor<8xf32>\n  %z = arith.constant 0.0 : f32\n"
               "  %s = linalg.fill ins(%z : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>\n"
               "  %r = tensor.insert_slice %x into %s[0] [%j] [1] : tensor<?xf32> into tensor<8xf32>\n"
               "  ad.yield %r : tensor<8xf32>"),
    "insert at an offset": (
        "  %o = tensor.empty() : tensor<8xf32>\n  %z = arith.constant 0.0 : f32\n"
        "  %s = linalg.fill ins(%z : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>\n"
        "  %t = tensor.extract_slice %x[0] [4] [1] : tensor<?xf32> to tensor<4xf32>\n"
        "  %r = tensor.insert_slice %t into %s[%j] [4] [1] : tensor<4xf32> into tensor<8xf32>\n"
        "  ad.yield %r : tensor<8xf32>"),
    "cast": ("  %s = tensor.cast %x : tensor<?xf32> to tensor<90000000xf32>\n"
             "  %o = tensor.empty() : tensor<90000000xf32>\n" + copy("90000000", "90000000")),
    "wrapping map": "  %s = tensor.cast %x : tensor<?xf32> to tensor<?xf32>\n  %o = tensor.empty() : tensor<17xf32>\n" +
                    copy("?", "17", "d0 * 1152921504606846976"),
}


ONLY_COMPILED = ("valid stride", "nothing written", "part written")
WHOLE = ("  %o = tensor.empty() : tensor<8xf32>\n"
         "  %t = tensor.extract_slice %x[0] [4] [2] : tensor<?xf32> to tensor<4xf32>\n"
         "  %q = tensor.insert_slice %t into %o[4] [4] [1] : tensor<4xf32> into tensor<8xf32>\n"
         "  %r = tensor.insert_slice %t into %q[0] [4] [1] : tensor<4xf32> into tensor<8xf32>\n"
         "  ad.yield %r : tensor<8xf32>")


def same_everywhere(program, arguments, expected):
    """A program runs on each target, and prints the same with the expected text."""
    outputs = []
    for target in TARGETS:
        done = run("ad-runner", program, "--cache=off", f"--target={target}", *arguments, "--print")
        yield from problem(done, 0)
        outputs.append(done.stdout)
    if len(set(outputs)) != 1 or expected not in outputs[0]:
        yield f"{outputs}"


def check_whole_kernel(folder):
    """Slices that write a whole tensor run, with the reference's bits."""
    program = folder / "kernel.mlir"
    text = KERNEL.format(arguments="%x: tensor<?xf32>, %j: index", body=WHOLE, result="tensor<8xf32>",
                         operands="%x, %j", sizes="", types="tensor<?xf32>, index")
    program.write_text(HEAD + text)
    np.save(folder / "x.npy", np.arange(8, dtype=np.float32))
    np.save(folder / "n.npy", np.int64(1))
    yield from same_everywhere(program, [f"--arg=x={folder / 'x.npy'}", f"--arg=n={folder / 'n.npy'}"],
                               "[0. 2. 4. 6. 0. 2. 4. 6.]")


def check_order(folder):
    """Blocks longer than any memory are refused."""
    program = folder / "order.mlir"
    for order in ("block = 9223372036854775807", "block = 4611686018427387904",
                  "lanes = 64, chunk = 4611686018427387904"):
        program.write_text("func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {\n"
                           f"  %y = ad.reduce_sum %x axes [0] {{order = #ad.order<{order}>}} : tensor<?x?xf32> -> "
                           "tensor<?xf32>\n  return %y : tensor<?xf32> }\n")
        yield from problem(run("ad-runner", program, "--arg=arg0=normal:1", "--dim=arg0.0=8", "--dim=arg0.1=700"), 1,
                           "of at most 1099511627776")


def check_kernels(folder):
    """No kernel of a program reads or writes outside of its tensors, on any target."""
    np.save(folder / "x.npy", np.arange(8, dtype=np.float32))
    np.save(folder / "n.npy", np.int64(90000000))
    for name, body in KERNELS.items():
        size = "90000000" if name == "cast" else "17" if name == "wrapping map" else "8"
        text = KERNEL.format(arguments="%x: tensor<?xf32>, %j: index", body=body, result=f"tensor<{size}xf32>",
                             operands="%x, %j", sizes="", types="tensor<?xf32>, index")
        program = folder / "kernel.mlir"
        program.write_text(HEAD + text)
        # The reference writes zeros where nothing is written, and takes any strides.
        targets = ("cpu", "gpu-sim") if name in ONLY_COMPILED else TARGETS
        for target in targets:
            done = run("ad-runner", program, "--cache=off", f"--target={target}", f"--arg=x={folder / 'x.npy'}",
                       f"--arg=n={folder / 'n.npy'}")
            for found in problem(done, 1, "error: "):
                yield f"{name} on {target}: {found}"


FUSION = """func.func @main(%x: tensor<8xf32> {ad.name = "x"}, %n: tensor<8xi64> {ad.name = "n"}) -> tensor<8xf32> {
  %r = ad.fusion elementwise (%a = %x, %b = %n) : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]} ins(%b : tensor<8xi64>) outs(%e : tensor<8xf32>) {
    ^bb0(%i: i64, %o: f32):
      %j = arith.index_cast %i : i64 to index
      %v = tensor.extract %a[%j] : tensor<8xf32>
      linalg.yield %v : f32
    } -> tensor<8xf32>
    ad.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
"""


def check_fusion(folder):
    """Nor does a fusion of the program."""
    program = folder / "fusion.mlir"
    program.write_text(FUSION)
    np.save(folder / "n.npy", np.full(8, 90000000))
    for target in TARGETS:
        done = run("ad-runner", program, "--cache=off", f"--target={target}", "--arg=x=arange",
                   f"--arg=n={folder / 'n.npy'}")
        yield from problem(done, 1, "tensor.extract")


def check_claims(folder):
    """What passes write for later ones is not believed from a file."""
    program = folder / "claims.mlir"
    program.write_text("""func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<9xf32> {ad.name = "y"}) {
  %b = ad.broadcast %x {ad.same_sizes} : tensor<?xf32> -> tensor<9xf32>
  %y = ad.neg %b : tensor<9xf32>
  return %y : tensor<9xf32>
}
""")
    np.save(folder / "x.npy", np.float32([3]))
    yield from same_everywhere(program, [f"--arg=x={folder / 'x.npy'}"], "-3. -3. -3. -3. -3. -3. -3. -3. -3.")


# --- Outputs

def check_outputs(folder):
    out = folder / "out"
    command = ("ad-runner", PROGRAM, "--cache=off", "--arg=x=normal:1", f"--out-dir={out}")
    out.mkdir()
    os.mkfifo(out / "energy.npy")
    yield from problem(run(*command), 2, "not a regular file")
    (out / "energy.npy").unlink()
    target = folder / "elsewhere"
    target.write_text("kept")
    for name in (target, "/dev/zero"):
        (out / "manifest.json").symlink_to(name)
        yield from problem(run(*command), 0)
        if (out / "manifest.json").is_symlink() or target.read_text() != "kept":
            yield "the manifest is written through a link"
        (out / "manifest.json").unlink()


def check_shared_folder(folder):
    """A link that another user made in a folder that all may write to."""
    protected = pathlib.Path("/proc/sys/fs/protected_symlinks")
    if os.geteuid() != 0 or not protected.exists() or protected.read_text().strip() != "1":
        return
    shared, target = folder / "shared", folder / "target.npy"
    folder.chmod(0o755)
    shared.mkdir()
    shared.chmod(0o1777)
    target.write_text("kept")
    link, other = shared / "gradient.npy", 65534
    link.symlink_to(target)
    os.lchown(link, other, other)
    command = ("ad-runner", PROGRAM, "--cache=off", "--arg=x=normal:1")
    yield from problem(run(*command, f"--out-dir={shared}"), 2, "gradient.npy': Permission denied")
    yield from problem(run(*command, f"--report={link}"), 2, "gradient.npy': Permission denied")
    if target.read_text() != "kept":
        yield "a file was written through the link of another user"


# --- Memory

LARGE = """
func.func @main(%x: tensor<?x1xf32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {
  %r = ad.reshape %x : tensor<?x1xf32> -> tensor<?xf32>
  %s = ad.dot %r, %r batch [] x [] contract [] x [] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  ad.receive "s"(%s) : tensor<?x?xf32>
  %y = ad.reduce_sum %s axes [0, 1] : tensor<?x?xf32> -> tensor<f32>
  return %y : tensor<f32>
}
"""


def check_memory(folder):
    program = folder / "large.mlir"
    program.write_text(LARGE.replace("%r = ad.reshape %x : tensor<?x1xf32> -> tensor<?xf32>\n", "").replace(
        "%r, %r batch [] x [] contract [] x [] : (tensor<?xf32>, tensor<?xf32>)",
        "%x, %x batch [] x [] contract [1] x [1] : (tensor<?x1xf32>, tensor<?x1xf32>)"))
    for target in ("cpu", "reference", "gpu-sim"):
        command = ("ad-runner", program, "--cache=off", "--arg=x=normal:1", f"--target={target}")
        yield from problem(run(*command, "--dim=x.0=100"), 0)
        yield from problem(run(*command, "--dim=x.0=100", "--memory-limit=4M"), 0)
        yield from problem(run(*command, "--dim=x.0=2000", "--memory-limit=4M"), 4, "not enough memory", "4194304")
        # More than any machine has: the system would grant it, and kill the process.
        yield from problem(run(*command, "--dim=x.0=2000000"), 4, "not enough memory")
    # Sizes that wrap.
    program.write_text("func.func @main() -> tensor<f32> { %c = ad.constant dense<1.5> : tensor<4611686018427387904xf32>\n"
                       "  %s = ad.reduce_sum %c axes [0] : tensor<4611686018427387904xf32> -> tensor<f32>\n"
                       "  return %s : tensor<f32> }\n")
    yield from problem(run("ad-runner", program, "--target=reference", "--cache=off"), 4, "not enough memory")
    for wrong in ("", "0", "-1", "4T", "x", "99999999999G"):
        yield from problem(run("ad-runner", program, f"--memory-limit={wrong}"), 2, "--memory-limit")


CHECKS = [("locations", check_locations), *[check_nested(*each) for each in NESTED.items()],
          ("expressions", check_expressions), ("long chains", check_long_chains),
          ("arrays", check_arrays), ("later blocks", check_later_blocks),
          ("characters", check_characters), ("lines", check_lines), ("names", check_names),
          ("unknown names", check_unknown_names),
          ("sources", check_sources), ("links", check_links), ("records", check_records),
          ("options", check_options), ("kernels", check_kernels), ("whole kernel", check_whole_kernel),
          ("fusion", check_fusion), ("order", check_order), ("claims", check_claims), ("outputs", check_outputs),
          ("shared folder", check_shared_folder), ("memory", check_memory)]

if __name__ == "__main__":
    sys.exit(checks.run_checks("untrusted files", CHECKS))
