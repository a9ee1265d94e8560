// The operators' console in a real browser: dangerous actions need proof, adjustments need two people, roles are
// enforced on pages and forms, and every screen is accessible.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import type { Page } from "playwright-core";
import { connectPeer } from "#platform/rpc/client.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { axeViolations } from "../browser/page-suite.ts";
import { browserSuite, desktop, takeScreenshot, type Visit } from "../harness/browser.ts";
import { openAs, startConsoleStack } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { hostile, type OperatorObjects, prepareObjects, runSql, submitApplication } from "./operators-rig.ts";
import { confirmIfPrompted } from "./person.ts";
import { fitsWidth } from "./usable.ts";

const test = suite("operators' console", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
let running: RunningStack;
let stateDir: string;
let objects: OperatorObjects;
/** An owner, an operator and an auditor. */
let olga: Visit;
let omar: Visit;
let aude: Visit;

test.before(async () => {
  stateDir = await tempDir("operators");
  running = await startConsoleStack({ shape: "one", stateDir });
  objects = await prepareObjects(running, stateDir);
  const join = (name: string, role: string) =>
    openAs(inBrowser, running.stack, { email: `${name.toLowerCase()}@example.com`, name, role, merchantId: "" });
  olga = await join("Olga", "owner");
  omar = await join("Omar", "operator");
  aude = await join("Aude", "auditor");
});
test.after(async () => {
  await running?.stop();
  await rm(stateDir, { recursive: true, force: true });
});

const at = (path: string) => `${running.stack.operators_console}${path}`;
const merchant = () => running.stack.merchant_id;

/** Makes the next dangerous form ask for proof. */
async function expireProofs(): Promise<void> {
  await runSql(
    running.stack.database,
    "merchant",
    "update console_sessions set proved_at = now() - interval '6 minutes'",
  );
}

async function open(page: Page, summary: string): Promise<void> {
  await page.locator("summary", { hasText: summary }).click();
}

/** The only audit entry of an action on an object. */
async function audited(action: string, objectId: string) {
  const peer = connectPeer({ url: running.stack.rpc.merchant, token: running.stack.rpc_token });
  try {
    return await eventually(`${action} in the audit log`, async () => {
      const { entries } = await peer.client(AuditService).listAuditEntries({ action, objectId });
      assert.ok(entries.length <= 1, "once");
      return entries[0];
    });
  } finally {
    peer.close();
  }
}

async function nameOf(merchantId: string): Promise<string> {
  const [row] = await runSql(running.stack.database, "merchant", "select name from merchants where id = $1", [
    merchantId,
  ]);
  return String(row?.name);
}

async function idOf(email: string): Promise<string> {
  const [row] = await runSql(running.stack.database, "merchant", "select id from persons where email = $1", [email]);
  return String(row?.id);
}

inBrowser.alone("explains and approves an application, and names the person in the audit log", async () => {
  const { page } = olga;
  await page.goto(at("/applications"));
  await page.getByRole("link", { name: "Lemon Books" }).click();
  await open(page, "Approve");
  await page.getByText("invites the applicant as its owner").waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Application approved").waitFor();
  await page.getByRole("link", { name: /^mer_/ }).click();
  await page.getByRole("heading", { name: "Lemon Books" }).waitFor();
  assert.equal((await audited("application.approved", objects.application)).actor, await idOf("olga@example.com"));
});

inBrowser.alone("suspends a merchant after proof and activates it again", async () => {
  const { page } = omar;
  const [{ id } = {}] = await runSql(
    running.stack.database,
    "merchant",
    "select merchant_id as id from applications where id = $1",
    [objects.application],
  );
  await expireProofs();
  await page.goto(at(`/merchants/${id}`));
  await open(page, "Suspend");
  await page.getByText("Open sessions are canceled for good").first().waitFor();
  await page.getByLabel("Reason").first().fill("Card testing");
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("heading", { name: "Confirm it's you" }).waitFor();
  const [before] = await runSql(running.stack.database, "merchant", "select status from merchants where id = $1", [id]);
  assert.equal(before?.status, "active", "nothing happened before the proof");
  await page.getByRole("button", { name: /passkey/i }).click();
  await page.getByText("Merchant status changed.").waitFor();
  const [after] = await runSql(running.stack.database, "merchant", "select status from merchants where id = $1", [id]);
  assert.equal(after?.status, "suspended");
  assert.equal((await audited("merchant.updated", String(id))).details.reason, "Card testing");
  await open(page, "Activate");
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByRole("heading", { name: "Lemon Books Active" }).waitFor();
});

inBrowser.alone("finds merchants by name and shows the figures of merchants and processors", async () => {
  const { page } = omar;
  await page.goto(at("/"));
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("link", { name: "Sandbox" }).click();
  const name = await nameOf(merchant());
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name }) });
  await row.getByText("€20.00").waitFor();
  await page.getByRole("cell", { name: "Simulator" }).waitFor();
  await page.goto(at("/merchants"));
  await page.getByPlaceholder("Name, email or merchant ID").fill("LEMON bo");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Lemon Books" }).waitFor();
  assert.equal(await page.getByRole("row").count(), 2, "the head and one merchant");
});

