// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// The cotangents of slices are added to the sum that the reverse loop carries, one after the other in the order of their
// uses, without a tensor of zeros.
// CHECK-LABEL: func.func private @rows__grad_0(
// CHECK:       scf.for
// CHECK:       scf.for %{{.+}} iter_args(%{{.+}} = %{{.+}}, %[[SUM:.+]] = %{{.+}}) -> (tensor<1x2xf64>, tensor<9x2xf64>)
// CHECK-NOT:     tensor<9x2xf64>
// CHECK:         %[[I:.+]] = arith.subi
// CHECK:         ad.dynamic_slice %{{.+}}[%[[I]], %{{.+}}] : tensor<9x2xf64> -> tensor<1x2xf64>
// CHECK:         %[[J:.+]] = arith.addi %[[I]]
// CHECK-NOT:     ad.full
// CHECK-NOT:     ad.pad
// CHECK:         %[[OLD:.+]] = ad.dynamic_slice %[[SUM]][%[[I]], %{{.+}}] : tensor<9x2xf64> -> tensor<1x2xf64>
// CHECK-NEXT:    %[[NEW:.+]] = ad.add %[[OLD]], %{{.+}} : tensor<1x2xf64>
// CHECK-NEXT:    %[[FIRST:.+]] = ad.dynamic_update_slice %[[SUM]], %[[NEW]][%[[I]], %{{.+}}]
// CHECK-NEXT:    %[[OLD2:.+]] = ad.dynamic_slice %[[FIRST]][%[[J]], %{{.+}}]
// CHECK-NEXT:    %[[NEW2:.+]] = ad.add %[[OLD2]], %{{.+}} : tensor<1x2xf64>
// CHECK-NEXT:    %[[SECOND:.+]] = ad.dynamic_update_slice %[[FIRST]], %[[NEW2]][%[[J]], %{{.+}}]
// CHECK-NEXT:    scf.yield %{{.+}}, %[[SECOND]]
func.func @rows(%x: tensor<9x2xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %start = ad.constant dense<1.0> : tensor<1x2xf64>
  %h = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %start) -> tensor<1x2xf64> {
    %r = ad.dynamic_slice %x[%i, %c0] : tensor<9x2xf64> -> tensor<1x2xf64>
    %j = arith.addi %i, %c1 : index
    %s = ad.dynamic_slice %x[%j, %c0] : tensor<9x2xf64> -> tensor<1x2xf64>
    %b = ad.mul %r, %s : tensor<1x2xf64>
    %c = ad.add %a, %b : tensor<1x2xf64>
    scf.yield %c : tensor<1x2xf64>
  }
  %y = ad.reduce_sum %h axes [0, 1] : tensor<1x2xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// Of a carry that is used in parts only, the parts are on the tape.
// CHECK-LABEL: func.func private @updates__grad_0(
// CHECK-NOT:   tensor<7x8x2xf64>
// CHECK:       %[[FORWARD:.+]]:2 = scf.for %{{.+}} -> (tensor<8x2xf64>, tensor<7x1x2xf64>)
// CHECK:         %[[ROW:.+]] = ad.dynamic_slice
// CHECK:         ad.reshape %[[ROW]] : tensor<1x2xf64> -> tensor<1x1x2xf64>
// CHECK:       scf.for %{{.+}} iter_args(%[[D:.+]] = %{{.+}}) -> (tensor<8x2xf64>)
// CHECK:         ad.dynamic_slice %[[FORWARD]]#1
// The part is read before it is replaced, and then the cotangent of what was read is added.
// CHECK:         ad.dynamic_slice %[[D]]
// CHECK:         %[[REST:.+]] = ad.dynamic_update_slice %[[D]]
// CHECK:         ad.dynamic_slice %[[REST]]
// CHECK:         %[[ALL:.+]] = ad.dynamic_update_slice %[[REST]]
// CHECK:         scf.yield %[[ALL]]
func.func @updates(%x: tensor<8x2xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %h = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> tensor<8x2xf64> {
    %r = ad.dynamic_slice %a[%i, %c0] : tensor<8x2xf64> -> tensor<1x2xf64>
    %s = ad.sin %r : tensor<1x2xf64>
    %j = arith.addi %i, %c1 : index
    %u = ad.dynamic_update_slice %a, %s[%j, %c0] : tensor<8x2xf64>, tensor<1x2xf64>
    scf.yield %u : tensor<8x2xf64>
  }
  %y = ad.reduce_sum %h axes [0, 1] : tensor<8x2xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// What the later use contributes goes through the branch, which adds to it on one side.
// CHECK-LABEL: func.func private @branch__grad_1(
// CHECK-SAME:    %[[P:[^ ,]+]]: i1
// CHECK:       %[[LATER:.+]] = ad.mul
// CHECK:       %[[ALL:.+]] = scf.if %[[P]] -> (tensor<8xf64>) {
// CHECK:         %[[OLD:.+]] = ad.slice %[[LATER]] [5] strides [1] : tensor<8xf64> -> tensor<2xf64>
// CHECK:         %[[NEW:.+]] = ad.add %[[OLD]], %{{.+}} : tensor<2xf64>
// CHECK:         %[[SUM:.+]] = ad.dynamic_update_slice %[[LATER]], %[[NEW]]
// CHECK:         scf.yield %[[SUM]]
// CHECK:       } else {
// CHECK-NEXT:    scf.yield %[[LATER]]
// CHECK:       return %{{.+}}, %[[ALL]]
func.func @branch(%p: i1, %x: tensor<8xf64>) -> tensor<f64> {
  %zero = ad.constant dense<0.0> : tensor<2xf64>
  %b = scf.if %p -> tensor<2xf64> {
    %s = ad.slice %x [5] strides [1] : tensor<8xf64> -> tensor<2xf64>
    scf.yield %s : tensor<2xf64>
  } else {
    scf.yield %zero : tensor<2xf64>
  }
  %c = ad.sin %x : tensor<8xf64>
  %d = ad.reduce_sum %c axes [0] : tensor<8xf64> -> tensor<f64>
  %e = ad.reduce_sum %b axes [0] : tensor<2xf64> -> tensor<f64>
  %y = ad.add %d, %e : tensor<f64>
  return %y : tensor<f64>
}

func.func @requests(%x: tensor<9x2xf64>, %u: tensor<8x2xf64>, %p: i1, %b: tensor<8xf64>) {
  %rows:2 = ad.value_and_grad @rows(%x) wrt [0] : (tensor<9x2xf64>) -> (tensor<f64>, tensor<9x2xf64>)
  %updates:2 = ad.value_and_grad @updates(%u) wrt [0] : (tensor<8x2xf64>) -> (tensor<f64>, tensor<8x2xf64>)
  %branch:2 = ad.value_and_grad @branch(%p, %b) wrt [1] : (i1, tensor<8xf64>) -> (tensor<f64>, tensor<8xf64>)
  return
}
