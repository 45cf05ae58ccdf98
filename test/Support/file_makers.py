# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Makes the changed file of a case: functions of a case and a source of random numbers, which write into the folder of
the case and give the options to run the file."""

import json
import os
import re
import shutil
import subprocess

import file_formats
import program_changes
from file_changes import change_bytes
from runner import binary


def changed(change, name, file=None):
    """A kind's `make` for one file among those that are fixed."""

    def make(case, source):
        case.write(name, change(case.seeds.read(file or name), source, case.plants))

    return make


def in_trace(change, name):
    def make(case, source):
        shutil.copytree(case.seeds.fixed / "trace", case.folder / "trace")
        case.write("trace/" + name, change(case.seeds.read("trace/" + name), source, case.plants))

    return make


def write_session(case, text):
    """What an editor says to the language server about a program. Locations in its text end MLIR's server when an
    error is at one that the text lacks, and so does what is nested deeply (docs/security.md)."""
    text = re.sub(rb"loc\(", b"lok(", text)
    text = re.sub(rb"(.{1,24}?)\1{100,}", lambda repeated: repeated[1] * 100, text, flags=re.S)
    file = {"uri": "test:///f.mlir"}
    opened = {**file, "languageId": "mlir", "version": 1, "text": text.decode(errors="replace")}
    messages = {
        "initialize": {"processId": 1, "rootPath": "x", "capabilities": {}, "trace": "off"},
        "textDocument/didOpen": {"textDocument": opened},
        "textDocument/hover": {"textDocument": file, "position": {"line": 1, "character": 8}},
        "textDocument/documentSymbol": {"textDocument": file},
        "shutdown": None,
        "exit": None,
    }
    notices = ("textDocument/didOpen", "exit")
    parts = [json.dumps({"jsonrpc": "2.0", "method": method, "params": content,
                         **({} if method in notices else {"id": number})})
             for number, (method, content) in enumerate(messages.items())]
    case.write("session.lsp", "\n// -----\n".join(parts).encode() + b"\n")


def make_program(case, source):
    text, given = source.choice(list(case.seeds.programs.values()))
    text = program_changes.change_program(text, source, case.plants)
    case.write("changed.mlir", text)
    write_session(case, text)
    return given


def make_loop(case, source):
    text = program_changes.change_program(source.choice(case.seeds.loops), source, case.plants)
    case.write("changed.mlir", text)
    write_session(case, text)


def make_bytecode(case, source):
    content, given = source.choice(case.seeds.bytecode)
    content = program_changes.change_bytecode(content, source, case.plants)
    case.write("changed.mlir", content)
    return given


def make_deep_bytecode(case, source):
    """What is nested deeper than a text may be."""
    case.write("changed.mlir", source.choice(case.seeds.deep))
    return ["--arg=arg0=zeros"]


def make_planted_bytecode(case, source):
    """Bytecode of a changed text that parses, with its strings, names and locations. What is wrong in it is left to the
    reader."""
    text, given = source.choice(list(case.seeds.programs.values()))
    change = source.choice([program_changes.place_location, program_changes.change_location,
                            program_changes.change_string, program_changes.change_symbol])
    case.write("text.mlir", change(text, source, case.plants))
    command = [binary("ad-opt"), "text.mlir", "--emit-bytecode", "--mlir-print-debuginfo", "-o", "changed.mlir",
               "--mlir-very-unsafe-disable-verifier-on-parsing", "--verify-each=0"]
    made = subprocess.run(command, cwd=case.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if made.returncode:
        shutil.copy(case.folder / "text.mlir", case.folder / "changed.mlir")
    return given


def make_kernel(case, source):
    case.write("changed.mlir", program_changes.change_program(source.choice(case.seeds.kernels), source, case.plants,
                                                             program_changes.KERNEL_CHANGES))


def make_adx(case, source):
    name = source.choice(["plain", "weights", "gpu"])
    case.write("changed.adx", file_formats.change_adx(case.seeds.read(name + ".adx"), source, case.plants))
    return [] if name == "weights" else ["--arg=x=../fixed/x.npy"]


def plant_link(path, source, plants, outside=True):
    """In the place of a file or a folder: a link that leads outside or nowhere, a pipe, or a folder."""
    others = [plants.folder / name for name in plants.FILES if name != "pipe" or path.suffix] if outside else []
    target = source.choice([*others, "/dev/zero", "..", ".", path.name, "nowhere"])
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    kind = source.randrange(6)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    else:
        path.symlink_to(target)


def name_like_a_source(trace, path, source):
    """Gives a tensor of the trace a name that a command line would read as the form of a source."""
    old = path.relative_to(trace).as_posix()
    new = source.choice([f"{old},cycle", "normal:1", f"{path.parent.name}/zeros", f"{old}={path.name}"])
    path.rename(trace / new)
    run = trace / "run.json"
    run.write_text(run.read_text().replace(json.dumps(old), json.dumps(new)))


def make_links(case, source):
    """A trace with links, or with other files in the place of its own."""
    trace = case.folder / "trace"
    shutil.copytree(case.seeds.fixed / "trace", trace)
    if source.random() < 0.3:
        path = source.choice([*trace.glob("feeds/*.npy"), *trace.glob("inputs/*.npy")])
        name_like_a_source(trace, path, source)
        path.symlink_to(case.plants.folder / source.choice([name for name in case.plants.FILES if name != "pipe"]))
        return
    path = source.choice(sorted(trace.rglob("*")))
    if path.is_file() and source.random() < 0.3:
        change = file_formats.change_npy if path.suffix == ".npy" else change_bytes
        path.write_bytes(change(path.read_bytes(), source, case.plants))
    else:
        plant_link(path, source, case.plants)


def make_output(case, source):
    """A folder of outputs with a changed manifest, a changed tensor, or a link."""
    out = case.folder / "out"
    shutil.copytree(case.seeds.fixed / "out", out)
    kind = source.randrange(6)
    if kind == 0:
        # Links in the place of results are followed: the folder is the user's. The manifest is ours.
        path = source.choice(sorted(out.iterdir()))
        plant_link(path, source, case.plants, outside=path.name == "manifest.json")
    elif kind < 4:
        case.write("out/y.npy", file_formats.change_npy(case.seeds.read("out/y.npy"), source, case.plants))
    else:
        content = case.seeds.read("out/manifest.json")
        case.write("out/manifest.json", file_formats.change_json(content, source, case.plants))
