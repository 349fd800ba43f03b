/* Fails or kills at the n-th call that changes files below one directory.

   Preloaded into a process, it counts calls of the C library that make, write, flush, rename or remove something there,
   whoever makes them: Python, SQLite, DuckDB, Arrow. Nothing happens until crash_arm says so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT = 0, KILL = 1, FAIL = 2, TEAR = 3 };

static char root[PATH_MAX];
static size_t root_length;
static long wanted;
static int how = COUNT;
static volatile long calls;

void crash_arm(const char *directory, long number, int mode) {
    strncpy(root, directory, sizeof root - 1);
    root_length = strlen(root);
    wanted = number;
    how = mode;
    calls = 0;
}

void crash_disarm(void) { root_length = 0; }

long crash_calls(void) { return calls; }

static int below(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int concerns_descriptor(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!root_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return below(path);
}

static int concerns_at(int directory, const char *path) {
    if (!root_length || !path) return 0;
    if (path[0] == '/') return below(path);
    if (directory != AT_FDCWD) return concerns_descriptor(directory);
    char here[PATH_MAX];
    return getcwd(here, sizeof here) && below(here);
}

/* Whether this very call is the one: 0 goes on, otherwise it fails with that error. */
static int turn(int error) {
    if (__sync_add_and_fetch(&calls, 1) != wanted || how == COUNT) return 0;
    if (how == FAIL) return error;
    if (how == KILL) kill(getpid(), SIGKILL);
    return -1; /* torn: the caller does half of it and then dies */
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define STEP(concerned, error, type)                                   \
    if (concerned) {                                                   \
        int said = turn(error);                                        \
        if (said > 0) { errno = said; return (type)-1; }               \
        if (said < 0) kill(getpid(), SIGKILL);                         \
    }

static int makes(int flags) { return flags & (O_CREAT | O_TRUNC); }

#define OPEN(name)                                                     \
    int name(const char *path, int flags, ...) {                       \
        REAL(name);                                                    \
        va_list more; va_start(more, flags);                           \
        mode_t mode = va_arg(more, int); va_end(more);                 \
        STEP(makes(flags) && concerns_at(AT_FDCWD, path), ENOSPC, int) \
        return real(path, flags, mode);                                \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                   \
    int name(int at, const char *path, int flags, ...) {               \
        REAL(name);                                                    \
        va_list more; va_start(more, flags);                           \
        mode_t mode = va_arg(more, int); va_end(more);                 \
        STEP(makes(flags) && concerns_at(at, path), ENOSPC, int)       \
        return real(at, path, flags, mode);                            \
    }
OPENAT(openat)
OPENAT(openat64)

#define WRITE(name, parameters, given, half)                           \
    ssize_t name parameters {                                          \
        REAL(name);                                                    \
        if (concerns_descriptor(file)) {                               \
            int said = turn(ENOSPC);                                   \
            if (said > 0) { errno = said; return -1; }                 \
            if (said < 0) { real half; kill(getpid(), SIGKILL); }      \
        }                                                              \
        return real given;                                             \
    }
WRITE(write, (int file, const void *data, size_t size), (file, data, size), (file, data, size / 2))
WRITE(pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at), (file, data, size / 2, at))
WRITE(pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at), (file, data, size / 2, at))
WRITE(writev, (int file, const struct iovec *parts, int number), (file, parts, number), (file, parts, number / 2))

#define ON_FILE(name, parameters, given, error)                        \
    int name parameters { REAL(name); STEP(concerns_descriptor(file), error, int) return real given; }
ON_FILE(fsync, (int file), (file), EIO)
ON_FILE(fdatasync, (int file), (file), EIO)
ON_FILE(ftruncate, (int file, off_t size), (file, size), ENOSPC)
ON_FILE(ftruncate64, (int file, off64_t size), (file, size), ENOSPC)
ON_FILE(fchmod, (int file, mode_t mode), (file, mode), EIO)

#define ON_PATH(name, parameters, at, path, given, error)              \
    int name parameters { REAL(name); STEP(concerns_at(at, path), error, int) return real given; }
ON_PATH(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode), ENOSPC)
ON_PATH(mkdirat, (int at, const char *path, mode_t mode), at, path, (at, path, mode), ENOSPC)
ON_PATH(rmdir, (const char *path), AT_FDCWD, path, (path), EIO)
ON_PATH(unlink, (const char *path), AT_FDCWD, path, (path), EIO)
ON_PATH(unlinkat, (int at, const char *path, int flags), at, path, (at, path, flags), EIO)
ON_PATH(rename, (const char *path, const char *into), AT_FDCWD, path, (path, into), EIO)
ON_PATH(renameat, (int at, const char *path, int to, const char *into), at, path, (at, path, to, into), EIO)
ON_PATH(link, (const char *path, const char *into), AT_FDCWD, into, (path, into), EIO)
ON_PATH(linkat, (int at, const char *path, int to, const char *into, int flags), to, into, (at, path, to, into, flags), EIO)
ON_PATH(chmod, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode), EIO)
