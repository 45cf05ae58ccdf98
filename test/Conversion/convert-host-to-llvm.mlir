// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-plan-memory --convert-host-to-llvm | FileCheck %s
// RUN: ad-opt %s --ad-plan-memory --convert-host-to-llvm=profile=true | FileCheck %s

// The entry of the ABI: one arena, a poll per iteration of a loop, services with the location of their operation; the loop's carry is in
// the memory of the result; each status is guarded.
// CHECK-DAG: ("x\00")
// CHECK-DAG: convert-host-to-llvm.mlir:[[#@LINE+25]]:10\00"
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK-SAME: (%[[CONTEXT:.+]]: !llvm.ptr, %[[ARGUMENTS:.+]]: !llvm.ptr, %[[RESULTS:.+]]: !llvm.ptr) -> i32
// CHECK: llvm.call @adrt_arena(%[[CONTEXT]], %{{.+}}) : (!llvm.ptr, i64) -> !llvm.ptr
// CHECK: ad.guard
// CHECK: llvm.getelementptr %[[ARGUMENTS]][0, 0]
// CHECK: %[[SLOT:.+]] = llvm.getelementptr %[[RESULTS]][0]
// CHECK: %[[DATA:.+]] = llvm.call @adrt_result(%[[CONTEXT]], %[[SLOT]], %{{.+}})
// CHECK: ad.guard
// CHECK: "llvm.intr.memcpy"(%[[DATA]],
// CHECK: scf.for
// CHECK-NEXT: %[[STOP:.+]] = llvm.call @adrt_poll(%[[CONTEXT]])
// CHECK-NEXT: ad.guard %[[STOP]]
// CHECK: %[[FED:.+]] = llvm.call @adrt_feed(%[[CONTEXT]], %{{.+}}, %{{.+}}, %{{.+}})
// CHECK-NEXT: ad.guard %[[FED]]
// CHECK: %[[TAKEN:.+]] = llvm.call @adrt_receive(%[[CONTEXT]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}})
// CHECK-NEXT: ad.guard %[[TAKEN]]
// CHECK: "llvm.intr.memcpy"(%[[DATA]],
// CHECK-NOT: adrt_result
// CHECK: return %{{.+}} : i32
func.func @main(%x: tensor<400xf32>) -> tensor<400xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<400xf32> {
    %f = ad.feed "x" : tensor<400xf32>
    ad.receive "y"(%v) : tensor<400xf32>
    scf.yield %f : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}
