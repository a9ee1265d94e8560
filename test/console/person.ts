// A signed-in person without a browser: pages and forms of their session over plain HTTP, also in parallel.
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import type { Visit } from "../harness/browser.ts";

export interface PageResponse {
  readonly status: number;
  readonly text: string;
  /** Address of a redirect, or empty. */
  readonly location: string;
  readonly headers: Headers;
}

export interface Person {
  get(path: string): Promise<PageResponse>;
  /** The response over HTTP/1.0, which ends with the connection. @throws if the connection is reset */
  getByHttp10(path: string): Promise<string>;
  /** The token of the session's forms. */
  readonly token: string;
  /** Sends a form with the token from our own page, unless fields or headers differ. */
  post(
    path: string,
    fields?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<PageResponse>;
  /** Hidden fields of the page's last form with this action; default: the last form without an action. */
  fieldsOf(path: string, action?: string): Promise<Record<string, string>>;
  /** Sends any body. */
  send(path: string, type: string, body: string): Promise<PageResponse>;
  /** Sends a form with a file. */
  upload(
    path: string,
    fields: Readonly<Record<string, string>>,
    file: Uint8Array,
    name?: string,
  ): Promise<PageResponse>;
}

/** Confirms with the virtual passkey if the page asks for proof. */
export async function confirmIfPrompted(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Confirm with a passkey" });
  if ((await button.count()) > 0) await button.click();
}

/** The signed-in person of a visit. @param page any of their pages with a form */
export async function personOf({ context }: Pick<Visit, "context">, stack: StackInfo, page: string): Promise<Person> {
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const origin = stack.console ?? "";
  const load = async (path: string, init: RequestInit = {}): Promise<PageResponse> => {
    const headers = { cookie, "sec-fetch-site": "same-origin", "accept-language": "en", ...init.headers };
    const answer = await fetch(`${origin}${path}`, { redirect: "manual", ...init, headers });
    const location = answer.headers.get("location") ?? "";
    return { status: answer.status, text: await answer.text(), location, headers: answer.headers };
  };
  const tokenIn = (text: string) => /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const token = tokenIn((await load(page)).text);
  return {
    token,
    get: (path) => load(path),
    async getByHttp10(path) {
      const { hostname, port } = new URL(origin);
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${path} HTTP/1.0\r\ncookie: ${cookie}\r\n\r\n`);
      return await text(socket);
    },
    post: (path, fields = {}, headers = {}) =>
      load(path, {
        method: "POST",
        headers,
        body: new URLSearchParams({ form_token: token, ...fields }),
      }),
    async fieldsOf(path, action = "") {
      const { text } = await load(path);
      const forms = [...text.matchAll(/<form method="post"([^>]*)>([\s\S]*?)<\/form>/g)];
      const found = forms.filter(([, attributes = ""]) =>
        action === "" ? !attributes.includes("action=") : attributes.includes(`action="${action}"`),
      );
      const inputs = found.at(-1)?.[2]?.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g) ?? [];
      return Object.fromEntries([...inputs].map(([, name = "", value = ""]) => [name, value]));
    },
    send: (path, type, body) => load(path, { method: "POST", headers: { "content-type": type }, body }),
    upload(path, fields, file, name = "receipt.pdf") {
      const form = new FormData();
      for (const [field, value] of Object.entries({ form_token: token, ...fields })) form.append(field, value);
      form.append("file", new Blob([new Uint8Array(file)]), name);
      return load(path, { method: "POST", body: form });
    },
  };
}
