// Rights, foreign ids, CSRF, hostile texts and accessibility on every route of the developers' and settings' screens.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { connectPeer } from "#platform/rpc/client.ts";
import { ConnectorService, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { Door, PeopleService } from "#proto/merchant/v1/people_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { axeViolations } from "../browser/page-suite.ts";
import { merchantApi } from "../harness/api.ts";
import { browserSuite, takeScreenshot, type Visit } from "../harness/browser.ts";
import { openAs, sharedConsoles, signInNew } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { suite } from "../harness/suite.ts";
import { type Person, personOf } from "./person.ts";
import { fitsWidth } from "./usable.ts";

const test = suite("console rights", { timeoutMs: 240_000, hookTimeoutMs: 240_000 });
const visit = browserSuite(test);
const root = join(import.meta.dirname, "../..");

/** Pages with their rights; an empty right admits every member. */
const pages = {
  "/webhooks": "webhooks.read",
  "/webhooks/new": "webhooks.write",
  "/webhooks/:id": "webhooks.read",
  "/webhooks/:id/edit": "webhooks.write",
  "/webhooks/:id/roll": "webhooks.write",
  "/webhooks/:id/delete": "webhooks.write",
  "/webhooks/:id/deliveries/:did": "webhooks.read",
  "/webhooks/:id/runs/:run": "webhooks.read",
  "/keys": "keys.read",
  "/keys/new": "keys.write",
  "/keys/:id": "keys.read",
  "/keys/:id/roll": "keys.write",
  "/keys/:id/addresses": "keys.write",
  "/keys/:id/revoke": "keys.write",
  "/requests": "logs.read",
  "/requests/:id": "logs.read",
  "/events": "logs.read",
  "/events/:id": "logs.read",
  "/branding": "",
  "/branding/preview": "",
  "/processors": "connectors.read",
  "/processors/new": "connectors.write",
  "/processors/new/:processor": "connectors.write",
  "/processors/routing": "connectors.write",
  "/processors/:id": "connectors.read",
  "/processors/:id/primary": "connectors.write",
  "/processors/:id/rotate": "connectors.write",
  "/processors/:id/methods": "connectors.read",
  "/processors/:id/deactivate": "connectors.write",
  "/team": "team.read",
  "/team/roles": "team.read",
  "/team/invite": "team.write",
  "/team/members/:id": "team.write",
  "/team/members/:id/remove": "team.write",
  "/profile": "",
  "/notifications": "",
  "/privacy": "profile.write",
  "/privacy/erasures/:id": "profile.write",
  "/audit": "audit.read",
} as const;

const forms = {
  "/webhooks": "webhooks.write",
  "/webhooks/:id/edit": "webhooks.write",
  "/webhooks/:id/roll": "webhooks.write",
  "/webhooks/:id/delete": "webhooks.write",
  "/webhooks/:id/status": "webhooks.write",
  "/webhooks/:id/test": "webhooks.write",
  "/webhooks/:id/retry-failed": "webhooks.write",
  "/webhooks/:id/replay": "webhooks.write",
  "/webhooks/:id/deliveries/:did/retry": "webhooks.write",
  "/keys": "keys.write",
  "/keys/:id/roll": "keys.write",
  "/keys/:id/addresses": "keys.write",
  "/keys/:id/revoke": "keys.write",
  "/branding": "branding.write",
  "/branding/logo": "branding.write",
  "/processors/new/:processor": "connectors.write",
  "/processors/new/:processor/proof": "connectors.write",
  "/processors/routing": "connectors.write",
  "/processors/:id/primary": "connectors.write",
  "/processors/:id/surface": "connectors.write",
  "/processors/:id/methods": "connectors.write",
  "/processors/:id/check": "connectors.read",
  "/processors/:id/deactivate": "connectors.write",
  "/processors/:id/rotate": "connectors.write",
  "/processors/:id/rotate/proof": "connectors.write",
  "/team/invite": "team.write",
  "/team/invitations/revoke": "team.write",
  "/team/members/:id": "team.write",
  "/team/members/:id/remove": "team.write",
  "/profile": "profile.write",
  "/notifications": "",
  "/privacy": "profile.write",
  "/privacy/export": "profile.write",
  "/privacy/erase": "profile.write",
} as const;

const roles = ["owner", "admin", "developer", "support", "finance", "viewer"] as const;
type Role = (typeof roles)[number];

let stack: StackInfo;
let base: string;
let merchantId: string;
/** Ids of the stack's merchant and of another one, by the start of the path. */
let own: Readonly<Record<string, string>>;
let others: Readonly<Record<string, string>>;
let actions: ReadonlyMap<string, readonly string[]>;
const people = new Map<Role, Person>();

test.before(async () => {
  stack = await sharedConsoles();
  merchantId = stack.merchant_id;
  base = `/${merchantId}/sandbox`;
  for (const role of roles) {
    const opened = await openAs(visit, stack, { email: `${role}@rights.example`, name: role, role });
    people.set(role, await personOf(opened, stack, "/account"));
  }
  const peer = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  const { roles: table } = await peer.client(PeopleService).listRoles({ door: Door.MERCHANTS });
  actions = new Map(table.map(({ name, actions: held }) => [name, held]));
  peer.close();
  const other = await freshMerchant(stack);
  own = await objectsOf(merchantId, stack.api_key);
  others = await objectsOf(other.id, other.apiKey);
});

/** Creates one object of each kind. */
async function objectsOf(of: string, apiKey: string): Promise<Record<string, string>> {
  const { rpc, rpc_token: token, gateway } = stack;
  const [merchant, webhook] = [connectPeer({ url: rpc.merchant, token }), connectPeer({ url: rpc.webhook, token })];
  try {
    const api = merchantApi(gateway, apiKey);
    const target = { url: "https://localhost:49151/hook", event_types: ["payment.succeeded"] };
    const endpoint = (await api.post("/v1/merchants/me/webhooks", target)).expect(201);
    const endpointId = endpoint.text("id");
    await api.post(`/v1/merchants/me/webhooks/${endpointId}/test`);
    const owned = { merchantId: of, environment: Environment.SANDBOX };
    const { deliveries } = await webhook.client(WebhookService).listDeliveries({ ...owned, endpointId });
    const since = { seconds: 0n, nanos: 0 };
    const { run } = await webhook.client(WebhookService).retryFailedDeliveries({ ...owned, endpointId, since });
    const { connectors } = await merchant.client(ConnectorService).listConnectors(owned);
    const keys = (await api.get("/v1/merchants/me/api-keys")).text("data.0.id");
    const requestId = endpoint.headers.get("request-id") ?? "";
    const logged = () => api.get(`/v1/merchants/me/requests/${requestId}`);
    await eventually("the request's record", async () => (await logged()).status === 200);
    const session = (await api.post("/v1/checkout-sessions", { amount: 100, currency: "USD" })).expect(201);
    (await api.post(`/v1/checkout-sessions/${session.text("id")}/expire`)).expect(200);
    const eventId = await eventually("an event", async () => {
      const { events } = await webhook.client(WebhookService).listEvents(owned);
      return events[0]?.id;
    });
    const erasure = await api.post("/v1/privacy/erasures", { customer_email: "ada@rights.example" });
    const members = await merchant.client(PeopleService).listMembers({ door: Door.MERCHANTS, merchantId: of });
    const viewer =
      members.members.find(({ role }) => role === "viewer")?.person?.id ?? "usr_00000000000000000000000000";
    return {
      "/webhooks": endpointId,
      "/keys": keys,
      "/requests": requestId,
      "/events": eventId,
      "/processors": connectors[0]?.id ?? "",
      "/team": viewer,
      "/privacy": erasure.expect(201).text("id"),
      ":did": deliveries[0]?.id ?? "",
      ":run": run?.id ?? "",
    };
  } finally {
    merchant.close();
    webhook.close();
  }
}

/** The route with ids. */
function addressOf(route: string, ids: Readonly<Record<string, string>>, at = base): string {
  const [, kind = ""] = /^(\/\w+)/.exec(route) ?? [];
  return `${at}${route
    .replace(":id", ids[kind] ?? "")
    .replace(":processor", "adyen")
    .replace(":did", ids[":did"] ?? "")
    .replace(":run", ids[":run"] ?? "")}`;
}

/** True if an id of an object is part of the route. */
function namesObject(route: string): boolean {
  return route.replace(":processor", "").includes(":");
}

function memberOf(role: Role): Person {
  const person = people.get(role);
  if (!person) throw new Error(`no person has the role ${role}`);
  return person;
}

function may(role: Role, action: string): boolean {
  return action === "" || (actions.get(role) ?? []).includes(action);
}

function patternOf(route: string): RegExp {
  return new RegExp(`^${base}${route.replaceAll(/:\w+/g, "[^/]+")}$`);
}

/** The right that an address needs; undefined for other addresses. */
function neededFor(table: Readonly<Record<string, string>>, address: string): string | undefined {
  const path = address.split("?")[0] ?? "";
  // A literal part wins over a parameter, as in the router.
  const route = Object.keys(table)
    .toSorted((a, b) => a.split(":").length - b.split(":").length)
    .find((each) => patternOf(each).test(path));
  return route === undefined ? undefined : table[route];
}

test("lists every route of the developers' and settings' screens", () => {
  const files = globSync("gateway/console/screens/{developers,settings}/*.ts", { cwd: root });
  const text = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const named = (kind: string) =>
    [...text.matchAll(new RegExp(`${kind}\\(\\s*context,\\s*"([^"]+)"`, "g"))].map(([, path]) => path ?? "").sort();
  assert.equal(named("merchantPage"), Object.keys(pages).sort());
  assert.equal(named("merchant(?:Form|Upload)"), Object.keys(forms).sort());
});

for (const role of roles) {
  visit.alone(`${role}: shows exactly the permitted pages, without links to others`, async () => {
    const person = memberOf(role);
    for (const [route, action] of Object.entries(pages)) {
      const answer = await person.get(addressOf(route, own));
      assert.is(answer.status, may(role, action) ? 200 : 403, `${role} at ${route}`);
      if (answer.status !== 200) continue;
      const { text } = answer;
      for (const [, kind, address = ""] of text.matchAll(/(href|action)="([^"]+)"/g)) {
        const needed = neededFor(kind === "href" ? pages : forms, address.replaceAll("&#38;", "&"));
        assert.ok(needed === undefined || may(role, needed), `${role} at ${route} is shown ${address}`);
      }
    }
  });

  visit.alone(`${role}: refuses every form without its right`, async () => {
    const person = memberOf(role);
    for (const [route, action] of Object.entries(forms).filter(([, needed]) => !may(role, needed))) {
      const answer = await person.post(addressOf(route, own));
      assert.is(answer.status, 403, `${role} sends ${route} (${action})`);
    }
  });
}

