/* Preloaded: the wall clock of one process is wrong by as many nanoseconds as the file named in
   WALL_CLOCK_OFFSET says at the moment, eight bytes as the machine writes them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static const volatile int64_t* offset;
static int (*machine_clock)(clockid_t, struct timespec*);

__attribute__((constructor)) static void look_it_up(void) {
    machine_clock = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    const char* path = getenv("WALL_CLOCK_OFFSET");
    const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void* page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) offset = page;
}

int clock_gettime(clockid_t which, struct timespec* time) {
    if (machine_clock == NULL) look_it_up();
    const int status = machine_clock(which, time);
    const int is_wall = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE;
    if (status != 0 || !is_wall || offset == NULL) return status;
    const int64_t wrong = time->tv_sec * SECOND + time->tv_nsec + *offset;
    time->tv_sec = wrong / SECOND;
    time->tv_nsec = wrong % SECOND;
    return 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place != NULL) *place = now.tv_sec;
    return now.tv_sec;
}
