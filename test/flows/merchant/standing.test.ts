// Calls of a suspended or closed merchant at the services: every changing method that a gateway or console may call,
// for each merchant status. A new method is refused until this test names it.
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
import { sharedStack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("merchant status", { timeoutMs: 60_000 });
const root = join(import.meta.dirname, "../../..");

/** Methods that only return money, answer disputes, or order a report. */
const whileSuspended = [
  "payments.v1.DisputeService/AcceptDispute",
  "payments.v1.DisputeService/AppendDisputeFile",
  "payments.v1.DisputeService/BeginDisputeFile",
  "payments.v1.DisputeService/FinishDisputeFile",
  "payments.v1.DisputeService/SubmitEvidence",
  "payments.v1.PaymentsService/CancelPayment",
  "payments.v1.PaymentsService/RefundPayment",
  "payments.v1.ReportService/CreateReport",
  "checkout.v1.PrivacyService/CreateErasure",
];
/** A person's own access, logs, and team changes, for which the service reads the status itself. */
const always = [
  ...[SignInService, PeopleService].flatMap(({ typeName, methods }) =>
    methods
      .filter((method) => changesSomething(method) && isForMerchants(method))
      .map(({ name }) => `${typeName}/${name}`),
  ),
  "merchant.v1.ApiKeyService/RecordKeyUse",
  "merchant.v1.AuditService/RecordApiRequests",
];

let running: StackInfo;
const methods: DescMethod[] = [];

test.before(async () => {
  running = await sharedStack();
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

function isForMerchants(method: DescMethod): boolean {
  return [...allowedCallers(method)].some((caller) => caller === "gateway" || caller === "console");
}

const tokenIn = (file: string) => readFileSync(file, "utf8").trim();

/** "done", or the reason of the refusal. @param merchantStatus as the caller states it; absent: not stated */
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

/** The methods that are not refused for a merchant of this status. */
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
  test(`a merchant with status "${status}" can call only the changing methods named here`, async () => {
    const open = await openTo(methods.filter(isForMerchants).filter(changesSomething), status);
    assert.deepEqual(open, [...always, ...(status === "suspended" ? whileSuspended : [])].sort());
  });
}

test("no method is refused for an active merchant, and no read for a closed one", async () => {
  const changes = methods.filter(isForMerchants).filter(changesSomething);
  assert.equal((await openTo(changes, "active")).length, changes.length);
  const reads = methods.filter(isForMerchants).filter((method) => !changesSomething(method));
  assert.equal((await openTo(reads, "closed")).length, reads.length);
});

test("a console that does not state the status is refused, and operators are not restricted", async () => {
  const method = MerchantService.method.updateProfile;
  const { tokens, operatorsConsole } = running.rpc_files;
  assert.equal(await outcome(method, tokenIn(tokens.console)), "FORBIDDEN");
  for (const token of [tokens.operator, operatorsConsole]) {
    assert.notEqual(await outcome(method, tokenIn(token), "closed"), "FORBIDDEN");
  }
  // The previous release's gateway checks the status itself.
  assert.notEqual(await outcome(method, tokenIn(tokens.gateway)), "FORBIDDEN");
});

test.run();
