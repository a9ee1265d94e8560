// Reads every payment, page by page: next_cursor is the next offset, 0 means that there is no more.

/** @param {{ baseUrl: string, apiKey: string, query?: Record<string, string> }} options */
export async function* everyPayment({ baseUrl, apiKey, query = {} }) {
  let offset = 0;
  do {
    const page = new URL("/v1/payments", baseUrl);
    page.search = new URLSearchParams({ ...query, limit: "200", offset: String(offset) }).toString();
    const answer = await fetch(page, { headers: { Authorization: `Bearer ${apiKey}` } });
    const body = await answer.json();
    if (!answer.ok) throw new Error(`${body.error.code} (${answer.headers.get("Request-Id")})`);
    yield* body.data;
    offset = body.next_cursor;
  } while (offset > 0);
}
