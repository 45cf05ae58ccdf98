// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A dumped optimised program runs again to the same bits; so do -O0 and the optimised program. Reports are written.
// RUN: ad-runner %s --arg arg0=normal:3 --dump-optimized %t.mlir --out-dir %t.a --numerics reproducible --numerics-report %t.numerics.json
// RUN: FileCheck %s --check-prefix=DUMP < %t.mlir
// RUN: ad-runner %t.mlir --arg arg0=normal:3 --out-dir %t.b --numerics reproducible
// RUN: cmp %t.a/res0.npy %t.b/res0.npy
// RUN: ad-runner %s --arg arg0=normal:3 --out-dir %t.c --numerics reproducible -O0
// RUN: cmp %t.a/res0.npy %t.c/res0.npy
// RUN: ad-runner %s --arg arg0=normal:3 --out-dir %t.d --numerics reproducible --target reference
// RUN: cmp %t.a/res0.npy %t.d/res0.npy
// RUN: %python -c "import json; assert json.load(open('%t.numerics.json')) == []"
// DUMP: ad.reduce_max
// DUMP-NOT: adrt_entry

// RUN: ad-runner %s --arg arg0=normal:3 --report %t.json --threads 2 --repeat 3 --warmup 1
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// REPORT: "arena_bytes": {{[0-9]+}}
// REPORT: "kernels": [
// REPORT: "calls": 3,
// REPORT: "name": "{{[a-z_0-9]+}}"
// REPORT: "name": "ad-set-numerics"
// REPORT: "target": "cpu"
// REPORT: "threads": 2
func.func @main(%x: tensor<5x33xf32>) -> tensor<5x33xf32> {
  %0 = ad.exp %x : tensor<5x33xf32>
  %1 = ad.softmax %0 axis 1 : tensor<5x33xf32>
  return %1 : tensor<5x33xf32>
}
