// Reads every payment, page by page. Each page follows the last payment of the page before, so that one that is made
// meanwhile repeats and hides none.

/** @param {{ baseUrl: string, apiKey: string, query?: Record<string, string> }} options */
export async function* everyPayment({ baseUrl, apiKey, query = {} }) {
  let behind = {};
  for (;;) {
    const page = new URL("/v1/payments", baseUrl);
    page.search = new URLSearchParams({ limit: "200", ...query, ...behind }).toString();
    const answer = await fetch(page, { headers: { Authorization: `Bearer ${apiKey}` } });
    const body = await answer.json();
    if (!answer.ok) throw new Error(`${body.error.code} (${answer.headers.get("Request-Id")})`);
    yield* body.data;
    if (!body.has_more) return;
    behind = { after: body.data.at(-1).id };
  }
}
