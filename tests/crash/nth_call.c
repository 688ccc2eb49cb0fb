/* Preloaded: at the n-th call of a class the process kills itself, or the call fails.

     NTH_CALL=CLASS:N:WAY     fdatasync:17:before, write:3:half, fdatasync:17:EIO, malloc:1234:fail
     NTH_CALL_COUNTS=FILE     how many calls of each class were made, eight bytes each in the order
   of `names` and at last 1 when the n-th was reached; also after a SIGKILL

   Calls are counted from main() on: what comes before can not be caught by anybody. Of writes and
   what else takes a descriptor only those to regular files count. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* with it open and open64 are one name */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* fdatasync: fsync too; open: fopen too; malloc: all that give memory. */
enum call_class {
    WRITE,
    FDATASYNC,
    FTRUNCATE,
    FALLOCATE,
    RENAME,
    UNLINK,
    SEND,
    OPEN,
    MALLOC,
    CLASSES
};
static const char* const names[CLASSES] = {
    "write", "fdatasync", "ftruncate", "fallocate", "rename", "unlink", "send", "open", "malloc"};

/* HALF: killed after half of the bytes. SHORT: half of the bytes are written, then the disk is
 * full. */
enum way { NOT_NOW, BEFORE, AFTER, HALF, SHORT, FAIL };
static const struct {
    const char* name;
    enum way way;
    int error;
} ways[] = {{"before", BEFORE, 0},    {"after", AFTER, 0},     {"half", HALF, 0},
            {"short", SHORT, ENOSPC}, {"fail", FAIL, ENOMEM},  {"EIO", FAIL, EIO},
            {"ENOSPC", FAIL, ENOSPC}, {"EMFILE", FAIL, EMFILE}};

static _Atomic uint64_t own_counts[CLASSES + 1];
static _Atomic uint64_t* counts = own_counts;
static enum call_class chosen_class = CLASSES;
static uint64_t chosen_call;
static enum way chosen_way;
static int chosen_error;
static volatile int counting;
static _Thread_local int disk_is_full;

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static void give_up(const char* why) {
    fprintf(stderr, "nth_call: %s\n", why);
    _exit(2);
}

static void choose(char* text) {
    char* name = strtok(text, ":");
    char* number = strtok(NULL, ":");
    char* way = strtok(NULL, ":");
    if (way == NULL) give_up("NTH_CALL=CLASS:N:WAY");
    for (int i = 0; i < CLASSES; ++i) {
        if (strcmp(name, names[i]) == 0) chosen_class = (enum call_class)i;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        if (strcmp(way, ways[i].name) != 0) continue;
        chosen_way = ways[i].way;
        chosen_error = ways[i].error;
    }
    chosen_call = strtoull(number, NULL, 10);
    const int is_part = chosen_way == HALF || chosen_way == SHORT;
    if (chosen_class == CLASSES || chosen_call == 0 || chosen_way == NOT_NOW ||
        (is_part && chosen_class != WRITE) || (chosen_way == AFTER && chosen_class == MALLOC)) {
        give_up("no such class, number or way in NTH_CALL");
    }
}

__attribute__((constructor)) static void begin(void) {
    const char* path = getenv("NTH_CALL_COUNTS");
    if (path != NULL) {
        const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0 || ftruncate(file, sizeof own_counts) != 0) give_up(path);
        void* page = mmap(NULL, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page == MAP_FAILED) give_up(path);
        close(file);
        counts = page;
    }
    const char* text = getenv("NTH_CALL");
    if (text != NULL) choose(strdup(text));
}

typedef int Main(int, char**, char**);
static Main* real_main;

static int counted_main(int size, char** arguments, char** variables) {
    counting = 1;
    return real_main(size, arguments, variables);
}

