/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Preloaded into a process, lets it start as many threads as $AD_THREADS_TO_START says; then pthread_create
   fails like that of a system with a limit (ulimit -u). With $AD_NO_PROCESSES, so does posix_spawn. Whatever
   does not start is counted in the file $AD_REFUSED, a byte for each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

static int started;

static int refuse(void) {
  const char *path = getenv("AD_REFUSED");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
  if (file >= 0 && write(file, "x", 1) == 1)
    close(file);
  return EAGAIN;
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[]) {
  typedef int (*Spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const[], char *const[]);
  if (getenv("AD_NO_PROCESSES"))
    return refuse();
  return ((Spawn)dlsym(RTLD_NEXT, "posix_spawn"))(process, path, actions, attributes, arguments, variables);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
  typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  const char *limit = getenv("AD_THREADS_TO_START");
  if (limit && __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST) >= atoi(limit))
    return refuse();
  return ((Create)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, body, argument);
}
