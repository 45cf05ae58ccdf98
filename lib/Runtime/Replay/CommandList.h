/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What a lane that computes was asked for: kernels with the values of their arguments, and copies. Kept to be
   asked for later, compared with what was asked for before, and asked for again. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_REPLAY_COMMANDLIST_H
#define ADJOINT_LIB_RUNTIME_REPLAY_COMMANDLIST_H

#include "adjoint/Runtime/Host/Device.h"

#include <vector>

namespace adrt {

/// Inside the memory of a device.
struct Copy {
  void *target = nullptr;
  const void *source = nullptr;
  int64_t bytes = 0;

  bool operator==(const Copy &other) const {
    return target == other.target && source == other.source && bytes == other.bytes;
  }
};

class CommandList {
public:
  void add(const Launch &launch);
  void add(const Copy &copy);
  void clear();
  size_t size() const { return commands.size(); }
  bool empty() const { return commands.empty(); }

  /// Asks the device for one of them.
  Outcome issue(Device &device, size_t index) const;
  /// The last launch, without arguments; null when there is none.
  const Launch *lastLaunch() const;
  /// The copy, or null for a launch.
  const Copy *copyAt(size_t index) const;
  /// The launch, whose arguments are valid until the next call.
  Launch launchAt(size_t index) const;

  /// The same kernels and copies in the same order; grids, arguments and places of kernels may differ.
  bool hasShapeOf(const CommandList &other) const;
  /// Equal for lists of one shape, and hardly ever for others.
  uint64_t hashShape() const;
  /// Whether a command does the same to the last argument, wherever it comes from; the lists have one shape.
  bool isSameAt(size_t index, const CommandList &other) const;
  /// Takes over where each launch comes from; the lists have one shape.
  void takeSites(const CommandList &other);
  /// Takes over the grid and the arguments of a launch; the lists have one shape.
  void changeAt(size_t index, const CommandList &other);

private:
  // Tensor maps are read by their alignment.
  struct alignas(ADRT_TENSOR_MAP_ALIGNMENT) Chunk {
    unsigned char bytes[ADRT_TENSOR_MAP_ALIGNMENT];
  };
  struct Command {
    Launch launch; // without arguments, which are below
    Copy copy;
    bool isCopy = false;
    size_t firstArgument = 0;
    size_t firstByte = 0, bytes = 0; // values of all arguments
  };

  unsigned char *valuesOf(const Command &command) const;

  std::vector<Command> commands;
  std::vector<Chunk> values;
  std::vector<size_t> offsets;           // of each argument among the values of its launch
  std::vector<int32_t> widths;           // bytes of each argument
  mutable std::vector<void *> addresses; // of the launch that was asked for last
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_REPLAY_COMMANDLIST_H
