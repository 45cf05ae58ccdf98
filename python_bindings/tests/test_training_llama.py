# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A small Llama trains in bf16 as in f32: examples/training/llama.py."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

FILE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "training" / "llama.py"
STEPS = 300
TOLERANCE = 0.02  # of the mean loss of 20 steps


@pytest.fixture(scope="module")
def example():
    # Its own module is called llama too.
    spec = importlib.util.spec_from_file_location("training_llama", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_loss_curve_in_bf16_is_that_in_f32(example):
    wide, narrow = (example.losses(precision, STEPS) for precision in ("none", "bf16"))
    assert len(wide) == len(narrow) == STEPS and (wide != narrow).any()
    wide, narrow = example.curve(wide), example.curve(narrow)
    assert np.abs(narrow / wide - 1).max() < TOLERANCE
    # Frequencies of characters alone give 2.9.
    assert wide[0] > 3 and wide[-1] < 2.1 and narrow[-1] < 2.1


def test_the_text_is_a_book(example):
    text = example.book().tobytes().decode()
    assert "In the beginning God created the heaven and the earth." in text[:100]
    assert "Surely I come quickly. Amen." in text[-200:] and len(text) > 4_000_000


def test_without_the_book_its_package_is_named():
    done = subprocess.run([sys.executable, FILE], capture_output=True, text=True, env={**os.environ, "PATH": "/none"})
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("llama.py: error: the Debian package bible-kjv") and done.stderr.count("\n") == 1


def catches(pid, number):
    """Whether the process has a handler for the signal: then it is past its imports."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt")).split()[1]
    return int(caught, 16) >> (number - 1) & 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [["llama.py", "--steps", "20000"], ["digits.py", "--seeds", "1000"]])
def test_signals_end_the_examples(command, number):
    with subprocess.Popen([sys.executable, FILE.parent / command[0], *command[1:]], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not catches(process.pid, signal.SIGTERM):
            time.sleep(0.02)
        time.sleep(1)
        process.send_signal(number)
        errors = process.communicate(timeout=100)[1]
    assert process.returncode == 128 + number
    assert errors == f"{command[0]}: stopped by {number.name}\n"


@pytest.mark.parametrize("command", [["llama.py", "--steps", "20"], ["digits.py", "--seeds", "1"]])
def test_a_full_output_is_named(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, FILE.parent / command[0], *command[1:]], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "No space left on device" in done.stderr
