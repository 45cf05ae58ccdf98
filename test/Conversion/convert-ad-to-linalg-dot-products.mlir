// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of bf16 that allow mma are marked for the dot product instructions of the CPU (ad-emit-cpu-dot-products.mlir).
//
// RUN: ad-opt %s --convert-ad-to-linalg | FileCheck %s --check-prefix=LINALG

// The permission of the operation, whatever else its kernel computes.
// LINALG-LABEL: func.func @permissions
// LINALG: linalg.generic {{.+}} attrs = {ad.allow = #ad.allow<mma>} {
// LINALG: linalg.generic {{.+}} outs(%{{.+}} : tensor<8x32xf32>) {
func.func @permissions(%a: tensor<8x64xbf16>, %b: tensor<64x32xbf16>) -> (tensor<8x32xbf16>, tensor<8x32xbf16>) {
  %0:2 = ad.fusion dot (%x = %a, %y = %b) : (tensor<8x64xbf16>, tensor<64x32xbf16>)
      -> (tensor<8x32xbf16>, tensor<8x32xbf16>) {
    %c = ad.dot %x, %y batch [] x [] contract [1] x [0] {allow = #ad.allow<mma>}
        : (tensor<8x64xbf16>, tensor<64x32xbf16>) -> tensor<8x32xbf16>
    %d = ad.dot %x, %y batch [] x [] contract [1] x [0]
        : (tensor<8x64xbf16>, tensor<64x32xbf16>) -> tensor<8x32xbf16>
    ad.yield %c, %d : tensor<8x32xbf16>, tensor<8x32xbf16>
  }
  return %0#0, %0#1 : tensor<8x32xbf16>, tensor<8x32xbf16>
}
