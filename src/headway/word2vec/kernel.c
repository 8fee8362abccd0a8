/* Updates of word2vec (Mikolov et al. 2013a and b): both directions, negative sampling and
   hierarchical softmax, by one block of dot products.

   A centre word and its context make a small matrix product: rows of the context (one, their mean,
   in CBOW) times rows of outputs (the word itself and noise, or a way through a tree), after Ji et
   al. 2016: the noise is drawn once for a centre word and shared by all words of its context.
   So a row is read once for a whole block. All sums of a block are taken before any row is changed.

   Random numbers are splitmix64, the i-th of a stretch being a function of state and i: first one
   for each word that is offered (thinning), then for each that is kept one for its window and one
   for each word of noise. `plain.py` draws the same. */
#include "../engine/vectors.h"

#define MOST_TARGETS 6   /* of a block; with as many sums they fit 16 registers of AVX2 */
#define MOST_CONTEXTS 10 /* of a block: all of a window of 5 */
#define MOST_SUMS ((MOST_TARGETS * MOST_CONTEXTS + WIDTH - 1) / WIDTH * WIDTH)

typedef float loose __attribute__((vector_size(4 * WIDTH), may_alias, aligned(4)));

#define STRIDE 0x9e3779b97f4a7c15u /* of the states of splitmix64 */

typedef struct {
    uint32_t threshold, other; /* this word if 32 random bits are below the threshold */
} alias;

typedef struct {
    float *vectors, *outputs; /* [words, size] */
    const uint32_t *kept;     /* [words], of 2^31: how many stay of a word's occurrences */
    const alias *noise;       /* [words]; none with hierarchical softmax */
    const int64_t *starts;    /* [words + 1], where a word's way begins; else none */
    const uint32_t *nodes;    /* rows of outputs on the way */
    const float *turns;       /* 1 or -1: which way it goes there */
    int64_t words, size, window, negatives, skip_gram;
} model;

typedef struct {
    const uint32_t *ids;
    const int32_t *lengths; /* of lines */
    int64_t n_ids, n_lines;
    double rate, last_rate;
    uint64_t state;
    uint32_t *words;                     /* room for ids that are kept */
    float *room;                         /* for 2 x size */
    int64_t n_kept, n_pairs; double nats; /* results */
} stretch;

