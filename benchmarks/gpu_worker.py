# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A peer in a process of its own, which makes one measurement after the other. Importing PyTorch or JAX costs
seconds, so that the process stays; one that is late or dies is replaced before the next measurement."""

import contextlib
import json
import os
import pathlib
import selectors
import subprocess
import sys

from gpu_ours import Failed, processes

HERE = pathlib.Path(__file__).resolve().parent


class Worker:
    def __init__(self, peer, folder, device):
        self.peer, self.folder, self.device, self.process, self.missing = peer, folder, device, None, None
        # Memory that JAX took beforehand would be missing elsewhere.
        self.environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}

    def start(self):
        self.process = processes.start([sys.executable, HERE / "gpu_peers.py", self.peer, self.folder, self.device],
                                       stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment)
        if not self.process:
            raise Failed("the time is over")

    def stop(self):
        if not self.process:
            return
        processes.end(self.process)
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # a question that nobody has read
                pipe.close()
        self.process = None

    def ask(self, question, deadline):
        """The answer; Failed when there is none."""
        if self.missing:
            raise Failed(self.missing)
        if deadline.over():
            raise Failed("the time is over")
        if not self.process or self.process.poll() is not None:
            self.stop()
            self.start()
        try:
            self.process.stdin.write((json.dumps(question) + "\n").encode())
            self.process.stdin.flush()
            answer = self.answer(deadline)
        except (OSError, ValueError) as error:
            self.stop()
            raise Failed(f"{self.peer} has ended: {error}") from error
        if "missing" in answer:
            self.missing = answer["missing"]
        if "seconds" not in answer:
            raise Failed(answer.get("missing") or answer["error"])
        return answer

    def answer(self, deadline):
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(deadline.remaining()):
                    self.stop()
                    raise Failed("the time of the row is over")
                chunk = os.read(self.process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise OSError("no answer")
                line += chunk
        return json.loads(line)

    def contender(self, **question):
        return lambda deadline: self.ask(question, deadline)
