// Reads the Range header of a download (RFC 9110): one range of bytes, while the file is the one that the caller knows.

const form = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** @returns undefined: the whole file, also for several ranges or another unit; `unsatisfiable`: no byte is in it */
export function fileRange(
  { range, "if-range": known }: { readonly range?: string | undefined; readonly "if-range"?: string | undefined },
  etag: string,
  size: number,
): { readonly begin: number; readonly end: number } | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = form.exec(range ?? "") ?? [];
  if ((first === "" && last === "") || (known !== undefined && known !== etag)) return undefined;
  if (first === "")
    return Number(last) === 0 ? "unsatisfiable" : { begin: Math.max(0, size - Number(last)), end: size };
  const end = last === "" ? size : Math.min(size, Number(last) + 1);
  if (last !== "" && Number(last) < Number(first)) return undefined;
  return Number(first) >= size ? "unsatisfiable" : { begin: Number(first), end };
}
