// Talks to a console as its pages do, without a browser: a signed-in person's cookie, and forms with the token of a
// page that they were shown.
import type { BrowserContext } from "playwright-core";

/** Somebody who is signed in. */
export interface SignedIn {
  readonly origin: string;
  readonly cookie: string;
}

export async function signedIn(context: BrowserContext, origin: string): Promise<SignedIn> {
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  return { origin, cookie };
}

export async function getPage({ origin, cookie }: SignedIn, path: string): Promise<Response> {
  return await fetch(`${origin}${path}`, { redirect: "manual", headers: { cookie } });
}

/** The token that the person's forms carry. */
export async function tokenOf(person: SignedIn): Promise<string> {
  const text = await (await getPage(person, "/account")).text();
  const [, token = ""] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
  return token;
}

/** Sends a form as the browser does from our own page, unless the headers say otherwise. */
export async function sendForm(
  { origin, cookie }: SignedIn,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = { "sec-fetch-site": "same-origin" },
): Promise<Response> {
  return await fetch(`${origin}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields),
  });
}
