// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the values of arguments and feeds come from:
// FILE.npy[,cycle] | normal:SEED[:SCALE] | uniform:SEED[:SCALE] | zeros | arange.
#ifndef ADJOINT_RUNNER_IO_SOURCE_H
#define ADJOINT_RUNNER_IO_SOURCE_H

#include "adjoint/Support/Npy.h"

#include <memory>

namespace mlir::ad::runner {

struct Source {
  enum class Kind { File, Normal, Uniform, Zeros, Arange };
  Kind kind = Kind::File;
  std::string path;
  bool cycle = false;
  uint64_t seed = 0;
  std::optional<double> scale;

  /// An error lists what can be written: of a feed `,cycle` too.
  static llvm::Expected<Source> parse(llvm::StringRef text, bool forFeed = true);
};

/// Fills `destination` with elements `first`, `first` + 1, … of a generated source. Random numbers are those
/// of the spec's Philox streams, times the scale, rounded to the element type; integers need a scale and get
/// floor(scale·u), 0 ≤ u < 1.
llvm::Error generate(const Source &source, int64_t first, const adrt_tensor &destination);

/// The value of an argument: a whole file, or generated with the sizes of `spec`, all known.
llvm::Expected<Tensor> makeArgument(const TensorSpec &spec, const Source &source);

/// A stream of tensors: along the first axis of a file, or generated without an end.
class Feed {
public:
  static llvm::Expected<std::unique_ptr<Feed>> create(const TensorSpec &spec, const Source &source);

  /// The next value. Its shape must be that of `destination`.
  llvm::Error next(const adrt_tensor &destination);
  void rewind() { position = 0; }

private:
  Feed(adrt_type type, Source source) : type(type), source(std::move(source)) {}
  llvm::Error nextFromFile(const adrt_tensor &destination);

  adrt_type type;
  Source source;
  int64_t position = 0;           // values delivered
  std::unique_ptr<NpyFile> file;  // read piece by piece …
  std::unique_ptr<Tensor> loaded; // … or, when its order or its elements need work, at once
  Shape fileShape;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_SOURCE_H
