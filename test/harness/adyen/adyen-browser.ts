// The browser side of Adyen's stand-in: a session's setup, payments and details, the bank's page of a redirect, and the
// files of Adyen Web. Each answer brings a new sessionData; an old one is refused.
import type { BrowserContext } from "playwright-core";
import { membersOf } from "#platform/values/unchecked.ts";
import { type AdyenAccount, newSecret, type Outcome } from "./adyen-account.ts";
import { timeOf } from "./adyen-notifications.ts";
import { makeRoute, type Reply, type Route, refusalReply } from "./adyen-routes.ts";
import { webFiles } from "./adyen-web.ts";

/** Cards whose bank wants to see the buyer on its own page. */
const redirecting = new Set(["4212345678910006", "4917610000000000"]);
/** By the name on the card, as in Adyen's test environment. */
const refusals: Readonly<Record<string, string>> = {
  ...{ DECLINED: "Refused", CARD_EXPIRED: "Expired Card", NOT_ENOUGH_BALANCE: "Not enough balance" },
  CVC_DECLINED: "CVC Declined",
};
const anyOrigin = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
const host = "https://checkoutshopper-test.adyen.com/checkoutshopper";

/** Pages of the context get the stand-in at Adyen's own addresses. */
export async function routeAdyen(context: BrowserContext, url: string): Promise<void> {
  await context.route(/^https:\/\/checkoutshopper-test(?:\.cdn)?\.adyen\.com\//, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    const answered = route.fetch({ url: `${url}${pathname}${search}` }).then((response) => route.fulfill({ response }));
    await answered.catch(() => undefined); // the page is gone
  });
}

type BrowserRequest = { method: string; path: string; query: URLSearchParams; body: unknown };

export function serveBrowser(accounts: readonly AdyenAccount[], request: BrowserRequest): Reply {
  const reply = request.method === "OPTIONS" ? { status: 204, body: "" } : answerBrowser(accounts, request);
  return { ...reply, headers: { ...reply.headers, ...anyOrigin } };
}

function answerBrowser(accounts: readonly AdyenAccount[], { path, query, body }: BrowserRequest): Reply {
  const file = path.split("/").at(-1) ?? "";
  const type = { js: "text/javascript", css: "text/css" }[file.split(".")[1] ?? ""] ?? "text/html";
  const text = file === "bank" ? bankPage(query) : webFiles[file];
  if (text !== undefined) return { status: 200, body: text, headers: { "content-type": type } };
  const [, id = "", step] = /\/v1\/sessions\/(\w+)\/(setup|payments|paymentDetails)$/.exec(path) ?? [];
  const account = accounts.find((each) => each.credentials.clientKey === query.get("clientKey") && each.pages.has(id));
  const page = account?.pages.get(id);
  if (!account || !page) return refusalReply(401, "000", "Unauthorized");
  const { sessionData, paymentMethod, details } = membersOf(body);
  // A try that is at the bank may end after its session.
  const isLate = step === "paymentDetails" && account.statusOf(page) === "expired";
  const isOpen = sessionData === page.sessionData && (isLate || account.statusOf(page) === "active");
  if (!isOpen) return refusalReply(422, "000", `Session is ${account.statusOf(page)}, or its data is old`);
  page.sessionData = newSecret();
  const reply = (more: object): Reply => ({ status: 200, body: { sessionData: page.sessionData, ...more } });
  const { amount, countryCode, returnUrl = "" } = page.request;
  if (step === "setup") return reply({ id, amount, countryCode, returnUrl, expiresAt: timeOf(page.expiresMs) });
  const { encryptedCardNumber, holderName } = membersOf(paymentMethod);
  const card = String(encryptedCardNumber).replace("test_", "");
  const url = `${host}/bank?${new URLSearchParams({ id, card, returnUrl })}`;
  const action = { type: "redirect", method: "GET", url };
  if (step === "payments" && redirecting.has(card)) return reply({ resultCode: "RedirectShopper", action });
  const outcome = step === "payments" ? { card, refused: refusals[String(holderName)] } : outcomeAtBank(id, details);
  account.pay(id, { ...outcome, isLate, method: { 5: "mc", 3: "amex" }[outcome.card.charAt(0)] ?? "visa" });
  return reply({ resultCode: outcome.refused ? "Refused" : "Authorised", sessionResult: account.sessionResult(id) });
}

/** A server may hand in what came back from the bank, in place of the buyer's browser. */
export const detailsRoute: Record<string, Route> = {
  "POST /v72/payments/details": makeRoute(
    "PaymentDetailsRequest",
    "PaymentDetailsResponse",
    200,
    ({ account, body }) => {
      const { details } = membersOf(body);
      const id = String(readResult(details).id);
      const outcome = outcomeAtBank(id, details);
      const payment = account.payments.get(account.pay(id, { ...outcome, isLate: true }));
      if (!payment) throw new Error("no payment");
      const { psp: pspReference, amount, reference: merchantReference, method: brand } = payment;
      const refusal = outcome.refused === undefined ? {} : { refusalReason: outcome.refused };
      const additionalData = { cardSummary: outcome.card.slice(-4), expiryDate: "03/2030" };
      const answer = {
        pspReference,
        amount,
        merchantReference,
        paymentMethod: { type: "scheme", brand },
        additionalData,
      };
      return { ...answer, resultCode: outcome.refused === undefined ? "Authorised" : "Refused", ...refusal };
    },
  ),
};

/** The bank's page, which leads back with a redirectResult; only the browser that hands it in pays. */
function bankPage(query: URLSearchParams): string {
  const links = ["approve", "refuse"].map((answer) => {
    const back = new URL(query.get("returnUrl") ?? "");
    const result = JSON.stringify({ id: query.get("id"), card: query.get("card"), answer });
    back.searchParams.set("redirectResult", Buffer.from(result).toString("base64"));
    back.searchParams.set("sessionId", query.get("id") ?? "");
    return `<a href="${back.href.replaceAll("&", "&amp;")}">${answer}</a>`;
  });
  return `<!doctype html><title>Bank</title>${links.join(" ")}`;
}

function outcomeAtBank(session: string, details: unknown): Outcome & { card: string } {
  const { id, card, answer } = readResult(details);
  return { card, refused: id === session && answer === "approve" ? undefined : "3D Not Authenticated" };
}

function readResult(details: unknown): { id: string; card: string; answer: string } {
  return JSON.parse(Buffer.from(String(membersOf(details).redirectResult), "base64").toString());
}
