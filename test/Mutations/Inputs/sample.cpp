// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code with one statement for each kind of fault; mutations_test.py compiles it with the pass. Each line of
// the output depends on one statement, which the comment names.
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace sample {

struct Options {
  bool doubled = true;
};

int difference(int a, int b) { return a - b; }

template <typename T> T sumOf(std::initializer_list<T> list) {
  T sum = 0, weight = 1;
  for (T element : list)
    sum += (weight *= 10) * element;
  return sum;
}

void note(std::vector<int> &log, int what) { log.push_back(what); }

int never() { return std::rand() + 1; }

} // namespace sample

using namespace sample;

int main(int count, char **words) {
  if (count != 3)
    return never();
  int a = std::atoi(words[1]), b = std::atoi(words[2]);
  std::vector<int> log;
  Options options;
  std::printf("negate %s\n", a == b ? "same" : "other");
  std::printf("bound %d\n", a <= 3);
  std::printf("operand %d\n", b * a);
  std::printf("option %d\n", options.doubled);
  std::printf("list %d\n", sumOf<int>({a, b}));
  std::printf("template %ld\n", sumOf<long>({b, a}));
  std::printf("swap %d\n", difference(a, b));
  note(log, a);
  std::printf("skip %zu\n", log.size());
  int iterations = 7;
  std::printf("constant %d\n", iterations);
  for (int i = 0; i < a; ++i)
    std::printf("loop\n");
}
