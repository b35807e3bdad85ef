/* A failing layer of the file system: put before glibc's functions by LD_PRELOAD, for a process and what it starts.

   The file that FAILING_DISK names says what fails: "<errno> <what> <path>", one line. <what> is "write" (nothing below
   <path> can be changed, nor opened for it) or "all" (what is there can be opened, but neither read nor changed). While
   the file is not there, nothing fails. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { READS, WRITES, OPENS };

/* Return the errno for something done to path, 0 where it is sound. Asks the kernel itself: its own look is no fault. */
static int fault(const char *path, int what) {
    char line[PATH_MAX + 32], kind[8], below[PATH_MAX];
    const char *control = getenv("FAILING_DISK");
    int number, file;
    ssize_t length;
    if (control == NULL || (file = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC)) < 0) return 0;
    length = syscall(SYS_read, file, line, sizeof line - 1);
    syscall(SYS_close, file);
    if (length <= 0) return 0;
    line[length] = 0;
    if (sscanf(line, "%d %7s %4095s", &number, kind, below) != 3) return 0;
    if (what == (strcmp(kind, "all") == 0 ? OPENS : READS)) return 0;
    length = strlen(below);
    return strncmp(path, below, length) == 0 && (path[length] == '/' || path[length] == 0) ? number : 0;
}

static int of_file(int file, int what) {
    char link[64], path[PATH_MAX];
    int before = errno, number;
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    number = fault(path, what);
    errno = before;
    return number;
}

static int of_name(int directory, const char *name, int what) {
    char link[64], path[PATH_MAX * 2];
    int before = errno, number;
    ssize_t length = 0;
    if (name[0] != '/') {
        if (directory == AT_FDCWD) strcpy(link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX);
        if (length < 0) length = 0;
        path[length++] = '/';
    }
    snprintf(path + length, sizeof path - length, "%s", name);
    number = fault(path, what);
    errno = before;
    return number;
}

#define FAILS(number, bad) do { int found = (number); if (found) { errno = found; return bad; } } while (0)

ssize_t read(int file, void *into, size_t size) { FAILS(of_file(file, READS), -1); return PLAIN(read)(file, into, size); }
ssize_t pread(int file, void *into, size_t size, off_t at) { FAILS(of_file(file, READS), -1); return PLAIN(pread)(file, into, size, at); }
ssize_t pread64(int file, void *into, size_t size, off64_t at) { FAILS(of_file(file, READS), -1); return PLAIN(pread64)(file, into, size, at); }
ssize_t write(int file, const void *from, size_t size) { FAILS(of_file(file, WRITES), -1); return PLAIN(write)(file, from, size); }
ssize_t pwrite(int file, const void *from, size_t size, off_t at) { FAILS(of_file(file, WRITES), -1); return PLAIN(pwrite)(file, from, size, at); }
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) { FAILS(of_file(file, WRITES), -1); return PLAIN(pwrite64)(file, from, size, at); }
int fsync(int file) { FAILS(of_file(file, WRITES), -1); return PLAIN(fsync)(file); }
int fdatasync(int file) { FAILS(of_file(file, WRITES), -1); return PLAIN(fdatasync)(file); }
int ftruncate(int file, off_t size) { FAILS(of_file(file, WRITES), -1); return PLAIN(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { FAILS(of_file(file, WRITES), -1); return PLAIN(ftruncate64)(file, size); }
int unlink(const char *name) { FAILS(of_name(AT_FDCWD, name, WRITES), -1); return PLAIN(unlink)(name); }
int unlinkat(int at, const char *name, int how) { FAILS(of_name(at, name, WRITES), -1); return PLAIN(unlinkat)(at, name, how); }
int rename(const char *from, const char *to) { FAILS(of_name(AT_FDCWD, to, WRITES), -1); return PLAIN(rename)(from, to); }
int renameat(int at, const char *from, int there, const char *to) { FAILS(of_name(there, to, WRITES), -1); return PLAIN(renameat)(at, from, there, to); }
int mkdir(const char *name, mode_t mode) { FAILS(of_name(AT_FDCWD, name, WRITES), -1); return PLAIN(mkdir)(name, mode); }
int mkdirat(int at, const char *name, mode_t mode) { FAILS(of_name(at, name, WRITES), -1); return PLAIN(mkdirat)(at, name, mode); }
int utimensat(int at, const char *name, const struct timespec times[2], int how) { FAILS(of_name(at, name, WRITES), -1); return PLAIN(utimensat)(at, name, times, how); }
int chmod(const char *name, mode_t mode) { FAILS(of_name(AT_FDCWD, name, WRITES), -1); return PLAIN(chmod)(name, mode); }
struct dirent *readdir(DIR *open) { FAILS(of_file(dirfd(open), READS), NULL); return PLAIN(readdir)(open); }
struct dirent64 *readdir64(DIR *open) { FAILS(of_file(dirfd(open), READS), NULL); return PLAIN(readdir64)(open); }

/* What is there can be opened on a broken disk, for the kernel knows it still; on a read-only one not for writing. */
static int of_opening(int at, const char *path, int how) {
    int before = errno, is_there = syscall(SYS_faccessat, at, path, F_OK) == 0;
    errno = before;
    if ((how & O_ACCMODE) == O_RDONLY && (is_there || !(how & O_CREAT))) return 0;
    return of_name(at, path, is_there ? OPENS : WRITES);
}

#define OPENING(at, path, how) \
    mode_t mode = 0; \
    if ((how) & O_CREAT) { va_list rest; va_start(rest, how); mode = va_arg(rest, int); va_end(rest); } \
    FAILS(of_opening(at, path, how), -1);

int open(const char *path, int how, ...) { OPENING(AT_FDCWD, path, how) return PLAIN(open)(path, how, mode); }
int open64(const char *path, int how, ...) { OPENING(AT_FDCWD, path, how) return PLAIN(open64)(path, how, mode); }
int openat(int at, const char *path, int how, ...) { OPENING(at, path, how) return PLAIN(openat)(at, path, how, mode); }
int openat64(int at, const char *path, int how, ...) { OPENING(at, path, how) return PLAIN(openat64)(at, path, how, mode); }
