// The payment screens: rights at every address, other merchants' ids, hostile texts, CSV exports, and outages.
import assert from "node:assert/strict";
import type { Client } from "@connectrpc/connect";
import { connectPeer } from "#platform/rpc/client.ts";
import { Door, PeopleService } from "#proto/merchant/v1/people_pb.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { browserSuite, desktop } from "../harness/browser.ts";
import { openAs, signInNew, startConsoleStack } from "../harness/console.ts";
import { testPool } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { insertPaymentRows } from "../harness/payments/payment-rows.ts";
import { fixture, suite } from "../harness/suite.ts";
import { type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase, type Purchase } from "./purchases.ts";

const test = suite("console payments", { timeoutMs: 240_000, hookTimeoutMs: 240_000 });
const visit = browserSuite(test);
const running = fixture(test, () => startConsoleStack());
const merchant = fixture(test, () => freshMerchant(running.stack));
let base: string;
let bought: Purchase & { readonly dispute: string };

test.before(async () => {
  base = `/${merchant.id}/sandbox`;
  bought = await disputedPurchase(running.stack, merchant);
});

async function person(email: string, role = "owner", merchantId = merchant.id): Promise<Person> {
  const opened = await openAs(visit, running.stack, { email, role, merchantId });
  return await personOf(opened, running.stack, "/account");
}

/** Addresses of the money screens with their rights. */
const addresses = (of: { payment: string; session: string; dispute: string }) =>
  [
    ["GET", "/home", "payments.read"],
    ["GET", "/payments", "payments.read"],
    ["GET", "/payments.csv", "payments.export"],
    ["POST", "/payments", "payments.read"],
    ["POST", "/payments/views/delete", "payments.read"],
    ["GET", `/payments/${of.payment}`, "payments.read"],
    ["GET", `/payments/${of.payment}/refund`, "payments.refund"],
    ["POST", `/payments/${of.payment}/refund`, "payments.refund"],
    ["GET", `/payments/${of.payment}/capture`, "payments.capture"],
    ["POST", `/payments/${of.payment}/capture`, "payments.capture"],
    ["GET", `/payments/${of.payment}/cancel`, "payments.capture"],
    ["POST", `/payments/${of.payment}/cancel`, "payments.capture"],
    ["GET", "/refunds", "payments.read"],
    ["GET", "/refunds.csv", "payments.export"],
    ["GET", "/balance", "payments.read"],
    ["GET", "/payouts", "payments.read"],
    ["GET", "/payouts/po_01m88cq0bxae1npmyyk7tcq626", "payments.read"],
    ["GET", "/payouts/po_01m88cq0bxae1npmyyk7tcq626/transactions.csv", "payments.export"],
    ["GET", "/reports", "payments.export"],
    ["POST", "/reports", "payments.export"],
    ["GET", "/reports/rpt_01m88cq0bxae1npmyyk7tcq626/file", "payments.export"],
    ["GET", "/disputes", "payments.read"],
    ["GET", `/disputes/${of.dispute}`, "payments.read"],
    ["GET", `/disputes/${of.dispute}/accept`, "disputes.answer"],
    ["POST", `/disputes/${of.dispute}/accept`, "disputes.answer"],
    ["POST", `/disputes/${of.dispute}/files`, "disputes.answer"],
    ["GET", `/disputes/${of.dispute}/files/file_01m88cq0bxae1npmyyk7tcq626`, "disputes.answer"],
    ["POST", `/disputes/${of.dispute}/evidence`, "disputes.answer"],
    ["POST", `/disputes/${of.dispute}/evidence/edit`, "disputes.answer"],
    ["POST", `/disputes/${of.dispute}/evidence/send`, "disputes.answer"],
    ["GET", "/links", "payments.read"],
    ["GET", "/links/new", "links.write"],
    ["POST", "/links/new", "links.write"],
    ["GET", "/checkouts", "payments.read"],
    ["GET", `/checkouts/${of.session}`, "payments.read"],
    ["POST", `/checkouts/${of.session}/end`, "links.write"],
  ] as const;

