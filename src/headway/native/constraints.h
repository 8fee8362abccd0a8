/* What an output must hold, read token by token by the tables of `headway/text/terms/automaton.py`:
   a hypothesis carries a state for each thing that is wanted. */
#ifndef HEADWAY_CONSTRAINTS_H
#define HEADWAY_CONSTRAINTS_H

#include "workspace.h"

enum { LETTER, CHARACTER, STOP, SIGN, KINDS };
enum { ON, JOINED, NEW, SPACED, BROKEN }; /* ways: see `headway/text/terms/writing.py` */

/* The things that the sentence of a slot is asked for; none where nothing is. */
INLINE const asked *asked_of(const job *j, int64_t sentence, int64_t *n) {
    *n = j->asked ? j->first_asked[sentence + 1] - j->first_asked[sentence] : 0;
    return *n ? j->asked + j->first_asked[sentence] : 0;
}

/* Bytes that a character has which begins so, and between which its second one lies; 0: none
   begins so. */
INLINE int character_length(uint8_t lead, uint8_t *from, uint8_t *to) {
    *from = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *to = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

#define NO_CHARACTER 0xFFFD /* stands for bytes that are none */

/* Put together the characters that some bytes complete; those of one that is not whole yet stay in
   `tail`. `points` has room for one more than there are bytes and begun ones. */
static int64_t decoded(const uint8_t *bytes, int64_t n_bytes, tail *begun, int32_t *points) {
    int64_t n = 0;
    for (int64_t i = 0; i < n_bytes;) {
        uint8_t from, to;
        if (begun->n) {
            const int length = character_length(begun->bytes[0], &from, &to);
            if (begun->n > 1) from = 0x80, to = 0xBF;
            if (bytes[i] < from || bytes[i] > to) {
                points[n++] = NO_CHARACTER;
                begun->n = 0;
                continue; /* this byte may begin another one */
            }
            if (begun->n + 1 < length) {
                begun->bytes[begun->n++] = bytes[i++];
                continue;
            }
            int32_t point = begun->bytes[0] & (0x7F >> length);
            for (int b = 1; b < begun->n; b++) point = point << 6 | (begun->bytes[b] & 0x3F);
            points[n++] = point << 6 | (bytes[i++] & 0x3F);
            begun->n = 0;
            continue;
        }
        const int length = character_length(bytes[i], &from, &to);
        if (length < 2)
            points[n++] = length ? bytes[i] : NO_CHARACTER;
        else
            begun->bytes[begun->n++] = bytes[i];
        i++;
    }
    return n;
}

/* The column of a character in a thing's tables: its own, or that of its kind. */
INLINE int64_t column_of(const job *j, const thing *t, int32_t point) {
    int64_t from = 0, to = t->n_alphabet;
    while (from < to) {
        const int64_t middle = (from + to) / 2;
        if (t->alphabet[middle] < point)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < t->n_alphabet && t->alphabet[from] == point) return from;
    return t->n_alphabet + (point < j->n_kinds ? j->kinds[point] : SIGN);
}

/* How often a thing is missing if the text ends here. */
INLINE int32_t lacks(const thing *t, const progress *p) {
    return p->lacking - (p->lacking && t->unclosed[p->state]);
}

/* Go on with a token: what each of `n` things has come to. */
static void read_token(const job *j, const asked *some, int64_t n, int32_t token, const written *before,
                       written *after, int32_t *points) {
    const int64_t first = j->first_surface[token], n_bytes = j->first_surface[token + 1] - first;
    after->begun = before->begun;
    const int64_t n_points = decoded(j->surfaces + first, n_bytes, &after->begun, points);
    for (int64_t i = 0; i < n; i++) {
        const thing *t = j->things + some[i].thing;
        progress p = before->things[i];
        for (int64_t c = 0; c < n_points && p.lacking; c++) {
            const int64_t at = p.state * (t->n_alphabet + KINDS) + column_of(j, t, points[c]);
            p.lacking = p.lacking > t->completed[at] ? p.lacking - t->completed[at] : 0;
            p.state = t->behind[at];
        }
        after->things[i] = p;
    }
}

/* Where a way stands behind what is written of a character: the place of its next byte; -1 where
   it begins with other bytes, or there is nothing to break. */
INLINE int32_t place_behind(const thing *t, int32_t way, const tail *begun) {
    int32_t place = t->way_place[way];
    if (t->way_how[way] == SPACED) return place;
    if (t->way_how[way] == BROKEN) return begun->n ? place : -1;
    for (int i = 0; i < begun->n; i++)
        if (t->place_byte[place++] != begun->bytes[i]) return -1;
    return place;
}

/* Whether something is there only if no word goes on. */
INLINE int any_unclosed(const job *j, const asked *some, int64_t n, const written *w) {
    for (int64_t i = 0; i < n; i++)
        if (w->things[i].lacking && j->things[some[i].thing].unclosed[w->things[i].state]) return 1;
    return 0;
}

/* The ways on from what was written: how each thing that it lacks may be begun and gone on with. */
static int64_t ways_on(const job *j, const asked *some, int64_t n, const written *h, way *ways) {
    int64_t n_ways = 0;
    const int unclosed = any_unclosed(j, some, n, h);
    for (int64_t i = 0; i < n; i++) {
        const thing *t = j->things + some[i].thing;
        if (!lacks(t, h->things + i)) continue;
        const int32_t state = h->things[i].state;
        for (int32_t k = t->first_way[state]; k < t->first_way[state + 1]; k++) {
            const int32_t place = place_behind(t, k, &h->begun);
            if (place < 0 || (unclosed && t->way_how[k] == JOINED)) continue;
            ways[n_ways++] = (way){(int32_t)i, place};
        }
    }
    return n_ways;
}

/* So many tokens suffice for all that is missing; `ways` is only room. */
static int64_t missing(const job *j, const asked *some, int64_t n, const written *h, way *ways) {
    int64_t all = 0, saved = 0;
    for (int64_t i = 0; i < n; i++) {
        const thing *t = j->things + some[i].thing;
        all += lacks(t, h->things + i) * t->cost;
    }
    const int64_t n_ways = all ? ways_on(j, some, n, h, ways) : 0;
    for (int64_t k = 0; k < n_ways; k++) {
        const thing *t = j->things + some[ways[k].number].thing;
        const int64_t less = t->cost - t->place_left[ways[k].place];
        if (less > saved) saved = less;
    }
    return all - saved;
}

#endif
