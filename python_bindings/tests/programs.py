# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs of several tests."""

SQUARE = """
func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %y = ad.mul %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""

ADD = """
func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"}) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
"""

# Counts to %n and sends each number.
COUNT = """
func.func @main(%n: tensor<i64> {ad.name = "n"}) -> (tensor<f32> {ad.name = "end"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %times = tensor.extract %n[] : tensor<i64>
  %many = arith.index_cast %times : i64 to index
  %start = ad.constant dense<0.0> : tensor<f32>
  %step = ad.constant dense<1.0> : tensor<f32>
  %end = scf.for %i = %zero to %many step %one iter_args(%count = %start) -> tensor<f32> {
    %next = ad.add %count, %step : tensor<f32>
    ad.receive "count"(%next) : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %end : tensor<f32>
}
"""

# Adds up %n values of a feed.
SUM = """
func.func @main(%n: tensor<i64> {ad.name = "n"}) -> (tensor<2xf32> {ad.name = "sum"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %times = tensor.extract %n[] : tensor<i64>
  %many = arith.index_cast %times : i64 to index
  %start = ad.constant dense<0.0> : tensor<2xf32>
  %sum = scf.for %i = %zero to %many step %one iter_args(%before = %start) -> tensor<2xf32> {
    %x = ad.feed "x" : tensor<2xf32>
    %after = ad.add %before, %x : tensor<2xf32>
    scf.yield %after : tensor<2xf32>
  }
  return %sum : tensor<2xf32>
}
"""

# Adds to a vector %n times; threads pay off for long vectors.
ADD_OFTEN = """
func.func @main(%n: tensor<i64> {ad.name = "n"}, %x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "sum"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %times = tensor.extract %n[] : tensor<i64>
  %many = arith.index_cast %times : i64 to index
  %sum = scf.for %i = %zero to %many step %one iter_args(%before = %x) -> tensor<?xf32> {
    %step = ad.exp %before : tensor<?xf32>
    %after = ad.add %x, %step : tensor<?xf32>
    scf.yield %after : tensor<?xf32>
  }
  return %sum : tensor<?xf32>
}
"""


def identity(element_type, shape="?"):
    """A program that returns its argument."""
    tensor = f"tensor<{shape}{'x' if shape else ''}{element_type}>"
    return f"""
func.func @main(%x: {tensor} {{ad.name = "x"}}) -> {tensor} {{
  return %x : {tensor}
}}
"""
