# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Files of JSON and YAML that are nested beyond the stack, or too long, end with an error at their place in each tool
that reads them, and with its exit code."""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

DEEP, DEEP_POLICY = 200000, 10000  # a policy has at most 64 KiB
PROGRAM = str(pathlib.Path(__file__).resolve().parents[2] / "examples/first.mlir")
JSON = {
    "lists": "[" * DEEP,
    "objects": '{"a":' * DEEP,
    "options": '{"program": "first.mlir", "options": ' + "[" * DEEP + "]" * DEEP + "}",
}
JSON_ERROR = "expected brackets that are nested at most 256 deep"
YAML = {
    "lists": ("[" * DEEP_POLICY, "1:257: expected brackets that are nested at most 256 deep"),
    "mappings": ("a: " + "{a: " * DEEP_POLICY, "expected brackets that are nested at most 256 deep"),
    "entries": ("always:\n" + "- " * DEEP_POLICY + "x", "2:1: expected entries that are nested at most 256 deep"),
    "empty entries": ("always:\n" + "-\n" * DEEP_POLICY, "258:1: expected entries that are nested at most 256 deep"),
    "empty keys": ("? \n\n" * DEEP_POLICY, "expected entries that are nested at most 256 deep"),
    "keys": ("? " * DEEP_POLICY + "x", "1:1: expected entries that are nested at most 256 deep"),
    "many names": ("compute: bf16\nalways: [" + "x," * 30000 + "]\n", "error"),
    "length": ("#" * (1 << 16) + "\n", "1:1: expected a policy of at most 65536 bytes"),
}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)


def refused(command, code, *parts):
    """What is wrong with the end of a command, or None."""
    done = run(command)
    if done.returncode != code:
        return f"exit code {done.returncode}, expected {code}: {done.stderr[:300]}"
    missing = [part for part in parts if part not in done.stderr]
    return f"no '{missing[0]}' in: {done.stderr[:300]}" if missing else None


def traced(folder):
    trace = folder / "trace"
    done = run([runner.binary("ad-runner"), PROGRAM, "--cache=off", "--arg=x=normal:1", f"--trace={trace}"])
    assert done.returncode == 0, done.stderr
    assert json.loads((trace / "run.json").read_text())
    return trace


def check_json(name, text):
    def check(folder):
        trace, other = traced(folder), folder / "other"
        shutil.copytree(trace, other)
        (other / "run.json").write_text(text)
        for command in ([runner.binary("ad-runner"), f"--replay={other}"],
                        [runner.binary("ad-diff"), "runs", str(trace), str(other)],
                        [runner.binary("ad-diff"), "align", str(trace), str(other)]):
            if problem := refused(command, 2, JSON_ERROR):
                yield f"{pathlib.Path(command[0]).name} {command[1]}: {problem}"

    return f"run.json of {name}", check


def check_yaml(name, text, error):
    def check(folder):
        policy = folder / "policy.yaml"
        policy.write_text(text)
        if problem := refused([runner.binary("ad-runner"), PROGRAM, "--arg=x=normal:1", f"--precision={policy}"], 2,
                              "policy.yaml:" + (error if error[0].isdigit() else ""), error):
            yield problem

    return f"policy of {name}", check


if __name__ == "__main__":
    sys.exit(checks.run_checks("nested files", [check_json(*each) for each in JSON.items()] +
                               [check_yaml(name, *rest) for name, rest in YAML.items()]))
