func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.softmax %x axis 0 {ad.named_kernel = "online"} : tensor<4xf32>
  return %y : tensor<4xf32>
}
