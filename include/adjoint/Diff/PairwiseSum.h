// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A sum of doubles in the order of numpy.sum over contiguous values, so that printed sums and means have
// NumPy's digits. The order is a balanced tree over blocks of at most 128 values; each block has eight chains
// (N. Higham, The accuracy of floating point summation, 1993). Values come in parts: no caller needs all of
// them in memory.
#ifndef ADJOINT_DIFF_PAIRWISESUM_H
#define ADJOINT_DIFF_PAIRWISESUM_H

#include <cstdint>
#include <vector>

namespace mlir::ad::diff {

class PairwiseSum {
public:
  /// The order depends on the number of all values.
  explicit PairwiseSum(int64_t total) { descend(total); }

  void add(const double *values, int64_t count);
  /// The sum, once all values have been added.
  double getResult() const { return result; }

private:
  static constexpr int64_t maxBlock = 128;

  /// An inner node of the tree on the way to the current block.
  struct Node {
    int64_t rightCount;
    double left;
    bool hasLeft;
  };

  void descend(int64_t count);
  void finishBlock(double sum);

  std::vector<Node> path;
  int64_t blockCount = 0; // values of the current block
  int64_t pending = 0;    // of them, in `partial`
  double partial[maxBlock];
  double result = 0;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_PAIRWISESUM_H
