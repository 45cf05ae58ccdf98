// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The peers of gemm.py, in f32 and row-major:
//   gemm_peers peak                                        prints the GFLOP/s of independent fused
//   multiply-adds gemm_peers PEER CALLS BATCH M N K TRANSA TRANSB        prints seconds per call
#include "peers.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#ifdef WITH_OPENBLAS
#include <cblas.h>
#endif
#ifdef WITH_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

using namespace peers;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===- The peak -----------------------------------------------------------===//

#ifdef __AVX512F__
constexpr int lanes = 16;
#else
constexpr int lanes = 8;
#endif
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

/// The best of several bursts. Twelve chains hide the latency of the instruction and fit into the registers.
double measurePeak() {
  constexpr int chains = 12, steps = 500000, bursts = 8;
  double best = 0;
  for (int burst = 0; burst < bursts; ++burst) {
    Vector sums[chains] = {}, factor = {}, term = {};
    asm volatile("" : "+v"(factor), "+v"(term));
    Clock::time_point start = Clock::now();
    for (int step = 0; step < steps; ++step) {
#pragma clang loop unroll(full)
      for (int chain = 0; chain < chains; ++chain) {
        sums[chain] = __builtin_elementwise_fma(sums[chain], factor, term);
        asm volatile("" : "+v"(sums[chain]));
      }
    }
    best = std::max(best, 2e-9 * lanes * chains * steps / secondsSince(start));
  }
  return best;
}

//===- The products -------------------------------------------------------===//

struct Case {
  int64_t batch, m, n, k;
  bool transA, transB;
  Memory a, b, c;

  explicit Case(char **words)
      : batch(std::atoll(words[0])), m(std::atoll(words[1])), n(std::atoll(words[2])),
        k(std::atoll(words[3])), transA(std::atoi(words[4])), transB(std::atoi(words[5])),
        a(makeNumbers(batch * m * k)), b(makeNumbers(batch * k * n)), c(makeNumbers(batch * m * n)) {}

  int64_t lda() const { return transA ? m : k; }
  int64_t ldb() const { return transB ? k : n; }
};

using Call = std::function<void()>;

#ifdef WITH_OPENBLAS
Call prepareOpenBLAS(const Case &of) {
  return [&of] {
    for (int64_t i = 0; i < of.batch; ++i)
      cblas_sgemm(CblasRowMajor, of.transA ? CblasTrans : CblasNoTrans, of.transB ? CblasTrans : CblasNoTrans,
                  of.m, of.n, of.k, 1.0f, of.a.get() + i * of.m * of.k, of.lda(),
                  of.b.get() + i * of.k * of.n, of.ldb(), 0.0f, of.c.get() + i * of.m * of.n, of.n);
  };
}
#endif

#ifdef WITH_ONEDNN
Call prepareSgemm(const Case &of) {
  return [&of] {
    for (int64_t i = 0; i < of.batch; ++i)
      dnnl_sgemm(of.transA ? 'T' : 'N', of.transB ? 'T' : 'N', of.m, of.n, of.k, 1.0f,
                 of.a.get() + i * of.m * of.k, of.lda(), of.b.get() + i * of.k * of.n, of.ldb(), 0.0f,
                 of.c.get() + i * of.m * of.n, of.n);
  };
}

/// A row-major batch of matrices, each perhaps transposed in memory.
dnnl::memory::desc describe(int64_t batch, int64_t rows, int64_t columns, bool transposed) {
  dnnl::memory::dims sizes = {batch, rows, columns}, strides = {rows * columns, columns, 1};
  if (transposed)
    strides = {rows * columns, 1, rows};
  if (batch == 1) {
    sizes.erase(sizes.begin());
    strides.erase(strides.begin());
  }
  return {sizes, dnnl::memory::data_type::f32, strides};
}

/// The matmul primitive on the operands as they are or, prepacked, on weights in the layout that it likes
/// best.
Call prepareMatmul(const Case &of, bool prepacked) {
  using dnnl::memory;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  memory::desc a = describe(of.batch, of.m, of.k, of.transA), b = describe(of.batch, of.k, of.n, of.transB);
  memory::desc c = describe(of.batch, of.m, of.n, false), wanted = b;
  if (prepacked)
    wanted = memory::desc(b.dims(), memory::data_type::f32, memory::format_tag::any);
  dnnl::matmul::primitive_desc how({a, wanted, c}, engine);
  memory weights(b, engine, of.b.get());
  if (how.weights_desc() != b) {
    memory packed(how.weights_desc(), engine);
    dnnl::reorder(weights, packed).execute(stream, weights, packed);
    stream.wait();
    weights = packed;
  }
  std::unordered_map<int, memory> operands = {{DNNL_ARG_SRC, memory(a, engine, of.a.get())},
                                              {DNNL_ARG_WEIGHTS, weights},
                                              {DNNL_ARG_DST, memory(c, engine, of.c.get())}};
  return [stream, operands, matmul = dnnl::matmul(how)]() mutable {
    matmul.execute(stream, operands);
    stream.wait();
  };
}
#endif

using Prepare = std::function<Call(const Case &)>;

const std::map<std::string, Prepare> products = {
#ifdef WITH_OPENBLAS
    {"openblas", prepareOpenBLAS},
#endif
#ifdef WITH_ONEDNN
    {"onednn-sgemm", prepareSgemm},
    {"onednn-matmul", [](const Case &of) { return prepareMatmul(of, false); }},
    {"onednn-prepacked", [](const Case &of) { return prepareMatmul(of, true); }},
#endif
};

} // namespace

int main(int count, char **words) {
  if (count == 2 && !std::strcmp(words[1], "peak")) {
    std::printf("%.17g\n", measurePeak());
    return 0;
  }
  if (count != 9 || !products.count(words[1]))
    return std::fprintf(stderr, "expected 'peak' or PEER CALLS BATCH M N K TRANSA TRANSB\n"), 1;
  Case of(words + 3);
  Call call = products.at(words[1])(of);
  std::printf("%.17g\n", medianSeconds(std::atoi(words[2]), call));
  return 0;
}
