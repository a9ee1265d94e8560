// What a file is, by its bytes and not by anybody's word: a PDF, a JPEG or a PNG from its first byte to its last, taken
// in piece by piece so that no whole file lies in memory. Pure.
import { crc32 } from "node:zlib";

export const fileTypes = ["application/pdf", "image/jpeg", "image/png"] as const;
export type FileType = (typeof fileTypes)[number];

/** Bytes that a file may have; its pieces, and how many there may be. */
export const fileMaxBytes = 5 * 1024 * 1024;
export const pieceMaxBytes = 256 * 1024;

// A picture that unpacks to more than this is a bomb and no scan.
const sideMax = 20_000;
const pixelsMax = 100_000_000;

/** What a reader wants next: so many bytes, to pass over so many, or to pass over all up to and with the next 0xff. */
type Wish = { readonly read: number } | { readonly skip: number } | "marker";
type Reader = Generator<Wish, void, Buffer>;

/** A file that is not what its type says; the message is for its sender. */
class NotThat extends Error {}

/** Reads one file. Pieces come in their order. */
export class FileContent {
  readonly #reader: { take(piece: Buffer): void; end(): void };
  #problem: string | undefined;
  #size = 0;

  constructor(type: FileType) {
    this.#reader = type === "application/pdf" ? new PdfReader() : new Walk(type === "image/png" ? png() : jpeg());
    this.#attempt(() => undefined);
  }

  take(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > fileMaxBytes) this.#problem ??= `must have at most ${fileMaxBytes} bytes`;
    this.#attempt(() => this.#reader.take(Buffer.from(piece.buffer, piece.byteOffset, piece.length)));
  }

  /** After the last piece. @returns why it is not what its type says, as `must …`; undefined: it is */
  end(): string | undefined {
    if (this.#size === 0) return "must not be empty";
    this.#attempt(() => this.#reader.end());
    return this.#problem;
  }

  #attempt(step: () => void): void {
    if (this.#problem !== undefined) return;
    try {
      step();
    } catch (error) {
      if (!(error instanceof NotThat)) throw error;
      this.#problem = error.message;
    }
  }
}

