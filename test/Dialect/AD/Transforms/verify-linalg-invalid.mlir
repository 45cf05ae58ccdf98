// RUN: ad-opt %s --ad-verify-linalg --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'ad.exp' op is not lowered to linalg; run --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg first}}
    %e = ad.exp %a : tensor<4xf32>
    ad.yield %e : tensor<4xf32>
  }
  %z = ad.fusion movement (%a = %y) : (tensor<4xf32>) -> tensor<2x2xf32> {
    // expected-error @+1 {{'ad.reshape' op is not lowered to linalg; run --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg first}}
    %r = ad.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
    ad.yield %r : tensor<2x2xf32>
  }
  // Barriers, the connection to the host and its reshapes are no computations.
  %b = ad.barrier %y : tensor<4xf32>
  ad.receive "y"(%b) : tensor<4xf32>
  %r = ad.reshape %b : tensor<4xf32> -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
