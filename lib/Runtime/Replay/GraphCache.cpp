/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "GraphCache.h"

#include <algorithm>
#include <utility>

using namespace adrt;

/// A single command gains nothing from a graph.
static constexpr size_t minCommands = 2;
/// Limits the device memory of graphs for a program whose sizes change in each iteration.
static constexpr size_t maxShapes = 64;

bool GraphCache::Entry::equals(const CommandList &others) const {
  if (!graph)
    return false;
  for (size_t index = 0; index < others.size(); ++index)
    if (!commands.isSameAt(index, others))
      return false;
  return true;
}

bool GraphCache::launch(const CommandList &commands, Outcome &outcome) {
  Entry *entry = commands.size() < minCommands || disabled ? nullptr : find(commands);
  if (!entry)
    return false;
  outcome = graphs->launch(*entry->graph, commands);
  ++counts.launched;
  return true;
}

/// The entry whose graph equals the commands, after an update if needed; null when there is none. A graph
/// does not pay off for commands that run once, such as those before a loop: the first use of a shape only
/// records it.
GraphCache::Entry *GraphCache::find(const CommandList &commands) {
  auto [known, isNew] = shapes.try_emplace(commands.hashShape());
  Shape &shape = known->second;
  shape.lastUse = ++clock;
  if (isNew) {
    evict();
    return nullptr;
  }
  Entry &first = shape.entries[0], &second = shape.entries[1];
  if (first.graph && !first.commands.hasShapeOf(commands))
    return nullptr; // two shapes with one hash
  Entry *chosen = first.equals(commands)            ? &first
                  : second.equals(commands)         ? &second
                  : first.lastUse <= second.lastUse ? &first
                                                    : &second;
  chosen->lastUse = clock;
  Outcome outcome = chosen->graph ? update(*chosen, commands) : instantiate(*chosen, commands);
  if (chosen->graph && outcome.ok())
    return chosen;
  disabled = true;
  shapes.clear();
  const Launch *last = commands.lastLaunch();
  if (!outcome.ok() && warn)
    warn(last ? last->site : nullptr, "kernels are launched one by one: " + outcome.message);
  return nullptr;
}

Outcome GraphCache::instantiate(Entry &entry, const CommandList &commands) {
  Outcome outcome;
  entry.graph = graphs ? graphs->instantiate(commands, outcome) : nullptr;
  entry.commands = commands;
  counts.instantiated += entry.graph != nullptr;
  return outcome;
}

Outcome GraphCache::update(Entry &entry, const CommandList &commands) {
  for (size_t index = 0; index < commands.size(); ++index) {
    if (entry.commands.isSameAt(index, commands))
      continue;
    if (Outcome outcome = graphs->update(*entry.graph, commands, index); !outcome.ok())
      return outcome;
    entry.commands.updateAt(index, commands);
    ++counts.updated;
  }
  return {};
}

/// Drops the least recently used shape.
void GraphCache::evict() {
  if (shapes.size() <= maxShapes)
    return;
  shapes.erase(std::min_element(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) {
    return a.second.lastUse < b.second.lastUse;
  }));
}
