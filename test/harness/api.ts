// The public API as a caller sees it: plain HTTP with a bearer key, answers with their status, headers and body as they
// came.

/** JSON over HTTP at one base URL. */
export interface Api {
  get(path: string, headers?: HeaderList): Promise<Answer>;
  post(path: string, body?: unknown, headers?: HeaderList): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: HeaderList): Promise<Answer>;
  put(path: string, body?: unknown, headers?: HeaderList): Promise<Answer>;
  delete(path: string, headers?: HeaderList): Promise<Answer>;
}

/** Header fields; a list of pairs can repeat a name. */
export type HeaderList = Record<string, string> | [string, string][];

const timeoutMs = 30_000; // longer than any deadline of the service, so that a hang is a failed test

/** A response. */
export class Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body's text. */
  readonly raw: string;
  /** The body's JSON object; empty for other bodies. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, headers: Headers, raw: string) {
    this.status = status;
    this.headers = headers;
    this.raw = raw;
    this.body = objectIn(raw);
  }

  /** The value under a dotted path, such as `render.frame_url` or `data.0.id`; undefined when missing. */
  at(path: string): unknown {
    return path.split(".").reduce<unknown>((value, key) => {
      if (typeof value !== "object" || value === null) return undefined;
      return Object.entries(value).find(([name]) => name === key)?.[1];
    }, this.body);
  }

  /** The text under a path; throws, with the answer, when missing. */
  text(path: string): string {
    const value = this.at(path);
    if (typeof value !== "string") throw new Error(`no text at ${path} in ${this}`);
    return value;
  }

  /** The number under a path; throws, with the answer, when missing. */
  number(path: string): number {
    const value = this.at(path);
    if (typeof value !== "number") throw new Error(`no number at ${path} in ${this}`);
    return value;
  }

  /** The list under a path; throws, with the answer, when missing. */
  list(path: string): readonly unknown[] {
    const value = this.at(path);
    if (!Array.isArray(value)) throw new Error(`no list at ${path} in ${this}`);
    return value;
  }

  /** The same answer when it has this status; throws with the answer otherwise. */
  expect(status: number): this {
    if (this.status !== status) throw new Error(`expected ${status}, got ${this}`);
    return this;
  }

  toString(): string {
    return `${this.status} ${this.raw.slice(0, 500)}`;
  }
}

/** @param baseUrl such as the gateway's; @param headers sent with each request */
export function apiClient(baseUrl: string, headers: Record<string, string> = {}): Api {
  const call = async (method: string, path: string, body: unknown, more: HeaderList = {}) => {
    const all = new Headers(headers);
    for (const [name, value] of new Headers(more)) all.set(name, value);
    const hasBody = body !== undefined;
    if (hasBody && !all.has("content-type")) all.set("content-type", "application/json");
    const answer = await fetch(new URL(path, baseUrl), {
      method,
      headers: all,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
      ...(hasBody ? { body: typeof body === "string" || isBytes(body) ? body : JSON.stringify(body) } : {}),
    });
    return new Answer(answer.status, answer.headers, await answer.text());
  };
  return {
    get: (path, more) => call("GET", path, undefined, more),
    post: (path, body, more) => call("POST", path, body, more),
    patch: (path, body, more) => call("PATCH", path, body, more),
    put: (path, body, more) => call("PUT", path, body, more),
    delete: (path, more) => call("DELETE", path, undefined, more),
  };
}

/** The API as a merchant's backend calls it. */
export function merchantApi(baseUrl: string, apiKey: string): Api {
  return apiClient(baseUrl, { authorization: `Bearer ${apiKey}` });
}

function isBytes(body: unknown): body is Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array;
}

function objectIn(raw: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
