// The console of a suspended or closed merchant refuses every registered form that this file does not list.
import assert from "node:assert/strict";
import Fastify, { type FastifyInstance } from "fastify";
import { connectPeer } from "#platform/rpc/client.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { merchantScreens } from "../../gateway/console/screens/merchant-screens.ts";
import type { ConsoleContext } from "../../gateway/console/session/visit.ts";
import { browserSuite } from "../harness/browser.ts";
import { openAs, sharedConsoles } from "../harness/console.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { fixture, suite } from "../harness/suite.ts";
import { type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";

const test = suite("console standing", { timeoutMs: 180_000, hookTimeoutMs: 240_000 });
const visit = browserSuite(test);

/** Forms that move money to customers only, and notes. */
const whileSuspended = [
  "/disputes/:disputeId/accept",
  "/disputes/:disputeId/evidence",
  "/disputes/:disputeId/evidence/edit",
  "/disputes/:disputeId/evidence/send",
  "/disputes/:disputeId/files",
  "/payments/:paymentId/cancel",
  "/payments/:paymentId/notes",
  "/payments/:paymentId/receipt",
  "/payments/:paymentId/refund",
];
/** A person's own settings, the check of a processor account, and reports. */
const always = ["/notifications", "/payments", "/payments/views/delete", "/processors/:id/check", "/reports"];
const refusal = /This account is suspended or closed/;

const stack = fixture(test, sharedConsoles);
const merchant = fixture(test, () => freshMerchant(stack));
let owner: Person;
let base: string;
let ids: Readonly<Record<string, string>>;
const routes: { readonly method: string; readonly path: string }[] = [];

test.before(async () => {
  base = `/${merchant.id}/sandbox`;
  const { payment: paid } = await makePurchase(stack, merchant);
  const { payment: authorized } = await makePurchase(stack, merchant, { capture_method: "manual" });
  const { dispute } = await disputedPurchase(stack, merchant);
  ids = { ":paymentId": paid, ":authorized": authorized, ":disputeId": dispute };
  owner = await personOf(
    await openAs(visit, stack, { email: "owner@standing.example", merchantId: merchant.id }),
    stack,
    "/account",
  );
  const app: FastifyInstance = Fastify();
  app.addHook("onRoute", ({ method, url }) => {
    const [, path] = /^\/:merchantId\/:environment(\/.*)$/.exec(url) ?? [];
    for (const each of [method].flat()) if (path !== undefined) routes.push({ method: each, path });
  });
  // The screens are registered only; they call no service.
  merchantScreens({ app, peers: {} } as ConsoleContext);
  assert(routes.filter(({ method }) => method === "POST").length > 30);
});

async function become(status: "active" | "suspended" | "closed"): Promise<void> {
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  await peer.client(MerchantService).updateMerchantState({ merchantId: merchant.id, status, reason: "A test" });
  peer.close();
}

/** The route with known ids, or an unknown one. */
function addressOf(path: string, known: Readonly<Record<string, string>> = {}): string {
  const unknown = "pay_00000000000000000000000000";
  return `${base}${path.replace(/:\w+/g, (name) => known[name] ?? unknown)}`;
}

const isRefused = ({ status, text }: { readonly status: number; readonly text: string }) =>
  status === 403 && refusal.test(text);

/** Forms that the merchant's status does not refuse, sent empty and for unknown objects. */
async function openForms(): Promise<string[]> {
  const open: string[] = [];
  for (const { method, path } of routes) {
    if (method === "POST" && !isRefused(await owner.post(addressOf(path)))) open.push(path);
  }
  return open.sort();
}

for (const [status, open] of [
  ["suspended", [...always, ...whileSuspended]],
  ["closed", always],
] as const) {
  visit.alone(`accepts only the listed forms of a ${status} merchant and links to no others`, async () => {
    await become(status);
    try {
      assert.deepEqual(await openForms(), [...open].sort());
      const shown: [string, string][] = [];
      const refusedPages = new Set<string>();
      for (const { method, path } of routes) {
        if (method !== "GET" || path.endsWith(".csv")) continue;
        const answer = await owner.get(addressOf(path, ids));
        if (isRefused(answer)) refusedPages.add(path);
        for (const [, kind = "", address = ""] of answer.text.matchAll(/(href|action)="([^"]+)"/g)) {
          shown.push([kind === "href" ? "GET" : "POST", address.split("?")[0] ?? ""]);
        }
      }
      assert(refusedPages.has("/keys/new") && refusedPages.has("/payments/:paymentId/capture"));
      const closedForms = routes.filter(({ method, path }) => method === "POST" && !open.includes(path));
      const closedPages = [...refusedPages].map((path) => ({ method: "GET", path }));
      for (const { method, path } of [...closedForms, ...closedPages]) {
        const pattern = new RegExp(`^${base}${path.replaceAll(/:\w+/g, "[^/]+")}$`);
        const found = shown.find(
          ([kind, address]) => kind === method && pattern.test(address) && !isOpen(kind, address),
        );
        assert.equal(found, undefined, `a page offers ${method} ${path}`);
      }
    } finally {
      await become("active");
    }
  });

  /** A literal route wins in the router: `/keys/new` is not the page of a key. */
  function isOpen(method: string, address: string): boolean {
    return routes.some(
      (route) =>
        route.method === method &&
        address === `${base}${route.path}` &&
        (method === "GET" ? !route.path.endsWith("/new") : (open as readonly string[]).includes(route.path)),
    );
  }
}

test.run();
