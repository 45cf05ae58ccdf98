#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs under random precision policies: the types that ad-autocast gives are those of a model of its rules,
and the CPU gives the bits of the reference interpreter in `reproducible`. Closes with `autocast: N run, N failed`."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "test/Fuzz")]
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import batch  # noqa: E402
import checks  # noqa: E402
import policies  # noqa: E402
import programs  # noqa: E402
import runner  # noqa: E402

PROGRAMS = 12  # of a case
BUILTIN = policies.parse(policies.BUILTIN.read_text())
SHARES = [0.3, 0.4, 0.3]  # of operations in each list


def random_policy(rng):
    """A built-in policy, or random lists."""
    compute = str(rng.choice(["bf16", "f16", *policies.BYTES]))
    results = ["bf16", "f16", "f32"] if compute in policies.BYTES else [compute, "f32"]
    policy = {**BUILTIN, "compute": compute, "result": str(rng.choice(results))}
    if rng.random() < 0.7:
        names = [name for rule in policies.RULES for name in BUILTIN[rule]]
        rules = dict(zip(names, rng.choice(policies.RULES, size=len(names), p=SHARES)))
        rules["cast_stochastic"] = "never"  # the only one that is allowed
        policy.update({rule: [name for name in names if rules[name] == rule] for rule in policies.RULES})
    if rng.random() < 0.5:  # some operations have the default rule
        defaults = policies.RULES[1:] if compute in policies.BYTES else policies.RULES
        policy["default"] = str(rng.choice(defaults))
        policy.update({rule: [name for name in policy[rule] if rng.random() < 0.8] for rule in policies.RULES})
    if compute in policies.BYTES:  # contractions only; a gemm becomes several operations
        policy["follow"] = policy["follow"] + [name for name in policy["always"] if name != "dot"]
        policy["always"] = [name for name in policy["always"] if name == "dot"]
    return policy


def random_programs(rng, seed):
    """Half of the programs of a case mix all types; half start from f32."""
    made = [programs.random_program(seed, number) for number in range(PROGRAMS // 2)]
    for number in range(PROGRAMS // 2):
        generator = programs.Generator(np.random.default_rng([seed, number, 2]), special=0.0)
        generator.types, generator.reuse, generator.alike = ["f32", "i1"], 0.9, 0.75
        for _ in range(generator.rank(2, 12)):
            programs.grow(generator)
        made.append(generator.program())
    return [program for program in made if program.outputs]


def generic(folder, text, *options):
    program = folder / "program.mlir"
    program.write_text(text)
    command = [runner.binary("ad-opt"), str(program), *options, "--mlir-print-op-generic", "--mlir-print-debuginfo",
               "--mlir-print-local-scope", "--mlir-elide-elementsattrs-if-larger=1"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def check(seed, folder):
    rng = np.random.default_rng([seed, 7])
    policy, made = random_policy(rng), random_programs(rng, seed)
    file = folder / "policy.yaml"
    file.write_text(policies.write(policy))
    text = batch.module(made)
    before, after = generic(folder, text), generic(folder, text, f"--ad-autocast=policy={file}")
    wrong, casts = policies.differences(policy, before, after)
    if wrong:
        yield f"types: {wrong}"
    options = ["--numerics=reproducible", f"--precision={file}"]
    reference, cpu = (batch.run_each(made, [f"--target={target}", *options]) for target in ("reference", "cpu"))
    for program, expected, found in zip(made, reference, cpu):
        if problem := programs.compare(program, expected, found):
            yield problem
    check.casts += casts


check.casts = 0

if __name__ == "__main__":
    code = checks.run_seeds("autocast", check, 4)
    if not check.casts:
        print("FAILED: no case has a cast")
        code = 1
    sys.exit(code)
