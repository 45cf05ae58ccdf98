/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   `adrt`, the C ABI between compiled programs and whatever runs them. Compiled code calls the functions
   below; the runner, a shared library or an ahead-of-time file provides them through one context per
   execution. It knows neither LLVM nor MLIR.

   Every entry of a compiled program has the type adrt_entry. It returns ADRT_OK, or the status of the first
   service that failed; the details then stand in the context. A service that returns a status other than
   ADRT_OK, or NULL, has recorded its reason: compiled code only has to return. */
#ifndef ADJOINT_RUNTIME_ADRT_H
#define ADJOINT_RUNTIME_ADRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a structure or a signature below changes. */
#define ADRT_ABI_VERSION 8

/* Element types. Sizes in bytes: 8 4 2 2 1 1 1 1 4 8; booleans are one byte, 0 or 1. */
typedef enum adrt_type {
  ADRT_F64 = 0,
  ADRT_F32 = 1,
  ADRT_F16 = 2,
  ADRT_BF16 = 3,
  ADRT_F8E4M3FN = 4,
  ADRT_F8E5M2 = 5,
  ADRT_I1 = 6,
  ADRT_I8 = 7,
  ADRT_I32 = 8,
  ADRT_I64 = 9
} adrt_type;

typedef enum adrt_status {
  ADRT_OK = 0,
  ADRT_PROGRAM_ERROR = 1, /* the program is wrong: shapes, bounds, trip counts */
  ADRT_CHECK_FAILED = 3,  /* a check.* operation failed */
  ADRT_TARGET_ERROR = 4,  /* what runs the program has too little memory, or its driver refused a request */
  ADRT_HOST_ERROR = 5,    /* a file, or a callback of the host */
  ADRT_INTERRUPTED = 130  /* the host asked to stop */
} adrt_status;

/* A dense row-major tensor. `data` is 64-byte aligned when the runtime allocated it. */
typedef struct adrt_tensor {
  void *data;
  const int64_t *shape; /* rank entries */
  int32_t rank;
  int32_t type; /* adrt_type */
} adrt_tensor;

/* Where in the source a run-time error arose. Static data of the compiled program. */
typedef struct adrt_site {
  const char *location;  /* file:line:column, or the printed MLIR location */
  const char *operation; /* the operation's name, e.g. ad.add */
} adrt_site;

typedef struct adrt_context adrt_context;
/* Runs a program. Arguments that the program declares as donated may be written, and must overlap no other. A
   result is described by adrt_result, or is the argument that is donated to it: then it has the data and the
   shape of that. */
typedef int32_t (*adrt_entry)(adrt_context *context, const adrt_tensor *arguments, adrt_tensor *results);

/* What a failed run-time test was about; `values` of adrt_fail are named in parentheses. */
typedef enum adrt_failure {
  ADRT_FAIL_BROADCAST = 0, /* sizes of one dimension do not broadcast (dimension, left size, right size) */
  ADRT_FAIL_SAME_SIZE = 1, /* sizes that must agree do not (dimension, expected, actual) */
  ADRT_FAIL_BOUNDS = 2,    /* an index lies outside (dimension, index, size) */
  ADRT_FAIL_NEGATIVE = 3,  /* a size is negative (dimension, size) */
  ADRT_FAIL_RESHAPE = 4,   /* element counts differ (from, to) */
  ADRT_FAIL_CARRY = 5,     /* a loop changes the size of a carried tensor (carry, dimension, before, after) */
  ADRT_FAIL_STEP = 7,      /* the step of a loop is not positive (step) */
  ADRT_FAIL_ARGUMENT = 6,  /* an argument has the wrong type, rank or shape (argument, dimension or -1 for the
                              type or -2 for the rank, expected, actual) */
  ADRT_FAIL_DIVISION = 12, /* an integer is divided by zero () */
  /* Of kernels of another compiler: */
  ADRT_FAIL_OPERAND = 8, /* an operand lacks the size of its loop (operand, dimension, expected, actual) */
  ADRT_FAIL_OPERAND_BOUNDS = 9, /* a map leaves its operand (operand, dimension, index, size) */
  ADRT_FAIL_RESULT = 10,        /* the launch says another size (result, dimension, expected, actual) */
  ADRT_FAIL_SHARED_LOOPS = 11   /* results that share loops differ (result, dimension, expected, actual) */
} adrt_failure;

/* Records a run-time error of the program at `site`; returns ADRT_PROGRAM_ERROR. */
int32_t adrt_fail(adrt_context *context, const adrt_site *site, int32_t kind, const int64_t *values,
                  int32_t count);

/* The one arena of an execution: at least `bytes` bytes, 64-byte aligned, kept until the entry returns. NULL
   when there is not enough memory. */
void *adrt_arena(adrt_context *context, int64_t bytes);

/* Memory of buffer number `buffer` of the program, for sizes that are known only at run time: at least
   `bytes` bytes, 64-byte aligned. Asking again for the same number may move it: its old content is lost. Kept
   until the entry returns. NULL when there is not enough memory. */
void *adrt_buffer(adrt_context *context, int32_t buffer, int64_t bytes);

/* Allocates result `index` with the given shape and fills `*result`; returns its data, or NULL. */
void *adrt_result(adrt_context *context, adrt_tensor *result, int32_t index, int32_t type, int32_t rank,
                  const int64_t *shape);

/* ADRT_OK when `memory`, which adrt_arena, adrt_buffer, adrt_result, adrt_argument or adrt_constant has
   returned, is not NULL; else the status of the error that the function has recorded, whose place is then
   `site`. */
int32_t adrt_require_allocated(adrt_context *context, const void *memory, const adrt_site *site);

