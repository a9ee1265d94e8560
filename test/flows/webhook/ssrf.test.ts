// Deliveries never go to an internal address, however it is spelled and whatever a name resolves to later. DNS queries
// and sockets are counted, so that "refused" means that no packet left.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { register } from "prom-client";
import { parseCidr } from "#platform/values/address-range.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { ResolveError } from "../../../services/webhook/sender/resolver.ts";
import { eventually } from "../../harness/eventually.ts";
import { startReceiver } from "../../harness/receiver.ts";
import { suite } from "../../harness/suite.ts";
import { startWebhookTest, type WebhookTest } from "./service.ts";

const test = suite("webhook targets", { timeoutMs: 120_000 });

const dotted = `
  127.0.0.1 127.0.0.2 127.255.255.254 10.0.0.1 10.1.2.3 172.16.0.1 172.31.255.254 192.168.1.1 169.254.169.254
  169.254.170.2 100.64.0.1 100.100.100.200 0.0.0.0 0.0.0.1 192.0.0.192 198.18.0.1 224.0.0.1 240.0.0.1
  255.255.255.255 168.63.129.16 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1`
  .trim()
  .split(/\s+/);

/** Every spelling of an IPv4 address that URL parsers accept. */
function spellings(address: string): string[] {
  const bytes = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (n: number) => n.toString(16).padStart(2, "0");
  const pair = (high: number, low: number) => ((high << 8) | low).toString(16);
  return [
    address,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    bytes.map((n) => `0x${n.toString(16)}`).join("."),
    bytes.map((n) => `0${n.toString(8)}`).join("."),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${address}.`,
    address.replaceAll(".", "%2e"),
    address.replace(/\d/, (n) => `%3${n}`),
    address.replace(/\d/g, (n) => String.fromCodePoint(0xff10 + Number(n))),
    address.replaceAll(".", "。"),
    `[::ffff:${address}]`,
    `[::ffff:${pair(a, b)}:${pair(c, d)}]`,
    `[0:0:0:0:0:ffff:${pair(a, b)}:${pair(c, d)}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${address}]`,
    `[2002:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}::]`,
    `[2001:0:${hex(a)}${hex(b)}:${hex(c)}${hex(d)}::1]`,
    `[fe80::5efe:${pair(a, b)}:${pair(c, d)}]`,
  ];
}

const otherHosts = [
  ...[
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
  ],
  ...["[2001:db8::1]", "[3fff::1]", "[5f00::1]", "localhost", "LOCALHOST", "localhost.", "a.localhost", "loc\talhost"],
  ...[
    "ⓛocalhost",
    "metadata.google.internal",
    "db.local",
    "intranet",
    "kubernetes.default.svc",
    "printer.lan",
    "router.home.arpa",
  ],
];

// Minimum time in the DNS cache; 5 s in production.
const ttlSecondsMin = 0.1;
// Concurrent registrations.
const atOnce = 16;

interface Instruments {
  queries: string[];
  sockets: number;
  stop(): void;
}

/** Counts the client sockets that the sender opens. */
function countSockets(own: Instruments): void {
  const onSocket = (message: unknown) => {
    if (typeof message !== "object" || message === null || !("socket" in message)) return;
    const stack = new Error("opened here").stack ?? "";
    if (message.socket instanceof Socket && stack.includes("/services/webhook/sender/")) own.sockets += 1;
  };
  subscribe("net.client.socket", onSocket);
  own.stop = () => unsubscribe("net.client.socket", onSocket);
}

/** A service without allowed ranges, and with these DNS names. */
async function strictService(names: Map<string, string[]>): Promise<WebhookTest & { instruments: Instruments }> {
  const instruments: Instruments = { queries: [], sockets: 0, stop: () => {} };
  const t = await startWebhookTest(
    { WEBHOOK_ALLOW_CIDRS: [], WEBHOOK_RETRY_BASE_MS: 3_600_000, WEBHOOK_RETRY_CAP_MS: 3_600_000 },
    {
      lookup: async (host) => {
        instruments.queries.push(host);
        const addresses = names.get(host);
        if (!addresses) throw new ResolveError("dns_not_found");
        return { addresses, ttlSeconds: 0 };
      },
      ttlSecondsMin,
    },
  );
  countSockets(instruments);
  return { ...t, instruments };
}

const owner = () => ({ merchantId: newId("merchant"), environment: 1 as const });
const isUrlRefusal = (error: unknown) =>
  error instanceof Failure && error.reason === "INVALID_BODY" && error.violations[0]?.field === "url";

// Proves createWebhookEndpoint: errors
test("refuses to register an internal address in every spelling, without a query or a packet", async () => {
  const t = await strictService(new Map());
  try {
    const hosts = [...dotted.flatMap(spellings), ...otherHosts];
    assert(hosts.length >= 500);
    const register = async (host: string) => {
      const call = t.webhooks.createEndpoint({ ...owner(), url: `https://${host}/hook`, eventTypes: ["test.ping"] });
      await assert.rejects(call, isUrlRefusal, host);
    };
    for (let i = 0; i < hosts.length; i += atOnce) await Promise.all(hosts.slice(i, i + atOnce).map(register));
    assert.deepEqual(t.instruments.queries, []);
    assert.equal(t.instruments.sockets, 0);
  } finally {
    t.instruments.stop();
    await t.stop();
  }
});

