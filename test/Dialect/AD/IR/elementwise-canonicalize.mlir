// RUN: ad-opt %s --canonicalize | FileCheck %s

// Identities that hold bit for bit, for every type except f8E5M2, and look-alikes that do not hold.

// CHECK-LABEL: func.func @neg_of_neg(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @neg_of_neg(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.neg %x : tensor<4xf32>
  %z = ad.neg %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @not_of_not(
// CHECK-SAME: %[[X:.+]]: tensor<?xi1>
// CHECK-NEXT: return %[[X]]
func.func @not_of_not(%x: tensor<?xi1>) -> tensor<?xi1> {
  %y = ad.not %x : tensor<?xi1>
  %z = ad.not %y : tensor<?xi1>
  return %z : tensor<?xi1>
}

// CHECK-LABEL: func.func @cast_to_same_type(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @cast_to_same_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.cast %x : tensor<4xf32> -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @cast_there_and_back(
// CHECK-SAME: %[[X:.+]]: tensor<?xbf16>
// CHECK-NEXT: return %[[X]]
func.func @cast_there_and_back(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %y = ad.cast %x : tensor<?xbf16> -> tensor<?xf32>
  %z = ad.cast %y : tensor<?xf32> -> tensor<?xbf16>
  return %z : tensor<?xbf16>
}

// CHECK-LABEL: func.func @cast_integer_through_float(
// CHECK-SAME: %[[X:.+]]: tensor<4xi8>
// CHECK-NEXT: return %[[X]]
func.func @cast_integer_through_float(%x: tensor<4xi8>) -> tensor<4xi8> {
  %y = ad.cast %x : tensor<4xi8> -> tensor<4xf16>
  %z = ad.cast %y : tensor<4xf16> -> tensor<4xi8>
  return %z : tensor<4xi8>
}

// CHECK-LABEL: func.func @add_negative_zero(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @add_negative_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<-0.0> : tensor<f32>
  %z = ad.add %x, %c : tensor<4xf32>, tensor<f32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @add_integer_zero(
// CHECK-SAME: %[[X:.+]]: tensor<4xi32>
// CHECK-NEXT: return %[[X]]
func.func @add_integer_zero(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c = ad.constant dense<0> : tensor<4xi32>
  %z = ad.add %c, %x : tensor<4xi32>
  return %z : tensor<4xi32>
}

// CHECK-LABEL: func.func @sub_zero(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @sub_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<0.0> : tensor<4xf32>
  %z = ad.sub %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_one(
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @mul_one(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = ad.constant dense<1.0> : tensor<1xf32>
  %z = ad.mul %x, %c : tensor<?xf32>, tensor<1xf32>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func.func @div_one(
// CHECK-SAME: %[[X:.+]]: tensor<4xf8E4M3FN>
// CHECK-NEXT: return %[[X]]
func.func @div_one(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %c = ad.constant dense<1.0> : tensor<4xf8E4M3FN>
  %z = ad.div %x, %c : tensor<4xf8E4M3FN>
  return %z : tensor<4xf8E4M3FN>
}

// CHECK-LABEL: func.func @max_of_same(
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @max_of_same(%x: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.max %x, %x : tensor<?xf32>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func.func @and_of_same(
// CHECK-SAME: %[[X:.+]]: tensor<4xi8>
// CHECK-NEXT: return %[[X]]
func.func @and_of_same(%x: tensor<4xi8>) -> tensor<4xi8> {
  %z = ad.and %x, %x : tensor<4xi8>
  return %z : tensor<4xi8>
}

// CHECK-LABEL: func.func @and_all_bits(
// CHECK-SAME: %[[X:.+]]: tensor<4xi8>
// CHECK-NEXT: return %[[X]]
func.func @and_all_bits(%x: tensor<4xi8>) -> tensor<4xi8> {
  %c = ad.constant dense<-1> : tensor<4xi8>
  %z = ad.and %x, %c : tensor<4xi8>
  return %z : tensor<4xi8>
}

// CHECK-LABEL: func.func @or_no_bits(
// CHECK-SAME: %[[X:.+]]: tensor<4xi1>
// CHECK-NEXT: return %[[X]]
func.func @or_no_bits(%x: tensor<4xi1>) -> tensor<4xi1> {
  %c = ad.constant dense<false> : tensor<4xi1>
  %z = ad.or %x, %c : tensor<4xi1>
  return %z : tensor<4xi1>
}

// CHECK-LABEL: func.func @select_true(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @select_true(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<true> : tensor<i1>
  %y = ad.exp %x : tensor<4xf32>
  %z = ad.select %c, %x, %y : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @select_true_or_false(
// CHECK-SAME: %[[X:.+]]: tensor<4xi1>
// CHECK-NEXT: return %[[X]]
func.func @select_true_or_false(%x: tensor<4xi1>) -> tensor<4xi1> {
  %a = ad.constant dense<true> : tensor<i1>
  %b = ad.constant dense<false> : tensor<i1>
  %z = ad.select %x, %a, %b : tensor<4xi1>, tensor<i1>, tensor<i1>
  return %z : tensor<4xi1>
}

// CHECK-LABEL: func.func @select_equal(
// CHECK-SAME: %{{.+}}: tensor<4xi1>, %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @select_equal(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @floor_of_round(
// CHECK: %[[Y:.+]] = ad.round_even
// CHECK-NEXT: return %[[Y]]
func.func @floor_of_round(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.round_even %x : tensor<4xf32>
  %z = ad.floor %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @sub_of_same_integers(
// CHECK: %[[ZERO:.+]] = ad.constant dense<0> : tensor<4xi32>
// CHECK-NEXT: return %[[ZERO]]
func.func @sub_of_same_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %z = ad.sub %x, %x : tensor<4xi32>
  return %z : tensor<4xi32>
}

// CHECK-LABEL: func.func @mul_integer_zero(
// CHECK: %[[ZERO:.+]] = ad.constant dense<0> : tensor<4xi32>
// CHECK-NEXT: return %[[ZERO]]
func.func @mul_integer_zero(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c = ad.constant dense<0> : tensor<4xi32>
  %z = ad.mul %x, %c : tensor<4xi32>
  return %z : tensor<4xi32>
}

// CHECK-LABEL: func.func @less_than_itself(
// CHECK: %[[FALSE:.+]] = ad.constant dense<false> : tensor<4xi1>
// CHECK-NEXT: return %[[FALSE]]
func.func @less_than_itself(%x: tensor<4xf32>) -> tensor<4xi1> {
  %z = ad.compare lt %x, %x : tensor<4xf32>
  return %z : tensor<4xi1>
}

// CHECK-LABEL: func.func @add_of_negation(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>
// CHECK-NEXT: ad.sub %[[Y]], %[[X]] {allow = #ad.allow<reorder>} : tensor<4xf32>
func.func @add_of_negation(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %n = ad.neg %x : tensor<4xf32>
  %z = ad.add %n, %y {allow = #ad.allow<reorder>} : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @sub_of_negation(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>
// CHECK-NEXT: ad.add %[[Y]], %[[X]] : tensor<4xf32>
func.func @sub_of_negation(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %n = ad.neg %x : tensor<4xf32>
  %z = ad.sub %y, %n : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_of_negations(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>
// CHECK-NEXT: ad.mul %[[X]], %[[Y]] : tensor<4xf32>
func.func @mul_of_negations(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = ad.neg %x : tensor<4xf32>
  %b = ad.neg %y : tensor<4xf32>
  %z = ad.mul %a, %b : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_minus_one(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: ad.neg %[[X]] : tensor<4xf32>
func.func @mul_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<-1.0> : tensor<4xf32>
  %z = ad.mul %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @div_by_power_of_two(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK: %[[C:.+]] = ad.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT: ad.mul %[[X]], %[[C]] : tensor<4xf32>
func.func @div_by_power_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ad.constant dense<8.0> : tensor<4xf32>
  %z = ad.div %x, %c : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts_compose(
// CHECK-SAME: %[[X:.+]]: tensor<4xbf16>
// CHECK-NEXT: ad.cast %[[X]] : tensor<4xbf16> -> tensor<4xf64>
func.func @casts_compose(%x: tensor<4xbf16>) -> tensor<4xf64> {
  %y = ad.cast %x : tensor<4xbf16> -> tensor<4xf32>
  %z = ad.cast %y : tensor<4xf32> -> tensor<4xf64>
  return %z : tensor<4xf64>
}
