// Checks by its bytes that a file is a PDF, JPEG or PNG, and finds its end: phones, scanners and frameworks append
// bytes of their own. Reads piece by piece, so no whole file is in memory. Pure.
import { crc32 } from "node:zlib";

export const fileTypes = ["application/pdf", "image/jpeg", "image/png"] as const;
export type FileType = (typeof fileTypes)[number];

export const fileMaxBytes = 5 * 1024 * 1024;

// A larger picture is a decompression bomb, not a scan.
const sideMax = 20_000;
const pixelsMax = 100_000_000;

/** A reader's next step: read bytes, skip bytes, or skip through the next 0xff. */
type ReadRequest = { readonly read: number } | { readonly skip: number } | "marker";
type Reader = Generator<ReadRequest, void, Buffer>;

/** The content does not match the type; the message is for the sender. */
class ContentMismatch extends Error {}

/** Checks one file, given piece by piece in order. */
export class FileContent {
  readonly #reader: { take(piece: Buffer): void; end(): number };
  #problem: string | undefined;
  #size = 0;
  /** Bytes of the file itself, known after `end`. Bytes after them were not checked and must not be stored. */
  length = 0;

  constructor(type: FileType) {
    this.#reader = type === "application/pdf" ? new PdfReader() : new Walk(type === "image/png" ? png() : jpeg());
    this.#attempt(() => undefined);
  }

  take(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > fileMaxBytes) this.#problem ??= `must have at most ${fileMaxBytes} bytes`;
    this.#attempt(() => this.#reader.take(Buffer.from(piece.buffer, piece.byteOffset, piece.length)));
  }

  /** After the last piece. @returns the problem, as `must …`; undefined: the content matches the type. */
  end(): string | undefined {
    if (this.#size === 0) return "must not be empty";
    this.#attempt(() => {
      this.length = this.#reader.end();
    });
    return this.#problem;
  }

  #attempt(step: () => void): void {
    if (this.#problem !== undefined) return;
    try {
      step();
    } catch (error) {
      if (!(error instanceof ContentMismatch)) throw error;
      this.#problem = error.message;
    }
  }
}

