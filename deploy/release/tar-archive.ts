// Writes a gzipped tar archive reproducibly: one time for all files, one owner, entries in the given order.
import { gzipSync } from "node:zlib";

const blockBytes = 512;

/** @param files by their path in the archive. @param seconds of every file, since 1970 */
export function tarGzipOf(files: ReadonlyMap<string, string>, seconds: number): Uint8Array {
  const parts = [...files].flatMap(([path, text]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    return [headerOf(path, content.length, seconds), content, padding];
  });
  const packed = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]), { level: 9 });
  packed[9] = 255; // the operating system that packed it: unknown
  return packed;
}

/** POSIX's ustar form. @throws for a path over 100 bytes, which the chart does not have */
function headerOf(path: string, bytes: number, seconds: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for a tar archive`);
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(path, 0);
  header.write(`${octal(0o644, 7)}${octal(0, 7)}${octal(0, 7)}${octal(bytes, 11)}${octal(seconds, 11)}`, 100);
  header.write("        0", 148); // spaces in place of the checksum, then the type: a plain file
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return header;
}
