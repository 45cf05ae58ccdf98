# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Ctrl-C and other signals, each in a process of its own."""

import pytest

SETUP = """
import os, signal, threading, time
import adjoint, numpy as np, programs

def send(number, seconds=0.3):
    threading.Timer(seconds, os.kill, (os.getpid(), number)).start()

program = adjoint.compile(programs.COUNT, target={target!r})
forever = 1 << 60
"""


@pytest.fixture
def script(run_script, target):
    def run(code):
        done = run_script(SETUP.format(target=target) + code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_ctrl_c_stops_a_program(script):
    output = script(
        """
handler = signal.getsignal(signal.SIGINT)
send(signal.SIGINT)
start = time.monotonic()
try:
    program(forever)
except KeyboardInterrupt:
    print(time.monotonic() - start < 10, signal.getsignal(signal.SIGINT) is handler, program(3))
"""
    )
    assert output == "True True 3.0\n"


def test_ctrl_c_ends_a_process(run_script, target):
    done = run_script(SETUP.format(target=target) + "send(signal.SIGINT); program(forever)")
    assert done.returncode in (-2, 130) and done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_signal_handlers_run_while_the_program_goes_on(script):
    output = script(
        """
seen = []
def handler(*_):
    seen.append(1)
    send(signal.SIGINT)
signal.signal(signal.SIGUSR1, handler)
send(signal.SIGUSR1)
try:
    program(forever)
except KeyboardInterrupt:
    print(seen)
"""
    )
    assert output == "[1]\n"


@pytest.mark.long
def test_exceptions_of_signal_handlers_come_out(script):
    output = script(
        """
def stop(*_):
    raise SystemExit("stopped")
signal.signal(signal.SIGTERM, stop)
send(signal.SIGTERM)
try:
    program(forever)
except SystemExit as error:
    print(error)
"""
    )
    assert output == "stopped\n"


@pytest.mark.long
def test_other_threads_are_not_interrupted(script):
    output = script(
        """
ends, stop = [], threading.Event()
def receive(value):
    if stop.is_set():
        raise StopIteration
def work():
    try:
        program(forever, receives={"count": receive})
    except BaseException as error:
        ends.append(type(error).__name__)
thread = threading.Thread(target=work)
thread.start()
send(signal.SIGINT)
try:
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    time.sleep(0.2)
    print("main", thread.is_alive())
stop.set()
thread.join()
print(ends)
"""
    )
    assert output == "main True\n['StopIteration']\n"


@pytest.mark.long
def test_ctrl_c_stops_a_compilation(script):
    output = script(
        """
# Arrives while Python is inside compile, which checks for signals between its stages.
steps = "".join(f"  %{i + 1} = ad.tanh %{i} : tensor<8xf32>\\n" for i in range(20000))
source = f"func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {{\\n{steps}  return %20000 : tensor<8xf32>\\n}}"
send(signal.SIGINT, 0.1)
start = time.monotonic()
try:
    adjoint.compile(source, cache="off")
    print("compiled")
except KeyboardInterrupt:
    print("stopped")
"""
    )
    assert output == "stopped\n"


@pytest.mark.long
def test_other_python_threads_run_meanwhile(script):
    output = script(
        """
thread = threading.Thread(target=program, args=({"cpu": 20_000_000}.get(program.target, 100_000),))
thread.start()
rounds = 0
while thread.is_alive():
    rounds += 1
    time.sleep(0.001)
print(rounds > 5)
"""
    )
    assert output == "True\n"
