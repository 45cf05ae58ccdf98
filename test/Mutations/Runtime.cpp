// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Switches planted faults while a program runs. It is linked into every program of a build with faults, and
// follows the environment:
//   ADJOINT_MUTATION=ID            this fault is on
//   ADJOINT_MUTATIONS_LIST=FILE    appends the faults of the program, one `ID<tab>what` a line, and ends
//   before main ADJOINT_MUTATIONS_REACHED=FILE appends each fault that is reached, when it is reached first:
//   nothing is lost when the
//                                  program crashes or is killed
// Without them a guard costs the load of one byte.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

enum State : unsigned char { Off = 0, On = 1, Record = 2 };

/// The faults of one object file.
struct Table {
  const char *names;
  const uint32_t *offsets;
  unsigned char *states;
  uint64_t count;
};

/// Neither constructors nor destructors of other objects may come before or after these.
std::vector<Table> &tables() {
  static auto *result = new std::vector<Table>;
  return *result;
}
std::mutex &lock() {
  static auto *result = new std::mutex;
  return *result;
}

void append(const char *variable, const std::string &text) {
  int file = open(std::getenv(variable), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    static const char message[] = "the file of planted faults cannot be written\n";
    if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
      std::abort();
    std::abort();
  }
  close(file);
}

void list(const Table &table) {
  std::string text;
  for (uint64_t i = 0; i < table.count; ++i)
    text.append(table.names + table.offsets[i]).append("\n");
  append("ADJOINT_MUTATIONS_LIST", text);
}

void switchOn(const Table &table, const char *id) {
  size_t length = std::strlen(id);
  for (uint64_t i = 0; i < table.count; ++i) {
    const char *name = table.names + table.offsets[i];
    if (std::strncmp(name, id, length) == 0 && name[length] == '\t')
      table.states[i] = On;
  }
}

/// Runs when the objects, whose constructors have the priority 101, are registered.
__attribute__((constructor(102))) void endAfterList() {
  if (std::getenv("ADJOINT_MUTATIONS_LIST"))
    _exit(0);
}

} // namespace

extern "C" void adjoint_mutations_register(const char *names, const uint32_t *offsets, unsigned char *states,
                                           uint64_t count) {
  Table table{names, offsets, states, count};
  if (std::getenv("ADJOINT_MUTATIONS_LIST"))
    list(table);
  if (const char *id = std::getenv("ADJOINT_MUTATION"))
    switchOn(table, id);
  if (!std::getenv("ADJOINT_MUTATIONS_REACHED"))
    return;
  std::lock_guard<std::mutex> guard(lock());
  tables().push_back(table);
  for (uint64_t i = 0; i < count; ++i)
    states[i] |= Record;
}

extern "C" bool adjoint_mutation_hit(unsigned char *state) {
  bool on = *state & On;
  if (!(*state & Record))
    return on;
  std::lock_guard<std::mutex> guard(lock());
  *state &= On;
  for (const Table &table : tables()) {
    if (state < table.states || state >= table.states + table.count)
      continue;
    const char *name = table.names + table.offsets[state - table.states];
    append("ADJOINT_MUTATIONS_REACHED", std::string(name, std::strchr(name, '\t')) + "\n");
  }
  return on;
}
