// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaGradFactors.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

SmallVector<Fragment> MmaGradFactors::masked(const Tile &tile, ArrayRef<Fragment> scores) {
  return fragmentsFrom(code.changeIf(tile.mayHide, flatten(scores), [&] {
    SmallVector<Fragment> next(scores);
    for (auto [number, fragment] : llvm::enumerate(next))
      for (auto [i, score] : llvm::enumerate(fragment))
        score = tile.mask(score, static_cast<int64_t>(number), static_cast<int64_t>(i));
    return flatten(next);
  }));
}

MmaGradFactors::Factors MmaGradFactors::of(const Tile &tile, ArrayRef<Fragment> ofQueries,
                                           ArrayRef<Fragment> ofCotangents) {
  SmallVector<Fragment> scores(ofQueries), slopes(ofQueries);
  for (auto [score, slope] : llvm::zip_equal(scores, slopes))
    for (size_t i = 0; i < score.size(); ++i) {
      auto bounded = function.boundedWithSlope(score[i]);
      score[i] = bounded.score;
      slope[i] = bounded.slope;
    }
  scores = masked(tile, scores);
  Factors factors;
  for (auto [f, fragment] : llvm::enumerate(scores)) {
    auto number = static_cast<int64_t>(f);
    SmallVector<Value> exponents, products;
    for (int64_t i = 0; i < 4; ++i)
      exponents.push_back(code.binary<arith::SubFOp>(fragment[i], tile.logSum(number, i)));
    SmallVector<Value> weights = code.applyAll(numerics::Elementary::Exp, exponents);
    for (int64_t i = 0; i < 4; ++i) {
      Value ofWeight = code.binary<arith::SubFOp>(ofCotangents[f][i], tile.delta(number, i));
      Value product = code.times(weights[i], ofWeight);
      if (slopes[f][i])
        product = code.times(product, slopes[f][i]);
      if (shape.scale != 1)
        product = code.times(product, code.real(shape.scale));
      if (tile.isThere) {
        Value isThere = tile.isThere(number, i);
        product = code.select(isThere, product, code.real(0));
        weights[i] = code.select(isThere, weights[i], code.real(0));
      }
      products.push_back(product);
    }
    factors.weights.push_back({mma.pack(weights[0], weights[1]), mma.pack(weights[2], weights[3])});
    factors.products.push_back({mma.pack(products[0], products[1]), mma.pack(products[2], products[3])});
  }
  return factors;
}
