#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Runs the runtime under the thread sanitizer.
#
#   scripts/tsan.sh [--count N] [--seed S]
#
# Builds the runtime, its tests and adrt-run with the preset `tsan` (no LLVM, about two minutes), runs the tests, and
# then random programs that ad-runner of build/release compiles: scripts/fuzz.sh races --count 200. Closes with `N
# passed, N failed`.
set -euo pipefail
source "$(dirname "$0")/common.sh"

case ${1-} in
  -h | --help) usage; exit 0 ;;
esac
TSAN=$ROOT/build/tsan
[[ -x $BUILD/bin/ad-runner ]] || die "nothing is built in $BUILD; run scripts/test.sh first"
cmake --preset tsan >/dev/null
passed=0 failed=0

# one COMMAND…: a program that ends with exit code 0 unless a test failed or a race was found.
one() {
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

mapfile -t tests < <(sed -n 's/^adjoint_unit_test(\(adrt-[a-z-]*-unit\|adrt-unit\) .*/\1/p' test/Runtime/CMakeLists.txt)
ninja -C "$TSAN" adrt-run "${tests[@]}" >/dev/null
for test in "${tests[@]}"; do
  one "$TSAN/bin/$test"
done
one env ADJOINT_TSAN_BIN="$TSAN/bin" scripts/fuzz.sh races --count 200 "$@"
echo "$passed passed, $failed failed"
((failed == 0))
