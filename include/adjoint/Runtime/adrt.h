/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   `adrt`, the C ABI between compiled programs and the runtime. Compiled code calls the functions below, with
   one context per execution. The runtime uses neither LLVM nor MLIR.

   Every entry of a compiled program has the type adrt_entry. It returns ADRT_OK, or the status of the first
   function below that failed; the context then has the details. A function that returns NULL or a status
   other than ADRT_OK has recorded its error: compiled code only has to return. */
#ifndef ADJOINT_RUNTIME_ADRT_H
#define ADJOINT_RUNTIME_ADRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a structure or a signature below changes. */
#define ADRT_ABI_VERSION 10

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
  ADRT_TARGET_ERROR = 4,  /* the target has too little memory, or its driver refused a request */
  ADRT_HOST_ERROR = 5,    /* a file, or a callback of the host */
  ADRT_INTERRUPTED = 130  /* the host stopped the program */
} adrt_status;

/* Where the data of a tensor are. Only programs for a device have tensors in device memory. */
typedef enum adrt_memory { ADRT_HOST_MEMORY = 0, ADRT_DEVICE_MEMORY = 1 } adrt_memory;

/* A dense row-major tensor. `data` is 64-byte aligned when the runtime allocated it. */
typedef struct adrt_tensor {
  void *data;
  const int64_t *shape; /* rank entries */
  int32_t rank;
  int32_t type;   /* adrt_type */
  int32_t memory; /* adrt_memory */
} adrt_tensor;

/* The location of a run-time error in the source. Static data of the compiled program. */
typedef struct adrt_site {
  const char *location;  /* file:line:column, or the printed MLIR location */
  const char *operation; /* the operation's name, e.g. ad.add */
} adrt_site;

typedef struct adrt_context adrt_context;
/* Runs a program. The program may write arguments that it declares as donated; they must overlap no other
   argument. A result is described by adrt_result, or has the data of the argument that is donated to it; its
   shape is its own (as many elements, which a transposition may have moved to other dimensions). Arguments in
   device memory begin at multiples of 64 bytes. */
typedef int32_t (*adrt_entry)(adrt_context *context, const adrt_tensor *arguments, adrt_tensor *results);

/* Which run-time test failed; the `values` of adrt_fail are named in parentheses. */
typedef enum adrt_failure {
  ADRT_FAIL_BROADCAST = 0, /* sizes of one dimension do not broadcast (dimension, left size, right size) */
  ADRT_FAIL_SAME_SIZE = 1, /* sizes that must agree do not (dimension, expected, actual) */
  ADRT_FAIL_BOUNDS = 2,    /* an index is out of bounds (dimension, index, size) */
  ADRT_FAIL_NEGATIVE = 3,  /* a size is negative (dimension, size) */
  ADRT_FAIL_RESHAPE = 4,   /* element counts differ (from, to) */
  ADRT_FAIL_CARRY = 5,     /* a loop changes the size of a carried tensor (carry, dimension, before, after) */
  ADRT_FAIL_STEP = 7,      /* the step of a loop is not positive (step) */
  ADRT_FAIL_ARGUMENT = 6,  /* an argument has the wrong type, rank or shape (argument, dimension or -1 for the
                              type or -2 for the rank, expected, actual) */
  ADRT_FAIL_DIVISION = 12, /* an integer is divided by zero () */
  ADRT_FAIL_CLASS = 13,    /* a label is no class (label, number of classes) */
  /* Of kernels of another compiler: */
  ADRT_FAIL_OPERAND = 8, /* an operand lacks the size of its loop (operand, dimension, expected, actual) */
  ADRT_FAIL_OPERAND_BOUNDS = 9, /* a map leaves its operand (operand, dimension, index, size) */
  ADRT_FAIL_RESULT = 10,        /* the launch states another size (result, dimension, expected, actual) */
  ADRT_FAIL_SHARED_LOOPS = 11   /* results that share loops differ (result, dimension, expected, actual) */
} adrt_failure;

/* Records a run-time error of the program at `site`; returns ADRT_PROGRAM_ERROR. */
int32_t adrt_fail(adrt_context *context, const adrt_site *site, int32_t kind, const int64_t *values,
                  int32_t count);

/* Allocates the arena of an execution: at least `bytes` bytes, 64-byte aligned, valid until the entry
   returns. NULL when there is not enough memory. */
void *adrt_arena(adrt_context *context, int64_t bytes);

/* Allocates buffer number `buffer` of the program, for dynamic sizes: at least `bytes` bytes, 64-byte
   aligned, valid until the entry returns. A second call with the same number may move the buffer and loses
   its content. NULL when there is not enough memory. */
void *adrt_buffer(adrt_context *context, int32_t buffer, int64_t bytes);

/* Allocates result `index` with the given shape and fills `*result`; returns its data, or NULL. */
void *adrt_result(adrt_context *context, adrt_tensor *result, int32_t index, int32_t type, int32_t rank,
                  const int64_t *shape);

/* Fills `*result`, number `index`, with the data of the argument that is donated to it and the given shape,
   of the argument's rank. `data` is the memory that the program has written: that of the argument, or the
   result of adrt_argument. The host gets it when the run ends, unless the argument is in device memory. */
