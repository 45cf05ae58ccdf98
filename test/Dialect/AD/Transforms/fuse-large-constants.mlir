// One number that fills a large tensor is broadcast where the tensor must be in memory. As data the compiled program would be
// as large; a tensor beyond all memory is an error of the run.
// RUN: ad-opt %s --ad-fuse | FileCheck %s
// RUN: not ad-runner %s --entry beyond_memory 2>&1 | FileCheck %s --check-prefix=MEMORY

// CHECK-LABEL: func.func @result()
// CHECK-NOT: dense{{.*}}300000xf32
// CHECK: %[[FILLED:.*]] = ad.fusion movement ()
// CHECK: ad.constant dense<2.000000e+00> : tensor<f32>
// CHECK: ad.broadcast {{.*}} : tensor<f32> -> tensor<300000xf32>
// CHECK: return %[[FILLED]]
func.func @result() -> tensor<300000xf32> {
  %0 = ad.constant dense<2.0> : tensor<300000xf32>
  return %0 : tensor<300000xf32>
}

// Small constants stay, and so do those that only kernels read.
// CHECK-LABEL: func.func @others(
// CHECK: ad.fusion
// CHECK: ad.constant dense<2.000000e+00> : tensor<300000xf32>
// CHECK: %[[SMALL:.*]] = ad.constant dense<3.000000e+00> : tensor<300xf32>
// CHECK: return %{{.*}}, %[[SMALL]]
func.func @others(%x: tensor<300000xf32>) -> (tensor<300000xf32>, tensor<300xf32>) {
  %0 = ad.constant dense<2.0> : tensor<300000xf32>
  %1 = ad.mul %x, %0 : tensor<300000xf32>
  %2 = ad.constant dense<3.0> : tensor<300xf32>
  return %1, %2 : tensor<300000xf32>, tensor<300xf32>
}

// MEMORY: not enough memory for a result of 16000000000000 bytes
func.func @beyond_memory() -> tensor<4000000000000xf32> {
  %0 = ad.constant dense<1.0> : tensor<4000000000000xf32>
  return %0 : tensor<4000000000000xf32>
}