/** Controls of the pages with their rights. */
const controls = [
  [(of: Purchase) => `/payments/${of.payment}`, /Ledger/, "books.read"],
  [() => "/payments", /payments\.csv/, "payments.export"],
  [() => "/links", /links\/new/, "links.write"],
  [() => `/disputes/${bought.dispute}`, /Review response/, "disputes.answer"],
  [() => `/disputes/${bought.dispute}`, /\/accept/, "disputes.answer"],
] as const;

visit.alone("opens exactly the addresses and controls of each role's rights", async () => {
  const { roles } = await onPeople((people) => people.listRoles({ door: Door.MERCHANTS }));
  assert.ok(roles.length >= 6);
  const open = await makePurchase(running.stack, merchant);
  // Irreversible forms go to objects that refuse them; the owner, who may send all, comes last.
  const sorted = roles.toSorted((a, b) => a.actions.length - b.actions.length);
  for (const { name, actions } of sorted) {
    const visitor = await person(`${name}@roles.example`, name);
    for (const [method, path, action] of addresses(bought)) {
      if (method === "POST" && path.includes("/accept")) continue;
      const answer =
        method === "GET" ? await visitor.get(base + path) : await visitor.post(base + path, { amount: "0" });
      const may = actions.includes(action);
      assert.equal(answer.status === 403, !may, `${name} ${method} ${path}: ${answer.status}`);
      assert.ok(answer.status < 500, `${name} ${method} ${path}: ${answer.status}`);
    }
    for (const [path, control, action] of controls) {
      const { text } = await visitor.get(base + path(open));
      assert.equal(control.test(text), actions.includes(action), `${name} ${path(open)} ${control}`);
    }
    const refund = (await visitor.get(`${base}/payments/${open.payment}`)).text.includes(`${open.payment}/refund`);
    assert.equal(refund, actions.includes("payments.refund"), name);
  }
});

visit.alone("answers 404 for another merchant's ids at every address", async () => {
  const other = await freshMerchant(running.stack);
  const theirs = await disputedPurchase(running.stack, other);
  const mine = await person("foreign@example.com");
  for (const [method, path] of addresses(theirs)) {
    const whole = [`/${other.id}/sandbox${path}`, ...(/(pay|cs|dp)_/.test(path) ? [base + path] : [])];
    for (const address of whole) {
      const answer = method === "GET" ? await mine.get(address) : await mine.post(address, { amount: "1.00" });
      assert.equal(answer.status, 404, `${method} ${address}`);
      assert.ok(!answer.text.includes(other.id) && !answer.text.includes("ada@example.com"));
    }
  }
  // Objects of one environment are unknown in the other.
  for (const path of [`/payments/${bought.payment}`, `/disputes/${bought.dispute}`, `/checkouts/${bought.session}`]) {
    assert.equal((await mine.get(`/${merchant.id}/live${path}`)).status, 404);
  }
  for (const path of [
    "/payments/pay_1",
    "/payments/..%2f..%2f",
    "/disputes/dp_x",
    "/links/cs_",
    "/payments?after=pay_1",
  ]) {
    assert.equal((await mine.get(base + path)).status, 404, path);
  }
  assert.equal((await other.api.get(`/v1/payments/${theirs.payment}`)).number("refunded_amount"), 0);
});

const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}\u00e9'`;

