#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Runs a generated campaign against the built tree.
#
#   scripts/fuzz.sh NAME [--count N] [--seed S]
#
# NAME is one of the programs in test/Fuzz (without its ending). --count says how many cases to make (default 2000, of
# kills 300), --seed where the random numbers start (default 1): the same seed gives the same cases. Failing programs
# are reduced and written to files that are named (the first 20; --keep N). Closes with `NAME: N run, N failed`; exit
# code 1 when something failed.
set -euo pipefail
source "$(dirname "$0")/common.sh"

campaigns() {
  find test/Fuzz -maxdepth 1 \( -name '*.py' -o -name '*.sh' \) -perm -u+x 2>/dev/null |
    sed 's,.*/,,; s,\.[a-z]*$,,' | sort
}

case ${1-} in
  -h | --help) usage; echo "Campaigns: $(campaigns | xargs)"; exit 0 ;;
  '') die "expected the name of a campaign, one of: $(campaigns | xargs)" ;;
esac
name=$1
shift
for program in "test/Fuzz/$name.py" "test/Fuzz/$name.sh"; do
  [[ -x $program ]] || continue
  export ADJOINT_BIN=$BUILD/bin
  export PATH=$BUILD/bin:$LLVM/bin:$PATH
  case $program in
    *.py)
      [[ -x $BUILD/bin/ad-runner ]] || die "nothing is built in $BUILD; run scripts/test.sh first"
      exec "$PYTHON" "$program" "$@"
      ;;
    *) exec "$program" "$@" ;;
  esac
done
die "unknown campaign '$name', expected one of: $(campaigns | xargs)"
