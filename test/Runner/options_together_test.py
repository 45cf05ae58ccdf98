# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Options that would have no effect, for the target or together with another option, are refused; the advice of the
messages works."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
PROGRAM = """func.func @main(%x: tensor<3xf32> {ad.name = "x"}) -> tensor<f32> {
  %y = ad.reduce_sum %x axes [0] : tensor<3xf32> -> tensor<f32>
  return %y : tensor<f32>
}
"""
REFERENCE, GPU = ["--target=reference"], ["--target=gpu-sim"]
# Options, the message, and options with which the refused one has a meaning; none where there are none.
REFUSED = [
    (["--tiles=small", *REFERENCE], "--tiles is about kernels on the CPU, target 'reference' has none; leave it out",
     ["--tiles=small"]),
    (["--tiles=large", *GPU], "--tiles is about kernels on the CPU, target 'gpu-sim' has none; leave it out", GPU),
    (["--fuse=single", *REFERENCE],
     "--fuse says which operations share a kernel, target 'reference' has none; leave it out",
     ["--fuse=single", *GPU]),
    (["--cpu=x86-64", *REFERENCE], "--cpu says what to compile for, target 'reference' compiles nothing; leave it out",
     ["--cpu=x86-64"]),
    (["--chip=sm_80"], "--chip is about kernels on a GPU, target 'cpu' has none; add --target gpu-sim or cuda",
     ["--chip=sm_80", *GPU]),
    (["--traffic"], "--traffic is counted by the emulated GPU alone; add --target gpu-sim", ["--traffic", *GPU]),
    (["--warmup=1"], "--warmup comes before what is measured; add --repeat, --report or --bench",
     ["--warmup=1", "--repeat=2"]),
    (["--warmup", "1"], "add --repeat, --report or --bench", ["--warmup=1", "--report=/dev/null"]),
    (["--tile=128x128"], "--tile is about kernels on a GPU, target 'cpu' has none; add --target gpu-sim or cuda",
     ["--tile=128x128", *GPU]),
    *[(["--check-gradients", option], "--check-gradients prints how gradients compare, and nothing else, so that "
       f"{option.split('=')[0]} would have no effect", ["--check-gradients", *GPU])
      for option in ("--print", "--out-dir=out", "--repeat=2", "--threads=2", "--bench",
                     "--numerics-report=numerics.json")],
    (["--emit=a.adx", "--check-gradients"], "--emit runs nothing, so that --check-gradients would have no effect",
     ["--check-gradients"]),
    (["--emit=a.adx", "--traffic", *GPU], "--emit runs nothing, so that --traffic would have no effect", None),
    (["--version"], "--version prints and ends, so that --arg would have no effect", None),
    (["--env"], "--env prints and ends, so that --arg would have no effect", None),
]
PRINTED = [(["--version", "--print"], "--version prints and ends, so that --print would have no effect"),
           (["--env", "--repeat=2"], "--env prints and ends, so that --repeat would have no effect"),
           (["--version", "program.mlir"], "--version prints and ends, so that a program would have no effect")]


def run(tool, folder, *options):
    return subprocess.run([BIN.resolve() / tool, *options], cwd=folder, capture_output=True, text=True, timeout=120)


def is_refused(done, message):
    if done.returncode != 2 or f": error: {message}" not in done.stderr and not done.stderr.strip().endswith(message):
        yield f"expected exit code 2 and '{message}', but got {done.returncode}: {done.stdout}{done.stderr}"


def check_refusal(options, message, instead):
    def check(folder):
        (folder / "program.mlir").write_text(PROGRAM)
        given = ["program.mlir", "--arg=x=normal:1", "--cache=off"]
        if options in (["--version"], ["--env"]):
            given = ["--arg=x=normal:1"]
        yield from is_refused(run("ad-runner", folder, *given, *options), message)
        if instead is not None and (done := run("ad-runner", folder, *given, *instead)).returncode:
            yield f"expected {' '.join(instead)} to be possible, but got {done.returncode}: {done.stderr}"

    return check


def check_printers(folder):
    for options, message in PRINTED:
        for tool in ("ad-runner", "adrt-run"):
            yield from is_refused(run(tool, folder, *options), message)
    for options in ["--env"], ["--version"], ["--env", "--threads=2"]:
        if (done := run("ad-runner", folder, *options)).returncode:
            yield f"expected {' '.join(options)} to be possible, but got {done.returncode}: {done.stderr}"


def check_compiled_files(folder):
    """What adrt-run cannot do is done with the program that the file was made from."""
    (folder / "program.mlir").write_text(PROGRAM)
    run("ad-runner", folder, "program.mlir", "--cache=off", "--emit=a.adx")
    for option, more in ("--traffic", GPU), ("--check-gradients", []):
        message = f"option '{option}' needs the program in MLIR; give both to ad-runner"
        yield from is_refused(run("adrt-run", folder, "a.adx", "--arg=x=normal:1", option), message)
        if (done := run("ad-runner", folder, "program.mlir", "--arg=x=normal:1", "--cache=off", option,
                        *more)).returncode:
            yield f"expected ad-runner {option} to be possible, but got {done.returncode}: {done.stderr}"
    for option in "--fuse=single", "--numerics=fast":
        message = f"option '{option.split('=')[0]}' says how to compile, and FILE.adx is compiled already; give it to ad-runner --emit"
        yield from is_refused(run("adrt-run", folder, "a.adx", option), message)
        if (done := run("ad-runner", folder, "program.mlir", "--emit=b.adx", option)).returncode:
            yield f"expected --emit {option} to be possible, but got {done.returncode}: {done.stderr}"


def check_sources(folder):
    """The sources that a message lists are those that the option takes."""
    (folder / "program.mlir").write_text(PROGRAM)
    done = run("ad-runner", folder, "program.mlir", "--arg=x=none.npy")
    yield from is_refused(done, "argument 'x': no file 'none.npy', and no source of that name; sources are FILE.npy, "
                                "normal:SEED[:SCALE], uniform:SEED[:SCALE], zeros and arange")
    (folder / "feed.mlir").write_text("func.func @main() -> tensor<3xf32> {\n"
                                      '  %x = ad.feed "x" : tensor<3xf32>\n  return %x : tensor<3xf32>\n}\n')
    done = run("ad-runner", folder, "feed.mlir", "--feed=x=none.npy")
    yield from is_refused(done,
                          "feed 'x': no file 'none.npy', and no source of that name; sources are FILE.npy[,cycle], "
                                "normal:SEED[:SCALE], uniform:SEED[:SCALE], zeros and arange")


def main():
    cases = [(" ".join(options), check_refusal(options, message, instead)) for options, message, instead in REFUSED]
    cases += [("what prints and ends", check_printers), ("compiled files", check_compiled_files),
              ("sources", check_sources)]
    return checks.run_checks("options together", cases)


if __name__ == "__main__":
    sys.exit(main())
