// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --target=reference --arg y=normal:1 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --target=cpu --arg y=normal:1 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/exits.py 1 ad-runner %s --target=gpu-sim --arg y=normal:1 2>&1 | FileCheck %s

// The stride of 2^61 elements leaves the tensor, and 64 bits.
// CHECK: largest-stride.mlir:[[@LINE+3]]:8: error: 'tensor.extract_slice' op dimension 0: index {{[0-9]+}} is outside of size 4
ad.kernel private @k(%y: tensor<4xf32>) -> tensor<9xf32> attributes {kernel_class = "generic"} {
  %stride = arith.constant 2305843009213693952 : index
  %s = tensor.extract_slice %y[0] [9] [%stride] : tensor<4xf32> to tensor<9xf32>
  %o = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<9xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%e: f32, %u: f32):
    %n = arith.negf %e : f32
    linalg.yield %n : f32
  } -> tensor<9xf32>
  ad.yield %r : tensor<9xf32>
}
func.func @main(%y: tensor<4xf32> {ad.name = "y"}) -> (tensor<9xf32> {ad.name = "r"}) {
  %0 = ad.launch @k(%y) : (tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