inBrowser.alone("resolves a parked refund with proof and keeps the input across the passkey prompt", async () => {
  const { page } = olga;
  await expireProofs();
  await page.goto(at("/operations"));
  await page.getByRole("link", { name: "Refund" }).click();
  await open(page, "Resolve manually");
  await page.getByRole("button", { name: "Resolve manually" }).click();
  await page.getByRole("button", { name: /passkey/i }).click();
  await page.getByText("Select what happened.").first().waitFor();
  await page.getByLabel("It never happened").check();
  const proof = "dashboard of today, ticket 4711 <b>";
  await page.getByLabel("Proof").fill(proof);
  await expireProofs();
  await page.getByRole("button", { name: "Resolve manually" }).click();
  await page.getByRole("button", { name: /passkey/i }).click();
  await page.getByText("Operation resolved.").waitFor();
  await page.getByText(`never happened: ${proof}`).waitFor();
  const entry = await audited("operation.resolved", objects.operation);
  assert.deepEqual([entry.actor, entry.details.operator], [await idOf("olga@example.com"), "olga@example.com"]);
});

inBrowser.alone("closes unexpected funds with a reason only", async () => {
  const { page } = omar;
  await page.goto(at(`/suspense/${objects.emptySuspense}`));
  assert.equal(await page.locator("summary", { hasText: /Refund|Accept/ }).count(), 0, "an empty item has no refund");
  await open(page, "Close");
  await page.getByRole("button", { name: "Close" }).click();
  await confirmIfPrompted(page);
  await page.getByText("Enter a reason.").first().waitFor();
  await page.getByLabel("Reason").fill("settled by phone");
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("Item resolved.").waitFor();
  await page.getByText("settled by phone").waitFor();
});

inBrowser.alone(
  "posts an adjustment after a second person's approval, and proposes once for a form that is sent twice",
  async () => {
    const { page } = olga;
    await page.goto(at(`/journal/propose?merchant=${merchant()}`));
    await page.getByRole("button", { name: "Propose" }).click();
    await confirmIfPrompted(page);
    await page.getByText("Fill in at least one line.").first().waitFor();
    await page.getByText("Select an environment.").first().waitFor();
    await page.getByLabel("Environment").selectOption("sandbox");
    const reason = "goodwill for an outage, ticket 12";
    await page.getByLabel("Reason").fill(reason);
    const typedIn = (name: string) => page.locator(`main input[name=${name}]`).first().inputValue();
    const sent = {
      form_token: await typedIn("form_token"),
      key: await typedIn("key"),
      merchant: merchant(),
      currency_0: "EUR",
    };
    await page.locator("#debit_0").selectOption("adjustments");
    await page.locator("#credit_0").selectOption("merchant_balance");
    await page.locator("#amount_0").fill("12.50");
    await page.getByRole("button", { name: "Propose" }).click();
    await page.getByText("Adjustment proposed").waitFor();
    const id = page.url().match(/adj_\w+/)?.[0] ?? assert.fail();
    const again = await page.request.post(at("/journal/propose"), {
      form: {
        ...sent,
        environment: "sandbox",
        reason,
        debit_0: "adjustments",
        credit_0: "merchant_balance",
        amount_0: "12.50",
      },
      headers: { "sec-fetch-site": "same-origin" },
      maxRedirects: 0,
    });
    assert.match(again.headers().location ?? "", new RegExp(id), "the same form again");
    await page.getByText("Another person must approve it").last().waitFor();
    assert.equal(await page.getByRole("button", { name: "Approve and post" }).count(), 0);
    const posted = () =>
      runSql(running.stack.database, "payments", "select amount::text from journal where cause = $1", [id]);
    assert.deepEqual(await posted(), []);

    await omar.page.goto(at("/journal/adjustments"));
    await omar.page.getByText("€12.50: Adjustments → Merchant balance").waitFor();
    await omar.page.goto(at(`/journal/adjustments/${id}`));
    await open(omar.page, "Approve and post");
    await omar.page.getByRole("button", { name: "Approve and post" }).click();
    await confirmIfPrompted(omar.page);
    await omar.page.getByText("Adjustment posted.").waitFor();
    assert.deepEqual(await posted(), [{ amount: "1250" }]);
    assert.equal((await audited("adjustment.proposed", id)).actor, await idOf("olga@example.com"));
    assert.equal((await audited("adjustment.approved", id)).actor, await idOf("omar@example.com"));
    await omar.page.goto(at(`/journal?merchant=${merchant()}&account=adjustments`));
    await omar.page.getByText("€12.50").waitFor();
  },
);

