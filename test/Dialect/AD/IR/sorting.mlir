// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @argsort
func.func @argsort(%x: tensor<4x?xf32>) -> (tensor<4x?xi64>, tensor<4x?xi64>) {
  // CHECK: ad.argsort %{{.+}} axis 1 : tensor<4x?xf32>
  %p = ad.argsort %x axis 1 : tensor<4x?xf32>
  // CHECK: ad.argsort %{{.+}} axis 0 descending {allow = #ad.allow<reorder>} : tensor<4x?xf32>
  %q = ad.argsort %x axis 0 descending {allow = #ad.allow<reorder>} : tensor<4x?xf32>
  return %p, %q : tensor<4x?xi64>, tensor<4x?xi64>
}

// CHECK-LABEL: func.func @sort
func.func @sort(%k: tensor<4x?xi8>, %x: tensor<?x3xi1>) -> (tensor<4x?xi8>, tensor<4x?xi8>, tensor<?x3xi1>) {
  // CHECK: ad.sort %{{.+}} axis 1 : tensor<4x?xi8>
  %y = ad.sort %k axis 1 : tensor<4x?xi8>
  // CHECK: ad.sort %{{.+}}, %{{.+}} axis 1 descending : tensor<4x?xi8>, tensor<?x3xi1>
  %z:2 = ad.sort %k, %x axis 1 descending : tensor<4x?xi8>, tensor<?x3xi1>
  return %y, %z#0, %z#1 : tensor<4x?xi8>, tensor<4x?xi8>, tensor<?x3xi1>
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<4x?xbf16>) -> (tensor<4x5xbf16>, tensor<4x5xi64>, tensor<0x?xbf16>) {
  // CHECK: ad.top_k %{{.+}} axis 1 k 5 : tensor<4x?xbf16>
  %v, %p = ad.top_k %x axis 1 k 5 : tensor<4x?xbf16>
  // CHECK: ad.top_k %{{.+}} axis 0 k 0 smallest : tensor<4x?xbf16>
  %w, %q = ad.top_k %x axis 0 k 0 smallest : tensor<4x?xbf16>
  return %v, %p, %w : tensor<4x5xbf16>, tensor<4x5xi64>, tensor<0x?xbf16>
}
