# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs commands on files that are not to be trusted, and says what was wrong with how they ended."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import unicodedata

from decoy import Decoy
from runner import binary

SANITIZED = os.environ.get("ADJOINT_PRESET") in ("asan", "tsan")
SLOWER = 6 if SANITIZED else 1
SECONDS = 10 * SLOWER
CODES = {"ad-diff": (0, 1, 2, 4), "ad-opt": (0, 1, 2), "ad-lsp-server": (0, 1)}
USUAL_CODES = (0, 1, 2, 3, 4)
CRASHES = re.compile(r"PLEASE submit a bug report|LLVM ERROR|Stack dump|terminate called|Assertion .* failed"
                     r"|: runtime error: |Sanitizer:|UNREACHABLE|Traceback \(most recent call last\)")
PACKAGE = pathlib.Path(binary("ad-runner")).parents[1] / "python"
HANGS = "hangs"
WORKER = pathlib.Path(__file__).with_name("file_worker.py")


def control_character(text):
    """The first character by which a terminal would do more than show text, or None."""
    controls = (character for character in text if unicodedata.category(character) == "Cc" and character not in "\n\t")
    return next(controls, None)


class Place:
    """A folder with a case, a tree that nothing may touch, and a Python process of its own."""

    KEPT = {"case", "decoy", "fixed", "tmp", "cache"}

    def __init__(self, root):
        self.root, self.worker = root, None
        for name in ("tmp", "cache"):
            (root / name).mkdir()
        self.decoy = Decoy(root / "decoy", root / "fixed")
        environment = {
            **os.environ,
            "TMPDIR": str(root / "tmp"),
            "XDG_CACHE_HOME": str(root / "cache"),
            "PYTHONPATH": str(PACKAGE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{pathlib.Path(binary('ad-diff')).parent}:{os.environ['PATH']}",
        }
        self.options = {"env": environment, "stdout": subprocess.PIPE, "start_new_session": True}

    def run(self, command):
        """Whether the files were accepted, and what was wrong."""
        words = command.split()
        self.decoy.touched()  # while the files were made
        call = self._call if words[0] == "python" else self._execute
        code, text, wrong = call(words, SECONDS)
        if wrong == HANGS:  # unless the machine had no time for it
            code, text, wrong = call(words, 3 * SECONDS)
        touched = self.decoy.touched()
        return code == 0, wrong or self._judge(words, code, text, touched)

    def _judge(self, words, code, text, touched):
        if code < 0:
            return f"killed by {signal.Signals(-code).name}: {text[:300]}"
        if code not in CODES.get(words[0], USUAL_CODES):
            return f"exit code {code}: {text[:300]}"
        if crash := CRASHES.search(text):
            return f"says '{crash[0]}': {text[max(0, crash.start() - 100):crash.end() + 300]}"
        if code and not text.strip():
            return f"exit code {code} without a message"
        if touched:
            return f"left its folder: {', '.join(touched)}; {text[:300]}"
        if left := set(os.listdir(self.root)) - self.KEPT:
            return f"wrote {', '.join(left)}"
        # The protocol of the language server ends lines with a carriage return.
        if words[0] != "ad-lsp-server" and (character := control_character(text)):
            at = text.index(character)
            return f"prints the control character U+{ord(character):04X}: {text[max(0, at - 150):at + 100]!r}"
        return None

    def _execute(self, words, seconds):
        source = subprocess.DEVNULL
        if "<" in words:
            source = open(self.root / "case" / words[-1], "rb")
            words = words[:-2]
        process = subprocess.Popen([binary(words[0]), *words[1:]], cwd=self.root / "case", stdin=source,
                                   stderr=subprocess.STDOUT, **self.options)
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 0, "", HANGS
        finally:
            if source != subprocess.DEVNULL:
                source.close()
        return process.returncode, output.decode(errors="replace"), None

    def _start(self):
        self.messages = open(self.root / "tmp/messages", "w+b")
        self.worker = subprocess.Popen([sys.executable, WORKER], cwd=self.root, stdin=subprocess.PIPE,
                                       stderr=self.messages, **self.options)

    def _call(self, words, seconds):
        """The same of a call in the Python process, which is started again where a case has ended it."""
        if not self.worker:
            self._start()
        begin = os.fstat(self.messages.fileno()).st_size
        self.worker.stdin.write(json.dumps([str(self.root / "case"), *words[1:]]).encode() + b"\n")
        self.worker.stdin.flush()
        ready, _, _ = select.select([self.worker.stdout], [], [], seconds)
        line = self.worker.stdout.readline() if ready else b""
        self.messages.seek(begin)
        text = self.messages.read().decode(errors="replace")
        if not ready:
            self._stop()
            return 0, "", HANGS
        if not line:
            code = self.worker.wait()
            self._stop()
            return code, text, None if code < 0 else f"Python ended with {code}: {text[:300]}"
        reply = json.loads(line)
        text += reply.get("text", "")
        return reply["code"], text, f"raises {text[-500:]}" if reply.get("foreign") else None

    def _stop(self):
        if self.worker.poll() is None:
            os.killpg(self.worker.pid, signal.SIGKILL)
        self.worker.communicate()
        self.messages.close()
        self.worker = None

    def close(self):
        if self.worker:
            self._stop()
        self.decoy.close()
        for name in ("tmp", "cache"):
            shutil.rmtree(self.root / name)
