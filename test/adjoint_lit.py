# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The test format. A module of its own, since lit sends tests to its workers by pickling them."""

import copy
import shutil

import lit.formats
import lit.Test
import time_limit


class OwnCacheTest(lit.formats.ShTest):
    """A shell test with an empty cache of compiled programs, since a stale object would fake a green test, and with a
    time limit, since a deadlock should fail. lit's own limit needs a package that the Python of LLVM's tools lacks."""

    def __init__(self, seconds):
        super().__init__(execute_external=False)
        self.seconds = seconds

    def execute(self, test, lit_config):
        cache = test.getExecPath() + ".cache"
        shutil.rmtree(cache, ignore_errors=True)
        test.config = copy.copy(test.config)
        test.config.environment = dict(test.config.environment, XDG_CACHE_HOME=cache)
        if "reached" in lit_config.params:
            name = "+".join(test.path_in_suite)
            test.config.environment["ADJOINT_MUTATIONS_REACHED"] = f"{lit_config.params['reached']}/{name}"
        try:
            with time_limit.TimeLimit(self.seconds) as limit:
                result = super().execute(test, lit_config)
        finally:
            shutil.rmtree(cache, ignore_errors=True)
        if limit.killed:
            return lit.Test.Result(lit.Test.TIMEOUT, f"{result.output}\n{limit.complaint()}\n")
        return result
