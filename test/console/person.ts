// Somebody who is signed in, without a browser: pages and forms of their session by plain HTTP, as scripts and several
// tabs at once would ask for them.
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import type { Visit } from "../harness/browser.ts";

/** What a page of the console answered. */
export interface PageResponse {
  readonly status: number;
  readonly text: string;
  /** Where it leads to; empty: nowhere. */
  readonly location: string;
  readonly headers: Headers;
}

export interface Person {
  get(path: string): Promise<PageResponse>;
  /** All that comes over HTTP/1.0, which tells no end of a body but the connection's. @throws when that is reset */
  getByHttp10(path: string): Promise<string>;
  /** Sends a form with a token of the session. */
  post(path: string, fields?: Readonly<Record<string, string>>): Promise<PageResponse>;
  /** The hidden fields of the last form of a page that sends to itself, or of the one that sends to `action`. */
  fieldsOf(path: string, action?: string): Promise<Record<string, string>>;
  /** Sends any body, as no page of ours does. */
  send(path: string, type: string, body: string): Promise<PageResponse>;
  /** Sends a form with a file behind its fields. */
  upload(
    path: string,
    fields: Readonly<Record<string, string>>,
    file: Uint8Array,
    name?: string,
  ): Promise<PageResponse>;
}

/** Of the person who is signed in in this visit. @param page any page of theirs that has a form */
export async function personOf({ context }: Pick<Visit, "context">, stack: StackInfo, page: string): Promise<Person> {
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const origin = stack.console ?? "";
  const ask = async (path: string, init: RequestInit = {}): Promise<PageResponse> => {
    const headers = { cookie, "sec-fetch-site": "same-origin", "accept-language": "en", ...init.headers };
    const answer = await fetch(`${origin}${path}`, { redirect: "manual", ...init, headers });
    const location = answer.headers.get("location") ?? "";
    return { status: answer.status, text: await answer.text(), location, headers: answer.headers };
  };
  const tokenIn = (text: string) => /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const token = tokenIn((await ask(page)).text);
  return {
    get: (path) => ask(path),
    async getByHttp10(path) {
      const { hostname, port } = new URL(origin);
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${path} HTTP/1.0\r\ncookie: ${cookie}\r\n\r\n`);
      return await text(socket);
    },
    post: (path, fields = {}) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ form_token: token, ...fields }),
      }),
    async fieldsOf(path, action = "") {
      const { text } = await ask(path);
      const forms = [...text.matchAll(/<form method="post"([^>]*)>([\s\S]*?)<\/form>/g)];
      const found = forms.filter(([, attributes = ""]) =>
        action === "" ? !attributes.includes("action=") : attributes.includes(`action="${action}"`),
      );
      const inputs = found.at(-1)?.[2]?.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g) ?? [];
      return Object.fromEntries([...inputs].map(([, name = "", value = ""]) => [name, value]));
    },
    send: (path, type, body) => ask(path, { method: "POST", headers: { "content-type": type }, body }),
    upload(path, fields, file, name = "receipt.pdf") {
      const form = new FormData();
      for (const [field, value] of Object.entries({ form_token: token, ...fields })) form.append(field, value);
      form.append("file", new Blob([new Uint8Array(file)]), name);
      return ask(path, { method: "POST", body: form });
    },
  };
}
