// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Switches planted faults while a program runs. It is linked into every program of a build with faults, and
// follows the environment:
//   ADJOINT_MUTATION=ID            this fault is on
//   ADJOINT_MUTATIONS_LIST=FILE    appends the faults of the program, one `ID<tab>what` a line, and ends
//   before main ADJOINT_MUTATIONS_REACHED=FILE appends each fault that is reached, when it is reached first:
//   nothing is lost when the
//                                  program crashes or is killed
// Without these variables a guard only loads one byte.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
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

/// Whether the text is in the file that the variable names. A test may have limited the size of files for a
/// while: the signal that says so is not for the program.
bool append(const char *variable, const std::string &text) {
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  int file = open(std::getenv(variable), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  bool written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0)
    close(file);
  const timespec now{0, 0};
  if (!written)
    sigtimedwait(&limit, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

void appendOrDie(const char *variable, const std::string &text) {
  if (append(variable, text))
    return;
  std::fprintf(stderr, "planted faults: cannot write the file of %s\n", variable);
  std::abort();
}

void list(const Table &table) {
  std::string text;
  for (uint64_t i = 0; i < table.count; ++i)
    text.append(table.names + table.offsets[i]).append("\n");
  appendOrDie("ADJOINT_MUTATIONS_LIST", text);
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
  appendOrDie("ADJOINT_MUTATIONS_REACHED", "");
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
  for (const Table &table : tables()) {
    if (state < table.states || state >= table.states + table.count)
      continue;
    const char *name = table.names + table.offsets[state - table.states];
    // If the write fails, it is repeated when the fault is reached again.
    if (append("ADJOINT_MUTATIONS_REACHED", std::string(name, std::strchr(name, '\t')) + "\n"))
      *state &= On;
  }
  return on;
}
