// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// The value at the start of each iteration goes on a tape, which the reverse loop reads backwards; the captured value
// gets a sum over the iterations. What the host has received it does not receive again.
// CHECK-LABEL: func.func private @taped__grad_0_1(
// CHECK-SAME:    %[[X:[^ ,]+]]: tensor<4xf64>, %[[W:[^ ,]+]]: tensor<4xf64>)
// CHECK:       %[[TAPE:.+]] = ad.full %{{.+}} : f64 -> tensor<5x4xf64>
// CHECK:       %[[FORWARD:.+]]:2 = scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[A:.+]] = %[[X]], %[[ROWS:.+]] = %[[TAPE]])
// CHECK:         %[[ROW:.+]] = ad.reshape %[[A]] : tensor<4xf64> -> tensor<1x4xf64>
// CHECK:         %[[NEXT:.+]] = ad.dynamic_update_slice %[[ROWS]], %[[ROW]][%[[I]], %{{.+}}]
// CHECK:         ad.receive "a"
// CHECK:         scf.yield %{{.+}}, %[[NEXT]] : tensor<4xf64>, tensor<5x4xf64>
// CHECK:       %[[BACK:.+]]:2 = scf.for %[[K:.+]] = %{{.+}} iter_args(%[[DA:.+]] = %{{.+}}, %[[SUM:.+]] = %{{.+}}) -> (tensor<4xf64>, tensor<4xf64>)
// CHECK:         %[[LAST:.+]] = arith.constant 4 : index
// CHECK:         %[[J:.+]] = arith.subi %[[LAST]], %[[K]] : index
// CHECK:         %[[READ:.+]] = ad.dynamic_slice %[[FORWARD]]#1[%[[J]], %{{.+}}] : tensor<5x4xf64> -> tensor<1x4xf64>
// CHECK:         %[[START:.+]] = ad.reshape %[[READ]] : tensor<1x4xf64> -> tensor<4xf64>
// CHECK-NOT:     ad.receive
// CHECK:         %[[B:.+]] = ad.mul %[[START]], %[[W]]
// CHECK:         %[[SLOPE:.+]] = ad.cos %[[B]]
// CHECK:         %[[DB:.+]] = ad.mul %[[DA]], %[[SLOPE]]
// CHECK:         %[[NEXT_DA:.+]] = ad.mul %[[DB]], %[[W]]
// CHECK:         %[[DW:.+]] = ad.mul %[[DB]], %[[START]]
// CHECK:         %[[NEXT_SUM:.+]] = ad.add %[[SUM]], %[[DW]]
// CHECK:         scf.yield %[[NEXT_DA]], %[[NEXT_SUM]]
func.func @taped(%x: tensor<4xf64>, %w: tensor<4xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<4xf64> {
    %b = ad.mul %a, %w : tensor<4xf64>
    %s = ad.sin %b : tensor<4xf64>
    ad.receive "a"(%s) : tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  }
  %y = ad.reduce_sum %r axes [0] : tensor<4xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// A sum needs no values of the forward loop.
// CHECK-LABEL: func.func private @linear__grad_0(
// CHECK-NOT:   ad.dynamic_update_slice
// CHECK:       return
func.func @linear(%x: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = ad.constant dense<0.0> : tensor<f64>
  %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %zero) -> tensor<f64> {
    %b = ad.add %a, %x : tensor<f64>
    scf.yield %b : tensor<f64>
  }
  return %y : tensor<f64>
}

// Values that the host feeds are saved, and not fed again.
// CHECK-LABEL: func.func private @fed__grad_0(
// CHECK:       scf.for
// CHECK:         %[[W:.+]] = ad.feed "w" : tensor<f64>
// CHECK:         %[[ROW:.+]] = ad.reshape %[[W]] : tensor<f64> -> tensor<1xf64>
// CHECK:         ad.dynamic_update_slice %{{.+}}, %[[ROW]][%{{.+}}] : tensor<3xf64>, tensor<1xf64>
// CHECK:       scf.for
// CHECK:         ad.dynamic_slice %{{.+}}[%{{.+}}] : tensor<3xf64> -> tensor<1xf64>
// CHECK-NOT:   ad.feed
// CHECK:       return
func.func @fed(%x: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<f64> {
    %w = ad.feed "w" : tensor<f64>
    %b = ad.mul %a, %w : tensor<f64>
    scf.yield %b : tensor<f64>
  }
  return %y : tensor<f64>
}

