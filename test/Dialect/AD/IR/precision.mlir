// RUN: ad-opt %s | ad-opt | FileCheck %s

// The forms of #ad.precision; parameters that have their default are not printed.

// CHECK: module attributes {ad.precision = #ad.precision<f16>}
module attributes {ad.precision = #ad.precision<f16>} {
  // CHECK: func.func private @all() attributes {ad.precision = #ad.precision<compute = f16, result = f32, always = [dot, gemm], follow = [add], never = [exp, my.op], default = follow>}
  func.func private @all() attributes {ad.precision = #ad.precision<default = follow, never = [exp, "my.op"], follow = [add], always = [dot, gemm], result = f32, compute = f16>}
  // CHECK: func.func private @defaults() attributes {ad.precision = #ad.precision<compute = bf16>}
  func.func private @defaults() attributes {ad.precision = #ad.precision<compute = bf16, result = bf16, always = [], default = never>}
  // CHECK: func.func private @bytes() attributes {ad.precision = #ad.precision<compute = f8E4M3FN, always = [dot]>}
  func.func private @bytes() attributes {ad.precision = #ad.precision<compute = f8E4M3FN, gradient = f8E5M2, result = f32, always = [dot]>}
  // CHECK: func.func private @other_bytes() attributes {ad.precision = #ad.precision<compute = f8E5M2, gradient = f8E4M3FN, result = bf16>}
  func.func private @other_bytes() attributes {ad.precision = #ad.precision<compute = f8E5M2, result = bf16, gradient = f8E4M3FN>}
  // CHECK: func.func private @sums() attributes {ad.precision = #ad.precision<compute = bf16, result = f32, accumulate = f32, always = [dot]>}
  func.func private @sums() attributes {ad.precision = #ad.precision<accumulate = f32, compute = bf16, result = f32, always = [dot]>}
  // CHECK: func.func private @narrow_sums() attributes {ad.precision = #ad.precision<compute = f16>}
  func.func private @narrow_sums() attributes {ad.precision = #ad.precision<compute = f16, accumulate = narrow>}
  // CHECK: func.func private @none() attributes {ad.precision = #ad.precision<none>}
  func.func private @none() attributes {ad.precision = #ad.precision<none>}
  func.func @rule(%x: tensor<f32>) -> tensor<f32> {
    // CHECK: ad.exp {{.*}} {ad.precision = #ad.precision<always>}
    %y = ad.exp %x {ad.precision = #ad.precision<always>} : tensor<f32>
    return %y : tensor<f32>
  }
}
