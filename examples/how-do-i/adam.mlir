// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Adam: two moments for each parameter, and corrections that depend on the number of the step.

func.func private @loss(%w: tensor<3xf32>, %x: tensor<5x3xf32>, %y: tensor<5xf32>) -> tensor<f32> {
  %guess = ad.dot %x, %w : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5xf32>
  %error = ad.sub %guess, %y : tensor<5xf32>
  %square = ad.mul %error, %error : tensor<5xf32>
  %loss = ad.reduce_mean %square axes [0] : tensor<5xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%w: tensor<3xf32> {ad.name = "w", ad.donated = 0}, %x: tensor<5x3xf32> {ad.name = "x"},
                %y: tensor<5xf32> {ad.name = "y"}) -> (tensor<3xf32> {ad.name = "w"}) {
  %c1 = arith.constant 1 : index
  %end = arith.constant 11 : index
  %zero = ad.constant dense<0.0> : tensor<3xf32>
  %one = ad.constant dense<1.0> : tensor<f32>
  %rate = ad.constant dense<0.1> : tensor<f32>
  %beta1 = ad.constant dense<0.9> : tensor<f32>
  %beta2 = ad.constant dense<0.999> : tensor<f32>
  %rest1 = ad.constant dense<0.1> : tensor<f32>
  %rest2 = ad.constant dense<0.001> : tensor<f32>
  %epsilon = ad.constant dense<1.0e-8> : tensor<f32>
  %r:3 = scf.for %step = %c1 to %end step %c1 iter_args(%p = %w, %m = %zero, %v = %zero)
      -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %loss, %g = ad.value_and_grad @loss(%p, %x, %y) wrt [0]
        : (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> (tensor<f32>, tensor<3xf32>)
    ad.receive "loss"(%loss) : tensor<f32>

    // m = 0.9 m + 0.1 g and v = 0.999 v + 0.001 g g
    %m_kept = ad.mul %m, %beta1 : tensor<3xf32>, tensor<f32>
    %m_new = ad.mul %g, %rest1 : tensor<3xf32>, tensor<f32>
    %m_next = ad.add %m_kept, %m_new : tensor<3xf32>
    %v_kept = ad.mul %v, %beta2 : tensor<3xf32>, tensor<f32>
    %square = ad.mul %g, %g : tensor<3xf32>
    %v_new = ad.mul %square, %rest2 : tensor<3xf32>, tensor<f32>
    %v_next = ad.add %v_kept, %v_new : tensor<3xf32>

    // Both start at zero: divided by 1 - beta^step they are as large as they should be.
    %integer = arith.index_cast %step : index to i64
    %float = arith.sitofp %integer : i64 to f32
    %t = ad.full %float : f32 -> tensor<f32>
    %power1 = ad.pow %beta1, %t : tensor<f32>
    %power2 = ad.pow %beta2, %t : tensor<f32>
    %weight1 = ad.sub %one, %power1 : tensor<f32>
    %weight2 = ad.sub %one, %power2 : tensor<f32>
    %m_fair = ad.div %m_next, %weight1 : tensor<3xf32>, tensor<f32>
    %v_fair = ad.div %v_next, %weight2 : tensor<3xf32>, tensor<f32>

    // p = p - rate * m / (sqrt(v) + epsilon)
    %root = ad.sqrt %v_fair : tensor<3xf32>
    %scale = ad.add %root, %epsilon : tensor<3xf32>, tensor<f32>
    %direction = ad.div %m_fair, %scale : tensor<3xf32>
    %change = ad.mul %direction, %rate : tensor<3xf32>, tensor<f32>
    %p_next = ad.sub %p, %change : tensor<3xf32>
    scf.yield %p_next, %m_next, %v_next : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  return %r#0 : tensor<3xf32>
}