// The reverse of a branch is a branch, which computes its own forward values again.
// CHECK-LABEL: func.func private @branch__grad_1(
// CHECK-SAME:    %[[P:[^ ,]+]]: i1, %[[X:[^ ,]+]]: tensor<f64>)
// CHECK:       scf.if %[[P]] -> (tensor<f64>) {
// CHECK:       %[[DX:.+]] = scf.if %[[P]] -> (tensor<f64>) {
// CHECK:         %[[Y:.+]] = ad.tanh %[[X]]
// CHECK:         %[[SQUARE:.+]] = ad.mul %[[Y]], %[[Y]]
// CHECK:         %[[SLOPE:.+]] = ad.sub %{{.+}}, %[[SQUARE]]
// CHECK:         %[[D:.+]] = ad.mul %{{.+}}, %[[SLOPE]]
// CHECK:         scf.yield %[[D]]
// CHECK:       } else {
// CHECK:         %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<f64>
// CHECK:         scf.yield %[[ZERO]]
// CHECK:       return %{{.+}}, %[[DX]]
func.func @branch(%p: i1, %x: tensor<f64>) -> tensor<f64> {
  %one = ad.constant dense<1.0> : tensor<f64>
  %y = scf.if %p -> tensor<f64> {
    %e = ad.tanh %x : tensor<f64>
    scf.yield %e : tensor<f64>
  } else {
    scf.yield %one : tensor<f64>
  }
  return %y : tensor<f64>
}

