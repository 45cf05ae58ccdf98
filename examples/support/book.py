# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The King James Bible, which is in the public domain, as text for models of characters. It is that of the Debian
package bible-kjv, which scripts/setup.sh installs."""

import functools
import shutil
import subprocess

import numpy as np


@functools.cache
def book():
    """The characters of all chapters, in lines of at most 79 columns."""
    program = shutil.which("bible")
    if not program:
        raise FileNotFoundError("the Debian package bible-kjv, which holds the book, is not installed; run "
                                "scripts/setup.sh or: apt-get install bible-kjv")
    # Without -p a file of the current folder would be read first.
    command = [program, "-p", "/usr/lib", "-l79", "Genesis1:1-Revelation22:21"]
    text = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
    if not text.lstrip().startswith(b"Genesis 1\n") or not text.isascii():
        raise OSError(f"{program} did not print the text of the Debian package bible-kjv")
    return np.frombuffer(text, np.uint8)
