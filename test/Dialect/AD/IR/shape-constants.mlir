// RUN: ad-opt %s --canonicalize --split-input-file | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @splats
func.func @splats() -> (tensor<6xf32>, tensor<100x1000xf32>, tensor<3x2xf32>, tensor<1x3xf32>, tensor<2x3xf32>) {
  // CHECK-DAG: %[[FLAT:.+]] = ad.constant dense<-0.000000e+00> : tensor<6xf32>
  // CHECK-DAG: %[[LARGE:.+]] = ad.constant dense<-0.000000e+00> : tensor<100x1000xf32>
  // CHECK-DAG: %[[TRANSPOSED:.+]] = ad.constant dense<-0.000000e+00> : tensor<3x2xf32>
  // CHECK-DAG: %[[PART:.+]] = ad.constant dense<-0.000000e+00> : tensor<1x3xf32>
  // CHECK-DAG: %[[WHOLE:.+]] = ad.constant dense<-0.000000e+00> : tensor<2x3xf32>
  // CHECK: return %[[FLAT]], %[[LARGE]], %[[TRANSPOSED]], %[[PART]], %[[WHOLE]]
  %c = ad.constant dense<-0.0> : tensor<2x3xf32>
  %s = ad.constant dense<-0.0> : tensor<f32>
  %0 = ad.reshape %c : tensor<2x3xf32> -> tensor<6xf32>
  %1 = ad.broadcast %s : tensor<f32> -> tensor<100x1000xf32>
  %2 = ad.transpose %c [1, 0] : tensor<2x3xf32>
  %3 = ad.slice %c [1, 0] strides [1, 1] : tensor<2x3xf32> -> tensor<1x3xf32>
  %4 = ad.reverse %c axes [0] : tensor<2x3xf32>
  return %0, %1, %2, %3, %4
      : tensor<6xf32>, tensor<100x1000xf32>, tensor<3x2xf32>, tensor<1x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reshape
func.func @reshape() -> tensor<3x2xi8> {
  // CHECK-NEXT: ad.constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %c = ad.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %0 = ad.reshape %c : tensor<2x3xi8> -> tensor<3x2xi8>
  return %0 : tensor<3x2xi8>
}

// -----

// CHECK-LABEL: func.func @broadcast
func.func @broadcast() -> tensor<2x2x3xi64> {
  // CHECK-NEXT: ad.constant dense<{{\[\[\[}}1, 1, 1], [2, 2, 2]], {{\[\[}}1, 1, 1], [2, 2, 2]]]> : tensor<2x2x3xi64>
  %c = ad.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %0 = ad.broadcast %c : tensor<2x1xi64> -> tensor<2x2x3xi64>
  return %0 : tensor<2x2x3xi64>
}

// -----

// CHECK-LABEL: func.func @transpose
func.func @transpose() -> tensor<3x1x2xi1> {
  // CHECK-NEXT: ad.constant dense<{{\[\[\[}}true, false]], {{\[\[}}true, true]], {{\[\[}}false, true]]]> : tensor<3x1x2xi1>
  %c = ad.constant dense<[[[true, true, false]], [[false, true, true]]]> : tensor<2x1x3xi1>
  %0 = ad.transpose %c [2, 1, 0] : tensor<2x1x3xi1>
  return %0 : tensor<3x1x2xi1>
}

// -----

// CHECK-LABEL: func.func @slice
func.func @slice() -> (tensor<1x2xi32>, tensor<0x2xi32>) {
  // CHECK-DAG: ad.constant dense<{{\[\[}}5, 7]]> : tensor<1x2xi32>
  // CHECK-DAG: ad.constant dense<> : tensor<0x2xi32>
  %c = ad.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  %0 = ad.slice %c [1, 0] strides [1, 2] : tensor<2x4xi32> -> tensor<1x2xi32>
  %1 = ad.slice %c [2, 0] strides [1, 2] : tensor<2x4xi32> -> tensor<0x2xi32>
  return %0, %1 : tensor<1x2xi32>, tensor<0x2xi32>
}

// -----

// NaN keeps its payload: data movement rounds nothing.
// CHECK-LABEL: func.func @reverse
func.func @reverse() -> tensor<2x2xf32> {
  // CHECK-NEXT: ad.constant dense<{{\[\[}}0x7FC00123, -0.000000e+00], [2.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
  %c = ad.constant dense<[[1.0, 2.0], [-0.0, 0x7FC00123]]> : tensor<2x2xf32>
  %0 = ad.reverse %c axes [0, 1] : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @pad
func.func @pad(%e: tensor<0xi32>) -> (tensor<2x4xi32>, tensor<5xi32>) {
  // CHECK-DAG: ad.constant dense<{{\[\[}}9, 9, 9, 9], [1, 9, 2, 9]]> : tensor<2x4xi32>
  // CHECK-DAG: ad.constant dense<9> : tensor<5xi32>
  %c = ad.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %v = ad.constant dense<9> : tensor<i32>
  %0 = ad.pad %c, %v low [1, 0] high [0, 1] interior [0, 1] : tensor<1x2xi32>, tensor<i32>
  %1 = ad.pad %e, %v low [2] high [3] interior [7] : tensor<0xi32>, tensor<i32>
  return %0, %1 : tensor<2x4xi32>, tensor<5xi32>
}

// -----

// CHECK-LABEL: func.func @concat
func.func @concat() -> tensor<2x3xi32> {
  // CHECK-NEXT: ad.constant dense<{{\[\[}}1, 2, 7], [3, 4, 7]]> : tensor<2x3xi32>
  %a = ad.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = ad.constant dense<7> : tensor<2x1xi32>
  %0 = ad.concat axis 1 %a, %b : tensor<2x2xi32>, tensor<2x1xi32>
  return %0 : tensor<2x3xi32>
}

// -----

// Larger constants stay as they are written.
// CHECK-LABEL: func.func @large_constants_stay
func.func @large_constants_stay() -> tensor<4097x2xi32> {
  // CHECK: ad.broadcast
  %c = ad.constant dense<[1, 2]> : tensor<2xi32>
  %0 = ad.broadcast %c : tensor<2xi32> -> tensor<4097x2xi32>
  return %0 : tensor<4097x2xi32>
}
