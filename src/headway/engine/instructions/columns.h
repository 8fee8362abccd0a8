/* What is added up in int8 at a time: a unit, or two where only sums of 16 bits are quick, which four
   products of a byte up to 127 with a weight up to 64 fit. So nothing saturates, and all is exact. */
#if defined(__SSSE3__) && !defined(__AVXVNNI__) && !defined(__AVX512VNNI__)
enum { int8_units = 2 };
typedef struct {
    ivec one, next;
} int8_columns;
#define int8_columns_at(weights) ((int8_columns){(weights)[0], (weights)[TILE_VECTORS]})
#else
enum { int8_units = 1 };
typedef ivec int8_columns;
#define int8_columns_at(weights) (*(weights))
#endif
