// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// The tanh is in a loop in a branch; shapes and numbers of iterations are dynamic.
func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %steps = arith.addi %n, %two : index
  %many = arith.cmpi sgt, %steps, %one : index
  %y = scf.if %many -> (tensor<?xf32>) {
    %last = scf.for %i = %zero to %steps step %one iter_args(%state = %x) -> (tensor<?xf32>) {
      %odd = ad.mul %state, %state : tensor<?xf32>
      %next = ad.tanh %odd : tensor<?xf32>
      scf.yield %next : tensor<?xf32>
    }
    scf.yield %last : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
