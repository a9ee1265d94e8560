// Reads a form with a file in two steps: first the fields, which identify the sender, then the file piece by piece.
// Strangers can send such forms too, so limits apply before anything is read.
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";

/** Limit of one file (docs/contract.md §5). */
const fileMaxBytes = 5 * 1024 * 1024;

// A file over its limit is still read to its end, to answer the sender; a form over this limit is not read at all.
const formMaxBytes = 32 * 1024 * 1024;

/** All texts of a form together. They are read before the sender is known. */
export const fieldsMaxBytes = 128 * 1024;

// The longest text has 20,000 characters of up to four bytes.
export const uploadLimits = {
  fields: 64,
  fieldSize: 80_000,
  fieldNameSize: 64,
  files: 1,
  fileSize: fileMaxBytes,
  parts: 65,
};

export interface Upload {
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  readonly file: MultipartFile | undefined;
}

/** Browsers announce the length of a form. */
export function isUploadSize({ headers }: Pick<FastifyRequest, "headers">): boolean {
  return Number(headers["content-length"] ?? Number.NaN) <= formMaxBytes;
}

/** Reads up to the first file. `large`: too much text; `broken`: not a browser's form. Both stop the parser. */
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
        if (bytes > fieldsMaxBytes) return stop(request, "large");
        (fields[part.fieldname] ??= []).push(part.value);
      }
    }
    return { fields, file: undefined };
  } catch {
    return stop(request, "broken");
  }
}

function stop<T>({ raw }: FastifyRequest, reason: T): T {
  raw.unpipe();
  raw.resume();
  return reason;
}
