# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How lit finds and runs the tests.

What every ad-opt reads parses and prints again, too: --verify-roundtrip changes nothing else.
`-Dtime_limit=SECONDS` says how long a test may take (600). `-Dexec_root=FOLDER` is where tests write, for runs side by
side. Builds with planted faults (scripts/fuzz.sh mutations) switch on $ADJOINT_MUTATION, or write which faults a test
reaches into a file of its own below `-Dreached=FOLDER`.
"""

import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(sys.path[0], "Support"))
from adjoint_lit import OwnCacheTest  # noqa: E402

config.name = "adjoint"
config.test_format = OwnCacheTest(float(lit_config.params.get("time_limit", 600)))
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "data"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = lit_config.params.get("exec_root") or os.path.join(config.adjoint_build_root, "test")

bin_dir = os.path.join(config.adjoint_build_root, "bin")
config.environment["PATH"] = os.pathsep.join([bin_dir, config.llvm_tools_dir, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
# What scripts/common.sh gives sanitized builds, for lit without scripts/test.sh.
config.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "allow_user_poisoning=0")
config.environment["UBSAN_OPTIONS"] = os.environ.get("UBSAN_OPTIONS", "print_stacktrace=1")
# Programs of tests are small: what is requested on several threads runs there.
config.environment["ADJOINT_PARALLEL_ALWAYS"] = "1"
for name in ("HOME", "ADJOINT_MUTATION", "ADJOINT_SAMPLE", "ADJOINT_SEED"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%adjoint_lib", os.path.join(config.adjoint_build_root, "lib")))
config.substitutions.append(("%examples", os.path.join(config.adjoint_source_root, "examples")))
# scripts/setup.sh makes the environment with what tests in Python import.
venv_python = os.path.join(config.adjoint_source_root, ".venv", "bin", "python3")
config.substitutions.append(("%python", venv_python if os.path.exists(venv_python) else sys.executable))
if config.enable_assertions:
    config.available_features.add("assertions")
# Code for x86-64-v4 runs on this machine.
cpu_flags = pathlib.Path("/proc/cpuinfo")
if cpu_flags.exists() and re.search(r"\bavx512vl\b", cpu_flags.read_text()):
    config.available_features.add("avx512")
# The assembler of the CUDA toolkit, where ad-serialize-kernels looks for it.
cuda_folders = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda", "/opt/cuda"]
ptxas = shutil.which("ptxas", path=os.pathsep.join([os.environ.get("PATH", ""),
                                                    *[f"{f}/bin" for f in cuda_folders if f]]))
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
# Its header of the driver.
cuda_folder = next((folder for folder in cuda_folders if folder and os.path.exists(f"{folder}/include/cuda.h")), None)
if cuda_folder:
    config.available_features.add("cuda-header")
    config.substitutions.append(("%cuda", cuda_folder))
# Only the tool's name as a word of its own: not in paths, not in option names.
config.substitutions.append((r"(?<![\w/.-])ad-opt(?![\w/.-])(?!.*--verify-roundtrip)", "ad-opt --verify-roundtrip"))
