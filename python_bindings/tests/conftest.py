# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Fixtures: a cache for the tests alone, the targets, and a function that runs a script in a process of its own."""

import collections
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest

# A background job of a script ignores Ctrl-C, and so do its children: tests that send the signal would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)


MANY = 8  # cases of one function
# No divisors in common with the number of targets, nor with those of other parameters.
ONE_IN, ONE_IN_LONG = 5, 7


def pytest_configure(config):
    config.addinivalue_line("markers", "long: scripts/test.sh takes a part of the cases, however few there are")


def pytest_collection_modifyitems(config, items):
    """Of functions with many cases scripts/test.sh takes every fifth one, and every seventh of those with long cases,
    from one that the commit chooses. Of fewer it takes one."""
    if not os.environ.get("ADJOINT_SAMPLE"):
        return
    functions = collections.defaultdict(list)
    for item in items:
        functions[item.nodeid.split("[")[0]].append(item)
    left_out = set()
    for cases in functions.values():
        long = cases[0].get_closest_marker("long")
        if len(cases) >= MANY or long:
            one_in = min(ONE_IN_LONG if long else ONE_IN, len(cases))
            left_out |= {item for number, item in enumerate(cases)
                         if (number + int(os.environ["ADJOINT_SAMPLE"])) % one_in}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """A stale object of the user's cache would fake a result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=["cpu", "reference", "gpu-sim"])
def target(request):
    return request.param


@pytest.fixture
def run_script():
    """Runs Python code, which may import the programs of the tests, and returns the finished process."""

    def run(code, timeout=120):
        header = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
        command = [sys.executable, "-c", header + textwrap.dedent(code)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    return run