inBrowser.alone("invites an operator after proof, revokes the invitation, and keeps the last owner", async () => {
  const { page } = olga;
  await page.goto(at("/team"));
  await page.getByLabel("Email address").fill("new@example.com");
  await page.getByRole("button", { name: "Send invitation" }).click();
  await confirmIfPrompted(page);
  await page.getByText(/new@example.com can join with the invitation link/).waitFor();
  await page.goto(at("/team"));
  await page.getByRole("button", { name: "Revoke invitation for new@example.com" }).click();
  await confirmIfPrompted(page);
  await page.getByText("Invitation revoked.").waitFor();
  await open(page, "Edit Olga");
  const own = page.locator("details", { hasText: "Edit Olga" });
  await own.getByRole("button", { name: "Remove" }).click();
  await confirmIfPrompted(page);
  await page.getByText("You can't do this, or another person has to do it.").first().waitFor();
});

inBrowser.alone("adds a fee schedule and a risk rule and explains their effect", async () => {
  const { page } = omar;
  await page.goto(at(`/fees?merchant=${merchant()}`));
  await open(page, "Add fee schedule");
  await page.getByLabel("Percent").fill("1.5");
  await page.getByLabel("Currency").first().fill("EUR");
  await page.getByLabel("Fixed amount").fill("0.25");
  await page.getByRole("button", { name: "Add fee schedule" }).click();
  await confirmIfPrompted(page);
  await page.getByText("Fee schedule added.").waitFor();
  await eventually("the schedule to be in effect", async () => {
    await page.goto(at(`/fees?merchant=${merchant()}&currency=EUR&connector=simulator&amount=100`));
    return await page.getByText("The fee would be €1.75.").isVisible();
  });

  await page.goto(at(`/risk?merchant=${merchant()}`));
  await open(page, "Add rule");
  await page.getByRole("link", { name: "Amount cap" }).last().click();
  await page.getByLabel("Currency").fill("EUR");
  await page.getByLabel("Maximum amount").fill("900.00");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByText("Rule saved.").waitFor();
  await page.getByRole("cell", { name: "€900.00" }).first().waitFor();
  await page.getByRole("link", { name: "Amount cap" }).first().click();
  await page.getByLabel("Off").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Rule saved.").waitFor();
  await page.goto(at(`/risk/decisions?session=${objects.session}`));
  await page.getByText("Session created").waitFor();
});

inBrowser.alone("reads journal and audit log by names, and downloads them", async () => {
  const { page } = aude;
  const name = await nameOf(merchant());
  await page.goto(at("/journal"));
  await page.getByPlaceholder("Merchant, or payment ID").fill(name.toUpperCase());
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "Captured" }).first().waitFor();
  await page.getByRole("link", { name }).first().waitFor();
  const journal = await (await page.request.get(at(`/journal.csv?of=${merchant()}`))).text();
  const [head = "", ...lines] = journal.trimEnd().split("\r\n");
  assert.match(head, /^\ufeffid,created_at,environment,merchant_id,merchant_name,payment_id,kind,/);
  const [{ n } = {}] = await runSql(
    running.stack.database,
    "payments",
    "select count(*)::int as n from journal where merchant_id = $1",
    [merchant()],
  );
  assert.equal(lines.length, n);
  assert.ok(lines.every((line) => line.includes(merchant()) && line.includes(name)));
  await page.goto(at("/audit"));
  await page.getByLabel("Who").selectOption({ label: "Olga" });
  await page.getByLabel("Action").selectOption({ label: "Resolved a parked operation" });
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("cell", { name: "Resolved a parked operation" }).waitFor();
  await page.getByRole("cell", { name: "Olga" }).waitFor();
  const href = await page.getByRole("link", { name: "Download as CSV" }).getAttribute("href");
  const audit = await (await page.request.get(at(href ?? ""))).text();
  assert.deepEqual([audit.trimEnd().split("\r\n").length, audit.includes(",Olga,operation.resolved,")], [2, true]);
  await page.goto(at("/audit?merchant=no%20such%20shop"));
  await page.getByText("No merchant matches.").waitFor();
});

