#!/bin/sh
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# A build of ad-runner that gives other results where a loop reads a feed.
if grep -q ad.feed "$1"; then
  exec ad-runner "$@" --numerics strict,approx
fi
exec ad-runner "$@"
