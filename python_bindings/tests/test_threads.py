# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Several threads, and processes that fork."""

import gc
import os
import threading

import adjoint
import numpy as np
import programs
import pytest


def run_all(works):
    """Runs functions at the same time, and raises the first exception."""
    problems = []

    def guarded(work):
        try:
            work()
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_a_program(target, threads):
    program = adjoint.compile(programs.ADD, target=target, threads=threads)

    def work(number):
        x = np.full(3000, number, np.float32)
        for step in range(50):
            np.testing.assert_array_equal(program(x, np.full(3000, step, np.float32)), x + step)
            with pytest.raises(adjoint.ProgramError, match="add.mlir|string"):
                program(x, x[:7])

    run_all([lambda number=number: work(number) for number in range(4)])


def test_threads_compile(target):
    def work(number):
        source = programs.SQUARE.replace("ad.mul %x, %x", f"ad.{['add', 'sub', 'mul', 'div'][number]} %x, %x")
        program = adjoint.compile(source, target=target, cache="off")
        np.testing.assert_array_equal(program(np.full(3, 4, np.float32)), np.full(3, [8, 0, 16, 1][number]))

    run_all([lambda number=number: work(number) for number in range(4)])


def test_a_program_may_be_deleted_while_it_runs(target):
    holder = [adjoint.compile(programs.COUNT, target=target)]
    started = threading.Event()
    ends = []

    def receive(value):
        if value == 1:
            started.set()
            while holder:
                pass
            gc.collect()

    thread = threading.Thread(
        target=lambda program: ends.append(program(1000, receives={"count": receive})), args=tuple(holder)
    )
    thread.start()
    started.wait()
    holder.clear()
    thread.join()
    assert ends == [1000]


def test_feeds_of_threads_do_not_mix(target):
    program = adjoint.compile(programs.SUM, target=target)

    def work(number):
        values = np.full((200, 2), number, np.float32)
        np.testing.assert_array_equal(program(200, feeds={"x": values}), [200 * number] * 2)

    run_all([lambda number=number: work(number) for number in range(4)])


def test_a_forked_process_can_call(run_script, target):
    done = run_script(
        f"""
        import os
        import adjoint, numpy as np, programs
        os.environ["ADJOINT_PARALLEL_ALWAYS"] = "1"
        program = adjoint.compile(programs.ADD, target={target!r}, threads=2)
        x = np.arange(200_000, dtype=np.float32)
        assert (program(x, x) == 2 * x).all()
        child = os.fork()
        right = (program(x, x) == 2 * x).all()
        right &= adjoint.compile(programs.SQUARE, target={target!r}, cache="off")(np.full(2, 3, np.float32)).sum() == 18
        if child == 0:
            raise SystemExit(0 if right else 1)
        print(os.waitpid(child, 0)[1], right)
        """
    )
    assert done.stdout == "0 True\n" and done.stderr == "", done.stderr


@pytest.mark.parametrize("receives", ["None", "{'count': lambda value: None}"])
def test_python_ends_while_a_thread_is_inside(run_script, target, receives):
    done = run_script(
        f"""
        import atexit, threading, time
        import numpy as np
        # Registered before the import of adjoint, it runs after the end of the threads.
        atexit.register(lambda: print(square(np.full(2, 3, np.float32))))
        import adjoint, programs
        square = adjoint.compile(programs.SQUARE)
        program = adjoint.compile(programs.COUNT, target={target!r}, threads=2)
        for _ in range(3):
            threading.Thread(target=program, args=(1 << 60,), kwargs={{"receives": {receives}}}, daemon=True).start()
        time.sleep(0.2)
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[9. 9.]\n", "")


CPUS = len(os.sched_getaffinity(0))
THREADS = """
import os, signal, threading, time
import adjoint, numpy as np, programs

def native_threads():
    return len(os.listdir("/proc/self/task"))

x = np.arange(5_000_000, dtype=np.float32)  # long enough that threads pay off
"""


def test_programs_share_the_threads_of_the_process(run_script):
    done = run_script(
        THREADS
        + """
calls = [adjoint.compile(source, threads=3) for source in (programs.ADD, programs.ADD.replace("ad.add", "ad.mul"))]
before = native_threads()

def work():
    for _ in range(20):
        for call in calls:
            call(x, x)

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
work()
print(native_threads() - before)
"""
    )
    assert done.stdout == "2\n", done.stderr


# The CPU time of a sleeping process in each of five intervals of 0.1 s. A virtual machine may count time in which the
# host has taken the CPU away, so only the median must be small. Without such time it is about 0.00003 s.
IDLE = """
used = []
for _ in range(5):
    before = time.process_time()
    time.sleep(0.1)
    used.append(time.process_time() - before)
print(sorted(used)[2] < 0.001, used)
"""


def test_an_idle_process_uses_no_cpu(run_script):
    done = run_script(
        THREADS
        + """
call = adjoint.compile(programs.ADD, threads=4)
call(x, x)
time.sleep(0.05)
"""
        + IDLE
    )
    assert done.stdout.startswith("True"), done.stdout + done.stderr


# The measurement finds a thread that does not sleep.
def test_a_polling_thread_uses_a_cpu(run_script):
    done = run_script(
        THREADS
        + """
def poll():
    while True:
        pass

threading.Thread(target=poll, daemon=True).start()
"""
        + IDLE
    )
    assert done.stdout.startswith("False"), done.stdout + done.stderr


def test_ctrl_c_stops_a_program_on_threads(run_script):
    done = run_script(
        THREADS
        + """
call = adjoint.compile(programs.ADD_OFTEN, threads=3)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    call(1 << 60, x)
except KeyboardInterrupt:
    print(time.monotonic() - start < 10, call(1, x * 0)[:2])
"""
    )
    assert done.stdout == "True [1. 1.]\n", done.stderr


def test_python_ends_while_a_loop_is_on_threads(run_script):
    done = run_script(
        THREADS
        + """
call = adjoint.compile(programs.ADD_OFTEN, threads=3)
for _ in range(3):
    threading.Thread(target=call, args=(1 << 60, x), daemon=True).start()
time.sleep(0.2)
print("end")
"""
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.parametrize(("variable", "threads", "more"),
                         [("3", None, 2), ("3", 2, 1), ("", None, CPUS - 1), ("x", 1, 0)])
def test_the_environment_says_how_many_threads(run_script, variable, threads, more):
    done = run_script(
        THREADS
        + f"""
os.environ["ADJOINT_NUM_THREADS"] = {variable!r}
os.environ["ADJOINT_PARALLEL_ALWAYS"] = "1"
call = adjoint.compile(programs.ADD, threads={threads})
before = native_threads()
call(x, x)
print(native_threads() - before)
"""
    )
    assert done.stdout == f"{more}\n", done.stderr


def test_a_wrong_number_in_the_environment_is_named(monkeypatch):
    monkeypatch.setenv("ADJOINT_NUM_THREADS", "several")
    with pytest.raises(adjoint.OptionError,
                       match="expected ADJOINT_NUM_THREADS with a number from 0 to 1024, found 'several'"):
        adjoint.compile(programs.ADD)