/** Forms of every screen; an operator may send all of them. */
const forms = (): readonly string[] => [
  `/merchants/${merchant()}/status`,
  `/merchants/${merchant()}/switches`,
  `/merchants/${merchant()}/people/invite`,
  `/merchants/${merchant()}/people/usr_1/role`,
  `/merchants/${merchant()}/people/usr_1/remove`,
  `/merchants/${merchant()}/people/invitations/inv_1/revoke`,
  `/applications/${objects.application}/approve`,
  `/applications/${objects.application}/reject`,
  `/operations/${objects.operation}/retry`,
  `/operations/${objects.operation}/resolve`,
  `/suspense/${objects.suspense}/resolve`,
  "/statements/match",
  "/journal/propose",
  "/journal/adjustments/adj_1/approve",
  "/fees",
  "/fees/remove",
  "/risk/rules",
  "/risk/rules/rr_1",
  "/risk/rules/rr_1/remove",
  "/team/invite",
  "/team/usr_1/role",
  "/team/usr_1/remove",
  "/team/invitations/inv_1/revoke",
];

const pages = (): readonly string[] => [
  "/overview?environment=sandbox",
  "/merchants",
  `/merchants/${merchant()}`,
  `/merchants/${merchant()}/people`,
  "/applications?status=all",
  `/applications/${objects.application}`,
  "/operations",
  `/operations/${objects.operation}`,
  "/suspense?closed=yes",
  `/suspense/${objects.suspense}`,
  "/statements",
  `/stories/${objects.payment}`,
  "/journal",
  "/journal/adjustments?state=approved",
  "/journal/balance",
  "/fees",
  "/circuits",
  "/risk",
  "/risk/rules/rr_00000000000000000000000006",
  "/risk/decisions",
  `/risk/blocked?merchant=${merchant()}`,
  "/team",
  "/audit",
];

inBrowser.alone("shows an auditor every screen without forms and refuses every form", async () => {
  const { page } = aude;
  for (const path of pages()) {
    const answer = await page.goto(at(path));
    assert.equal(answer?.status(), 200, path);
    const posts = await page.locator("main form[method=post]").count();
    assert.equal(posts, 0, `${path} has a form`);
  }
  const token = await page.locator("input[name=form_token]").first().inputValue();
  for (const path of forms()) {
    const refused = await page.request.post(at(path), {
      form: { form_token: token, status: "closed", note: "x" },
      headers: { "sec-fetch-site": "same-origin" },
    });
    assert.equal(refused.status(), 403, path);
  }
  const answer = await page.goto(at("/journal/propose"));
  assert.equal(answer?.status(), 403);
});

inBrowser.alone("demands fresh proof for every dangerous form", async () => {
  const { page } = olga;
  await expireProofs();
  await page.goto(at("/merchants"));
  const token = await page.locator("input[name=form_token]").first().inputValue();
  const withoutProof = ["/applications/", "/statements/match", "/risk/"];
  for (const path of forms().filter((each) => !withoutProof.some((start) => each.startsWith(start)))) {
    const answer = await page.request.post(at(path), {
      form: { form_token: token, status: "suspended", note: "x" },
      headers: { "sec-fetch-site": "same-origin" },
    });
    assert.match(await answer.text(), /proof_challenge/, path);
  }
});

inBrowser.alone("escapes texts of merchants, applicants and processors", async () => {
  const id = await submitApplication(running.stack.gateway, hostile);
  const { page } = olga;
  for (const path of [
    "/applications",
    `/applications/${id}`,
    `/operations/${objects.operation}`,
    "/operations",
    "/statements",
    "/audit",
  ]) {
    await page.goto(at(path));
    assert.doesNotMatch(await page.title(), /^owned/, path);
    assert.equal(await page.locator("main img").count(), 0, path);
  }
  await page.goto(at(`/applications/${id}`));
  await page.getByText(hostile).first().waitFor();
});

inBrowser.alone("makes every screen accessible on phone and desktop, light and dark", async () => {
  const state = await olga.context.storageState();
  for (const [name, options] of [
    ["desktop-light", { viewport: desktop, colorScheme: "light" }],
    ["phone-dark", { viewport: { width: 320, height: 740 }, colorScheme: "dark", locale: "de-DE" }],
  ] as const) {
    const visit = await inBrowser.open({ ...options, storageState: state, bypassCSP: true });
    const rules = ["amount_cap", "velocity", "block_list", "card_testing"].map(
      (kind) => `/risk/rules/new?kind=${kind}`,
    );
    for (const path of [...pages(), `/journal/propose?merchant=${merchant()}`, ...rules]) {
      await visit.page.goto(at(path));
      await visit.page.evaluate("document.querySelectorAll('main details').forEach((each) => (each.open = true))");
      assert.ok(await fitsWidth(visit.page), `${path} is too wide on ${name}`);
      assert.deepEqual(await axeViolations(visit.page), [], `${path} on ${name}`);
      if (process.env.SCREENS === "all")
        await takeScreenshot(visit.page, `operators-${path.replaceAll(/\W+/g, "-").slice(1, 40)}-${name}`);
    }
    await visit.close();
  }
});

test.run();