visit.alone("answers 404 for another merchant and its objects", async () => {
  const person = memberOf("owner");
  const elsewhere = `/${(await freshMerchant(stack)).id}/sandbox`;
  for (const route of Object.keys(pages)) {
    assert.is((await person.get(addressOf(route, others, elsewhere))).status, 404, route);
    if (namesObject(route)) assert.is((await person.get(addressOf(route, others))).status, 404, `own ${route}`);
  }
  const filled = { role: "viewer", url: "https://localhost:49151/x", event_types: "payment.failed" };
  for (const route of Object.keys(forms)) {
    assert.is((await person.post(addressOf(route, others, elsewhere), filled)).status, 404, route);
    if (!namesObject(route)) continue;
    const answer = await person.post(addressOf(route, others), filled);
    assert.is(answer.status, 404, `own ${route}`);
  }
  // One foreign id among own ids is rejected too.
  for (const param of [":did", ":run"] as const) {
    const route = param === ":did" ? "/webhooks/:id/deliveries/:did" : "/webhooks/:id/runs/:run";
    const mixed = { ...own, [param]: others[param] ?? "" };
    assert.is((await person.get(addressOf(route, mixed))).status, 404, `${param} of another`);
  }
});

visit.alone("answers 404 for sandbox objects in live", async () => {
  const person = memberOf("owner");
  for (const route of Object.keys(pages).filter((each) => namesObject(each) && !each.startsWith("/team"))) {
    assert.is((await person.get(addressOf(route, own, `/${merchantId}/live`))).status, 404, route);
  }
});

