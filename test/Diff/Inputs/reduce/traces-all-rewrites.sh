#!/bin/sh
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# A build of ad-runner that has no traces of runs without some rewrites.
case "$*" in
  *--rewrites-only*--trace*)
    echo "error: --trace records no choice of rewrites" >&2
    exit 2
    ;;
esac
exec ad-runner "$@"
