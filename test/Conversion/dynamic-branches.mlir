// RUN: ad-runner %s --target reference
// RUN: ad-runner %s --target cpu

// Results of branches with dynamic sizes: computed, passed through, and constant; also in a loop.
func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %no = ad.constant dense<false> : tensor<i1>
  %hidden = ad.barrier %no : tensor<i1>
  %p = tensor.extract %hidden[] : tensor<i1>
  %raw = ad.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %known = ad.barrier %raw : tensor<3x2xf32>
  %x = tensor.cast %known : tensor<3x2xf32> to tensor<?x2xf32>

  %a, %b = scf.if %p -> (tensor<?x2xf32>, tensor<?x?xf32>) {
    %c = tensor.cast %x : tensor<?x2xf32> to tensor<?x?xf32>
    scf.yield %x, %c : tensor<?x2xf32>, tensor<?x?xf32>
  } else {
    %twice = ad.add %x, %x : tensor<?x2xf32>
    %c = tensor.cast %raw : tensor<3x2xf32> to tensor<?x?xf32>
    scf.yield %twice, %c : tensor<?x2xf32>, tensor<?x?xf32>
  }
  %doubled = ad.constant dense<[[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]> : tensor<3x2xf32>
  %a_known = tensor.cast %a : tensor<?x2xf32> to tensor<3x2xf32>
  %b_known = tensor.cast %b : tensor<?x?xf32> to tensor<3x2xf32>
  check.expect_eq(%a_known, %doubled) : tensor<3x2xf32>
  check.expect_eq(%b_known, %raw) : tensor<3x2xf32>

  %powers = scf.for %i = %zero to %three step %one iter_args(%v = %a) -> tensor<?x2xf32> {
    %odd = arith.cmpi eq, %i, %one : index
    %next = scf.if %odd -> tensor<?x2xf32> {
      scf.yield %v : tensor<?x2xf32>
    } else {
      %w = ad.add %v, %v : tensor<?x2xf32>
      scf.yield %w : tensor<?x2xf32>
    }
    scf.yield %next : tensor<?x2xf32>
  }
  %eight = ad.constant dense<[[8.0, 16.0], [24.0, 32.0], [40.0, 48.0]]> : tensor<3x2xf32>
  %powers_known = tensor.cast %powers : tensor<?x2xf32> to tensor<3x2xf32>
  check.expect_eq(%powers_known, %eight) : tensor<3x2xf32>
  return
}