visit.alone("refuses forms of other sites and of other sessions", async () => {
  const person = memberOf("owner");
  const foreign = memberOf("admin").token;
  for (const route of Object.keys(forms)) {
    const address = addressOf(route, own);
    const refused = async (fields: Record<string, string>, headers: Record<string, string>) =>
      assert.is((await person.post(address, fields, headers)).status, 403, `${route} ${JSON.stringify(headers)}`);
    await refused({}, { "sec-fetch-site": "cross-site" });
    await refused({}, { "sec-fetch-site": "same-site" });
    await refused({}, { "sec-fetch-site": "none", origin: "https://evil.example" });
    await refused({ form_token: "" }, {});
    await refused({ form_token: foreign }, {});
  }
});

visit.alone("escapes hostile texts in filters, names and addresses", async () => {
  const hostile = `"><script>alert(1)</script>`;
  const person = memberOf("owner");
  const name = `${hostile} key`;
  assert.is((await person.post(`${base}/keys`, { name, scopes: "payments:read" })).status, 200);
  const description = `${hostile} endpoint`;
  const change = {
    url: `https://localhost:49151/?q=${hostile}`,
    description,
    event_types: "payment.failed",
  };
  assert.is((await person.post(addressOf("/webhooks/:id/edit", own), change)).status, 303);
  const queries = [
    "status",
    "event",
    "after",
    "id",
    "key",
    "outcome",
    "from",
    "to",
    "type",
    "payment",
    "action",
    "actor",
    "object",
    "done",
  ];
  const query = new URLSearchParams(queries.map((each): [string, string] => [each, hostile])).toString();
  for (const route of Object.keys(pages)) {
    for (const address of [addressOf(route, own), `${addressOf(route, own)}?${query}`]) {
      const { text } = await person.get(address);
      assert.not.ok(text.includes("<script>alert"), address);
    }
  }
});

