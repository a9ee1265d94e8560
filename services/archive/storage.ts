// Files of the archive in a folder or in an S3-compatible bucket. A file is written once and never changed.
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AwsClient } from "aws4fetch";
import { ConfigError } from "#platform/process/config.ts";
import { randomHex } from "#platform/values/id.ts";

export interface ArchiveStorage {
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** @param end exclusive */
  read(name: string, start: number, end: number): Promise<ArrayBuffer>;
}

/** @param key `ID:SECRET` of a bucket @throws ConfigError without it */
export function openStorage(url: URL, key: string | undefined): ArchiveStorage {
  if (url.protocol === "file:") return new Folder(fileURLToPath(url));
  if (key === undefined) throw new ConfigError("ARCHIVE_KEY is missing: ARCHIVE_URL is a bucket");
  return new Bucket(url, key);
}

class Folder implements ArchiveStorage {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Under another name first, so that a file is whole or absent. */
  async write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const path = join(this.#path, name);
    const unfinished = `${path}.${randomHex(4)}.unfinished`;
    await mkdir(dirname(path), { recursive: true });
    const file = await open(unfinished, "wx", 0o640);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  }

  async read(name: string, start: number, end: number): Promise<ArrayBuffer> {
    const file = await open(join(this.#path, name));
    try {
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
      if (bytesRead < bytes.length) throw new Error(`${name} ends before byte ${end}`);
      return bytes.buffer;
    } finally {
      await file.close();
    }
  }
}

// A file has some 20 MB; a range that answers a read has a few hundred kB.
const callMsMax = 60_000;

class Bucket implements ArchiveStorage {
  readonly #client: AwsClient;
  readonly #root: string;

  constructor(url: URL, key: string) {
    const at = key.indexOf(":");
    const region = url.searchParams.get("region");
    this.#client = new AwsClient({
      accessKeyId: key.slice(0, at),
      secretAccessKey: key.slice(at + 1),
      service: "s3",
      retries: 2,
      ...(region !== null && { region }),
    });
    this.#root = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  }

  async write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#call("PUT", name, { body: bytes });
  }

  async read(name: string, start: number, end: number): Promise<ArrayBuffer> {
    const answer = await this.#call("GET", name, { headers: { range: `bytes=${start}-${end - 1}` } });
    const bytes = await answer.arrayBuffer();
    if (bytes.byteLength !== end - start)
      throw new Error(`the bucket sent ${bytes.byteLength} bytes of ${end - start}`);
    return bytes;
  }

  async #call(method: string, name: string, call: RequestInit): Promise<Response> {
    const signal = AbortSignal.timeout(callMsMax);
    const answer = await this.#client.fetch(`${this.#root}/${name}`, { method, signal, ...call });
    if (answer.ok) return answer;
    await answer.body?.cancel();
    throw new Error(`the bucket answered ${method} with ${answer.status}`);
  }
}
