/* Arrays of the document: { shape, kind, data } as inspection/html_page.py writes them. */

const KINDS = { u8: Uint8Array, i32: Int32Array, f32: Float32Array };
const read = new WeakMap();

/* { shape, values, at(i, j, ..), row(i, j, ..) }: the values in order of the last axis first. Read
   once: asked again, the same is given. */
export function unpack(held) {
  if (!read.has(held)) read.set(held, unpacked(held));
  return read.get(held);
}

/* A promise of the same, for arrays that were deflated. */
export async function inflated(held) {
  if (!read.has(held)) {
    const stream = new Blob([bytesOf(held.data)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    read.set(held, array(held, bytes));
  }
  return read.get(held);
}

function unpacked(held) {
  return array(held, bytesOf(held.data));
}

function bytesOf(data) {
  return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
}

function array({ shape, kind }, bytes) {
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
