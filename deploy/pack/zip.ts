// Writes a zip archive reproducibly: fixed times, entries in the given order.
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
}

/** Each entry has a local header before its content, and one in the central directory. */
export function zipOf(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const packed = deflateRawSync(content, { level: 9 });
    const facts = headerOf(name, content, packed);
    const local = Buffer.concat([numbers([4, 0x04034b50]), facts, Buffer.from(name)]);
    // Comment length, disk, internal and external attributes: a regular file, readable by all.
    const central = [[2, 0] as const, [2, 0] as const, [2, 0] as const, [4, 0o100644 * 2 ** 16] as const];
    directory.push(
      Buffer.concat([
        numbers([4, 0x02014b50], [2, 0x031e]),
        facts,
        numbers(...central, [4, offset]),
        Buffer.from(name),
      ]),
    );
    parts.push(local, packed);
    offset += local.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const count = entries.length;
  const end = numbers([4, 0x06054b50], [4, 0], [2, count], [2, count], [4, listed.length], [4, offset], [2, 0]);
  return Buffer.concat([...parts, listed, end]);
}

/** Fields of both headers: version 2.0, UTF-8 names, deflate, 1 January 1980, checksum and sizes. */
function headerOf(name: string, content: Uint8Array, packed: Uint8Array): Uint8Array {
  const sizes = [[4, crc32(content)] as const, [4, packed.length] as const, [4, content.length] as const];
  return numbers([2, 20], [2, 0x0800], [2, 8], [2, 0], [2, 0x21], ...sizes, [2, Buffer.byteLength(name)], [2, 0]);
}

/** Little-endian numbers of two or four bytes. */
function numbers(...fields: readonly (readonly [2 | 4, number])[]): Buffer {
  return Buffer.concat(
    fields.map(([width, value]) => {
      const bytes = Buffer.alloc(width);
      bytes.writeUIntLE(value, 0, width);
      return bytes;
    }),
  );
}
