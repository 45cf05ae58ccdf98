// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Orders of sums become dimensions and loops; test/Integration/plain_linalg_test.py runs such programs.
// RUN: ad-opt %s --ad-verify-linalg --convert-ad-to-plain --split-input-file | FileCheck %s --enable-var-scope

// Two blocks: each is a chain along a dimension of its own.
// CHECK-DAG: #[[$READ:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 512 + d2 + d3)>
// CHECK-DAG: #[[$STEPS:.+]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: @blocks(
// CHECK-SAME: %[[X:.+]]: tensor<3x1024xf32>
// CHECK: %[[EXTENT:.+]] = tensor.empty() : tensor<512xf32>
// CHECK: %[[CHAINS:.+]] = linalg.generic {indexing_maps = [#[[$READ]], #[[$STEPS]], #{{.+}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[X]], %[[EXTENT]] : {{.+}}) outs(%{{.+}} : tensor<3x2x1xf32>)
// CHECK: arith.addf
// CHECK: %[[PARTS:.+]] = tensor.extract_slice %[[CHAINS]][0, 0, 0] [3, 2, 1] [1, 1, 1] : tensor<3x2x1xf32> to tensor<3x2xf32>
// CHECK-DAG: %[[ODD:.+]] = tensor.extract_slice %[[PARTS]][0, 1] [3, 1] [1, 2]
// CHECK-DAG: %[[EVEN:.+]] = tensor.extract_slice %[[PARTS]][0, 0] [3, 1] [1, 2]
// CHECK: linalg.generic {{.+}} ins(%[[EVEN]], %[[ODD]] : tensor<3x1xf32>, tensor<3x1xf32>)
// CHECK-NOT: {{[^a-z]ad\.}}
func.func @blocks(%x: tensor<3x1024xf32>) -> tensor<3xf32> {
  %y = ad.fusion reduce (%a = %x) {order = #ad.order<block = 512>, kernel = "row"} : (tensor<3x1024xf32>) -> tensor<3xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                           iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<3x1024xf32>) outs(%start : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %next = arith.addf %out, %in : f32
      linalg.yield %next : f32
    } -> tensor<3xf32>
    ad.yield %sum : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}

// -----

// A block that is whole stays as it is.
// CHECK-LABEL: @one_block(
// CHECK: linalg.generic {{.+}} iterator_types = ["reduction"]} ins(%{{.+}} : tensor<512xf32>) outs(%{{.+}} : tensor<f32>)
// CHECK-NOT: linalg.generic
func.func @one_block(%x: tensor<512xf32>) -> tensor<f32> {
  %y = ad.fusion reduce (%a = %x) {order = #ad.order<block = 512>, kernel = "row"} : (tensor<512xf32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%a : tensor<512xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %next = arith.addf %out, %in : f32
      linalg.yield %next : f32
    } -> tensor<f32>
    ad.yield %sum : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// Lanes without elements are absent: 70 elements are two in some lanes, one in others.
// CHECK-LABEL: @lanes(
// CHECK: %[[LANES:.+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<1x64xf32>)
// CHECK: %[[STEP:.+]] = arith.constant 64 : index
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %[[STEP]] iter_args
// CHECK: tensor.extract
// CHECK: %[[LOWER:.+]] = tensor.extract_slice %[[LANES]][0, 0] [1, 32] [1, 1]
// CHECK: %[[UPPER:.+]] = tensor.extract_slice %[[LANES]][0, 32] [1, 32] [1, 1]
// CHECK: linalg.generic {{.+}} ins(%[[LOWER]], %[[UPPER]] : tensor<1x32xf32>, tensor<1x32xf32>)
func.func @lanes(%x: tensor<70xf32>) -> tensor<f32> {
  %y = ad.fusion reduce (%a = %x) {order = #ad.order<lanes = 64, chunk = 4096>, kernel = "row"} : (tensor<70xf32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%a : tensor<70xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %next = arith.addf %out, %in : f32
      linalg.yield %next : f32
    } -> tensor<f32>
    ad.yield %sum : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// A number of blocks that only run time knows is joined by a loop over levels.
// CHECK-LABEL: @unknown_blocks(
// CHECK: affine.max
// CHECK: scf.while
func.func @unknown_blocks(%x: tensor<?xf32>) -> tensor<f32> {
  %y = ad.fusion reduce (%a = %x) {order = #ad.order<block = 512>, kernel = "row"} : (tensor<?xf32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%a : tensor<?xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %next = arith.addf %out, %in : f32
      linalg.yield %next : f32
    } -> tensor<f32>
    ad.yield %sum : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// Guards of scalars, conditions, and loops.
// CHECK-LABEL: @host(
// CHECK: cf.assert %{{.+}}, "{{.+}}: 'ad.dot' op sizes of a dimension differ"
// CHECK: arith.divui
// CHECK: arith.minui
// CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} iter_args
// CHECK: arith.cmpi eq
// CHECK: arith.select
// CHECK: arith.divui
// CHECK-NOT: {{[^a-z]ad\.}}
func.func @host(%ok: i1, %from: index, %to: index, %step: index, %by: i32) -> i32 {
  ad.require 1 %ok(%from, %to, %step) "ad.dot"
  %seven = arith.constant 7 : i32
  %r = scf.for %i = %from to %to step %step iter_args(%a = %seven) -> i32 {
    %q = arith.divui %a, %by : i32
    scf.yield %q : i32
  }
  return %r : i32
}