INLINE uint64_t random_at(uint64_t state, uint64_t i) {
    uint64_t z = state + (i + 1) * STRIDE;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

INLINE uint32_t noise_from(const alias *table, int64_t words, uint64_t bits) {
    const uint32_t word = (bits >> 32) * (uint64_t)words >> 32;
    return (uint32_t)bits < table[word].threshold ? word : table[word].other;
}

/* The first n floats; n is WIDTH, known when compiled, but for the rest of a row. */
INLINE vec take(const float *p, int n) {
    if (n == WIDTH) return *(const loose *)p;
#if defined(__AVX512F__)
    return (vec)_mm512_maskz_loadu_ps((1u << n) - 1, p);
#else
    vec x = {0};
    for (int i = 0; i < n; i++) x[i] = p[i];
    return x;
#endif
}

INLINE void put(float *p, vec x, int n) {
    if (n == WIDTH) *(loose *)p = x;
    else
#if defined(__AVX512F__)
        _mm512_mask_storeu_ps(p, (1u << n) - 1, (__m512)x);
#else
        for (int i = 0; i < n; i++) p[i] = x[i];
#endif
}

/* Calls part(k, n) for all of a row. */
#define WHOLE_ROW(size, part)                                   \
    do {                                                        \
        const int64_t full = (size) / WIDTH * WIDTH;            \
        for (int64_t k = 0; k < full; k += WIDTH) part(k, WIDTH); \
        if (full < (size)) part(full, (int)((size) - full));    \
    } while (0)

/* ln(1 + e) for e from 0 to 1, by 2 artanh(e / (2 + e)): relative error below 1e-6. */
INLINE vec log_of_1_and(vec e) {
    const vec t = e / (e + 2.0f), s = t * t;
    vec p = all(1.0f / 11);
    p = p * s + 1.0f / 9;
    p = p * s + 1.0f / 7;
    p = p * s + 1.0f / 5;
    p = p * s + 1.0f / 3;
    p = p * s + 1.0f;
    return 2.0f * t * p;
}

/* Rows that are given, and those that are told apart by them. */
typedef struct {
    const float *given[MOST_CONTEXTS];
    float *change[MOST_CONTEXTS]; /* where their gradients are added: to themselves in skip-gram */
    float *target[MOST_TARGETS];
    float sign[MOST_TARGETS]; /* 1 true, -1 noise, 0 left out */
} block;

/* One step down the gradient of -sum ln sigmoid(sign given . target); returns the sum in nats. */
INLINE float learn_block(block *b, const int n_given, const int n_targets, const int64_t size,
                         const float rate) {
    vec sums[MOST_SUMS];
    float scores[MOST_SUMS], signs[MOST_SUMS];
    const int n = n_given * n_targets;
    for (int j = 0; j < n_given; j++) {
        const float *x = b->given[j];
        vec sum[MOST_TARGETS];
        UNROLL for (int r = 0; r < n_targets; r++) sum[r] = all(0);
#define PART(k, n)                                                                       \
    do {                                                                                 \
        const vec here = take(x + k, n);                                                 \
        UNROLL for (int r = 0; r < n_targets; r++) sum[r] += here * take(b->target[r] + k, n); \
    } while (0)
        WHOLE_ROW(size, PART);
#undef PART
        UNROLL for (int r = 0; r < n_targets; r++) {
            sums[j * n_targets + r] = sum[r];
            signs[j * n_targets + r] = b->sign[r];
        }
    }
    for (int i = n; i % WIDTH; i++) sums[i] = all(0), signs[i] = 0;
    vec nats = all(0);
    for (int i = 0; i < n; i += WIDTH) {
        const vec sign = *(const loose *)(signs + i), x = sign * sums_of(sums + i);
        const vec low = larger(-x, x), e = exponential(-low), size_of_sign = sign * sign;
        /* sigmoid(-x) is e / (1 + e) where x is positive, else 1 / (1 + e) */
        const ivec positive = x > all(0);
        const vec upper = (vec)((positive & (ivec)e) | (~positive & (ivec)all(1.0f)));
        *(loose *)(scores + i) = rate * sign * upper / (1.0f + e);
        nats += size_of_sign * (larger(-x, all(0)) + log_of_1_and(e));
    }
#define PART(k, n)                                                                     \
    do {                                                                               \
        vec row[MOST_TARGETS], sum[MOST_TARGETS];                                      \
        UNROLL for (int r = 0; r < n_targets; r++) {                                   \
            row[r] = take(b->target[r] + k, n);                                        \
            sum[r] = all(0);                                                           \
        }                                                                              \
        for (int j = 0; j < n_given; j++) {                                            \
            const vec x = take(b->given[j] + k, n);                                    \
            vec change = take(b->change[j] + k, n);                                    \
            UNROLL for (int r = 0; r < n_targets; r++) {                               \
                const float g = scores[j * n_targets + r];                             \
                sum[r] += g * x;                                                       \
                change += g * row[r];                                                  \
            }                                                                          \
            put(b->change[j] + k, change, n);                                          \
        }                                                                              \
        /* read again: a word may be there twice */                                    \
        UNROLL for (int r = 0; r < n_targets; r++)                                     \
            put(b->target[r] + k, take(b->target[r] + k, n) + sum[r], n);              \
    } while (0)
    WHOLE_ROW(size, PART);
#undef PART
    return sum_of(nats);
}

static float learn(block *b, int n_given, int n_targets, int64_t size, float rate) {
    switch (n_targets) {
    case 1: return learn_block(b, n_given, 1, size, rate);
    case 2: return learn_block(b, n_given, 2, size, rate);
    case 3: return learn_block(b, n_given, 3, size, rate);
    case 4: return learn_block(b, n_given, 4, size, rate);
    case 5: return learn_block(b, n_given, 5, size, rate);
    default: return learn_block(b, n_given, MOST_TARGETS, size, rate);
    }
}

/* The i-th of what a centre word is told apart from, into place r of a block. */
INLINE void target_at(const model *m, block *b, int r, int64_t i, uint32_t centre, uint64_t state,
                      uint64_t number) {
    uint32_t row = centre;
    float sign = 1;
    if (m->starts) {
        row = m->nodes[m->starts[centre] + i];
        sign = m->turns[m->starts[centre] + i];
    } else if (i) {
        row = noise_from(m->noise, m->words, random_at(state, number + i));
        sign = row == centre ? 0 : -1;
    }
    b->target[r] = m->outputs + row * m->size;
    b->sign[r] = sign;
}

INLINE void prefetch_row(const float *row, int64_t size) {
    for (int64_t k = 0; k < size; k += 16) __builtin_prefetch(row + k, 1);
    __builtin_prefetch(row + size - 1, 1);
}

/* Rows that the next centre word will need, fetched from memory while this one is learned. (A
   function that is not inlined has no effect that gcc knows of, and is left out.) */
INLINE void prefetch(const model *m, const uint32_t *words, int64_t next, int64_t n, uint64_t state,
                     uint64_t number) {
    if (next >= n) return;
    prefetch_row(m->outputs + words[next] * m->size, m->size);
    for (int64_t i = 1; !m->starts && i <= m->negatives && i < MOST_TARGETS; i++) {
        const uint32_t row = noise_from(m->noise, m->words, random_at(state, number + i));
        prefetch_row(m->outputs + row * m->size, m->size);
    }
    if (next + m->window < n) prefetch_row(m->vectors + words[next + m->window] * m->size, m->size);
}

/* All targets of a centre word, given some rows. */
static double learn_targets(const model *m, block *b, int n_given, uint32_t centre, float rate,
                            uint64_t state, uint64_t number) {
    const int64_t n =
        m->starts ? m->starts[centre + 1] - m->starts[centre] : m->negatives + 1;
    double nats = 0;
    for (int64_t first = 0; first < n; first += MOST_TARGETS) {
        const int here = n - first < MOST_TARGETS ? n - first : MOST_TARGETS;
        for (int r = 0; r < here; r++)
            target_at(m, b, r, first + r, centre, state, number);
        nats += learn(b, n_given, here, m->size, rate);
    }
    return nats;
}

/* CBOW: the mean of the context's rows is given; each gets the whole gradient of the mean. */
static double learn_mean(const model *m, const uint32_t *words, int64_t first, int64_t centre,
                         int64_t last, float *room, float rate, uint64_t state, uint64_t number) {
    float *mean = room, *change = room + m->size;
    const float share = 1.0f / (last - first - 1);
#define PART(k, n)                                                          \
    do {                                                                    \
        vec sum = all(0);                                                   \
        for (int64_t j = first; j < last; j++)                              \
            if (j != centre) sum += take(m->vectors + words[j] * m->size + k, n); \
        put(mean + k, sum * share, n);                                      \
        put(change + k, all(0), n);                                         \
    } while (0)
    WHOLE_ROW(m->size, PART);
#undef PART
    block b = {.given = {mean}, .change = {change}};
    const double nats = learn_targets(m, &b, 1, words[centre], rate, state, number);
    for (int64_t j = first; j < last; j++) {
        float *row = m->vectors + words[j] * m->size;
        if (j == centre) continue;
#define PART(k, n) put(row + k, take(row + k, n) + take(change + k, n), n)
        WHOLE_ROW(m->size, PART);
#undef PART
    }
    return nats;
}

/* Skip-gram: each word of the context is given for itself. */
static double learn_each(const model *m, const uint32_t *words, int64_t first, int64_t centre,
                         int64_t last, float rate, uint64_t state, uint64_t number) {
    block b;
    double nats = 0;
    int n_given = 0;
    for (int64_t j = first; j < last; j++) {
        if (j != centre) {
            b.given[n_given] = b.change[n_given] = m->vectors + words[j] * m->size;
            n_given++;
        }
        if (n_given == MOST_CONTEXTS || (j + 1 == last && n_given)) {
            nats += learn_targets(m, &b, n_given, words[centre], rate, state, number);
            n_given = 0;
        }
    }
    return nats;
}

void headway_word2vec(const model *m, stretch *s) {
    const int64_t draws = 1 + (m->starts ? 0 : m->negatives);
    int64_t n_kept = 0, first = 0, number = s->n_ids;
    for (int64_t i = 0; i < s->n_ids; i++) n_kept += random_at(s->state, i) >> 33 < m->kept[s->ids[i]];
    const double falling = (s->last_rate - s->rate) / (n_kept ? n_kept : 1);
    int64_t done = 0, pairs = 0;
    double nats = 0;
    for (int64_t line = 0; line < s->n_lines; line++) {
        int64_t n = 0;
        for (const int64_t end = first + s->lengths[line]; first < end; first++) {
            s->words[n] = s->ids[first];
            n += random_at(s->state, first) >> 33 < m->kept[s->ids[first]];
        }
        for (int64_t i = 0; i < n; i++, done++, number += draws) {
            prefetch(m, s->words, i + 1, n, s->state, number + draws);
            const int64_t reach = 1 + ((random_at(s->state, number) >> 32) * m->window >> 32);
            const int64_t low = i > reach ? i - reach : 0, high = n - i > reach ? i + reach + 1 : n;
            if (high - low < 2) continue;
            const float rate = s->rate + falling * done;
            if (m->skip_gram) {
                nats += learn_each(m, s->words, low, i, high, rate, s->state, number);
                pairs += high - low - 1;
            } else {
                nats += learn_mean(m, s->words, low, i, high, s->room, rate, s->state, number);
                pairs++;
            }
        }
    }
    s->state += number * STRIDE;
    s->n_kept = n_kept, s->n_pairs = pairs, s->nats = nats;
}

/* Words of noise, as they are drawn while learning. */
void headway_noise(const model *m, uint64_t state, int64_t n, uint32_t *drawn) {
    for (int64_t i = 0; i < n; i++) drawn[i] = noise_from(m->noise, m->words, random_at(state, i));
}
