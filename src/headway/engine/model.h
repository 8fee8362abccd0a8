/* What Python hands over: a Transformer's packed weights, and sentences to translate.
   `headway/engine/structures.py` has the same fields in the same order. */
#ifndef HEADWAY_MODEL_H
#define HEADWAY_MODEL_H

#include "product.h"

typedef struct {
    const float *gain, *shift; /* [width] */
} norm;

typedef struct {
    matrix self_projections; /* queries, keys and values side by side */
    matrix self_output;
    matrix cross_query, cross_memory, cross_output; /* of a decoder; memory: keys and values */
    matrix inner, outer;                            /* inner with its gate behind it, if it has one */
    norm around_self, around_cross, around_feed_forward;
} layer;

enum { RELU, GELU, SWIGLU, SWISH };

typedef struct {
    int64_t d_model, width;    /* numbers of a position; with zeros up to a multiple of PANEL */
    int64_t heads, key, value; /* sizes of one head, padded to a multiple of WIDTH */
    int64_t keys, values;      /* of all heads, padded to a multiple of PANEL */
    int64_t inner;             /* of the feed-forward, padded to a multiple of PANEL */
    int64_t activation, norm_first, encoder_layers, decoder_layers, alignment_layer;
    int64_t n_tokens;        /* vocabulary */
    int64_t source_positions; /* rows of the tables of positions; no table: any position */
    int64_t target_positions;
    float embedding_scale, epsilon;
    const float *source_embedding, *target_embedding; /* [n_tokens][width] */
    const float *source_table, *target_table;         /* [positions][width], or none */
    const float *output_rows;                         /* the vocabulary's weights, [n_tokens][width] */
    const layer *encoder, *decoder;
    norm encoder_norm, decoder_norm; /* at the end of a stack that norms first */
    matrix vocabulary;
} model;

typedef struct {
    int64_t n_sentences;
    const int32_t *ids;   /* sources one behind another, their end markers included */
    const int64_t *first; /* [n_sentences + 1]: where each begins */
    const int64_t *limits; /* [n_sentences]: tokens before the end marker */
    const int32_t *allowed;       /* what each may write, in the order of ids; none: anything */
    const int64_t *allowed_first; /* [n_sentences + 1]: where each one's begin */
    const int32_t *beginning; /* what every output begins with, within its limit */
    const int32_t *forbidden;
    int64_t n_beginning, n_forbidden, begin, end, beam, n_best, want_scores;
    double length_penalty;
    int64_t slots;        /* sentences that a thread has in work at a time */
    int64_t encoded_rows; /* source tokens that it reads at a time, at least the longest source */
    int64_t longest_source, longest_output; /* end markers included */
    /* Results: of hypothesis h of sentence i the tokens, its end marker's among them, from
       (results[i] + h * (limits[i] + 1)) on; lengths[i * n_best + h] is 0 where there is none. */
    const int64_t *results;
    int32_t *lengths, *tokens;
    float *log_probs;
    /* Where wanted: of token t of that hypothesis, from (looks[i] + (h * (limits[i] + 1) + t) *
       its source's length) on, the weights on the source; `alignment_layer`'s, mean over heads. */
    const int64_t *looks;
    float *looked; /* none: not wanted */
    /* Shared by threads. */
    int64_t next, done, stop;
} job;

#endif
