// REQUIRES: assertions
// RUN: ad-opt %s --canonicalize --debug-only=greedy-rewriter,ad-fuse
func.func @f() {
  return
}
