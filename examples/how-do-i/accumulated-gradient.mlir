// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The gradient of a batch of 1500 examples, computed over parts of 512 and joined to the bits of the whole batch.

// The part's share of the mean over the batch.
func.func private @loss(%w: tensor<3xf32>, %x: tensor<?x3xf32>, %y: tensor<?xf32>, %examples: tensor<f32>)
    -> tensor<f32> {
  %guess = ad.dot %x, %w : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?xf32>
  %error = ad.sub %guess, %y : tensor<?xf32>
  %square = ad.mul %error, %error : tensor<?xf32>
  %sum = ad.reduce_sum %square axes [0] : tensor<?xf32> -> tensor<f32>
  %share = ad.div %sum, %examples : tensor<f32>
  return %share : tensor<f32>
}

func.func @main(%w: tensor<3xf32> {ad.name = "w"}, %x: tensor<1500x3xf32> {ad.name = "x"},
                %y: tensor<1500xf32> {ad.name = "y"})
    -> (tensor<3xf32> {ad.name = "dw"}, tensor<3xf32> {ad.name = "whole"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %parts = arith.constant 3 : index
  %part = arith.constant 512 : index
  %all = arith.constant 1500 : index
  %examples = ad.constant dense<1500.0> : tensor<f32>
  %none = ad.constant dense<0.0> : tensor<3x3xf32>
  // Row i of the stack is the gradient of part i.
  %stack = scf.for %i = %c0 to %parts step %c1 iter_args(%before = %none) -> tensor<3x3xf32> {
    %first = arith.muli %i, %part : index
    %rest = arith.subi %all, %first : index
    %size = arith.minsi %part, %rest : index
    %xi = ad.dynamic_slice %x[%first, %c0](%size) : tensor<1500x3xf32> -> tensor<?x3xf32>
    %yi = ad.dynamic_slice %y[%first](%size) : tensor<1500xf32> -> tensor<?xf32>
    %share, %dwi = ad.value_and_grad @loss(%w, %xi, %yi, %examples) wrt [0]
        : (tensor<3xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
    %row = ad.reshape %dwi : tensor<3xf32> -> tensor<1x3xf32>
    %after = ad.dynamic_update_slice %before, %row[%i, %c0] : tensor<3x3xf32>, tensor<1x3xf32>
    scf.yield %after : tensor<3x3xf32>
  }
  // A block for each part: the tree that joins the blocks of the whole batch.
  %dw = ad.reduce_sum %stack axes [0] {order = #ad.order<block = 1>} : tensor<3x3xf32> -> tensor<3xf32>

  %xs = ad.broadcast %x(%all) : tensor<1500x3xf32> -> tensor<?x3xf32>
  %ys = ad.broadcast %y(%all) : tensor<1500xf32> -> tensor<?xf32>
  %loss, %whole = ad.value_and_grad @loss(%w, %xs, %ys, %examples) wrt [0]
      : (tensor<3xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  check.expect_eq(%dw, %whole) : tensor<3xf32>
  return %dw, %whole : tensor<3xf32>, tensor<3xf32>
}
