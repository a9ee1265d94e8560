// What a file is, by its bytes and not by its declared type: a PDF, a JPEG or a PNG, and where it ends. Phones,
// scanners and web frameworks append bytes of their own; those are not part of it. It is read by pieces, so that no
// whole file is in memory. Pure.
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
type ReadRequest = { readonly read: number } | { readonly skip: number } | "marker";
type Reader = Generator<ReadRequest, void, Buffer>;

/** A file that is not what its type says; the message is for its sender. */
class ContentMismatch extends Error {}

/** Reads one file. Pieces come in their order. */
export class FileContent {
  readonly #reader: { take(piece: Buffer): void; end(): number };
  #problem: string | undefined;
  #size = 0;
  /** Bytes of the file itself, known after `end`: nothing behind them was checked, so nothing behind them is kept. */
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

  /** After the last piece. @returns why it is not what its type says, as `must …`; undefined: it is */
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

/** Drives a reader over pieces that end anywhere. */
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
    if (this.#request !== undefined) throw new ContentMismatch("must be whole");
    return this.#size;
  }

  /** @returns up to where the piece is read */
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

// So much of a chunk is held at once for its checksum.
const sliceBytes = 16 * 1024;

/** Signature, IHDR first, chunks with right checksums whose lengths lead to IEND, and picture data among them. */
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
    if ((yield { read: 4 }).readUInt32BE(0) !== sum) throw new ContentMismatch("must be a PNG with right checksums");
    if (name !== "IEND") continue;
    if (length > 0 || !hasData) throw new ContentMismatch("must be a PNG with a picture");
    return;
  }
}

const frames = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const [startOfImage, startOfScan, endOfImage] = [0xd8, 0xda, 0xd9];

/** Segments whose lengths lead from the start to the end of the image, a frame with a size and a scan among them. */
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

/** Any number of 0xff may stand before a marker. */
function* markerByte(): Generator<ReadRequest, number, Buffer> {
  for (;;) {
    const [byte = 0] = yield { read: 1 };
    if (byte !== 0xff) return byte;
  }
}

/** Passes over the picture's data, in which 0xff is followed by 0 or by a restart's marker. */
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

// Readers look for the header in the first kilobyte; only white space and a byte order mark may stand before it.
const headBytes = 1_024;
const pdfHeader = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]*%PDF-(?:1\.[0-7]|2\.0)/;
const pdfToken =
  /%PDF-|endobj|\d obj|\/Prev[\0\t\n\f\r ]{1,8}(\d{1,10})(?=\D)|startxref[\0\t\n\f\r ]{1,8}(\d{1,10})[\0\t\n\f\r ]{1,8}%%EOF/g;
// No token is longer, so that one which is split between two pieces is found.
const tokenBytes = 64;

/**
 * A header, an object, and an end that says where in the file its table is. Changes that were saved behind the first
 * version have an end each; one with a header of its own must continue the table before it. Otherwise it is another
 * document, of which a reader shows one or the other.
 */
class PdfReader {
  #head = "";
  #unread = "";
  #size = 0;
  #headers = 0;
  #hasObject = false;
  #hasObjectBehind = false;
  /** Behind the last `%%EOF` and its line break. */
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
      this.#note(token[0], { previous: token[1], table: token[2] });
      if (token[2] !== undefined) this.#end = begin + read;
    }
    while (this.#end > 0 && this.#end >= begin && /[\r\n]/.test(text.charAt(this.#end - begin))) this.#end += 1;
    this.#unread = text.slice(Math.max(read, text.length - tokenBytes));
  }

  #note(token: string, { previous, table }: { previous: string | undefined; table: string | undefined }): void {
    if (table !== undefined) {
      if (this.#toContinue !== undefined) throw new ContentMismatch("must be one PDF");
      this.#table = Number(table);
      this.#hasObjectBehind = false;
    } else if (previous !== undefined) {
      if (Number(previous) === this.#toContinue) this.#toContinue = undefined;
    } else if (token === "%PDF-") {
      if (this.#headers > 0 && this.#table === undefined) throw new ContentMismatch("must be one PDF");
      this.#headers += 1;
      this.#toContinue = this.#table;
    } else {
      this.#hasObject = true;
      this.#hasObjectBehind = true;
    }
  }

  end(): number {
    if (!pdfHeader.test(this.#head)) throw new ContentMismatch("must be a PDF");
    if (this.#toContinue !== undefined) throw new ContentMismatch("must be one PDF");
    // An object behind the last end belongs to a change that did not arrive whole.
    const isWhole = this.#table !== undefined && this.#table < this.#end && !this.#hasObjectBehind;
    if (!this.#hasObject || !isWhole) throw new ContentMismatch("must be a whole PDF");
    return this.#end;
  }
}