visit(
  "escapes texts of shops, customers and members on every page",
  async ({ page, context }) => {
    const texts = { description: hostile, reference: hostile, metadata: { [`k${hostile}`.slice(0, 40)]: hostile } };
    const email = "a&b'<b>@example.com".replace(/[<>]/g, "+");
    const odd = await makePurchase(running.stack, merchant, { ...texts, customer_email: email });
    (await merchant.api.post(`/v1/payments/${odd.payment}/refunds`, { amount: 100, reason: hostile })).expect(201);
    const declined = await makePurchase(running.stack, merchant, texts, cards.declined);
    const lines = [{ name: hostile, quantity: 1, amount: 500 }];
    const open = (
      await merchant.api.post("/v1/checkout-sessions", { ...texts, amount: 500, currency: "EUR", line_items: lines })
    ).expect(201);
    await signInNew({ page, context }, running.stack, {
      email: "xss@example.com",
      name: hostile,
      merchantId: merchant.id,
    });
    let dialogs = 0;
    page.on("dialog", () => (dialogs += 1));
    const paths = [
      ...[
        "/home",
        "/payments",
        `/payments?q=${encodeURIComponent(hostile)}`,
        "/refunds",
        "/checkouts",
        "/disputes?view=all",
      ],
      ...[`/payments/${odd.payment}`, `/payments/${odd.payment}/refund`, `/payments/${declined.payment}`],
      ...[
        `/checkouts/${open.text("id")}`,
        `/refunds?payment=${encodeURIComponent(hostile)}`,
        `/payments?min=${encodeURIComponent(hostile)}`,
      ],
      ...[
        `/payments?currency=${encodeURIComponent("<b>")}`,
        `/links?q=${encodeURIComponent(hostile)}`,
        `/home?done=${encodeURIComponent(hostile)}`,
      ],
    ];
    for (const path of paths) {
      await page.goto(`${running.stack.console}${base}${path}`);
      assert.equal(await page.locator("main img, main script:not([type='application/json'])").count(), 0, path);
    }
    await page.goto(`${running.stack.console}${base}/payments/${odd.payment}`);
    await page.getByText(hostile, { exact: true }).first().waitFor();
    assert.equal(dialogs, 0);
  },
  { viewport: desktop },
);

