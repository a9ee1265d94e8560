import assert from "node:assert/strict";
import fc from "fast-check";
import { jpegFile, pdfFile, pngFile } from "../../../test/harness/files/sample-files.ts";
import { suite } from "../../../test/harness/suite.ts";
import { FileContent, type FileType, fileMaxBytes, fileTypes } from "./file-content.ts";

const test = suite("what a file is by its bytes");
const samples = { "application/pdf": pdfFile(), "image/jpeg": jpegFile(), "image/png": pngFile() } as const;

function contentOf(type: FileType, bytes: Uint8Array, pieceBytes: number): FileContent {
  const content = new FileContent(type);
  for (let at = 0; at < bytes.length; at += pieceBytes) content.take(bytes.subarray(at, at + pieceBytes));
  return content;
}

function problemOf(type: FileType, bytes: Uint8Array, pieceBytes = 256 * 1024): string | undefined {
  return contentOf(type, bytes, pieceBytes).end();
}

test("accepts a file only as its own type, with any split into pieces", () => {
  for (const type of fileTypes) {
    for (const [own, bytes] of Object.entries(samples)) {
      for (const pieceBytes of [1, 2, 3, 7, 64, 1_000]) {
        assert.equal(problemOf(type, bytes, pieceBytes) === undefined, own === type, `${own} as ${type}`);
      }
    }
  }
});

test("refuses a truncated file", () => {
  for (const type of fileTypes) {
    const bytes = samples[type];
    for (let length = 0; length < bytes.length; length++) {
      // The line break behind the end of a PDF may be missing.
      if (type === "application/pdf" && length === bytes.length - 1) continue;
      assert.ok(problemOf(type, bytes.subarray(0, length)), `${type} of ${length} bytes`);
    }
  }
});

/** Bytes that phones, cameras, scanners and web frameworks append. */
const appended = {
  "a second picture of the multi-picture format": jpegFile(16, 16),
  "the film of a moving photo": Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0isommp42\0\0\0\x08mdat", "latin1"),
  "NUL padding": Buffer.alloc(3_000),
  "a comment of a web framework": Buffer.from("<!-- 12 ms --><script>alert(1)</script>"),
  "a line break before other bytes": Buffer.from("\n\0x"),
};

test("excludes bytes after the end of a file, with any split into pieces", () => {
  for (const type of fileTypes) {
    for (const [name, more] of Object.entries(appended)) {
      for (const pieceBytes of [1, 7, samples[type].length, 100_000]) {
        const content = contentOf(type, Buffer.concat([samples[type], more]), pieceBytes);
        assert.equal(content.end(), undefined, `${type} with ${name}`);
        const own = type === "application/pdf" && more[0] === 0x0a ? 1 : 0;
        assert.equal(content.length, samples[type].length + own, `${type} with ${name}`);
      }
    }
  }
});

test("accepts the kept part of an accepted file again, as a whole", () => {
  fc.assert(
    fc.property(fc.constantFrom(...fileTypes), fc.uint8Array({ maxLength: 80 }), fc.nat(40), (type, more, n) => {
      const sent = Buffer.concat([samples[type], more]);
      const content = contentOf(type, sent, n + 1);
      assert.equal(content.end(), undefined);
      const again = contentOf(type, sent.subarray(0, content.length), 13);
      assert.deepEqual([again.end(), again.length], [undefined, content.length]);
    }),
  );
});

test("accepts only white space or a byte order mark before a PDF's header", () => {
  const pdf = samples["application/pdf"];
  const checkWith = (before: string, pieceBytes: number) =>
    problemOf("application/pdf", Buffer.concat([Buffer.from(before, "latin1"), pdf]), pieceBytes);
  for (const pieceBytes of [1, 5, 100_000]) {
    for (const before of ["\n", "\r\n\r\n", "\xef\xbb\xbf", "\xef\xbb\xbf\n ", "\0".repeat(900)]) {
      assert.equal(checkWith(before, pieceBytes), undefined);
    }
    for (const before of ["x", "<html>", "\0".repeat(1_100), "\n\xef\xbb\xbf"])
      assert.equal(checkWith(before, pieceBytes), "must be a PDF");
  }
});

test("never throws on random bytes", () => {
  const type = fc.constantFrom(...fileTypes);
  const start = fc.constantFrom(...Object.values(samples).map((bytes) => bytes.subarray(0, 60)));
  fc.assert(
    fc.property(
      type,
      start,
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 50 }),
      (type, start, end, n) => {
        problemOf(type, Buffer.concat([start, end]), n);
      },
    ),
  );
});

test("refuses the header of one type with the content of another", () => {
  const html = Buffer.from("<html><script>alert(1)</script></html>");
  assert.ok(problemOf("application/pdf", Buffer.concat([Buffer.from("%PDF-1.7\n"), html])));
  assert.ok(problemOf("image/png", Buffer.concat([samples["image/png"].subarray(0, 33), html])));
  assert.ok(problemOf("image/jpeg", Buffer.concat([samples["image/jpeg"].subarray(0, 20), html])));
  assert.ok(problemOf("application/pdf", Buffer.concat([html, samples["application/pdf"]])));
});