visit.alone("links only to safe schemes and lists no secret", async () => {
  const person = memberOf("owner");
  for (const url of ["javascript:alert(1)//https://x", "data:text/html,x"]) {
    const typed = { display_name: "x", button_style: "pill", background_style: "plain", theme: "dark" };
    const fields = { ...typed, font_family: "inter", logo_url: url, terms_url: url };
    assert.is((await person.post(`${base}/branding`, fields)).status, 422, url);
    assert.is(
      (await person.post(`${base}/profile`, { name: "x", email: "x@screens.example", website: url })).status,
      422,
    );
  }
  for (const route of Object.keys(pages)) {
    const { text } = await person.get(addressOf(route, own));
    assert.not.match(text, /href="(?!https?:|\/|#|data:,|mailto:)/, route);
    assert.not.match(text, /sk_(test|live)_\w{20}|whsec_[\w-]{20}/, route);
  }
});

const shown: readonly (readonly [number, "light" | "dark"])[] = [
  [320, "light"],
  [1280, "dark"],
];

async function everyScreen({ page }: Pick<Visit, "page">, width: number, scheme: "light" | "dark"): Promise<string[]> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  const found: string[] = [];
  for (const route of Object.keys(pages)) {
    await page.goto(`${stack.console}${addressOf(route, own)}`);
    found.push(...(await axeViolations(page)).map((violation) => `${route}: ${violation}`));
    if (!(await fitsWidth(page))) found.push(`${route}: is wider than ${width}`);
    if (process.env.SCREENS === "all")
      await takeScreenshot(page, `console${route.replaceAll(/\W+/g, "-")}-${width}-${scheme}`);
  }
  return found;
}

for (const [width, scheme] of shown) {
  visit.alone(`makes every screen accessible at ${width} pixels, ${scheme}`, async () => {
    // The page's policy forbids the axe script.
    const someone = await visit.open({ bypassCSP: true });
    await signInNew(someone, stack, { email: `axe-${width}@example.com`, name: "Axe" });
    const found = await everyScreen(someone, width, scheme);
    await someone.close();
    assert.is(found.join("\n"), "");
  });
}

test.run();
