/* Several models that write one output, as `headway/decoding/ensemble.py`: the next token has the
   mean of the probabilities that they give it. Each member has its own memory, but for what is the
   search's; the first one's is searched in. */

/* Bytes; with one model only, those of `lay_out`. */
static int64_t lay_out_all(const model *m, const job *j, workspace *w, char *base) {
    arena a = {base, lay_out(m, j, w, base)};
    workspace counted, *own = w;
    w->next = 0;
    for (const model *one = m; m->next; one = one->next) {
        const int64_t chunks = (one->vocabulary.outputs + CHUNK - 1) / CHUNK;
        own->logits = taken(&a, sizeof(float), j->slots * j->beam, chunks * CHUNK);
        if (!one->next) break;
        workspace *next = taken(&a, sizeof(workspace), 1, 1);
        if (!base) next = &counted;
        a.used += lay_out(one->next, j, next, base ? base + a.used : 0);
        next->next = 0;
        next->slots = w->slots, next->admitted = w->admitted, next->ancestors = w->ancestors;
        next->row_slot = w->row_slot, next->row_place = w->row_place;
        own = own->next = next;
    }
    return a.used;
}

/* All logits of `rows` rows by one member, chunk by chunk [chunks][rows][CHUNK]; `most` becomes the
   logarithm of the sum of their exponentials. */
static void read_whole(const model *m, workspace *w, int64_t rows) {
    const matrix *v = &m->vocabulary;
    const operand read = operand_for(v, rows, w->x, m->width, &w->rounded);
    for (int64_t r = 0; r < rows; r++) w->most[r] = -INFINITY, w->sum[r] = 0;
    for (int64_t n = 0; n < v->outputs; n += CHUNK) {
        const int64_t columns = v->outputs - n < CHUNK ? v->outputs - n : CHUNK;
        float *logits = w->logits + n * rows;
        for (int64_t p = 0; p < columns; p += PANEL)
            panel_product(v, n + p, &read, rows, logits + p, CHUNK);
        for (int64_t r = 0; r < rows; r++, logits += CHUNK)
            weigh(w, r, chunk_maximum(logits, columns), logits, columns);
    }
    for (int64_t r = 0; r < rows; r++) w->most[r] += logf(w->sum[r]);
}

/* The mean of what the members looked at, in the place of what the first did. */
static void look_together(const job *j, workspace *w, int64_t rows, float share) {
    for (int64_t r = 0; r < rows; r++) {
        const int64_t number = w->row_slot[r], place = w->row_place[r];
        const slot *s = w->slots + number;
        float *looked = look_of(j, w, number, s->n_written, place);
        for (int64_t i = 0; i < s->n_read; i++) looked[i] *= share;
        for (const workspace *own = w->next; own; own = own->next) {
            const float *other = look_of(j, own, number, s->n_written, place);
            for (int64_t i = 0; i < s->n_read; i++) looked[i] += share * other[i];
        }
    }
}

/* `decode` and `read_vocabulary` by all members; the best tokens have log-probabilities. What is less
   likely than a float can say has the least that it can. */
static void decode_together(const model *m, const job *j, workspace *w, int64_t rows) {
    const int64_t outputs = m->vocabulary.outputs, n_tokens = m->n_tokens;
    int64_t members = 0;
    for (workspace *own = w; m; m = m->next, own = own->next, members++) {
        decode(m, j, own, rows);
        read_whole(m, own, rows);
    }
    const float share = 1.0f / (float)members;
    if (j->looked) look_together(j, w, rows, share);
    for (int64_t i = 0; i < rows * j->beam; i++) w->best[i] = (candidate){-INFINITY, -1};
    for (int64_t n = 0; n < outputs; n += CHUNK) {
        const some_tokens some = {0, n, outputs - n < CHUNK ? outputs - n : CHUNK};
        for (int64_t r = 0; r < rows; r++) {
            const int64_t from = n * rows + r * CHUNK;
            for (int64_t i = 0; i < some.n; i += WIDTH) {
                vec sum = {0};
                for (const workspace *own = w; own; own = own->next) {
                    const vec x = load(own->logits + from + i) - own->most[r];
                    sum += (vec)(~(ivec)(x < all(-87.0f)) & (ivec)exponential(x));
                }
                store(w->logits + from + i, larger(all(1.17549435e-38f), sum * share));
            }
            for (int64_t i = n_tokens - n; i < some.n; i++) w->logits[from + i] = -INFINITY;
            gather(j, w, r, w->logits + from, &some);
        }
    }
    for (int64_t i = 0; i < rows * j->beam; i++)
        if (w->best[i].token >= 0) w->best[i].value = logf(w->best[i].value);
    for (int64_t r = 0; r < rows; r++) {
        w->end_logit[r] = logf(w->end_logit[r]);
        w->most[r] = 0, w->sum[r] = 1; /* they add up to 1 */
    }
}
