/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "CommandList.h"

#include <algorithm>
#include <cstring>

using namespace adrt;

/// The next offset for a value of `bytes` bytes: a small value is aligned to its size, a large one like a
/// tensor map.
static size_t alignTo(size_t offset, int32_t bytes) {
  size_t alignment = 1;
  while (alignment < static_cast<size_t>(bytes) && alignment < ADRT_TENSOR_MAP_ALIGNMENT)
    alignment *= 2;
  return (offset + alignment - 1) / alignment * alignment;
}

unsigned char *CommandList::valuesOf(const Command &command) const {
  return const_cast<unsigned char *>(reinterpret_cast<const unsigned char *>(values.data())) +
         command.firstByte;
}

void CommandList::add(const Launch &launch) {
  Command command;
  command.launch = launch;
  command.launch.arguments = nullptr;
  command.launch.bytes = nullptr;
  command.firstArgument = offsets.size();
  command.firstByte = values.size() * sizeof(Chunk);
  for (int32_t index = 0; index < launch.count; ++index) {
    offsets.push_back(alignTo(command.bytes, launch.bytes[index]));
    widths.push_back(launch.bytes[index]);
    command.bytes = offsets.back() + static_cast<size_t>(launch.bytes[index]);
  }
  // Bytes between values are zero, so that values compare as a whole.
  values.resize(values.size() + (command.bytes + sizeof(Chunk) - 1) / sizeof(Chunk), Chunk{});
  for (int32_t index = 0; index < launch.count; ++index)
    std::memcpy(valuesOf(command) + offsets[command.firstArgument + static_cast<size_t>(index)],
                launch.arguments[index], static_cast<size_t>(launch.bytes[index]));
  commands.push_back(command);
}

void CommandList::add(const Copy &copy) {
  Command command;
  command.copy = copy;
  command.isCopy = true;
  commands.push_back(command);
}

void CommandList::clear() {
  commands.clear();
  values.clear();
  offsets.clear();
  widths.clear();
}

const Launch *CommandList::lastLaunch() const {
  auto last = std::find_if(commands.rbegin(), commands.rend(), [](const Command &c) { return !c.isCopy; });
  return last == commands.rend() ? nullptr : &last->launch;
}

const Copy *CommandList::copyAt(size_t index) const {
  return commands[index].isCopy ? &commands[index].copy : nullptr;
}

Launch CommandList::launchAt(size_t index) const {
  const Command &command = commands[index];
  Launch launch = command.launch;
  addresses.clear();
  for (size_t number = 0; number < static_cast<size_t>(launch.count); ++number)
    addresses.push_back(valuesOf(command) + offsets[command.firstArgument + number]);
  launch.arguments = addresses.data();
  launch.bytes = widths.data() + command.firstArgument;
  return launch;
}

Outcome CommandList::issue(Device &device, size_t index) const {
  if (const Copy *copy = copyAt(index))
    return device.copy(copy->target, copy->source, copy->bytes);
  Launch launch = launchAt(index);
  Outcome outcome = device.launch(launch);
  if (!outcome.ok() && !outcome.site)
    outcome.site = launch.site;
  return outcome;
}

bool CommandList::hasShapeOf(const CommandList &other) const {
  auto isAlike = [](const Command &a, const Command &b) {
    if (a.isCopy || b.isCopy)
      return a.isCopy && b.isCopy && a.copy == b.copy;
    return a.launch.kernel == b.launch.kernel && a.launch.count == b.launch.count;
  };
  return std::equal(commands.begin(), commands.end(), other.commands.begin(), other.commands.end(),
                    isAlike) &&
         widths == other.widths;
}

uint64_t CommandList::hashShape() const {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a, a word at a time
  auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 32;
  };
  for (const Command &command : commands) {
    mix(command.isCopy ? ~uint64_t(0) : static_cast<uint64_t>(command.launch.kernel));
    mix(reinterpret_cast<uintptr_t>(command.copy.target));
    mix(reinterpret_cast<uintptr_t>(command.copy.source));
    mix(static_cast<uint64_t>(command.copy.bytes));
  }
  return hash;
}

bool CommandList::isSameAt(size_t index, const CommandList &other) const {
  const Command &mine = commands[index], &theirs = other.commands[index];
  if (mine.isCopy)
    return mine.copy == theirs.copy;
  return std::memcmp(&mine.launch.grid, &theirs.launch.grid, sizeof(adrt_grid)) == 0 &&
         (mine.bytes == 0 || std::memcmp(valuesOf(mine), other.valuesOf(theirs), mine.bytes) == 0);
}

void CommandList::takeSites(const CommandList &other) {
  for (size_t index = 0; index < commands.size(); ++index)
    commands[index].launch.site = other.commands[index].launch.site;
}

void CommandList::updateAt(size_t index, const CommandList &other) {
  Command &mine = commands[index];
  const Command &theirs = other.commands[index];
  mine.launch = theirs.launch;
  if (mine.bytes > 0)
    std::memcpy(valuesOf(mine), other.valuesOf(theirs), mine.bytes);
}
