// Reads all payments, page by page. Each page starts after the last payment of the previous one, so payments that are
// created meanwhile cause no gap or repeat.

/** @param {{ baseUrl: string, apiKey: string, query?: Record<string, string> }} options */
export async function* everyPayment({ baseUrl, apiKey, query = {} }) {
  let next = {};
  for (;;) {
    const page = new URL("/v1/payments", baseUrl);
    page.search = new URLSearchParams({ limit: "200", ...query, ...next }).toString();
    const answer = await fetch(page, { headers: { Authorization: `Bearer ${apiKey}` } });
    const body = await answer.json();
    if (!answer.ok) throw new Error(`${body.error.code} (${answer.headers.get("Request-Id")})`);
    yield* body.data;
    if (!body.has_more) return;
    next = { after: body.data.at(-1).id };
  }
}
