// RUN: ad-opt %s --ad-verify-fused --verify-diagnostics
// RUN: ad-opt %s --ad-fuse --ad-select-kernels --ad-verify-fused -o /dev/null

func.func @not_fused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{'ad.exp' op is not in an ad.fusion; run --ad-to-cpu-frontend --ad-to-cpu-fusion first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion}}
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @no_kernel_class(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ad.fusion' op has no kernel class; run --ad-select-kernels first, as --ad-to-cpu-fusion does}}
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = ad.exp %a : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
