/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Commands of a compute stream: launches with the values of their arguments, and copies. A list is issued
   later, compared with earlier lists, and made into a graph. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_REPLAY_COMMANDLIST_H
#define ADJOINT_LIB_RUNTIME_REPLAY_COMMANDLIST_H

#include "adjoint/Runtime/Host/Device.h"

#include <vector>

namespace adrt {

/// A copy inside the memory of a device.
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

  /// Issues one command to the device.
  Outcome issue(Device &device, size_t index) const;
  /// The last launch, without arguments; null when there is none.
  const Launch *lastLaunch() const;
  /// The copy, or null for a launch.
  const Copy *copyAt(size_t index) const;
  /// The launch, whose arguments are valid until the next call.
  Launch launchAt(size_t index) const;

  /// The same kernels and copies in the same order; grids, arguments and sites of launches may differ.
  bool hasShapeOf(const CommandList &other) const;
  /// Equal for lists of one shape; rarely equal for others.
  uint64_t hashShape() const;
  /// Whether a command is the same in grid and all arguments, whatever its site; the lists have one shape.
  bool isSameAt(size_t index, const CommandList &other) const;
  /// Copies the site of each launch; the lists have one shape.
  void takeSites(const CommandList &other);
  /// Copies the grid and the arguments of a launch; the lists have one shape.
  void updateAt(size_t index, const CommandList &other);

private:
  // The driver reads tensor maps at this alignment.
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
  mutable std::vector<void *> addresses; // of the last launchAt
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_REPLAY_COMMANDLIST_H
