#!/bin/sh
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# A build of ad-runner that fails if rewrites are left out.
for word; do
  if [ "$word" = --rewrites-only ]; then
    echo "error: this combination does not compile" >&2
    exit 1
  fi
done
exec ad-runner "$@"
