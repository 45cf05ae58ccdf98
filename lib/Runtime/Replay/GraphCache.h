/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Instantiated graphs by the shape of their commands. Invariant: a graph that the cache returns agrees with
   the requested commands in kernels, grids, argument bytes and copies. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_REPLAY_GRAPHCACHE_H
#define ADJOINT_LIB_RUNTIME_REPLAY_GRAPHCACHE_H

#include "CommandList.h"
#include "adjoint/Runtime/Replay/GraphReplayDevice.h"

#include <unordered_map>

namespace adrt {

class GraphCache {
public:
  GraphCache(Graphs *graphs, ReplayWarning warn) : graphs(graphs), warn(std::move(warn)) {}

  /// Launches the commands as one graph and returns true. Returns false when the caller must issue them one
  /// by one: at the first use of a shape, and always after the device failed to make a graph.
  bool launch(const CommandList &commands, Outcome &outcome);
  const GraphCounts &getCounts() const { return counts; }

private:
  /// A graph and the commands that it was instantiated from or last updated to.
  struct Entry {
    CommandList commands;
    std::unique_ptr<Graph> graph;
    uint64_t lastUse = 0;

    bool equals(const CommandList &others) const;
  };
  /// The graphs of one shape: two, for buffers that alternate between iterations. Other differences are
  /// updated.
  struct Shape {
    Entry entries[2];
    uint64_t lastUse = 0;
  };

  Entry *find(const CommandList &commands);
  Outcome instantiate(Entry &entry, const CommandList &commands);
  Outcome update(Entry &entry, const CommandList &commands);
  void evict();

  Graphs *graphs; // null where the device has none
  ReplayWarning warn;
  std::unordered_map<uint64_t, Shape> shapes; // by hash
  uint64_t clock = 0;
  bool disabled = false; // the device could not make a graph
  GraphCounts counts;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_REPLAY_GRAPHCACHE_H
