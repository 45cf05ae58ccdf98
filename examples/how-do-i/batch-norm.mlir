// A layer in training: a product, normalized by the statistics of the batch, rectified, with every fourth element zero at
// random. The running statistics move a tenth of the way to those of the batch.

func.func @main(%x: tensor<16x4xf32> {ad.name = "x"}, %w: tensor<4x3xf32> {ad.name = "w"},
                %scale: tensor<3xf32> {ad.name = "scale"}, %bias: tensor<3xf32> {ad.name = "bias"},
                %mean: tensor<3xf32> {ad.name = "mean"}, %variance: tensor<3xf32> {ad.name = "variance"},
                %key: tensor<i64> {ad.name = "key"}, %step: tensor<i64> {ad.name = "step"})
    -> (tensor<16x3xf32> {ad.name = "y"}, tensor<3xf32> {ad.name = "new_mean"}, tensor<3xf32> {ad.name = "new_variance"}) {
  %product = ad.dot %x, %w : (tensor<16x4xf32>, tensor<4x3xf32>) -> tensor<16x3xf32>
  %normal, %m, %v = ad.batch_norm %product, %scale, %bias axis 1 epsilon 1.0e-5 : tensor<16x3xf32>, tensor<3xf32>
  %active = ad.relu %normal : tensor<16x3xf32>

  // The mask has one key for a step: nothing of it is saved for the derivative.
  %mask = ad.rng_bits %key, %step : tensor<i64>, tensor<i64> -> tensor<i64>
  %zero = ad.constant dense<0> : tensor<i64>
  %y = ad.dropout %active, %mask, %zero rate 0.25 : tensor<16x3xf32>

  %tenth = ad.constant dense<0.1> : tensor<f32>
  %to_mean = ad.sub %m, %mean : tensor<3xf32>
  %to_variance = ad.sub %v, %variance : tensor<3xf32>
  %new_mean = ad.fma %to_mean, %tenth, %mean : tensor<3xf32>, tensor<f32>, tensor<3xf32>
  %new_variance = ad.fma %to_variance, %tenth, %variance : tensor<3xf32>, tensor<f32>, tensor<3xf32>
  return %y, %new_mean, %new_variance : tensor<16x3xf32>, tensor<3xf32>, tensor<3xf32>
}
