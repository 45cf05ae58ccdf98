// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-to-plain-linalg

// All streams of a program are named.
func.func @streams() -> tensor<4xf32> {
  // expected-error @+1 {{'ad.feed' op takes 'images' from the host, which upstream's dialects have no operation for; make it an argument of the function}}
  %x = ad.feed "images" : tensor<4xf32>
  %y = ad.exp %x : tensor<4xf32>
  // expected-error @+1 {{'ad.receive' op passes 'loss' to the host, which upstream's dialects have no operation for; make it a result of the function}}
  ad.receive "loss"(%y) : tensor<4xf32>
  return %y : tensor<4xf32>
}
