// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-verify-autocast
// RUN: ad-opt %s --split-input-file --ad-autocast --ad-verify-autocast -o /dev/null

// expected-error@+1 {{'func.func' op has ad.precision, which means nothing from here on; run --ad-to-cpu-frontend first, or --ad-autocast alone}}
func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {ad.precision = #ad.precision<bf16>} {
  return %x : tensor<f32>
}

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'ad.exp' op has ad.precision}}
  %y = ad.exp %x {ad.precision = #ad.precision<never>} : tensor<f32>
  return %y : tensor<f32>
}
