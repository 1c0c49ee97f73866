// An animated GIF: at most 256 colours for all of its pictures, each packed by LZW.

const GIF_COLOURS = 256, LEAST_CODES = 8;

/** Colours are told apart by five bits of each part. */
function bucketOf(data, at) {
  return ((data[at] >> 3) << 10) | ((data[at + 1] >> 3) << 5) | (data[at + 2] >> 3);
}

/** The colours of which there is most, and for each bucket which of them is next to it. */
function coloursOf(pictures) {
  const counts = new Uint32Array(32768), sums = [0, 1, 2].map(() => new Float64Array(32768));
  for (const { data } of pictures) {
    for (let at = 0; at < data.length; at += 4) {
      const bucket = bucketOf(data, at);
      counts[bucket] += 1;
      sums.forEach((sum, part) => (sum[bucket] += data[at + part]));
    }
  }
  const used = [...counts.keys()].filter((bucket) => counts[bucket]).sort((a, b) => counts[b] - counts[a]);
  const mean = (bucket) => sums.map((sum) => Math.round(sum[bucket] / counts[bucket]));
  const colours = used.slice(0, GIF_COLOURS).map(mean), nearest = new Uint8Array(32768);
  used.forEach((bucket, n) => {
    const own = mean(bucket);
    const far = (colour) => colour.reduce((sum, part, at) => sum + (part - own[at]) ** 2, 0);
    nearest[bucket] = n < GIF_COLOURS ? n : colours.reduce((best, colour, at) => (far(colour) < far(colours[best]) ? at : best), 0);
  });
  return { colours, nearest };
}

/** Bytes of which there may be many. */
class Bytes {
  constructor() {
    this.parts = [];
  }

  put(...numbers) {
    this.parts.push(Uint8Array.from(numbers));
  }

  put16(...numbers) {
    this.put(...numbers.flatMap((number) => [number & 255, number >> 8]));
  }

  /** Blocks of at most 255 bytes, and one without any. */
  blocks(bytes) {
    for (let at = 0; at < bytes.length; at += 255) {
      const block = bytes.slice(at, at + 255);
      this.put(block.length, ...block);
    }
    this.put(0);
  }
}

/** Codes of growing length for runs of pixels that came before. */
function packed(pixels) {
  const clear = 1 << LEAST_CODES, bytes = [];
  let size, next, known, bits = 0, have = 0;
  const emit = (code) => {
    bits |= code << have;
    for (have += size; have >= 8; have -= 8) {
      bytes.push(bits & 255);
      bits >>>= 8;
    }
  };
  const begin = () => {
    [size, next, known] = [LEAST_CODES + 1, clear + 2, new Map()];
  };
  begin();
  emit(clear);
  let run = pixels[0];
  for (let at = 1; at < pixels.length; at += 1) {
    const longer = (run << 8) | pixels[at], code = known.get(longer);
    if (code !== undefined) {
      run = code;
      continue;
    }
    emit(run);
    if (next === 4096) {
      emit(clear);
      begin();
    } else {
      if (next === 1 << size) size += 1;
      known.set(longer, next);
      next += 1;
    }
    run = pixels[at];
  }
  emit(run);
  emit(clear + 1);
  if (have) bytes.push(bits & 255);
  return bytes;
}

/** Pictures of one size, `ImageData` each, as the bytes of a GIF that goes on for ever. */
function asGif(pictures, stepMs, endMs) {
  const [{ width, height }] = pictures, { colours, nearest } = coloursOf(pictures), gif = new Bytes();
  const letters = (text) => gif.put(...[...text].map((letter) => letter.charCodeAt(0)));
  letters("GIF89a");
  gif.put16(width, height);
  gif.put(0xf7, 0, 0);
  for (let n = 0; n < GIF_COLOURS; n += 1) gif.put(...(colours[n] ?? [0, 0, 0]));
  gif.put(0x21, 0xff, 11);
  letters("NETSCAPE2.0");
  gif.put(3, 1, 0, 0, 0);
  pictures.forEach(({ data }, n) => {
    const pixels = new Uint8Array(width * height);
    for (let at = 0; at < pixels.length; at += 1) pixels[at] = nearest[bucketOf(data, 4 * at)];
    gif.put(0x21, 0xf9, 4, 0);
    gif.put16(Math.round((n + 1 < pictures.length ? stepMs : endMs) / 10));
    gif.put(0, 0, 0x2c);
    gif.put16(0, 0, width, height);
    gif.put(0, LEAST_CODES);
    gif.blocks(packed(pixels));
  });
  gif.put(0x3b);
  return new Blob(gif.parts, { type: "image/gif" });
}