test("refuses a picture without picture data", () => {
  const png = samples["image/png"];
  const [header, end] = [png.subarray(0, 33), png.subarray(-12)];
  assert.equal(problemOf("image/png", Buffer.concat([header, end])), "must be a PNG with a picture");
  const jpeg = samples["image/jpeg"];
  const [frame, scan] = [jpeg.subarray(2, 15), jpeg.subarray(15, -2)];
  for (const segment of [frame, scan]) {
    const whole = Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(-2)]);
    assert.equal(problemOf("image/jpeg", whole), "must be a JPEG with a picture");
  }
});

test("refuses a decompression bomb by its header", () => {
  for (const [width, height] of [
    [65_535, 65_535],
    [20_001, 1],
    [20_000, 20_000],
    [0, 10],
  ] as const) {
    assert.match(problemOf("image/png", pngFile(width, height)) ?? "", /^must be a picture of at most/);
    assert.match(problemOf("image/jpeg", jpegFile(width, height)) ?? "", /^must be a picture of at most/);
  }
  assert.equal(problemOf("image/png", pngFile(20_000, 5_000)), undefined);
});

test("refuses an empty file and one byte above the limit", () => {
  assert.equal(problemOf("image/png", Buffer.alloc(0)), "must not be empty");
  const padding = (bytes: number) => Buffer.concat([samples["image/jpeg"].subarray(0, 2), comments(bytes)]);
  const exact = Buffer.concat([
    padding(fileMaxBytes - samples["image/jpeg"].length),
    samples["image/jpeg"].subarray(2),
  ]);
  assert.equal(exact.length, fileMaxBytes);
  assert.equal(problemOf("image/jpeg", exact), undefined);
  const tooLong = Buffer.concat([
    padding(fileMaxBytes + 1 - samples["image/jpeg"].length),
    samples["image/jpeg"].subarray(2),
  ]);
  assert.equal(problemOf("image/jpeg", tooLong), `must have at most ${fileMaxBytes} bytes`);
});

/** Comment segments of this total length. */
function comments(bytes: number): Buffer {
  const segments: Buffer[] = [];
  for (let left = bytes; left > 0; ) {
    // None may be left that is too short for a segment.
    const size = left > 60_000 ? 50_000 : left;
    const head = Buffer.from([0xff, 0xfe, 0, 0]);
    head.writeUInt16BE(size - 2, 2);
    segments.push(head, Buffer.alloc(size - 4, "x"));
    left -= size;
  }
  return Buffer.concat(segments);
}

test("refuses a PNG with any one wrong bit", () => {
  const png = samples["image/png"];
  for (let at = 0; at < png.length * 8; at++) {
    const wrong = Buffer.from(png);
    wrong.writeUInt8((wrong[at >> 3] ?? 0) ^ (1 << (at & 7)), at >> 3);
    assert.ok(problemOf("image/png", wrong), `bit ${at}`);
  }
  const sum = Buffer.from(png);
  sum.writeUInt8(sum.readUInt8(png.length - 1) ^ 1, png.length - 1);
  assert.equal(problemOf("image/png", sum), "must be a PNG with correct checksums");
  const long = pngFile(1, 1, 50_000);
  for (const pieceBytes of [1_000, 16_384, 16_385, 262_144]) {
    assert.equal(problemOf("image/png", long, pieceBytes), undefined, "checksums are reckoned over parts");
  }
  long[40_000] = (long[40_000] ?? 0) ^ 1;
  assert.equal(problemOf("image/png", long), "must be a PNG with correct checksums");
});

test("refuses a PDF with two documents, and accepts incremental changes", () => {
  const pdf = samples["application/pdf"];
  const two = Buffer.concat([pdf, pdfFile("another one")]);
  for (const pieceBytes of [1, 5, 8, pdf.length, pdf.length + 1, pdf.length + 3, 100_000]) {
    assert.equal(problemOf("application/pdf", two, pieceBytes), "must be one PDF");
  }
  const table = Number(/startxref\n(\d+)/.exec(pdf.toString("latin1"))?.[1]);
  const change = (header: string, previous: number) => {
    const objects = `${header}4 0 obj\n<< >>\nendobj\nxref\n4 1\n${String(pdf.length).padStart(10, "0")} 00000 n \n`;
    const trailer = `trailer\n<< /Size 5 /Root 1 0 R /Prev ${previous} >>\n`;
    return `${objects}${trailer}startxref\n${pdf.length + header.length + 21}\n%%EOF\n`;
  };
  // Pillow begins an appended page with a header of its own.
  for (const more of [change("", table), change("%PDF-1.4\n% appended\n", table)]) {
    const sent = Buffer.concat([pdf, Buffer.from(more)]);
    for (const pieceBytes of [1, 9, 100_000]) {
      const content = contentOf("application/pdf", sent, pieceBytes);
      assert.deepEqual([content.end(), content.length], [undefined, sent.length]);
    }
    const broken = sent.subarray(0, -10);
    assert.ok(problemOf("application/pdf", broken), "a change that did not arrive whole is not cut off");
  }
  const foreign = Buffer.concat([pdf, Buffer.from(change("%PDF-1.4\n", table + 1))]);
  assert.equal(problemOf("application/pdf", foreign), "must be one PDF");
});

test("accepts escaped markers in a JPEG's data", () => {
  const [bytes, at] = [jpegFile(), jpegFile().length - 2];
  const data = Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0x00, 0xff, 0xd3, 7]), bytes.subarray(at)]);
  assert.equal(problemOf("image/jpeg", data), undefined);
});

test.run();