// The derivative of tanh needs its result, which is what the next iteration starts with: the tape has the initial value and
// what each iteration yields, and the reverse loop reads two rows and computes nothing again.
// CHECK-LABEL: func.func private @yielded__grad_0_1(
// CHECK-SAME:    %[[X:[^ ,]+]]: tensor<4xf64>, %[[W:[^ ,]+]]: tensor<4xf64>)
// CHECK:       %[[EMPTY:.+]] = ad.full %{{.+}} : f64 -> tensor<6x4xf64>
// CHECK:       %[[FIRST:.+]] = ad.reshape %[[X]]
// CHECK:       %[[TAPE:.+]] = ad.dynamic_update_slice %[[EMPTY]], %[[FIRST]]
// CHECK:       %[[FORWARD:.+]]:2 = scf.for %[[I:.+]] = %{{.+}} iter_args(%{{.+}} = %[[X]], %[[ROWS:.+]] = %[[TAPE]])
// CHECK:         %[[T:.+]] = ad.tanh
// CHECK:         %[[NEXT_ROW:.+]] = arith.addi %[[I]], %{{.+}} : index
// CHECK:         %[[ROW:.+]] = ad.reshape %[[T]]
// CHECK:         ad.dynamic_update_slice %[[ROWS]], %[[ROW]][%[[NEXT_ROW]], %{{.+}}]
// CHECK:       scf.for
// CHECK:         ad.dynamic_slice %[[FORWARD]]#1
// CHECK:         ad.dynamic_slice %[[FORWARD]]#1
// CHECK-NOT:     ad.tanh
// CHECK:       return
func.func @yielded(%x: tensor<4xf64>, %w: tensor<4xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<4xf64> {
    %b = ad.mul %a, %w : tensor<4xf64>
    %t = ad.tanh %b : tensor<4xf64>
    scf.yield %t : tensor<4xf64>
  }
  %y = ad.reduce_sum %r axes [0] : tensor<4xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// The result of a long product is saved right after it, and not computed again.
// CHECK-LABEL: func.func private @product__grad_0_1(
// CHECK:       ad.full %{{.+}} : f64 -> tensor<3x2x8xf64>
// CHECK:       scf.for
// CHECK:         %[[P:.+]] = ad.dot
// CHECK:         %[[ROW:.+]] = ad.reshape %[[P]] : tensor<2x8xf64> -> tensor<1x2x8xf64>
// CHECK:         ad.dynamic_update_slice %{{.+}}, %[[ROW]]
// CHECK:       scf.for
// CHECK:         %[[READ:.+]] = ad.dynamic_slice %{{.+}}#2[
// CHECK:         %[[SAVED:.+]] = ad.reshape %[[READ]] : tensor<1x2x8xf64> -> tensor<2x8xf64>
// CHECK-NEXT:    ad.cos %[[SAVED]]
// Two products remain: the cotangents of both operands.
// CHECK-COUNT-2: ad.dot
// CHECK-NOT:   ad.dot
// CHECK:       return
func.func @product(%x: tensor<2x8xf64>, %w: tensor<8x8xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<2x8xf64> {
    %p = ad.dot %a, %w : (tensor<2x8xf64>, tensor<8x8xf64>) -> tensor<2x8xf64>
    %s = ad.sin %p : tensor<2x8xf64>
    scf.yield %s : tensor<2x8xf64>
  }
  %y = ad.reduce_sum %r axes [0, 1] : tensor<2x8xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// The same with dynamic rows, whose number the carry has in front of the loop.
// CHECK-LABEL: func.func private @rows__grad_0_1(
// CHECK-SAME:    %[[X:[^ ,]+]]: tensor<?x8xf64>
// CHECK:       %[[ROWS:.+]] = tensor.dim %[[X]]
// CHECK:       ad.full %{{.+}}(%[[ROWS]]) : f64 -> tensor<3x?x8xf64>
// CHECK-COUNT-3: ad.dot
// CHECK-NOT:   ad.dot
// CHECK:       return
func.func @rows(%x: tensor<?x8xf64>, %w: tensor<8x8xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<?x8xf64> {
    %p = ad.dot %a, %w : (tensor<?x8xf64>, tensor<8x8xf64>) -> tensor<?x8xf64>
    %s = ad.sin %p : tensor<?x8xf64>
    scf.yield %s : tensor<?x8xf64>
  }
  %y = ad.reduce_sum %r axes [0, 1] : tensor<?x8xf64> -> tensor<f64>
  return %y : tensor<f64>
}

// A short product is computed again, and so is one whose result is much larger than its operands: one product forward,
// three in reverse.
// CHECK-LABEL: func.func private @short__grad_0(
// CHECK-COUNT-3: ad.dot
// CHECK:       return
func.func @short(%x: tensor<2x7xf64>, %w: tensor<7x7xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<2x7xf64> {
    %p = ad.dot %a, %w : (tensor<2x7xf64>, tensor<7x7xf64>) -> tensor<2x7xf64>
    %s = ad.sin %p : tensor<2x7xf64>
    scf.yield %s : tensor<2x7xf64>
  }
  %y = ad.reduce_sum %r axes [0, 1] : tensor<2x7xf64> -> tensor<f64>
  return %y : tensor<f64>
}
// CHECK-LABEL: func.func private @grown__grad_0(
// CHECK-COUNT-3: ad.dot
// CHECK:       return
func.func @grown(%x: tensor<33x8xf64>, %w: tensor<8x33xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<33x8xf64> {
    %p = ad.dot %a, %w : (tensor<33x8xf64>, tensor<8x33xf64>) -> tensor<33x33xf64>
    %s = ad.sin %p : tensor<33x33xf64>
    %t = ad.slice %s [0, 0] strides [1, 1] : tensor<33x33xf64> -> tensor<33x8xf64>
    scf.yield %t : tensor<33x8xf64>
  }
  %y = ad.reduce_sum %r axes [0, 1] : tensor<33x8xf64> -> tensor<f64>
  return %y : tensor<f64>
}

func.func @products(%x: tensor<2x8xf64>, %d: tensor<?x8xf64>, %w: tensor<8x8xf64>, %s: tensor<2x7xf64>,
                    %v: tensor<7x7xf64>, %m: tensor<33x8xf64>, %n: tensor<8x33xf64>) {
  %product:3 = ad.value_and_grad @product(%x, %w) wrt [0, 1]
    : (tensor<2x8xf64>, tensor<8x8xf64>) -> (tensor<f64>, tensor<2x8xf64>, tensor<8x8xf64>)
  %rows:3 = ad.value_and_grad @rows(%d, %w) wrt [0, 1]
    : (tensor<?x8xf64>, tensor<8x8xf64>) -> (tensor<f64>, tensor<?x8xf64>, tensor<8x8xf64>)
  %short:2 = ad.value_and_grad @short(%s, %v) wrt [0]
    : (tensor<2x7xf64>, tensor<7x7xf64>) -> (tensor<f64>, tensor<2x7xf64>)
  %grown:2 = ad.value_and_grad @grown(%m, %n) wrt [0]
    : (tensor<33x8xf64>, tensor<8x33xf64>) -> (tensor<f64>, tensor<33x8xf64>)
  return
}

func.func @requests(%x: tensor<4xf64>, %s: tensor<f64>, %p: i1) {
  %yielded:3 = ad.value_and_grad @yielded(%x, %x) wrt [0, 1]
    : (tensor<4xf64>, tensor<4xf64>) -> (tensor<f64>, tensor<4xf64>, tensor<4xf64>)
  %taped:3 = ad.value_and_grad @taped(%x, %x) wrt [0, 1]
    : (tensor<4xf64>, tensor<4xf64>) -> (tensor<f64>, tensor<4xf64>, tensor<4xf64>)
  %linear:2 = ad.value_and_grad @linear(%s) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %fed:2 = ad.value_and_grad @fed(%s) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %branch:2 = ad.value_and_grad @branch(%p, %s) wrt [1] : (i1, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return
}

// The tape of a loop whose bounds are no constants has as many rows as it has iterations. The reverse loop has the
// bounds of the forward one, so that a step that is not positive is an error there, too.
// CHECK-LABEL: func.func private @later__grad_0(
// CHECK-SAME:    %{{.+}}: tensor<4xf64>, %[[N:.+]]: index, %[[STEP:.+]]: index)
// CHECK:       %[[FIRST:.+]] = arith.constant 2 : index
// CHECK:       %[[SAFE:.+]] = arith.maxui %[[STEP]], %{{.+}} : index
// CHECK:       %[[FAR:.+]] = arith.subi %[[N]], %[[FIRST]] : index
// CHECK:       %[[MANY:.+]] = arith.ceildivui %[[FAR]], %[[SAFE]] : index
// CHECK:       %[[ANY:.+]] = arith.cmpi sgt, %[[N]], %[[FIRST]] : index
// CHECK:       %[[TRIPS:.+]] = arith.select %[[ANY]], %[[MANY]], %{{.+}} : index
// CHECK:       %[[TAPE:.+]] = ad.full %{{.+}}(%[[TRIPS]]) : f64 -> tensor<?x4xf64>
// CHECK:       scf.for %[[I:.+]] = %[[FIRST]] to %[[N]] step %[[STEP]] iter_args(%{{.+}} = %{{.+}}, %[[ROWS:.+]] = %[[TAPE]])
// CHECK:         %[[MOVED:.+]] = arith.subi %[[I]], %{{.+}} : index
// CHECK:         %[[ROW:.+]] = arith.divui %[[MOVED]], %[[STEP]] : index
// CHECK:         ad.dynamic_update_slice %[[ROWS]], %{{.+}}[%[[ROW]], %{{.+}}]
// CHECK:       scf.for %[[K:.+]] = %[[FIRST]] to %[[N]] step %[[STEP]]
// CHECK:         %[[LAST:.+]] = arith.subi %[[TRIPS]], %{{.+}} : index
// CHECK:         %[[BACK:.+]] = arith.subi %[[K]], %{{.+}} : index
// CHECK:         %[[NUMBER:.+]] = arith.divui %[[BACK]], %[[STEP]] : index
// CHECK:         %[[J:.+]] = arith.subi %[[LAST]], %[[NUMBER]] : index
// CHECK:         ad.dynamic_slice %{{.+}}[%[[J]], %{{.+}}] : tensor<?x4xf64> -> tensor<1x4xf64>
func.func @later(%x: tensor<4xf64>, %n: index, %step: index) -> tensor<f64> {
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c2 to %n step %step iter_args(%a = %x) -> tensor<4xf64> {
    %s = ad.sin %a : tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  }
  %y = ad.reduce_sum %r axes [0] : tensor<4xf64> -> tensor<f64>
  return %y : tensor<f64>
}
func.func @bounds(%x: tensor<4xf64>, %n: index, %step: index) {
  %later:2 = ad.value_and_grad @later(%x, %n, %step) wrt [0]
    : (tensor<4xf64>, index, index) -> (tensor<f64>, tensor<4xf64>)
  return
}