int32_t adrt_donated_result(adrt_context *context, adrt_tensor *result, int32_t index,
                            const adrt_tensor *argument, void *data, const int64_t *shape);

/* ADRT_OK when `memory`, a result of adrt_arena, adrt_buffer, adrt_result, adrt_argument or adrt_constant, is
   not NULL. Otherwise the status of the error that the function has recorded, which gets the location `site`.
 */
int32_t adrt_require_allocated(adrt_context *context, const void *memory, const adrt_site *site);

/* Fills `destination` (data, shape and type set by the caller) with the next value of the feed `name`. */
int32_t adrt_feed(adrt_context *context, const adrt_site *site, const char *name,
                  const adrt_tensor *destination);

/* Passes `count` tensors to the receiver `name`. The receiver may access their data only during the call. */
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

/* ADRT_INTERRUPTED once the host has requested a stop, else ADRT_OK. Compiled programs call it in each
   iteration of a loop and before kernels that take long. The commands that were enqueued on a device since
   the last poll are one iteration, which may be replayed as one graph when it repeats. adrt_launch checks for
   a requested stop, too. */
int32_t adrt_poll(adrt_context *context);

/* How many threads of the context pay off for a loop that takes `nanoseconds` on one thread: at least 1. */
int64_t adrt_threads_for(adrt_context *context, int64_t nanoseconds);

/* Runs body(closure, begin, end) over disjoint ranges that cover [0, units), and returns when all are done.
   `nanoseconds` estimates how long all units take on one thread; INT64_MAX where it is not known. The runtime
   decides how many threads of the context take part, by the estimate, the cost of a hand-off to a thread on
   this machine, and how many threads are free. No result may depend on where ranges begin and end. */
void adrt_parallel_for(adrt_context *context, int64_t units, int64_t nanoseconds,
                       void (*body)(void *closure, int64_t begin, int64_t end), void *closure);

/* A loop as adrt_parallel_for runs it; both numbers are positive. */
typedef struct adrt_loop {
  void (*body)(void *closure, int64_t begin, int64_t end);
  void *closure;
  int64_t units;
  int64_t nanoseconds;
} adrt_loop;

/* Runs `count` independent loops, and returns when all are done. They are distributed over threads like one
   loop: each thread runs some of the loops, or a part of one. */
void adrt_parallel_loops(adrt_context *context, int64_t count, const adrt_loop *loops);

/* The tensors of a program for a device are in device memory: adrt_arena, adrt_buffer and adrt_result return
   device memory, and adrt_feed, adrt_receive and adrt_check take it. The functions below are for such
   programs; without a device they fail. Work is executed asynchronously, in the order of the calls. */

/* Argument `index` in device memory: its own data, or a copy of data in host memory. The program may write it
   when the argument is donated. NULL when there is not enough memory. */
void *adrt_argument(adrt_context *context, const adrt_tensor *argument, int32_t index);

/* The copy of `bytes` bytes of static data of the program in device memory. NULL when there is not enough
 * memory. */
void *adrt_constant(adrt_context *context, const void *data, int64_t bytes);

/* Copies `bytes` bytes inside device memory. */
int32_t adrt_copy(adrt_context *context, void *target, const void *source, int64_t bytes);

/* Copies `bytes` bytes from device to host memory, after all earlier work. */
int32_t adrt_read(adrt_context *context, void *target, const void *source, int64_t bytes);

/* A tensor map has 128 bytes, aligned to 64, and is passed to kernels by value. */
enum { ADRT_TENSOR_MAP_BYTES = 128, ADRT_TENSOR_MAP_ALIGNMENT = 64 };

/* Encodes the tensor map of a tensor in device memory, for kernels that load tiles of it through the TMA.
   `box` has the elements of a tile along each axis, 1 to 256. `swizzle_bytes` is the swizzle mode: 0, 32, 64
   or 128 bytes. With `tf32` other than 0, the TMA rounds the elements, which must be f32, to tf32, to nearest
   even. Fills `map`. */
int32_t adrt_tensor_map(adrt_context *context, const adrt_site *site, void *map, const adrt_tensor *tensor,
                        const uint32_t *box, int32_t swizzle_bytes, int32_t tf32);

/* The shape of a launch: blocks of the grid, threads of a block, blocks of a cluster (1 if the kernel itself
   states the cluster), each along x, y and z, and the bytes of dynamic shared memory of a block. */
typedef struct adrt_grid {
  uint32_t blocks[3];
  uint32_t threads[3];
  uint32_t cluster[3];
  uint32_t shared_bytes;
} adrt_grid;

/* Launches kernel number `kernel`; `arguments` has the address of the value of each argument, and `bytes` its
 * size. */
int32_t adrt_launch(adrt_context *context, const adrt_site *site, int32_t kernel, const adrt_grid *grid,
                    void *const *arguments, const int32_t *bytes, int32_t count);

/* The number of SMs (streaming multiprocessors) of the device; 1 without a device. No result may depend on
   it. */
int32_t adrt_sm_count(adrt_context *context);

/* Programs that are compiled with profiling call these before and after kernel number `kernel`. */
void adrt_kernel_begin(adrt_context *context, int32_t kernel);
void adrt_kernel_end(adrt_context *context, int32_t kernel);

#ifdef __cplusplus
}
#endif

#endif /* ADJOINT_RUNTIME_ADRT_H */
