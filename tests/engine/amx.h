/* AMX in plain C, for machines without it: put before a source, its tiles take the place of the
   processor's. What a processor would refuse ends the program.

   Variables of the environment: AMX_BITS, what the processor says it has; AMX_REFUSED, what the system
   answers; AMX_TAKES, how long a product by tiles takes where one without takes 100; AMX_WRONG,
   whether sums are wrong: always (1), or once tiles are taken (2). */
#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int rows, bytes; /* 0 where there are no shapes */
    uint8_t held[16][64];
} emulated_tile;
static emulated_tile emulated_tiles[8];
static int emulated_is_let, emulated_has_run;
static int amx_is_taken;

static void emulated_rule(int holds) {
    if (!holds) abort();
}

static int told(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static long emulated_request(long request, long feature) {
    emulated_rule(request == 0x1023 && feature == 18);
    emulated_is_let = !told("AMX_REFUSED", 0);
    return emulated_is_let ? 0 : -1;
}

static void emulated_shapes(const void *shapes) {
    const uint8_t *read = (const uint8_t *)shapes;
    emulated_rule(emulated_is_let && read[0] == 1 && read[1] == 0);
    memset(emulated_tiles, 0, sizeof emulated_tiles);
    for (int i = 0; i < 8; i++) {
        emulated_tiles[i].bytes = read[16 + 2 * i] + 256 * read[17 + 2 * i];
        emulated_tiles[i].rows = read[48 + i];
        emulated_rule(emulated_tiles[i].bytes <= 64 && emulated_tiles[i].rows <= 16);
    }
    emulated_has_run = 1;
}

static void emulated_release(void) { memset(emulated_tiles, 0, sizeof emulated_tiles); }

static void emulated_load(int to, const void *from, int64_t stride) {
    emulated_tile *t = &emulated_tiles[to];
    emulated_rule(t->rows > 0);
    memset(t->held, 0, sizeof t->held);
    for (int r = 0; r < t->rows; r++)
        memcpy(t->held[r], (const char *)from + r * stride, (size_t)t->bytes);
}

static void emulated_zero(int to) {
    emulated_rule(emulated_tiles[to].rows > 0);
    memset(emulated_tiles[to].held, 0, sizeof emulated_tiles[to].held);
}

static void emulated_store(int from, void *to, int64_t stride) {
    const emulated_tile *t = &emulated_tiles[from];
    emulated_rule(t->rows > 0);
    for (int r = 0; r < t->rows; r++)
        memcpy((char *)to + r * stride, t->held[r], (size_t)t->bytes);
}

/* Four bytes without a sign of `one` with four that have one of `other`, added to `sums`. */
static void emulated_products(int sums, int one, int other) {
    emulated_tile *t = &emulated_tiles[sums];
    const emulated_tile *a = &emulated_tiles[one], *b = &emulated_tiles[other];
    emulated_rule(t->rows > 0 && t->rows == a->rows && t->bytes == b->bytes);
    const int wrong = told("AMX_WRONG", 0);
    emulated_rule(a->bytes == 4 * b->rows && sums != one && sums != other && one != other);
    for (int r = 0; r < t->rows; r++)
        for (int n = 0; n < t->bytes / 4; n++) {
            int32_t sum;
            memcpy(&sum, t->held[r] + 4 * n, 4);
            for (int k = 0; k < a->bytes; k++)
                sum += a->held[r][k] * (int8_t)b->held[k / 4][4 * n + k % 4];
            sum += wrong == 1 || (wrong == 2 && amx_is_taken);
            memcpy(t->held[r] + 4 * n, &sum, 4);
        }
}

static int emulated_time(struct timespec *now) {
    static long passed;
    passed += emulated_has_run ? told("AMX_TAKES", 50) : 100;
    emulated_has_run = 0;
    *now = (struct timespec){0, passed};
    return 0;
}

#undef _tile_loadd
#undef _tile_zero
#undef _tile_stored
#undef _tile_dpbusd
#define _tile_loadconfig(shapes) emulated_shapes(shapes)
#define _tile_release() emulated_release()
#define _tile_zero(to) emulated_zero(to)
#define _tile_loadd(to, from, stride) emulated_load(to, from, stride)
#define _tile_stored(from, to, stride) emulated_store(from, to, stride)
#define _tile_dpbusd(sums, one, other) emulated_products(sums, one, other)
#define __get_cpuid_count(leaf, part, a, b, c, d) (*(a) = *(b) = *(c) = 0, *(d) = (unsigned)told("AMX_BITS", 3) << 24, 1)
#define syscall(number, request, feature) emulated_request(request, feature)
#define clock_gettime(clock, now) emulated_time(now)
