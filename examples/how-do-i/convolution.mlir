// A convolution of images with a filter of 3 x 3, zeros around them, a bias for each channel, and the largest element
// of each square of 2 x 2.

func.func @main(%x: tensor<2x6x8x3xf32> {ad.name = "x"}, %w: tensor<3x3x3x4xf32> {ad.name = "w"},
                %b: tensor<4xf32> {ad.name = "b"}) -> (tensor<2x3x4x4xf32> {ad.name = "y"}) {
  // Images are b (which one), 0 and 1 (rows and columns), c (channels); the filter has o output channels.
  %sums = ad.conv %x, %w dims "b01c,01co->b01o" low [1, 1] high [1, 1]
      : (tensor<2x6x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x8x4xf32>
  %biased = ad.add %sums, %b : tensor<2x6x8x4xf32>, tensor<4xf32>
  %positive = ad.relu %biased : tensor<2x6x8x4xf32>
  %y = ad.reduce_window max %positive window [1, 2, 2, 1] strides [1, 2, 2, 1] : tensor<2x6x8x4xf32>
  return %y : tensor<2x3x4x4xf32>
}
