// RUN: ad-opt %s --ad-verify-linalg --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'ad.exp' op was not lowered; run --convert-ad-to-linalg first}}
    %e = ad.exp %a : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  // Barriers and the connection to the host are no computations.
  %b = ad.barrier %y : tensor<4xf32>
  ad.receive "y"(%b) : tensor<4xf32>
  return %b : tensor<4xf32>
}