/** Drives a reader over pieces that end anywhere. */
class Walk {
  readonly #reader: Reader;
  #wish: Wish | undefined;
  #held: Buffer = Buffer.alloc(0);
  #skipped = 0;

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#wish = wishOf(reader.next());
  }

  take(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      if (this.#wish === undefined) throw new NotThat("must end where its last part ends");
      at = this.#step(this.#wish, piece, at);
    }
  }

  end(): void {
    if (this.#wish !== undefined) throw new NotThat("must be whole");
  }

  /** @returns up to where the piece is read */
  #step(wish: Wish, piece: Buffer, at: number): number {
    if (wish === "marker") {
      const found = piece.indexOf(0xff, at);
      if (found >= 0) this.#next(Buffer.alloc(0));
      return found < 0 ? piece.length : found + 1;
    }
    if ("skip" in wish) {
      const count = Math.min(wish.skip - this.#skipped, piece.length - at);
      this.#skipped += count;
      if (this.#skipped === wish.skip) this.#next(Buffer.alloc(0));
      return at + count;
    }
    const count = Math.min(wish.read - this.#held.length, piece.length - at);
    this.#held = Buffer.concat([this.#held, piece.subarray(at, at + count)]);
    if (this.#held.length === wish.read) this.#next(this.#held);
    return at + count;
  }

  #next(bytes: Buffer): void {
    this.#held = Buffer.alloc(0);
    this.#skipped = 0;
    this.#wish = wishOf(this.#reader.next(bytes));
  }
}

function wishOf(step: IteratorResult<Wish, void>): Wish | undefined {
  return step.done ? undefined : step.value;
}

// So much of a chunk is held at once for its checksum.
const partBytes = 16 * 1024;

/** Signature, IHDR first, chunks with right checksums whose lengths lead to IEND, and picture data among them. */
function* png(): Reader {
  const signature = yield { read: 8 };
  if (signature.toString("latin1") !== "\x89PNG\r\n\x1a\n") throw new NotThat("must be a PNG");
  let hasData = false;
  for (let isFirst = true; ; isFirst = false) {
    const head = yield { read: 8 };
    const [length, name] = [head.readUInt32BE(0), head.toString("latin1", 4)];
    if (!/^[A-Za-z]{4}$/.test(name) || isFirst !== (name === "IHDR")) throw new NotThat("must be a PNG");
    let sum = crc32(head.subarray(4));
    if (name === "IHDR") {
      if (length !== 13) throw new NotThat("must be a PNG");
      const header = yield { read: 13 };
      assertPicture(header.readUInt32BE(0), header.readUInt32BE(4));
      sum = crc32(header, sum);
    } else {
      for (let left = length; left > 0; left -= partBytes) sum = crc32(yield { read: Math.min(left, partBytes) }, sum);
    }
    hasData ||= name === "IDAT" && length > 0;
    if ((yield { read: 4 }).readUInt32BE(0) !== sum) throw new NotThat("must be a PNG with right checksums");
    if (name !== "IEND") continue;
    if (length > 0 || !hasData) throw new NotThat("must be a PNG with a picture");
    return;
  }
}

const frames = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const [startOfImage, startOfScan, endOfImage] = [0xd8, 0xda, 0xd9];

/** Segments whose lengths lead from the start to the end of the image, a frame with a size and a scan among them. */
function* jpeg(): Reader {
  let marker = yield* markerHere();
  if (marker !== startOfImage) throw new NotThat("must be a JPEG");
  let [hasFrame, hasScan] = [false, false];
  for (marker = yield* markerHere(); marker !== endOfImage; ) {
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) throw new NotThat("must be a JPEG");
    let rest = (yield { read: 2 }).readUInt16BE(0) - 2;
    if (rest < 0) throw new NotThat("must be a JPEG");
    if (frames.has(marker)) {
      if (rest < 6) throw new NotThat("must be a JPEG");
      const frame = yield { read: 5 };
      assertPicture(frame.readUInt16BE(3), frame.readUInt16BE(1));
      hasFrame = true;
      rest -= 5;
    }
    if (rest > 0) yield { skip: rest };
    hasScan ||= marker === startOfScan;
    marker = marker === startOfScan ? yield* markerAfterScan() : yield* markerHere();
  }
  if (!hasFrame || !hasScan) throw new NotThat("must be a JPEG with a picture");
}

function* markerHere(): Generator<Wish, number, Buffer> {
  const [first] = yield { read: 1 };
  if (first !== 0xff) throw new NotThat("must be a JPEG");
  return yield* markerByte();
}

/** Any number of 0xff may stand before a marker. */
function* markerByte(): Generator<Wish, number, Buffer> {
  for (;;) {
    const [byte = 0] = yield { read: 1 };
    if (byte !== 0xff) return byte;
  }
}

/** Passes over the picture's data, in which 0xff is followed by 0 or by a restart's marker. */
function* markerAfterScan(): Generator<Wish, number, Buffer> {
  for (;;) {
    yield "marker";
    const marker = yield* markerByte();
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return marker;
  }
}

function assertPicture(width: number, height: number): void {
  const isSane = width > 0 && height > 0 && width <= sideMax && height <= sideMax && width * height <= pixelsMax;
  if (!isSane) throw new NotThat(`must be a picture of at most ${sideMax} × ${sideMax} and ${pixelsMax} pixels`);
}

// Writers put the end of a PDF into its last kilobyte, as readers expect it there.
const tailBytes = 1_024;

const pdfHeader = "%PDF-";

/**
 * One header, at the first byte, an object, and an end that says where in the file its table is. Changes that were
 * saved behind the first version have an end each and no header: many signed and edited files are so. A second header
 * is another document, of which a reader shows one or the other.
 */
class PdfReader {
  #head = "";
  #tail = "";
  #hasObject = false;
  #size = 0;

  take(piece: Buffer): void {
    const text = piece.toString("latin1");
    this.#size += piece.length;
    if (this.#head.length < 8) this.#head = (this.#head + text.slice(0, 8)).slice(0, 8);
    if (this.#head.length === 8 && !/^%PDF-(1\.[0-7]|2\.0)$/.test(this.#head)) throw new NotThat("must be a PDF");
    const joined = this.#tail.slice(-8) + text;
    this.#hasObject ||= joined.includes("endobj");
    const again = joined.lastIndexOf(pdfHeader);
    if (again >= 0 && this.#size - joined.length + again > 0) throw new NotThat("must be one PDF");
    this.#tail = (this.#tail + text.slice(-tailBytes)).slice(-tailBytes);
  }

  end(): void {
    const [, offset = ""] = /startxref\s+(\d{1,8})\s+%%EOF\s*$/.exec(this.#tail) ?? [];
    const isWhole = offset !== "" && Number(offset) < this.#size;
    if (this.#head.length < 8 || !this.#hasObject || !isWhole) throw new NotThat("must be a whole PDF");
  }
}
