// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The sources of arguments and feeds:
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

  /// The file of that path.
  static Source ofFile(llvm::StringRef path);
  /// An error lists the forms of sources; `,cycle` is among them for feeds.
  static llvm::Expected<Source> parse(llvm::StringRef text, bool forFeed = true);
};

/// Whether the text is of a generated source; all others are files.
bool isGeneratedSource(llvm::StringRef text);

/// Fills `destination` with elements `first`, `first` + 1, … of a generated source. Random numbers are those
/// of the Philox streams of the specification, times the scale, rounded to the element type. Integers need a
/// scale and get floor(scale·u), 0 ≤ u < 1.
llvm::Error generate(const Source &source, int64_t first, const adrt_tensor &destination);

/// What a user should know of a file that could be read.
using Warnings = std::vector<std::string>;

/// The value of an argument: a whole file, or generated with the sizes of `spec`, which must be static.
llvm::Expected<Tensor> makeArgument(const TensorSpec &spec, const Source &source, Warnings &warnings);

/// A sequence of tensors.
class Feed {
public:
  virtual ~Feed() = default;
  /// The feed of a source: slices along the first axis of a file, or an endless generated sequence.
  static llvm::Expected<std::unique_ptr<Feed>> create(const TensorSpec &spec, const Source &source,
                                                      Warnings &warnings);

  /// The next value. Its shape must be that of `destination`.
  virtual llvm::Error next(const adrt_tensor &destination) = 0;
  /// The first value is the next one again.
  virtual void rewind() = 0;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_SOURCE_H
