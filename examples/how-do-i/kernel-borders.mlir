// The softmax, whatever it is decomposed into, shares no kernel with the operations around it; the two operations of the
// group `gate` share one with each other alone. No bit changes.

func.func @main(%x: tensor<8x64xf32> {ad.name = "x"}) -> (tensor<8x64xf32> {ad.name = "y"}) {
  %e = ad.tanh %x : tensor<8x64xf32>
  %s = ad.softmax %e axis 1 {ad.no_fuse} : tensor<8x64xf32>
  %a = ad.sigmoid %s {ad.fuse_group = "gate"} : tensor<8x64xf32>
  %b = ad.mul %a, %s {ad.fuse_group = "gate"} : tensor<8x64xf32>
  %y = ad.neg %b : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
