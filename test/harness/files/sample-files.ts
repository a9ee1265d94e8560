// Small complete files of the types that disputes accept: a PDF of one empty page, and a grey JPEG and PNG of any size.
import { crc32, deflateSync } from "node:zlib";

/** @param text a comment, so that files differ */
export function pdfFile(text = "receipt"): Buffer {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] >>",
  ];
  let body = `%PDF-1.4\n% ${text}\n`;
  const offsets = objects.map((object, i) => {
    const at = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 4\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size 4 /Root 1 0 R >>\n`;
  return Buffer.from(`${body}${table}startxref\n${body.length}\n%%EOF\n`, "latin1");
}

/** Structure without image data, since no test decodes it. */
export function jpegFile(width = 8, height = 8): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x2a, 0xff, 0x00, 0x11]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), frame, scan, Buffer.from([0xff, 0xd9])]);
}

/** @param textBytes size of a text chunk */
export function pngFile(width = 1, height = 1, textBytes = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0], 8);
  const data = deflateSync(Buffer.from([0, 128]));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const text = textBytes === 0 ? [] : [chunk("tEXt", Buffer.alloc(textBytes, "x"))];
  const [first, last] = [chunk("IHDR", header), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, first, ...text, chunk("IDAT", data), last]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
