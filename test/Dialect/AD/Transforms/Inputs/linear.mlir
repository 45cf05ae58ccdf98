// The linear example of the recorded texts in this folder, differentiated and updated by hand, as its optimizer leaves it: two layers of
// width 255 with a sigmoid between them, a batch of two, 1000 steps. The loss is the sum of the outputs, so that the forward
// part of the second layer is not needed. f64, since the recorded numbers have that many digits; the stream, which has no name
// there, is called "x".

!batch = tensor<2x255xf64>
!weight = tensor<255x255xf64>
!bias = tensor<255xf64>

func.func @main(%weight1: !weight, %bias1: !bias, %weight2: !weight, %bias2: !bias) {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 1000 : index
  %trained:4 = scf.for %step = %first to %steps step %one iter_args(%w1 = %weight1, %b1 = %bias1, %w2 = %weight2, %b2 = %bias2)
      -> (!weight, !bias, !weight, !bias) {
    // The gradient of the loss, and what it says to the layer before.
    %n23 = ad.constant dense<1.0> : !batch
    %n24 = ad.transpose %w2 [1, 0] : !weight
    %n25 = ad.dot %n23, %n24 : (!batch, !weight) -> !batch
    // The update of the second bias.
    %n50 = ad.transpose %n23 [1, 0] : !batch
    %n51 = ad.reduce_sum %n50 axes [1] : tensor<255x2xf64> -> !bias
    %n52 = ad.reshape %n51 : !bias -> tensor<1x255xf64>
    %n53 = ad.reshape %n52 : tensor<1x255xf64> -> !bias
    %n88 = ad.constant dense<-0.01> : !bias
    %n89 = ad.mul %n53, %n88 : !bias
    %n73 = ad.add %b2, %n89 : !bias
    // The first layer and its sigmoid, 1 / (1 + 2^(-x / ln 2)).
    %n4 = ad.feed "x" : !batch
    %n5 = ad.dot %n4, %w1 : (!batch, !weight) -> !batch
    %n6 = ad.reshape %b1 : !bias -> tensor<1x255xf64>
    %n7 = ad.broadcast %n6 : tensor<1x255xf64> -> !batch
    %n8 = ad.add %n5, %n7 : !batch
    %n80 = ad.constant dense<-1.4426950408889634> : !batch
    %n81 = ad.mul %n8, %n80 : !batch
    %n13 = ad.exp2 %n81 : !batch
    %n14 = ad.constant dense<1.0> : !batch
    %n15 = ad.add %n13, %n14 : !batch
    %n16 = ad.recip %n15 : !batch
    // Its derivative.
    %n30 = ad.mul %n15, %n15 : !batch
    %n31 = ad.recip %n30 : !batch
    %n32 = ad.constant dense<-1.0> : !batch
    %n33 = ad.mul %n31, %n32 : !batch
    %n34 = ad.mul %n25, %n33 : !batch
    %n35 = ad.constant dense<0.6931471805599453> : !batch
    %n36 = ad.mul %n34, %n35 : !batch
    %n37 = ad.mul %n36, %n13 : !batch
    %n78 = ad.constant dense<-1.4426950408889634> : !batch
    %n79 = ad.mul %n37, %n78 : !batch
    // The updates of the first layer.
    %n44 = ad.transpose %n4 [1, 0] : !batch
    %n45 = ad.dot %n44, %n79 : (tensor<255x2xf64>, !batch) -> !weight
    %n76 = ad.constant dense<-0.01> : !weight
    %n77 = ad.mul %n45, %n76 : !weight
    %n58 = ad.add %w1, %n77 : !weight
    %n46 = ad.transpose %n79 [1, 0] : !batch
    %n47 = ad.reduce_sum %n46 axes [1] : tensor<255x2xf64> -> !bias
    %n48 = ad.reshape %n47 : !bias -> tensor<1x255xf64>
    %n49 = ad.reshape %n48 : tensor<1x255xf64> -> !bias
    %n82 = ad.constant dense<-0.01> : !bias
    %n83 = ad.mul %n49, %n82 : !bias
    %n63 = ad.add %b1, %n83 : !bias
    // The update of the second weight.
    %n26 = ad.transpose %n16 [1, 0] : !batch
    %n27 = ad.dot %n26, %n23 : (tensor<255x2xf64>, !batch) -> !weight
    %n86 = ad.constant dense<-0.01> : !weight
    %n87 = ad.mul %n27, %n86 : !weight
    %n68 = ad.add %w2, %n87 : !weight
    scf.yield %n58, %n63, %n68, %n73 : !weight, !bias, !weight, !bias
  }
  ad.receive "saving params"(%trained#0, %trained#1, %trained#2, %trained#3) : !weight, !bias, !weight, !bias
  return
}
