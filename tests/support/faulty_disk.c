/* Between a program and its C library: the n-th write, fsync, rename, .. below a folder kills the
   process or fails with an error. Built and loaded by faulty_disk.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[4096];      /* only what lies here counts; empty: nothing does */
static long fails_at = 0;     /* the number of the call that fails; 0: none */
static int how = 0;           /* 0: SIGKILL; below 0: a signal is sent; else the errno */
static int lasting = 0;       /* whether all later ones fail as well */
static long n_calls = 0;

void faulty_disk_begin(const char *folder, long at, int error, int for_good) {
    strncpy(below, folder, sizeof below - 1);
    fails_at = at; how = error; lasting = for_good; n_calls = 0;
}

long faulty_disk_calls(void) { return n_calls; }

static int counts_path(const char *path) {
    char whole[8192], folder[4096];
    if (!below[0] || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(folder, sizeof folder)) return 0;
        snprintf(whole, sizeof whole, "%s/%s", folder, path);
        path = whole;
    }
    return strncmp(path, below, strlen(below)) == 0;
}

static int counts_handle(int handle) {
    char link[64], path[4096];
    if (!below[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return counts_path(path);
}

/* Whether this call is to fail; does not return where it is to kill. */
static int fails(void) {
    n_calls++;
    if (!fails_at || !(lasting ? n_calls >= fails_at : n_calls == fails_at)) return 0;
    if (!how) { kill(getpid(), SIGKILL); pause(); }
    if (how < 0) { kill(getpid(), -how); return 0; }
    errno = how;
    return 1;
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

ssize_t write(int handle, const void *data, size_t n) {
    if (counts_handle(handle)) {
        if (fails_at && !how && n_calls + 1 == fails_at && n > 1) /* half of it is there */
            REAL(write)(handle, data, n / 2);
        if (fails()) return -1;
    }
    return REAL(write)(handle, data, n);
}
ssize_t pwrite64(int handle, const void *data, size_t n, off64_t at) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(pwrite64)(handle, data, n, at);
}
ssize_t pwrite(int handle, const void *data, size_t n, off_t at) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(pwrite)(handle, data, n, at);
}
ssize_t sendfile64(int handle, int from, off64_t *at, size_t n) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(sendfile64)(handle, from, at, n);
}
ssize_t sendfile(int handle, int from, off_t *at, size_t n) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(sendfile)(handle, from, at, n);
}
ssize_t copy_file_range(int from, off64_t *at, int handle, off64_t *to, size_t n, unsigned how) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(copy_file_range)(from, at, handle, to, n, how);
}
ssize_t writev(int handle, const struct iovec *parts, int n) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(writev)(handle, parts, n);
}
int fsync(int handle) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(fsync)(handle);
}
int fdatasync(int handle) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(fdatasync)(handle);
}
int posix_fallocate64(int handle, off64_t at, off64_t n) {
    if (counts_handle(handle) && fails()) return errno;
    return REAL(posix_fallocate64)(handle, at, n);
}
int ftruncate(int handle, off_t n) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(ftruncate)(handle, n);
}
int ftruncate64(int handle, off64_t n) {
    if (counts_handle(handle) && fails()) return -1;
    return REAL(ftruncate64)(handle, n);
}
int rename(const char *from, const char *to) {
    if (counts_path(to) && fails()) return -1;
    return REAL(rename)(from, to);
}
static int counts_at(int folder, const char *path) {
    return folder == AT_FDCWD || path[0] == '/' ? counts_path(path) : counts_handle(folder);
}
int renameat(int folder, const char *from, int other, const char *to) {
    if (counts_at(other, to) && fails()) return -1;
    return REAL(renameat)(folder, from, other, to);
}
int renameat2(int folder, const char *from, int other, const char *to, unsigned how) {
    if (counts_at(other, to) && fails()) return -1;
    return REAL(renameat2)(folder, from, other, to, how);
}
int chmod(const char *path, mode_t mode) {
    if (counts_path(path) && fails()) return -1;
    return REAL(chmod)(path, mode);
}
int unlink(const char *path) {
    if (counts_path(path) && fails()) return -1;
    return REAL(unlink)(path);
}
int unlinkat(int folder, const char *path, int flags) {
    if (counts_at(folder, path) && fails()) return -1;
    return REAL(unlinkat)(folder, path, flags);
}
int mkdir(const char *path, mode_t mode) {
    if (counts_path(path) && fails()) return -1;
    return REAL(mkdir)(path, mode);
}
int link(const char *from, const char *to) {
    if (counts_path(to) && fails()) return -1;
    return REAL(link)(from, to);
}
#define OPENS(name, before, give, counted)                                        \
    int name(before const char *path, int flags, ...) {                           \
        va_list rest;                                                             \
        va_start(rest, flags);                                                    \
        mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;               \
        va_end(rest);                                                             \
        if ((flags & (O_CREAT | O_TRUNC)) && counted && fails()) return -1;       \
        return REAL(name)(give path, flags, mode);                                \
    }
#define NOTHING
#define FOLDER int folder,
#define IT folder,
OPENS(open, NOTHING, NOTHING, counts_path(path))
OPENS(open64, NOTHING, NOTHING, counts_path(path))
OPENS(openat, FOLDER, IT, counts_at(folder, path))
OPENS(openat64, FOLDER, IT, counts_at(folder, path))
