// The linear example as a user writes it: linear.mlir is what its derivatives and updates come to.

!batch = tensor<2x255xf64>
!weight = tensor<255x255xf64>
!bias = tensor<255xf64>

func.func private @loss(%w1: !weight, %b1: !bias, %w2: !weight, %b2: !bias, %x: !batch) -> tensor<f64> {
  %0 = ad.dot %x, %w1 : (!batch, !weight) -> !batch
  %1 = ad.add %0, %b1 : !batch, !bias
  %2 = ad.sigmoid %1 : !batch
  %3 = ad.dot %2, %w2 : (!batch, !weight) -> !batch
  %4 = ad.add %3, %b2 : !batch, !bias
  %5 = ad.reduce_sum %4 axes [0, 1] : !batch -> tensor<f64>
  return %5 : tensor<f64>
}

func.func @main(%weight1: !weight, %bias1: !bias, %weight2: !weight, %bias2: !bias) {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 1000 : index
  %rate = ad.constant dense<-0.01> : tensor<f64>
  %trained:4 = scf.for %step = %first to %steps step %one iter_args(%w1 = %weight1, %b1 = %bias1, %w2 = %weight2, %b2 = %bias2)
      -> (!weight, !bias, !weight, !bias) {
    %x = ad.feed "x" : !batch
    %l, %d:4 = ad.value_and_grad @loss(%w1, %b1, %w2, %b2, %x) wrt [0, 1, 2, 3]
      : (!weight, !bias, !weight, !bias, !batch) -> (tensor<f64>, !weight, !bias, !weight, !bias)
    %u1 = ad.mul %d#0, %rate : !weight, tensor<f64>
    %v1 = ad.mul %d#1, %rate : !bias, tensor<f64>
    %u2 = ad.mul %d#2, %rate : !weight, tensor<f64>
    %v2 = ad.mul %d#3, %rate : !bias, tensor<f64>
    %p1 = ad.add %w1, %u1 : !weight
    %q1 = ad.add %b1, %v1 : !bias
    %p2 = ad.add %w2, %u2 : !weight
    %q2 = ad.add %b2, %v2 : !bias
    scf.yield %p1, %q1, %p2, %q2 : !weight, !bias, !weight, !bias
  }
  ad.receive "saving params"(%trained#0, %trained#1, %trained#2, %trained#3) : !weight, !bias, !weight, !bias
  return
}
