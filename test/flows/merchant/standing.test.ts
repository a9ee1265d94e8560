// What a suspended or closed merchant may at the services themselves: every method that changes something and that a
// gateway or a console calls, asked for a merchant of each status. A new method is refused until it is named here.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { allowedCallers } from "#platform/secrets/callers.ts";
import { callContext } from "#platform/values/call-context.ts";
import { asFailure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { PeopleService, SignInService } from "#proto/merchant/v1/people_pb.ts";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { eventually } from "../../harness/eventually.ts";
import { freshMerchant } from "../../harness/merchant.ts";
import { stack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";

const test = suite("standing of merchants", { timeoutMs: 60_000 });
const root = join(import.meta.dirname, "../../..");

/** Money moves towards buyers only. */
const whileSuspended = [
  "payments.v1.DisputeService/AcceptDispute",
  "payments.v1.DisputeService/AppendDisputeFile",
  "payments.v1.DisputeService/BeginDisputeFile",
  "payments.v1.DisputeService/FinishDisputeFile",
  "payments.v1.DisputeService/SubmitEvidence",
  "payments.v1.PaymentsService/CancelPayment",
  "payments.v1.PaymentsService/RefundPayment",
];
/** A person's own, logs, and changes of a team, for which the service reads the status itself. */
const always = [
  ...[SignInService, PeopleService].flatMap(({ typeName, methods }) =>
    methods.filter((method) => changesSomething(method) && isForDoors(method)).map(({ name }) => `${typeName}/${name}`),
  ),
  "merchant.v1.ApiKeyService/RecordKeyUse",
  "merchant.v1.AuditService/RecordApiRequests",
];

let running: StackInfo;
const methods: DescMethod[] = [];

test.before(async () => {
  running = await stack();
  for (const file of globSync("proto/gen/*/v1/*_pb.ts", { cwd: root })) {
    const exported: Record<string, unknown> = await import(join(root, file));
    methods.push(
      ...Object.values(exported)
        .filter(isService)
        .flatMap((service) => service.methods),
    );
  }
  assert(methods.length > 100);
});

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

function changesSomething(method: DescMethod): boolean {
  return method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

function isForDoors(method: DescMethod): boolean {
  return [...allowedCallers(method)].some((caller) => caller === "gateway" || caller === "console");
}

const tokenIn = (file: string) => readFileSync(file, "utf8").trim();

/** How the call of a merchant's own ends. @param merchantStatus as the caller says it; absent: it does not */
async function outcome(method: DescMethod, token: string, merchantStatus?: string): Promise<string> {
  const [service = ""] = method.parent.typeName.split(".");
  const url = new Map(Object.entries(running.rpc)).get(service) ?? assert.fail(`no service ${service}`);
  const peer = connectPeer({ url, token });
  const context = { requestId: newId("request"), actor: "", traceparent: "", deadlineMs: undefined };
  try {
    const call: unknown = Reflect.get(peer.client(method.parent), method.localName);
    assert(typeof call === "function");
    await callContext.run(merchantStatus === undefined ? context : { ...context, merchantStatus }, () => call({}));
    return "done";
  } catch (error) {
    return asFailure(error).reason;
  } finally {
    peer.close();
  }
}

/** Those of the methods that are not refused for a merchant of this status. */
async function openTo(wanted: readonly DescMethod[], merchantStatus: string): Promise<string[]> {
  const open: string[] = [];
  for (const method of wanted) {
    const caller = allowedCallers(method).has("console") ? "console" : "gateway";
    const ended = await outcome(method, tokenIn(running.rpc_files.tokens[caller]), merchantStatus);
    if (ended !== "FORBIDDEN") open.push(`${method.parent.typeName}/${method.name}`);
  }
  return open.sort();
}

for (const status of ["pending", "suspended", "closed", "of a later release"]) {
  test(`a merchant whose status is "${status}" changes only what this test names`, async () => {
    const open = await openTo(methods.filter(isForDoors).filter(changesSomething), status);
    assert.deepEqual(open, [...always, ...(status === "suspended" ? whileSuspended : [])].sort());
  });
}

test("an active merchant is refused nothing for its status, and nobody is refused a read", async () => {
  const changes = methods.filter(isForDoors).filter(changesSomething);
  assert.equal((await openTo(changes, "active")).length, changes.length);
  const reads = methods.filter(isForDoors).filter((method) => !changesSomething(method));
  assert.equal((await openTo(reads, "closed")).length, reads.length);
});

test("a console that does not say the status is refused, and operators are not bound", async () => {
  const method = MerchantService.method.updateProfile;
  const { tokens, operatorsConsole } = running.rpc_files;
  assert.equal(await outcome(method, tokenIn(tokens.console)), "FORBIDDEN");
  for (const token of [tokens.operator, operatorsConsole]) {
    assert.notEqual(await outcome(method, tokenIn(token), "closed"), "FORBIDDEN");
  }
  // The gateway of the release before, which has refused by itself.
  assert.notEqual(await outcome(method, tokenIn(tokens.gateway)), "FORBIDDEN");
});

test("the reason of a suspension is kept with the entry of the audit log", async () => {
  const merchant = await freshMerchant(running);
  const peer = connectPeer({ url: running.rpc.merchant, token: running.rpc_token });
  const merchants = peer.client(MerchantService);
  try {
    const input = { merchantId: merchant.id, status: "suspended", reason: "Card testing" };
    await merchants.updateMerchantState(input);
    const tooLong = { ...input, reason: "x".repeat(501) };
    await assert.rejects(merchants.updateMerchantState(tooLong), refused("INVALID_BODY", "reason"));
  } finally {
    peer.close();
  }
  const found = await eventually("the entry", async () => {
    const answer = await merchant.api.get("/v1/merchants/me/audit-log?action=merchant.updated");
    return answer.status === 200 && answer.at("data.0.details.reason");
  });
  assert.equal(found, "Card testing");
});

test.run();