int __libc_start_main(Main* main, int size, char** arguments, void (*first)(void),
                      void (*last)(void), void (*loader)(void), void* stack) {
    typedef int Start(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
    Start* real;
    *(void**)(&real) = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return real(counted_main, size, arguments, first, last, loader, stack);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static enum way count(enum call_class which) {
    if (!counting) return NOT_NOW;
    if (atomic_fetch_add(&counts[which], 1) + 1 != chosen_call || which != chosen_class)
        return NOT_NOW;
    atomic_store(&counts[CLASSES], 1);
    if (chosen_way == BEFORE) die();
    if (chosen_way == FAIL) errno = chosen_error;
    return chosen_way;
}

static int is_file(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

static enum way count_on_file(enum call_class which, int file) {
    return counting && is_file(file) ? count(which) : NOT_NOW;
}

/* `name` as the C library has it. */
#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (real == NULL) *(void**)(&real) = dlsym(RTLD_NEXT, #name)

/* `call`, unless it fails; `after` it the process may end. */
#define FINISH(how, type, failure, call) \
    if ((how) == FAIL) return failure;   \
    const type result = call;            \
    if ((how) == AFTER) die();           \
    return result

#define FILE_CALL(name, which, file, parameters, arguments) \
    int name parameters {                                   \
        REAL(name);                                         \
        const enum way way = count_on_file(which, file);    \
        FINISH(way, int, -1, real arguments);               \
    }

FILE_CALL(fsync, FDATASYNC, file, (int file), (file))
FILE_CALL(fdatasync, FDATASYNC, file, (int file), (file))
FILE_CALL(ftruncate, FTRUNCATE, file, (int file, off_t length), (file, length))
FILE_CALL(ftruncate64, FTRUNCATE, file, (int file, off64_t length), (file, length))

/* It says what failed by its result. */
int posix_fallocate64(int file, off64_t offset, off64_t length) {
    REAL(posix_fallocate64);
    const enum way way = count_on_file(FALLOCATE, file);
    FINISH(way, int, chosen_error, real(file, offset, length));
}

#define PLAIN_CALL(type, name, which, parameters, arguments) \
    type name parameters {                                   \
        REAL(name);                                          \
        const enum way way = count(which);                   \
        FINISH(way, type, -1, real arguments);               \
    }

PLAIN_CALL(int, rename, RENAME, (const char* from, const char* to), (from, to))
PLAIN_CALL(int, unlink, UNLINK, (const char* path), (path))
PLAIN_CALL(int, unlinkat, UNLINK, (int folder, const char* path, int flags), (folder, path, flags))
PLAIN_CALL(ssize_t, send, SEND, (int socket, const void* bytes, size_t size, int flags),
           (socket, bytes, size, flags))
PLAIN_CALL(ssize_t, sendto, SEND,
           (int socket, const void* bytes, size_t size, int flags, __CONST_SOCKADDR_ARG to,
            socklen_t length),
           (socket, bytes, size, flags, to, length))
PLAIN_CALL(ssize_t, sendmsg, SEND, (int socket, const struct msghdr* message, int flags),
           (socket, message, flags))

/* Whether this write is the one that finds the disk full which an earlier one found short. */
static int finds_full(int file) {
    if (!disk_is_full || !is_file(file)) return 0;
    disk_is_full = 0;
    errno = ENOSPC;
    return 1;
}

/* How many of `size` bytes this write brings out. */
static size_t part(enum way way, size_t size) {
    return way == HALF || way == SHORT ? size / 2 : size;
}

static ssize_t finish_write(enum way way, ssize_t written) {
    if (way == HALF || way == AFTER) die();
    if (way == SHORT) {
        if (written <= 0) {
            errno = ENOSPC;
            return -1;
        }
        disk_is_full = 1;
    }
    return written;
}

#define WRITE_CALL(name, parameters, arguments)          \
    ssize_t name parameters {                            \
        REAL(name);                                      \
        const enum way way = count_on_file(WRITE, file); \
        if (way == FAIL || finds_full(file)) return -1;  \
        return finish_write(way, real arguments);        \
    }

WRITE_CALL(write, (int file, const void* bytes, size_t size), (file, bytes, part(way, size)))
WRITE_CALL(pwrite, (int file, const void* bytes, size_t size, off_t offset),
           (file, bytes, part(way, size), offset))
WRITE_CALL(pwrite64, (int file, const void* bytes, size_t size, off64_t offset),
           (file, bytes, part(way, size), offset))

/* Half of its pieces; of a single one nothing. */
WRITE_CALL(writev, (int file, const struct iovec* pieces, int size),
           (file, pieces, (int)part(way, (size_t)size)))

#define OPEN_CALL(name, parameters, arguments)        \
    int name parameters {                             \
        REAL(name);                                   \
        mode_t mode = 0;                              \
        if ((flags & (O_CREAT | __O_TMPFILE)) != 0) { \
            va_list more;                             \
            va_start(more, flags);                    \
            mode = va_arg(more, mode_t);              \
            va_end(more);                             \
        }                                             \
        const enum way way = count(OPEN);             \
        FINISH(way, int, -1, real arguments);         \
    }

OPEN_CALL(open, (const char* path, int flags, ...), (path, flags, mode))
OPEN_CALL(open64, (const char* path, int flags, ...), (path, flags, mode))
OPEN_CALL(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
OPEN_CALL(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

#define FOPEN_CALL(name)                             \
    FILE* name(const char* path, const char* mode) { \
        REAL(name);                                  \
        const enum way way = count(OPEN);            \
        if (way == FAIL) return NULL;                \
        FILE* const result = real(path, mode);       \
        if (way == AFTER) die();                     \
        return result;                               \
    }

FOPEN_CALL(fopen)
FOPEN_CALL(fopen64)

/* dlsym itself takes memory: these go to the C library by the names it has for that. */
void* malloc(size_t size) {
    return count(MALLOC) == FAIL ? NULL : __libc_malloc(size);
}
void* calloc(size_t pieces, size_t size) {
    return count(MALLOC) == FAIL ? NULL : __libc_calloc(pieces, size);
}
void* realloc(void* old, size_t size) {
    return count(MALLOC) == FAIL ? NULL : __libc_realloc(old, size);
}
void* aligned_alloc(size_t edge, size_t size) {
    return count(MALLOC) == FAIL ? NULL : __libc_memalign(edge, size);
}
int posix_memalign(void** place, size_t edge, size_t size) {
    void* const memory = count(MALLOC) == FAIL ? NULL : __libc_memalign(edge, size);
    if (memory == NULL) return ENOMEM;
    *place = memory;
    return 0;
}
