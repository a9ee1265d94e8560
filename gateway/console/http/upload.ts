// A form with a file, read in two steps: first the fields before the file, so that who sends it is known, and the file
// only when somebody takes it, piece by piece. Anybody may send one: what is no form of a browser's costs nothing.
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";

/** Bytes of one file, as docs/contract.md §5 has them. */
export const fileMaxBytes = 5 * 1024 * 1024;

// A file that is too large is still read to its end, so that its sender is told; a form beyond this is not read at all.
const formMaxBytes = 32 * 1024 * 1024;

/** Of all texts of a form together, with a file or without: whoever sends them is not known before they are read. */
export const fieldsMaxBytes = 128 * 1024;

// The longest text of a form has 20,000 characters, of up to four bytes.
export const uploadLimits = {
  fields: 64,
  fieldSize: 80_000,
  fieldNameSize: 64,
  files: 1,
  fileSize: fileMaxBytes,
  parts: 65,
};

export interface Upload {
  /** As the parser of forms leaves them. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined: none was chosen. */
  readonly file: MultipartFile | undefined;
}

/** Browsers say before a form how long it is. */
export function isUploadSize({ headers }: Pick<FastifyRequest, "headers">): boolean {
  const bytes = Number(headers["content-length"] ?? Number.NaN);
  return bytes <= formMaxBytes;
}

/**
 * Reads up to the first file. `large`: its texts are longer than those of any form; `broken`: it is no form of a
 * browser's. Nothing of either is taken apart any more.
 */
export async function readUpload(request: FastifyRequest): Promise<Upload | "large" | "broken"> {
  const fields: Record<string, string[]> = Object.create(null);
  let bytes = 0;
  try {
    for await (const part of request.parts({ limits: uploadLimits })) {
      if (part.type === "file") {
        if (part.filename) return { fields, file: part };
        part.file.resume();
      } else if (typeof part.value === "string") {
        bytes += Buffer.byteLength(part.fieldname) + Buffer.byteLength(part.value);
        if (bytes > fieldsMaxBytes) return leave(request, "large");
        (fields[part.fieldname] ??= []).push(part.value);
      }
    }
    return { fields, file: undefined };
  } catch {
    return leave(request, "broken");
  }
}

/** The parser would take the rest apart as well. */
function leave<T>({ raw }: FastifyRequest, why: T): T {
  raw.unpipe();
  raw.resume();
  return why;
}