/** Drives a reader over pieces of any length. */
class Walk {
  readonly #reader: Reader;
  #request: ReadRequest | undefined;
  #held: Buffer = Buffer.alloc(0);
  #skipped = 0;
  #size = 0;

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#request = nextRequest(reader.next());
  }

  take(piece: Buffer): void {
    let at = 0;
    while (at < piece.length && this.#request !== undefined) at = this.#step(this.#request, piece, at);
    this.#size += at;
  }

  end(): number {
    if (this.#request !== undefined) throw new ContentMismatch("must be complete");
    return this.#size;
  }

  /** @returns the position up to which the piece is read. */
  #step(request: ReadRequest, piece: Buffer, at: number): number {
    if (request === "marker") {
      const found = piece.indexOf(0xff, at);
      if (found >= 0) this.#next(Buffer.alloc(0));
      return found < 0 ? piece.length : found + 1;
    }
    if ("skip" in request) {
      const count = Math.min(request.skip - this.#skipped, piece.length - at);
      this.#skipped += count;
      if (this.#skipped === request.skip) this.#next(Buffer.alloc(0));
      return at + count;
    }
    const count = Math.min(request.read - this.#held.length, piece.length - at);
    this.#held = Buffer.concat([this.#held, piece.subarray(at, at + count)]);
    if (this.#held.length === request.read) this.#next(this.#held);
    return at + count;
  }

  #next(bytes: Buffer): void {
    this.#held = Buffer.alloc(0);
    this.#skipped = 0;
    this.#request = nextRequest(this.#reader.next(bytes));
  }
}

function nextRequest(step: IteratorResult<ReadRequest, void>): ReadRequest | undefined {
  return step.done ? undefined : step.value;
}

// The part of a chunk that is in memory for its checksum.
const sliceBytes = 16 * 1024;

/** Requires the signature, IHDR first, correct checksums, picture data, and chunk lengths that lead to IEND. */
function* png(): Reader {
  const signature = yield { read: 8 };
  if (signature.toString("latin1") !== "\x89PNG\r\n\x1a\n") throw new ContentMismatch("must be a PNG");
  let hasData = false;
  for (let isFirst = true; ; isFirst = false) {
    const head = yield { read: 8 };
    const [length, name] = [head.readUInt32BE(0), head.toString("latin1", 4)];
    if (!/^[A-Za-z]{4}$/.test(name) || isFirst !== (name === "IHDR")) throw new ContentMismatch("must be a PNG");
    let sum = crc32(head.subarray(4));
    if (name === "IHDR") {
      if (length !== 13) throw new ContentMismatch("must be a PNG");
      const header = yield { read: 13 };
      assertPicture(header.readUInt32BE(0), header.readUInt32BE(4));
      sum = crc32(header, sum);
    } else {
      for (let left = length; left > 0; left -= sliceBytes)
        sum = crc32(yield { read: Math.min(left, sliceBytes) }, sum);
    }
    hasData ||= name === "IDAT" && length > 0;
    if ((yield { read: 4 }).readUInt32BE(0) !== sum) throw new ContentMismatch("must be a PNG with correct checksums");
    if (name !== "IEND") continue;
    if (length > 0 || !hasData) throw new ContentMismatch("must be a PNG with a picture");
    return;
  }
}

const frames = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const [startOfImage, startOfScan, endOfImage] = [0xd8, 0xda, 0xd9];

/** Requires a frame with a size, a scan, and segment lengths that lead to the end of the image. */
function* jpeg(): Reader {
  let marker = yield* markerHere();
  if (marker !== startOfImage) throw new ContentMismatch("must be a JPEG");
  let [hasFrame, hasScan] = [false, false];
  for (marker = yield* markerHere(); marker !== endOfImage; ) {
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) throw new ContentMismatch("must be a JPEG");
    let rest = (yield { read: 2 }).readUInt16BE(0) - 2;
    if (rest < 0) throw new ContentMismatch("must be a JPEG");
    if (frames.has(marker)) {
      if (rest < 6) throw new ContentMismatch("must be a JPEG");
      const frame = yield { read: 5 };
      assertPicture(frame.readUInt16BE(3), frame.readUInt16BE(1));
      hasFrame = true;
      rest -= 5;
    }
    if (rest > 0) yield { skip: rest };
    hasScan ||= marker === startOfScan;
    marker = marker === startOfScan ? yield* markerAfterScan() : yield* markerHere();
  }
  if (!hasFrame || !hasScan) throw new ContentMismatch("must be a JPEG with a picture");
}

function* markerHere(): Generator<ReadRequest, number, Buffer> {
  const [first] = yield { read: 1 };
  if (first !== 0xff) throw new ContentMismatch("must be a JPEG");
  return yield* markerByte();
}

/** Any number of 0xff may precede a marker. */
function* markerByte(): Generator<ReadRequest, number, Buffer> {
  for (;;) {
    const [byte = 0] = yield { read: 1 };
    if (byte !== 0xff) return byte;
  }
}

/** Skips the picture's data, in which 0xff is followed by 0 or by a restart marker. */
function* markerAfterScan(): Generator<ReadRequest, number, Buffer> {
  for (;;) {
    yield "marker";
    const marker = yield* markerByte();
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return marker;
  }
}

function assertPicture(width: number, height: number): void {
  const isSane = width > 0 && height > 0 && width <= sideMax && height <= sideMax && width * height <= pixelsMax;
  if (!isSane)
    throw new ContentMismatch(`must be a picture of at most ${sideMax} × ${sideMax} and ${pixelsMax} pixels`);
}

// Viewers search the header in the first kilobyte; only white space and a byte order mark may precede it.
const headBytes = 1_024;
const pdfHeader = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]*%PDF-(?:1\.[0-7]|2\.0)/;
const pdfToken =
  /%PDF-|endobj|\d obj|\/Prev[\0\t\n\f\r ]{1,8}(\d{1,10})(?=\D)|startxref[\0\t\n\f\r ]{1,8}(\d{1,10})[\0\t\n\f\r ]{1,8}%%EOF/g;
// Longest token: this many bytes are kept to find a token that two pieces split.
const tokenBytes = 64;

/**
 * Requires a header, an object, and an end with the position of its table. Each saved change appends an end; a change
 * with its own header must continue the previous table. Otherwise the file holds two documents, and viewers differ in
 * which one they show.
 */
class PdfReader {
  #head = "";
  #unread = "";
  #size = 0;
  #headers = 0;
  #hasObject = false;
  #hasObjectAfterEnd = false;
  /** Position after the last `%%EOF` and its line break. */
  #end = 0;
  #table: number | undefined;
  #toContinue: number | undefined;

  take(piece: Buffer): void {
    const text = this.#unread + piece.toString("latin1");
    if (this.#size < headBytes) this.#head = (this.#head + piece.toString("latin1")).slice(0, headBytes);
    this.#size += piece.length;
    const begin = this.#size - text.length;
    let read = 0;
    for (const token of text.matchAll(pdfToken)) {
      read = token.index + token[0].length;
      this.#apply(token[0], { previous: token[1], table: token[2] });
      if (token[2] !== undefined) this.#end = begin + read;
    }
    while (this.#end > 0 && this.#end >= begin && /[\r\n]/.test(text.charAt(this.#end - begin))) this.#end += 1;
    this.#unread = text.slice(Math.max(read, text.length - tokenBytes));
  }

  #apply(token: string, { previous, table }: { previous: string | undefined; table: string | undefined }): void {
    if (table !== undefined) {
      if (this.#toContinue !== undefined) throw new ContentMismatch("must be one PDF");
      this.#table = Number(table);
      this.#hasObjectAfterEnd = false;
    } else if (previous !== undefined) {
      if (Number(previous) === this.#toContinue) this.#toContinue = undefined;
    } else if (token === "%PDF-") {
      if (this.#headers > 0 && this.#table === undefined) throw new ContentMismatch("must be one PDF");
      this.#headers += 1;
      this.#toContinue = this.#table;
    } else {
      this.#hasObject = true;
      this.#hasObjectAfterEnd = true;
    }
  }

  end(): number {
    if (!pdfHeader.test(this.#head)) throw new ContentMismatch("must be a PDF");
    if (this.#toContinue !== undefined) throw new ContentMismatch("must be one PDF");
    // An object after the last end belongs to an incomplete change.
    const isWhole = this.#table !== undefined && this.#table < this.#end && !this.#hasObjectAfterEnd;
    if (!this.#hasObject || !isWhole) throw new ContentMismatch("must be a complete PDF");
    return this.#end;
  }
}
