#!/bin/sh
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# A build of ad-runner that fails on programs without ad.dot.
grep -q ad.dot "$1" || exit 1
exec ad-runner "$@"
