# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The tools of a wheel, as commands of its environment."""

import os
import sys
from functools import partial
from pathlib import Path

#: The tools, where the package has them.
FOLDER = Path(__file__).parent / "bin"


def _run(name: str) -> None:
    try:
        # With its folder: there a tool finds the linker.
        os.execv(FOLDER / name, [str(FOLDER / name), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: error: this installation of adjoint-mlir has no tools ({error.strerror}); install a wheel")


ad_diff = partial(_run, "ad-diff")
ad_gpu_emulate = partial(_run, "ad-gpu-emulate")
ad_lsp_server = partial(_run, "ad-lsp-server")
ad_opt = partial(_run, "ad-opt")
ad_runner = partial(_run, "ad-runner")
adrt_run = partial(_run, "adrt-run")