test("a name that resolves to an internal address is refused at registration and never called", async () => {
  const names = new Map([
    ["a.example", ["127.0.0.1"]],
    ["b.example", ["93.184.215.14", "10.0.0.5"]],
    ["c.example", ["2606:4700::1", "::1"]],
    ["d.example", ["::ffff:169.254.169.254"]],
    ["e.example", ["64:ff9b::a00:1"]],
    ["f.example", ["fd00::1"]],
  ]);
  const t = await strictService(names);
  try {
    const before = await blockedAt("registration");
    assert.notEqual(await blockedAt("delivery"), undefined, "both counters exist from zero");
    for (const host of names.keys()) {
      const call = t.webhooks.createEndpoint({ ...owner(), url: `https://${host}/`, eventTypes: ["test.ping"] });
      await assert.rejects(call, isUrlRefusal, host);
    }
    assert.equal(await blockedAt("registration"), (before ?? Number.NaN) + names.size);
    const sent = (await blockedAt("delivery")) ?? Number.NaN;
    // It does not resolve at registration, and later resolves to an internal address.
    const to = owner();
    const { endpoint } = await t.webhooks.createEndpoint({
      ...to,
      url: "https://later.example/",
      eventTypes: ["test.ping"],
    });
    names.set("later.example", ["93.184.215.14", "192.168.0.1"]);
    const blocked = await eventually(
      "a blocked attempt",
      async () => {
        const { deliveryId } = await t.webhooks.sendTestEvent({ ...to, endpointId: endpoint?.id ?? "" });
        const attempt = await eventually("an attempt", async () => {
          return (await t.webhooks.listAttempts({ merchantId: to.merchantId, deliveryId })).attempts[0];
        });
        return attempt.errorCode === "blocked_address" ? attempt : undefined;
      },
      { limitMs: 60_000, everyMs: 100 },
    );
    assert.equal(blocked.statusCode, 0);
    assert.ok(((await blockedAt("delivery")) ?? 0) > sent, "blocked attempts are counted");
    assert.equal(t.instruments.sockets, 0);
  } finally {
    t.instruments.stop();
    await t.stop();
  }
});

async function blockedAt(at: string): Promise<number | undefined> {
  const counted = await register.getSingleMetric("tollbooth_webhook_blocked_total")?.get();
  return counted?.values.find(({ labels }) => labels.at === at)?.value;
}

// Proves createWebhookEndpoint: connect
test("a name is checked again at delivery, and the checked address is the one connected to", async () => {
  let addresses = ["127.0.0.1"];
  const t = await startWebhookTest(
    { WEBHOOK_ALLOW_CIDRS: [parseCidr("127.0.0.1/32")] },
    { lookup: async () => ({ addresses, ttlSeconds: 0 }), ttlSecondsMin },
  );
  const receiver = await startReceiver(t.tls);
  const instruments: Instruments = { queries: [], sockets: 0, stop: () => {} };
  countSockets(instruments);
  try {
    const to = owner();
    const url = receiver.url.replace("localhost", "rebinding.example");
    const { endpoint } = await t.webhooks.createEndpoint({ ...to, url, eventTypes: ["test.ping"] });
    const attempt = async () => {
      const { deliveryId } = await t.webhooks.sendTestEvent({ ...to, endpointId: endpoint?.id ?? "" });
      return await eventually("an attempt", async () => {
        return (await t.webhooks.listAttempts({ merchantId: to.merchantId, deliveryId })).attempts[0]?.errorCode;
      });
    };
    // It connected to the checked address, with the URL's server name, which the certificate does not have.
    assert.equal(await attempt(), "tls_name_mismatch");
    assert.equal(instruments.sockets, 1, "the instrument counts");
    addresses = ["127.0.0.2"];
    await eventually("the new address to be checked", async () => (await attempt()) === "blocked_address", {
      limitMs: 60_000,
      everyMs: 100,
    });
    assert.equal(receiver.received.length, 0);
  } finally {
    instruments.stop();
    await t.stop();
    await receiver.close();
  }
});

test.run();