visit.alone("exports exactly the filtered payments with harmless cells", async () => {
  const own = await freshMerchant(running.stack);
  const at = `/${own.id}/sandbox`;
  const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", '=cmd|"/c calc"!A1', 'a "quoted", text', "plain"];
  const made: string[] = [];
  for (const reference of formulas)
    made.push((await makePurchase(running.stack, own, { reference, amount: 1_000 })).payment);
  const owner = await person("csv@example.com", "owner", own.id);
  const file = await owner.get(`${at}/payments.csv`);
  assert.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.match(file.headers.get("content-disposition") ?? "", /^attachment; filename="payments-sandbox-/);
  assert.equal(file.headers.get("cache-control"), "no-store");
  const rows = file.text
    .replace(/^\ufeff/, "")
    .trimEnd()
    .split("\r\n");
  assert.equal(rows.length, 1 + formulas.length);
  assert.deepEqual(
    rows.slice(1).map((row) => row.split(",")[0]),
    made.toReversed(),
  );
  for (const row of rows) for (const cell of cellsOf(row)) assert.ok(!/^[=+\-@\t\r]/.test(cell), cell);
  assert.ok(file.text.includes(`"a ""quoted"", text"`));
  assert.ok(file.text.includes("'=1+1") && file.text.includes(",10.00,EUR,"));
  const some = await owner.get(`${at}/payments.csv?reference=plain&after=${made[0]}`);
  assert.equal(some.text.trimEnd().split("\r\n").length, 2, "the export ignores the page");
  assert.match((await owner.get(`${at}/payments?reference=plain`)).text, /Download 1 payment \(CSV/);
  assert.equal((await owner.get(`${at}/payments.csv?min=abc`)).status, 404);
});

visit.alone("an unknown status or event type in an address shows the list without that filter", async () => {
  const owner = await person("addresses@example.com");
  await eventually("the event", async () =>
    (await owner.get(`${base}/events?type=payment.disputed`)).text.includes("evt_"),
  );
  for (const path of ["payments?status", "payments.csv?status", "refunds?status", "checkouts?status", "events?type"]) {
    const unfiltered = (await owner.get(`${base}/${path.split("?")[0]}`)).text;
    const { status, text } = await owner.get(`${base}/${path}=no_such`);
    assert.equal(status, 200, path);
    assert.ok(!text.includes("no_such"), path);
    const idsIn = (page: string) => [...new Set(page.match(/(pay|cs|evt|re)_[0-9a-z]{26}/g))];
    assert.deepEqual(idsIn(text), idsIn(unfiltered), path);
  }
});

visit.alone("exports every payment of several pages once, newest first", async () => {
  const own = await freshMerchant(running.stack);
  const pool = testPool(databaseUrlOf(running.stack.database, "payments"), 1);
  const rows = { merchantId: own.id, count: 2_300, days: 20, until: new Date(), batch: 1 };
  await insertPaymentRows(pool, rows);
  const { rows: made } = await pool.query(
    "select id, status from payments where merchant_id = $1 order by created_at desc, id desc",
    [own.id],
  );
  await pool.end();
  const owner = await person("pages@example.com", "owner", own.id);
  for (const status of ["", "succeeded"]) {
    const file = await owner.get(`/${own.id}/sandbox/payments.csv?status=${status}`);
    const wanted = made.filter((payment) => status === "" || payment.status === status).map(({ id }) => id);
    assert.ok(wanted.length > 2_000);
    const [, ...lines] = file.text.trimEnd().split("\r\n");
    assert.deepEqual(
      lines.map((line) => line.split(",")[0]),
      wanted,
    );
  }
});

type EndAccess = (owner: Person, member: Member) => Promise<unknown>;

const signOut: EndAccess = (owner) => owner.post("/sign-out");
const accessEnds: readonly (readonly [what: string, get: "get" | "getByHttp10", endAccess: EndAccess])[] = [
  ["signs out", "get", signOut],
  ["signs out over HTTP/1.0", "getByHttp10", signOut],
  ["is removed", "get", (_owner, member) => onPeople((people) => people.removeMember(member))],
  [
    "loses the right",
    "get",
    (_owner, member) => onPeople((people) => people.updateMember({ ...member, role: "viewer" })),
  ],
];

interface Member {
  readonly door: Door;
  readonly merchantId: string;
  readonly personId: string;
}

async function onPeople<T>(work: (people: Client<typeof PeopleService>) => Promise<T>): Promise<T> {
  const peer = connectPeer({ url: running.stack.rpc.merchant, token: running.stack.rpc_token });
  try {
    return await work(peer.client(PeopleService));
  } finally {
    peer.close();
  }
}

for (const [what, get, endAccess] of accessEnds) {
  visit.alone(`breaks off an export when its person ${what}`, async () => {
    const own = await freshMerchant(running.stack);
    const pool = testPool(databaseUrlOf(running.stack.database, "payments"), 2);
    await insertPaymentRows(pool, { merchantId: own.id, count: 2_300, days: 20, until: new Date(), batch: 1 });
    const owner = await person(`${what.replaceAll(/[^a-z0-9]/gi, "-")}@example.com`, "owner", own.id);
    // The request is admitted, and its first page waits for the lock.
    const holder = await pool.connect();
    await holder.query("begin; lock table payments in access exclusive mode");
    const ended = assert.rejects(owner[get](`/${own.id}/sandbox/payments.csv`), /terminated|ECONNRESET/);
    await eventually("the first page to wait", async () => {
      const waiting = `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from payments t%'`;
      return (await pool.query(waiting)).rowCount === 1;
    });
    const scope = { door: Door.MERCHANTS, merchantId: own.id };
    const { members } = await onPeople((people) => people.listMembers(scope));
    await endAccess(owner, { ...scope, personId: members[0]?.person?.id ?? "" });
    await holder.query("rollback");
    holder.release();
    await ended;
    await pool.end();
  });
}

function cellsOf(row: string): string[] {
  return [...row.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = ""]) => cell.replace(/^"|"$/g, ""));
}

