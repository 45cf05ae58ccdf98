#!/bin/sh
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# A build of ad-runner that gives other results for programs with ad.exp, ad.tanh and ad.sin and a single argument.
if grep -q ad.exp "$1" && grep -q ad.tanh "$1" && grep -q ad.sin "$1" && ! grep -q '%arg1:' "$1"; then
  exec ad-runner "$@" --numerics strict,approx
fi
exec ad-runner "$@"
