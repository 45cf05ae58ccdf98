// RUN: ad-opt %s --ad-simplify --split-input-file | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-insert-shape-checks --ad-fuse --split-input-file -o /dev/null

// Values may depend on themselves where nothing says which comes first: they are left alone, and the query of their sizes terminates.

// CHECK: %[[X:.+]] = ad.reshape %[[X]] : tensor<64x5xi32> -> tensor<64x5xi32>
%x = ad.reshape %x : tensor<64x5xi32> -> tensor<64x5xi32>
%y = ad.div %y, %y : tensor<?xf32>

// -----

// CHECK-LABEL: func.func @unreached
func.func @unreached(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
^nowhere:
  // CHECK: %[[Y:.+]] = ad.sub %[[Y]], %{{.+}} : tensor<?xf32>
  %y = ad.sub %y, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
