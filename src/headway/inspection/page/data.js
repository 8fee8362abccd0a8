/* Arrays of the document: { shape, kind, data } as inspection/packing.py writes them. */

const KINDS = { u8: Uint8Array, i32: Int32Array, f32: Float32Array };
const read = new WeakMap();

/* { shape, values, at(i, j, ..), row(i, j, ..) }: the values in order of the last axis first. Read
   once: asked again, the same is given. */
export function unpack(held) {
  if (!read.has(held)) read.set(held, unpacked(held));
  return read.get(held);
}

function unpacked({ shape, kind, data }) {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const values = new KINDS[kind](bytes.buffer);
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const place = (indices) => indices.reduce((sum, index, axis) => sum + index * strides[axis], 0);
  return {
    shape,
    values,
    at: (...indices) => values[place(indices)],
    row: (...indices) => values.subarray(place(indices), place(indices) + strides[indices.length - 1]),
  };
}
