// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of i8 take vpdpbusd at the width of the CPU's vectors, and nothing else does.
//
// RUN: ad-opt %s --ad-emit-cpu=dot-products | FileCheck %s
// RUN: ad-opt %s --ad-emit-cpu="dot-products vector-bytes=32" | FileCheck %s --check-prefix=HALF
// RUN: ad-opt %s --ad-emit-cpu | FileCheck %s --check-prefix=WITHOUT
// RUN: ad-opt %s --ad-emit-cpu="dot-products vector-bytes=16" | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: vpdpbusd

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#transposed = affine_map<(d0, d1, d2) -> (d2, d0)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// The columns are packed with 128 added to each byte. The accumulators start from -128 times the sums of rows.
// CHECK-LABEL: func.func private @packed
// CHECK: llvm.alloca %{{.+}} x i32
// CHECK: arith.xori %{{.+}} : vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: vector.reduction <add>
// CHECK: arith.shli
// CHECK: arith.subi %{{.+}} : vector<16xi32>
// CHECK: llvm.load %{{.+}} {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// HALF-LABEL: func.func private @packed
// HALF: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
ad.kernel private @packed(%a: tensor<8x64xi8>, %b: tensor<64x32xi8>) -> tensor<8x32xi32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x32xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x32xi32>) -> tensor<8x32xi32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64xi8>, tensor<64x32xi8>) outs(%f : tensor<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %wide = ad.convert %x : i8 to i32
    %other = ad.convert %y : i8 to i32
    %product = arith.muli %wide, %other : i32
    %next = arith.addi %sum, %product : i32
    linalg.yield %next : i32
  } -> tensor<8x32xi32>
  ad.yield %r : tensor<8x32xi32>
}

// Rows that are not contiguous along K are copied, from any kind of widening and order of operands.
// CHECK-LABEL: func.func private @copied
// CHECK: llvm.alloca %{{.+}} x i8
// CHECK: vpdpbusd
ad.kernel private @copied(%a: tensor<63x8xi8>, %b: tensor<63x32xi8>) -> tensor<8x32xi32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x32xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x32xi32>) -> tensor<8x32xi32>
  %r = linalg.generic {indexing_maps = [#transposed, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<63x8xi8>, tensor<63x32xi8>) outs(%f : tensor<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %wide = arith.extsi %x : i8 to i32
    %other = arith.extsi %y : i8 to i32
    %product = arith.muli %other, %wide : i32
    %next = arith.addi %product, %sum : i32
    linalg.yield %next : i32
  } -> tensor<8x32xi32>
  ad.yield %r : tensor<8x32xi32>
}

// Unsigned bytes are another sum, and so is the square of one operand.
// CHECK-LABEL: func.func private @unsigned
// CHECK-NOT: vpdpbusd
ad.kernel private @unsigned(%a: tensor<8x64xi8>, %b: tensor<64x32xi8>) -> tensor<8x32xi32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x32xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x32xi32>) -> tensor<8x32xi32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64xi8>, tensor<64x32xi8>) outs(%f : tensor<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %wide = arith.extui %x : i8 to i32
    %other = arith.extsi %y : i8 to i32
    %product = arith.muli %wide, %other : i32
    %next = arith.addi %sum, %product : i32
    linalg.yield %next : i32
  } -> tensor<8x32xi32>
  ad.yield %r : tensor<8x32xi32>
}

// CHECK-LABEL: func.func private @square
// CHECK-NOT: vpdpbusd
ad.kernel private @square(%a: tensor<8x64xi8>, %b: tensor<64x32xi8>) -> tensor<8x32xi32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x32xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x32xi32>) -> tensor<8x32xi32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64xi8>, tensor<64x32xi8>) outs(%f : tensor<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %wide = arith.extsi %x : i8 to i32
    %product = arith.muli %wide, %wide : i32
    %next = arith.addi %sum, %product : i32
    linalg.yield %next : i32
  } -> tensor<8x32xi32>
  ad.yield %r : tensor<8x32xi32>
}
