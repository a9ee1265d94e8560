// Internal teams over the real services: which right opens which method, merchants, e-mail addresses, rate, end,
// rotation and removal of tokens, the command and the audit log.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { fromBinary, getOption } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { connectPeer } from "#platform/rpc/client.ts";
import { rightName } from "#platform/rpc/teams.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Right, right } from "#proto/access/v1/access_pb.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { EventService, type WatchResponse } from "#proto/events/v1/event_service_pb.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { FailureSchema } from "#proto/failure/v1/failure_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { eventually } from "../../harness/eventually.ts";
import { freshMerchant } from "../../harness/merchant.ts";
import { sharedStack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("internal teams", { timeoutMs: 120_000 });
const root = join(import.meta.dirname, "../../..");
const services = ["merchant", "checkout", "payments", "webhook"] as const;
const rights = Object.values(Right).filter((each) => each !== Right.UNSPECIFIED);
/** Methods that name no merchant; closed to teams with a subset. */
const withoutMerchant = [
  "checkout.v1.CheckoutService/BatchGetSessions",
  "checkout.v1.RiskService/ExplainDecision",
  "payments.v1.JournalService/GetAdjustment",
  "payments.v1.LedgerService/ListBankLines",
  "payments.v1.LedgerService/ListLedgerAccounts",
  "payments.v1.PaymentsService/BatchGetPayments",
];

let running: StackInfo;
let operator: ReturnType<typeof connectPeer>;
const methods: DescMethod[] = [];

test.before(async () => {
  running = await sharedStack();
  operator = connectPeer({ url: running.rpc.merchant, token: running.rpc_token });
  for (const file of globSync("proto/gen/{checkout,payments,merchant,webhook}/v1/*_pb.ts", { cwd: root })) {
    const exported: Record<string, unknown> = await import(join(root, file));
    methods.push(...Object.values(exported).flatMap((each) => (isService(each) ? each.methods : [])));
  }
  methods.push(EventService.method.list);
  assert(methods.length > 100);
});
test.after(() => operator?.close());

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

const pathOf = (method: DescMethod) => `${method.parent.typeName}/${method.name}`;
const needs = (method: DescMethod) => getOption(method, right);
const teams = () => operator.client(TeamService);

/** A new team whose token every service accepts. */
async function newTeam(may: readonly Right[], more: { merchantIds?: string[]; rate?: number; ends?: Date } = {}) {
  const name = `t${crypto.randomUUID().slice(0, 13)}`;
  const { token } = await teams().createTeam({
    team: {
      name,
      rights: [...may],
      merchantIds: more.merchantIds ?? [],
      rate: more.rate ?? 10_000,
      ...(more.ends && { expiresAt: timestampFromDate(more.ends) }),
    },
  });
  for (const service of services) await untilAnswer(service, token, (answer) => !answer.startsWith("CALLER_UNKNOWN"));
  return { name, token };
}

/** The time until a service's answer to the token fits, in ms. */
async function untilAnswer(service: (typeof services)[number], token: string, fits: (answer: string) => boolean) {
  const from = performance.now();
  await eventually(`${service} to follow the teams`, async () =>
    fits(await send(service, "status.v1.StatusService/GetStatus", token)),
  );
  return performance.now() - from;
}

/** "done", or the message of the error, which begins with its reason. */
async function send(...call: Parameters<typeof post>) {
  const { isDone, answer } = await post(...call);
  return isDone ? "done" : (answer.message ?? "");
}

async function post(service: (typeof services)[number], path: string, token: string, body: object = {}) {
  const response = await fetch(`${running.rpc[service]}/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: { message?: string; details?: { value: string }[] } = JSON.parse(await response.text());
  return { isDone: response.ok, answer };
}

const serviceOf = (method: DescMethod) => services.find((each) => pathOf(method).startsWith(`${each}.`)) ?? "webhook";
const ask = (method: DescMethod, token: string, body: object = {}) => {
  return send(serviceOf(method), pathOf(method), token, body);
};

/** The fields that the refusal names. */
async function wrongFields(method: DescMethod, token: string, body: object): Promise<readonly string[]> {
  const { answer } = await post(serviceOf(method), pathOf(method), token, body);
  const [detail] = answer.details ?? [];
  assert.match(answer.message ?? "done", /^INVALID_BODY/, pathOf(method));
  const failure = fromBinary(FailureSchema, Buffer.from(detail?.value ?? "", "base64"));
  return failure.fieldViolations.map(({ field }) => field);
}

test("each right opens the reads that name it, of all services, and no other method; the refusal names what is missing", async () => {
  const readable = methods.filter((method) => needs(method) !== Right.UNSPECIFIED);
  assert.equal(readable.length, 48);
  // A stream checks the merchants and masks e-mail addresses by itself; Watch has a test of its own.
  assert.ok(readable.every(({ methodKind, idempotency }) => methodKind === "unary" && idempotency === 1));
  for (const may of rights) {
    const { name, token } = await newTeam([may]);
    for (const method of methods) {
      const answer = await ask(method, token);
      const refusal = `CALLER_REFUSED: team:${name}: `;
      if (needs(method) === may) assert.doesNotMatch(answer, /^CALLER_/, pathOf(method));
      else if (needs(method) === Right.UNSPECIFIED) {
        assert.equal(answer, `${refusal}teams may not call this method`, pathOf(method));
      } else assert.equal(answer, `${refusal}it needs the right ${rightName(needs(method))}`, pathOf(method));
    }
    await teams().removeTeam({ name });
  }
});

test("a team with a subset of merchants reads no other one and must name one of its own", async () => {
  const [own, other] = [await freshMerchant(running), await freshMerchant(running)];
  const { token } = await newTeam(rights, { merchantIds: [own.id] });
  for (const method of methods.filter((each) => needs(each) !== Right.UNSPECIFIED)) {
    const path = pathOf(method);
    const names = method.input.fields.map(({ localName }) => localName).filter((name) => /^merchantIds?$/.test(name));
    assert.equal(names.length === 0, withoutMerchant.includes(path), path);
    assert.match(await ask(method, token), /^CALLER_REFUSED: .* must name one of its merchants$/, path);
    for (const name of names) {
      const given = (id: string) => ({ [name]: name === "merchantId" ? id : [own.id, id] });
      assert.match(await ask(method, token, given(other.id)), /^CALLER_REFUSED: .* is not one of its merchants$/, path);
      assert.doesNotMatch(await ask(method, token, given(own.id)), /^CALLER_/, path);
    }
  }
  assert.match(
    await send("payments", "payments.v1.FeeService/ListFeeSchedules", token, { merchantId: "*" }),
    /^CALLER_REFUSED/,
  );
});

test("every list refuses an unknown status, type, state or account and a malformed merchant, and names the field", async () => {
  const { token } = await newTeam(rights);
  const asked = new Set<string>();
  for (const method of methods.filter((each) => needs(each) !== Right.UNSPECIFIED && each.name.startsWith("List"))) {
    for (const { name, localName, fieldKind } of method.input.fields) {
      if (!/^(status|types?|state|account|merchant_ids?)$/.test(name)) continue;
      const value = name.startsWith("merchant") ? "mer_x" : "no_such";
      const rest = { merchantId: newId("merchant"), environment: Environment.SANDBOX, limit: 1 };
      const known = Object.entries(rest).filter(([field]) =>
        method.input.fields.some((each) => each.localName === field),
      );
      const body = { ...Object.fromEntries(known), [localName]: fieldKind === "list" ? [value] : value };
      const wrong = await wrongFields(method, token, body);
      assert.ok(
        wrong.some((field) => field.replace(/\[\d+\]$/, "") === name),
        `${pathOf(method)}: ${name}, not ${wrong}`,
      );
      asked.add(`${method.name}.${name}`);
    }
  }
  for (const one of ["ListPayments.status", "ListSessions.merchant_id", "ListEvents.type", "List.types"])
    assert.ok(asked.has(one), one);
  assert.ok(asked.size >= 26, `${[...asked]}`);
});

test("e-mail addresses are masked without payments.emails in every protocol, and no filter finds them", async () => {
  const merchant = await freshMerchant(running);
  const order = { amount: 700, currency: "USD", customer_email: "jane.doe@example.com" };
  const metadata = { by: "<joe@shop.example>" };
  const session = (await merchant.api.post("/v1/checkout-sessions", { ...order, metadata })).expect(201).body;
  const wanted = { merchantId: merchant.id, environment: Environment.SANDBOX, sessionId: String(session.id) };
  const seen = async (token: string) => {
    const peer = connectPeer({ url: running.rpc.checkout, token });
    const overGrpc = createClient(CheckoutService, createGrpcTransport({ baseUrl: running.rpc.checkout }));
    const answers = [
      await peer.client(CheckoutService).getSession(wanted),
      await overGrpc.getSession(wanted, { headers: { authorization: `Bearer ${token}` } }),
    ];
    peer.close();
    return answers.map(({ session: found }) => [found?.customerEmail, found?.metadata.by]);
  };
  const [blind, sighted] = [
    await newTeam([Right.CHECKOUT_READ]),
    await newTeam([Right.CHECKOUT_READ, Right.PAYMENTS_EMAILS]),
  ];
  const masked = ["***@example.com", "<***@shop.example>"];
  assert.deepEqual(await seen(blind.token), [masked, masked]);
  const plain = ["jane.doe@example.com", "<joe@shop.example>"];
  assert.deepEqual(await seen(sighted.token), [plain, plain]);
  const filter = {
    merchantId: merchant.id,
    environment: Environment.SANDBOX,
    limit: 1,
    customerEmail: "jane.doe@example.com",
  };
  const { listSessions } = CheckoutService.method;
  assert.match(await ask(listSessions, blind.token, filter), /^CALLER_REFUSED: .* needs the right payments\.emails$/);
  assert.equal(await ask(listSessions, sighted.token, filter), "done");
});

test("a team's calls above its rate are refused until the next second", async () => {
  const { token } = await newTeam([Right.MERCHANTS_READ], { rate: 5 });
  const list = () => send("merchant", "merchant.v1.MerchantService/ListMerchants", token, { pageSize: 1 });
  const answers = await Promise.all(Array.from({ length: 60 }, list));
  const done = answers.filter((answer) => answer === "done").length;
  // Sixty calls at once take less than four seconds.
  assert.ok(done >= 1 && done <= 20, `${done} of 60`);
  assert.equal(answers.filter((answer) => answer === "TOO_MANY_CALLS").length, 60 - done);
  await eventually("the next second", async () => (await list()) === "done");
});

test("a removed team, an ended one and a rotated token are cut in every service, and the overlap keeps the former token", async () => {
  const [removed, ended, rotated, kept] = [
    await newTeam([Right.MERCHANTS_READ]),
    await newTeam([Right.MERCHANTS_READ], { ends: new Date(Date.now() + 8_000) }),
    await newTeam([Right.MERCHANTS_READ]),
    await newTeam([Right.MERCHANTS_READ]),
  ];
  const isCut = (answer: string) => answer === "CALLER_UNKNOWN";
  await teams().removeTeam({ name: removed.name });
  const times = await Promise.all(services.map((service) => untilAnswer(service, removed.token, isCut)));
  assert.ok(Math.max(...times) < 2_000, `${times.map(Math.round)} ms`);
  const fresh = await teams().rotateTeam({ name: rotated.name, overlapSeconds: 0 });
  await teams().rotateTeam({ name: kept.name, overlapSeconds: 60 });
  for (const service of services) {
    await untilAnswer(service, rotated.token, isCut);
    await untilAnswer(service, fresh.token, (answer) => answer.startsWith("CALLER_REFUSED"));
    await untilAnswer(service, ended.token, isCut);
    assert.match(await send(service, "status.v1.StatusService/GetStatus", kept.token), /^CALLER_REFUSED/);
  }
  await assert.rejects(teams().removeTeam({ name: removed.name }), isFailure("NOT_FOUND"));
});

test("refuses a second team of a name, an unknown merchant and an end in the past", async () => {
  const { name } = await newTeam([Right.FEES_READ]);
  const create = (team: object) =>
    teams().createTeam({ team: { name: `${name}x`, rights: [Right.FEES_READ], rate: 1, ...team } });
  const unknown = "mer_00000000000000000000000000";
  for (const team of [
    { name },
    { merchantIds: [unknown] },
    { expiresAt: timestampFromDate(new Date(0)) },
    { rights: [] },
  ]) {
    await assert.rejects(create(team), isFailure("INVALID_BODY"), JSON.stringify(Object.keys(team)));
  }
});

test("a team watches events of its own merchants only, and a removed team's stream ends within two seconds", async () => {
  const [own, other] = [await freshMerchant(running), await freshMerchant(running)];
  const { name, token } = await newTeam([Right.EVENTS_READ], { merchantIds: [own.id] });
  const client = createClient(EventService, createGrpcTransport({ baseUrl: running.rpc.webhook }));
  const watch = (merchantIds: string[]) =>
    client.watch({ merchantIds }, { headers: { authorization: `Bearer ${token}` } })[Symbol.asyncIterator]();
  for (const asked of [[], [other.id], [own.id, other.id]])
    await assert.rejects(watch(asked).next(), /CALLER_REFUSED: team:.* merchants/);
  const events = watch([own.id]);
  for (const merchant of [other, own]) {
    const order = { amount: 700, currency: "USD", reference: "jo@example.com" };
    const session = (await merchant.api.post("/v1/checkout-sessions", order)).expect(201);
    (await merchant.api.post(`/v1/checkout-sessions/${session.text("id")}/expire`)).expect(200);
  }
  const { value }: IteratorResult<WatchResponse> = await events.next();
  assert.deepEqual(
    value?.events.map(({ type, merchantId, reference }: Event) => [type, merchantId, reference]),
    [["checkout_session.expired", own.id, "***@example.com"]],
  );
  const next = events.next();
  await teams().removeTeam({ name });
  const from = performance.now();
  await assert.rejects(next, /CALLER_UNKNOWN/);
  assert.ok(performance.now() - from < 2_000);
});

test("the command creates, lists, shows, rotates and removes a team", async () => {
  const merchant = await freshMerchant(running);
  const name = `c${crypto.randomUUID().slice(0, 13)}`;
  const may = ["--may", "payments.read,journal.read"];
  const limits = ["--merchants", merchant.id, "--rate", "50", "--expires", "90d"];
  const created = await command("teams", "create", name, ...may, ...limits, "--json");
  assert.match(created, /"token": ?"tb_team_[\w-]{43}"/);
  for (const part of [name, "payments.read", "journal.read", merchant.id, "50"])
    assert.ok(created.includes(part), part);
  assert.ok((await command("teams", "list")).includes(name));
  assert.ok(!(await command("teams", "show", name)).includes("tb_team_"));
  assert.match(await command("teams", "rotate", name, "--overlap", "0"), /tb_team_/);
  assert.match(await command("teams", "remove", name), /removed/);
  assert.ok(!(await command("teams", "list")).includes(name));
});

/** @returns what the command prints */
async function command(...argv: string[]): Promise<string> {
  const { checkout, payments, merchant, webhook } = running.rpc;
  const urls = { CHECKOUT_URL: checkout, PAYMENTS_URL: payments, MERCHANT_URL: merchant, WEBHOOK_URL: webhook };
  const env = { ...process.env, ...urls, RPC_TOKEN_FILE: running.rpc_files.tokens.operator };
  const program = join(root, "deploy/cli/main.ts");
  return (await promisify(execFile)(process.execPath, [program, ...argv], { cwd: root, env })).stdout;
}

test("the audit log names the operator's act, the team and its rights, and never a token", async () => {
  const { name, token } = await newTeam([Right.FEES_READ, Right.RISK_READ], { rate: 7 });
  await teams().rotateTeam({ name, overlapSeconds: 60 });
  await teams().removeTeam({ name });
  const entries = await eventually("three entries", async () => {
    const found = await operator.client(AuditService).listAuditEntries({ objectId: `team:${name}`, pageSize: 10 });
    return found.entries.length === 3 && found.entries;
  });
  assert.deepEqual(
    entries.map(({ action, actor }) => `${action} ${actor}`),
    ["team.removed operator", "team.rotated operator", "team.created operator"],
  );
  const details = { rights: "fees.read,risk.read", merchants: "all", rate: "7", expires_at: "" };
  assert.deepEqual({ ...entries[2]?.details }, details);
  assert.ok(
    !JSON.stringify(entries, (_, value) => (typeof value === "bigint" ? String(value) : value)).includes(token),
  );
});

function isFailure(reason: string) {
  return (error: unknown) => error instanceof Failure && error.reason === reason;
}

test.run();
