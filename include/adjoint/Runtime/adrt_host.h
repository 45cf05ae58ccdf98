/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The host's side of `adrt` in C: how a program runs a function that `ad-runner --emit FILE.so` or FILE.o has
   compiled. Link with libadrt, which needs the C library alone. With `digits.h` beside digits.o:

     adrt_context *context = adrt_create(0);
     int64_t shape[] = {2, 3};
     adrt_tensor x = {data, shape, 2, ADRT_F32, ADRT_HOST_MEMORY}, y;
     if (adrt_run(context, &digits_main, &x, &y) != ADRT_OK)
       fprintf(stderr, "%s\n", adrt_error(context));
     adrt_destroy(context);

   Several contexts may run at the same time, each by one thread; all share one pool of threads. */
#ifndef ADJOINT_RUNTIME_ADRT_HOST_H
#define ADJOINT_RUNTIME_ADRT_HOST_H

#include "adjoint/Runtime/adrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ADRT_ABI_VERSION of the library that is loaded. */
int32_t adrt_abi_version(void);

/* An argument or a result of a program. */
typedef struct adrt_parameter {
  const char *name;
  int32_t type; /* adrt_type */
  int32_t rank;
  const int64_t *shape; /* rank entries; -1 is a size that only run time knows */
} adrt_parameter;

/* A compiled program. The header of each library has the one of its function. */
typedef struct adrt_program {
  int32_t abi_version;
  adrt_entry entry;
  int32_t argument_count;
  const adrt_parameter *arguments;
  int32_t result_count;
  const adrt_parameter *results;
} adrt_program;

/* A context for programs on the CPU. `threads` is the maximum number of threads of a kernel, the caller
   included; 0: all CPUs that the process may use. NULL when there is not enough memory. */
adrt_context *adrt_create(int32_t threads);

/* Frees the context, and the results of its last run. May be NULL. */
void adrt_destroy(adrt_context *context);

/* Runs a program, and returns its status. Arguments are dense row-major tensors in host memory of the types
   of the program; others are refused. `results` has room for all results of the program. Their data and
   shapes belong to the context, or are those of a donated argument, and stay valid until its next run. */
int32_t adrt_run(adrt_context *context, const adrt_program *program, const adrt_tensor *arguments,
                 adrt_tensor *results);

/* The error of the last run: "LOCATION: 'OPERATION' MESSAGE". Empty without one. Valid until the next run. */
const char *adrt_error(const adrt_context *context);

/* Called for each feed of a program, to fill `destination`; returns ADRT_OK, or ADRT_HOST_ERROR, which ends
   the run. Without a callback a feed is an error. */
typedef int32_t (*adrt_feed_callback)(void *closure, const char *name, const adrt_tensor *destination);
void adrt_on_feed(adrt_context *context, adrt_feed_callback callback, void *closure);

/* Called for what a program passes to the host; the tensors are valid during the call. Returns as a feed
   does. Without a callback such values are ignored. */
typedef int32_t (*adrt_receive_callback)(void *closure, const char *name, const adrt_tensor *values,
                                         int32_t count);
void adrt_on_receive(adrt_context *context, adrt_receive_callback callback, void *closure);

/* Called at each poll; the run ends with ADRT_INTERRUPTED when it returns another number than 0. */
typedef int32_t (*adrt_interrupt_callback)(void *closure);
void adrt_on_interrupt(adrt_context *context, adrt_interrupt_callback callback, void *closure);

#ifdef __cplusplus
}
#endif

#endif /* ADJOINT_RUNTIME_ADRT_HOST_H */