/* Fills `destination` (data, shape and type set by the caller) with the next value of the feed `name`. */
int32_t adrt_feed(adrt_context *context, const adrt_site *site, const char *name,
                  const adrt_tensor *destination);

/* Hands `count` tensors to the receiver `name`. The data is the callee's only during the call. */
int32_t adrt_receive(adrt_context *context, const adrt_site *site, const char *name,
                     const adrt_tensor *values, int32_t count);

/* Kinds of check. */
typedef enum adrt_check_kind {
  ADRT_CHECK_EQUAL = 0, /* same bits, or NaN on both sides */
  ADRT_CHECK_ALMOST_EQUAL =
      1,                /* |actual - expected| <= tolerance, or <= tolerance * |expected| when relative */
  ADRT_CHECK_FINITE = 2 /* no NaN, no infinity in `actual`; `expected` is ignored */
} adrt_check_kind;

/* Compares two tensors of the same type and shape. On failure records location, first differing index, both
   values there and the largest difference; returns ADRT_CHECK_FAILED. */
int32_t adrt_check(adrt_context *context, const adrt_site *site, int32_t kind, double tolerance,
                   int32_t relative, const adrt_tensor *actual, const adrt_tensor *expected);

/* ADRT_INTERRUPTED once the host has asked to stop, else ADRT_OK. Compiled programs call it in each iteration
   of a loop and before kernels that take long. What a loop asked of a device since is one turn, which may be
   asked of it as a whole the next time; between launches on a device, adrt_launch looks for the host's wish.
 */
int32_t adrt_poll(adrt_context *context);

/* How many of the context's threads a loop is worth that takes `nanoseconds` on one: at least 1. */
int64_t adrt_threads_for(adrt_context *context, int64_t nanoseconds);

/* Runs body(closure, begin, end) over disjoint ranges that cover [0, units), and returns when all are done.
   `nanoseconds` estimates how long all units take on one thread; INT64_MAX where it is not known. The runtime
   decides how many of the context's threads take part, by that, by what starting threads costs here and by
   how many are free: no result may depend on where ranges begin and end. */
void adrt_parallel_for(adrt_context *context, int64_t units, int64_t nanoseconds,
                       void (*body)(void *closure, int64_t begin, int64_t end), void *closure);

/* A loop as adrt_parallel_for runs it; both numbers are positive. */
typedef struct adrt_loop {
  void (*body)(void *closure, int64_t begin, int64_t end);
  void *closure;
  int64_t units;
  int64_t nanoseconds;
} adrt_loop;

/* Runs `count` loops that do not depend on each other, and returns when all are done. Threads share them as
   if they were one loop, so that each runs some of them, or a part of one. */
void adrt_parallel_loops(adrt_context *context, int64_t count, const adrt_loop *loops);

/* A program for a device has its tensors in the memory of the device: what adrt_arena, adrt_buffer and
   adrt_result return lies there, and so does what it hands to adrt_feed, adrt_receive and adrt_check. The
   functions below are for such programs; without a device they fail. All work is done in the order of the
   calls, perhaps later. */

/* The memory in which the device has argument `index`, a copy that the program may write when the argument is
   donated. NULL when there is not enough memory. */
void *adrt_argument(adrt_context *context, const adrt_tensor *argument, int32_t index);

/* The memory in which the device has `bytes` bytes of static data of the program. NULL when there is not
 * enough memory. */
void *adrt_constant(adrt_context *context, const void *data, int64_t bytes);

/* Copies `bytes` bytes inside the device's memory. */
int32_t adrt_copy(adrt_context *context, void *target, const void *source, int64_t bytes);

/* Copies `bytes` bytes of the device's memory into the host's, when everything before is done. */
int32_t adrt_read(adrt_context *context, void *target, const void *source, int64_t bytes);

/* A tensor map takes 128 bytes, aligned to 64, and is passed to kernels by value. */
enum { ADRT_TENSOR_MAP_BYTES = 128, ADRT_TENSOR_MAP_ALIGNMENT = 64 };

/* Describes a tensor of the device's memory to kernels that have tiles of it brought: `box` has the elements
   of a tile along each axis, 1 to 256, and `swizzle_bytes` says in lines of how many bytes (0, 32, 64 or 128)
   chunks of 16 bytes are exchanged. With `tf32` other than 0, elements, which must be f32, are rounded to
   tf32 on their way, to nearest even. Fills `map`. */
int32_t adrt_tensor_map(adrt_context *context, const adrt_site *site, void *map, const adrt_tensor *tensor,
                        const uint32_t *box, int32_t swizzle_bytes, int32_t tf32);

/* The shape of a launch: blocks of the grid, threads of a block, blocks of a cluster (1 where the kernel
   itself says how many), each along x, y and z, and the bytes of a block's dynamic shared memory. */
typedef struct adrt_grid {
  uint32_t blocks[3];
  uint32_t threads[3];
  uint32_t cluster[3];
  uint32_t shared_bytes;
} adrt_grid;

/* Launches kernel number `kernel`; `arguments` has the address of each argument's value and `bytes` its size.
 */
int32_t adrt_launch(adrt_context *context, const adrt_site *site, int32_t kernel, const adrt_grid *grid,
                    void *const *arguments, const int32_t *bytes, int32_t count);

/* The number of SMs (streaming multiprocessors) of the device; 1 without a device. No result may depend on
   it. */
int32_t adrt_sm_count(adrt_context *context);

/* Time of kernels: the compiled program brackets kernel number `kernel` when it was built with profiling. */
void adrt_kernel_begin(adrt_context *context, int32_t kernel);
void adrt_kernel_end(adrt_context *context, int32_t kernel);

#ifdef __cplusplus
}
#endif

#endif /* ADJOINT_RUNTIME_ADRT_H */
