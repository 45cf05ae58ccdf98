# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Memory does not grow, nothing leaks, and a call costs little."""

import timeit

import adjoint
import numpy as np
import programs
import pytest


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.long
def test_memory_does_not_grow(target):
    add, total = (adjoint.compile(source, target=target) for source in (programs.ADD, programs.SUM))
    count = adjoint.compile(programs.COUNT, target=target)
    x, strided, values = np.zeros(5000, np.float32), np.zeros(10000, np.float32)[::2], np.ones((2, 2), np.float32)

    def work(calls):
        for _ in range(calls):
            add(x, strided)
            total(2, feeds={"x": values})
            count(2, receives={"count": lambda value: None})
            with pytest.raises(adjoint.ProgramError):
                add(x, x[:3])
            with pytest.raises(ZeroDivisionError):
                count(2, receives={"count": lambda value: 1 / 0})

    work(500)
    before = resident_bytes()
    work(10_000 if target == "cpu" else 2000)
    # A leak of one result per call would be 200 MB.
    assert resident_bytes() - before < 8 << 20


@pytest.mark.long
def test_programs_are_freed(target):
    def work(calls):
        for _ in range(calls):
            adjoint.compile(programs.SQUARE, target=target)(np.zeros(3, np.float32))

    work(100)
    before = resident_bytes()
    work(300)
    assert resident_bytes() - before < 8 << 20


def test_nothing_is_left_at_the_end(run_script):
    done = run_script(
        """
        import adjoint, numpy as np, programs
        adjoint._adjoint.set_leak_warnings(True)
        def work():
            program = adjoint.compile(programs.COUNT)
            program(3, receives={"count": print})
            try:
                program(3, receives={"count": lambda value: 1 / 0})
            except ZeroDivisionError:
                pass
            for source in ("{", programs.ADD):
                try:
                    adjoint.compile(source)(np.zeros(2, np.float32), np.zeros(3, np.float32))
                except adjoint.Error:
                    pass
        work()
        """
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_ends_quietly_with_a_program_at_hand(run_script):
    done = run_script(
        "import adjoint, programs; program = adjoint.compile(programs.SQUARE); keep = [program]; keep.append(keep)"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_call_costs_microseconds(record_property):
    program = adjoint.compile(programs.SQUARE)
    x = np.zeros(4, np.float32)
    microseconds = min(timeit.repeat(lambda: program(x), number=1000, repeat=20)) * 1000
    record_property("call_microseconds", round(microseconds, 2))
    print(f"one call: {microseconds:.2f} microseconds")
    assert microseconds < 50  # 1.5 on a quiet machine