visit(
  "keeps filters in the address, reports wrong ones, and saves them as a view",
  async ({ page, context }) => {
    const own = await freshMerchant(running.stack);
    const at = `${running.stack.console}/${own.id}/sandbox/payments`;
    await makePurchase(running.stack, own, { amount: 1_000, reference: "small" });
    await makePurchase(running.stack, own, { amount: 5_000, reference: "large" });
    await makePurchase(running.stack, own, { amount: 500, currency: "JPY", reference: "yen" });
    await signInNew({ page, context }, running.stack, { email: "filters@example.com", merchantId: own.id });
    const shown = async () => await page.locator("tbody tr").count();
    await page.goto(at);
    assert.equal(await shown(), 3);
    await page.getByText("More filters").click();
    await page.getByLabel("Minimum amount").fill("20");
    await page.getByLabel("Created after").fill(new Date().toISOString().slice(0, 10));
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("1 payment", { exact: true }).waitFor();
    assert.match(page.url(), /min=20/);
    await page.getByText("Saved views").click();
    await page.getByLabel("View name").fill("Big <i>ones</i>");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByText("View saved.").waitFor();
    await page.getByRole("link", { name: "Remove filter Minimum amount" }).click();
    assert.equal(await shown(), 3);
    await page.getByText("Saved views").click();
    await page.getByRole("link", { name: "Big <i>ones</i>" }).click();
    assert.equal(await shown(), 1);
    await page.getByText("Saved views").click();
    await page.getByRole("button", { name: "Delete view Big <i>ones</i>" }).click();
    await page.getByText("View deleted.").waitFor();
    // 500 yen are 500 minor units.
    await page.goto(`${at}?currency=jpy&min=500&max=500`);
    assert.equal(await shown(), 1);
    for (const query of ["min=abc", "from=2026-02-30", "to=yesterday", "currency=XYZ", "currency=JPY&min=5.5"]) {
      const answer = await page.goto(`${at}?${query}`);
      assert.equal(answer?.status(), 422, query);
      await page.locator(".problems").waitFor();
    }
  },
  { viewport: desktop },
);

visit.alone("shows figures, open tasks and finished steps on the home screen", async () => {
  const own = await freshMerchant(running.stack);
  const at = `/${own.id}/sandbox`;
  const owner = await person("home@example.com", "owner", own.id);
  const before = (await owner.get(`${at}/home`)).text;
  assert.match(before, /No payments in the last 30 days/);
  assert.match(before, /Nothing needs your attention/);
  assert.match(before, /is-open[^<]*"><[^>]*>[^<]*<\/span><a[^>]*>Create a checkout session/);
  const paid = await makePurchase(running.stack, own, { amount: 4_000 });
  await makePurchase(running.stack, own, { amount: 6_000 }, cards.declined);
  (await own.api.post(`/v1/payments/${paid.payment}/refunds`, { amount: 1_500 })).expect(201);
  await disputedPurchase(running.stack, own);
  const { text } = await owner.get(`${at}/home`);
  assert.match(text, /figure-amount[\s\S]*?€82\.50/);
  assert.match(text, /66\.7%/);
  assert.match(text, /€15\.00/);
  assert.match(text, /Disputes that need a response: 1/);
  assert.match(text, /is-done[\s\S]*Create a checkout session/);
  assert.match(text, /<svg class="chart"/);
});

visit.alone("names the missing part of a page during an outage", async () => {
  const owner = await person("away@example.com");
  const paths = { home: `${base}/home`, payment: `${base}/payments/${bought.payment}`, list: `${base}/payments` };
  await running.halt("webhook");
  const noWebhook = await owner.get(paths.payment);
  assert.equal(noWebhook.status, 200);
  assert.match(noWebhook.text, /Webhook deliveries unavailable/);
  assert.match(noWebhook.text, /Payment of €42\.50/);
  assert.match((await owner.get(paths.home)).text, /Webhooks unavailable/);
  assert.match((await owner.get(`${base}/webhooks`)).text, /Webhooks unavailable right now/);
  assert.match((await owner.get(`${base}/events`)).text, /Events unavailable right now/);
  assert.equal((await owner.get(`${base}/keys`)).status, 200);
  await running.resume("webhook");
  await running.halt("payments");
  const [home, payment, list] = await Promise.all([
    owner.get(paths.home),
    owner.get(paths.payment),
    owner.get(paths.list),
  ]);
  assert.deepEqual([home.status, payment.status, list.status], [200, 200, 200]);
  assert.match(home.text, /Figures unavailable/);
  assert.match(payment.text, /Payment unavailable/);
  assert.match(list.text, /Payments unavailable/);
  const refund = await owner.get(`${base}/payments/${bought.payment}/refund`);
  assert.equal(refund.status, 503);
  assert.equal((await owner.get(`${base}/payments.csv`)).status, 503);
  await running.resume("payments");
  await eventually("the payment to be shown again", async () =>
    /Payment of €/.test((await owner.get(paths.payment)).text),
  );
});

test.run();
