# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The test format. A module of its own, since lit sends tests to its workers by pickling them."""

import copy
import shutil

import lit.formats


class TestWithOwnCache(lit.formats.ShTest):
    """A shell test with an empty cache of compiled programs: a stale object would fake a green test."""

    def execute(self, test, lit_config):
        cache = test.getExecPath() + ".cache"
        shutil.rmtree(cache, ignore_errors=True)
        test.config = copy.copy(test.config)
        test.config.environment = dict(test.config.environment, XDG_CACHE_HOME=cache)
        if "reached" in lit_config.params:
            name = "+".join(test.path_in_suite)
            test.config.environment["ADJOINT_MUTATIONS_REACHED"] = f"{lit_config.params['reached']}/{name}"
        try:
            return super().execute(test, lit_config)
        finally:
            shutil.rmtree(cache, ignore_errors=True)
