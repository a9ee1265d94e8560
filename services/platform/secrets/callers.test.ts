import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DescService, getOption } from "@bufbuild/protobuf";
import { rightName } from "#platform/rpc/teams.ts";
import { Right, right } from "#proto/access/v1/access_pb.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { ApiKeyService, ConnectorService, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { holderLines, tokenHolders } from "../../../deploy/cli/setup/identities.ts";
import { suite } from "../../../test/harness/suite.ts";
import { actorOf, allowedCallers, callerLine, callersFile, tokenFile } from "./callers.ts";

const test = suite("trust between processes");
const dir = mkdtempSync(join(tmpdir(), "tollbooth-trust-"));
const file = (name: string, text: string) => {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
};
const [old, fresh] = ["o".repeat(40), "n".repeat(40)];

test.after(() => rmSync(dir, { recursive: true }));

test("a token represents the callers in the file, also two tokens of one caller", () => {
  const lines = [
    callerLine("gateway", old),
    `${callerLine("gateway", fresh)} # since May`,
    callerLine("reader", fresh),
  ];
  const trusted = callersFile.parse(file("two", `# tokens\n\n${lines.join("\n")}\n`));
  assert.deepEqual(trusted.of(old), ["gateway"]);
  assert.deepEqual(trusted.of(fresh), ["gateway", "reader"]);
  assert.deepEqual(trusted.of(`${old}x`), []);
  assert.deepEqual(trusted.of(""), []);
});

test("the operators' console passes on its actor and has an operator's rights", () => {
  const trusted = callersFile.parse(file("operators", holderLines("operators-console", old).join("\n")));
  assert.deepEqual(trusted.of(old), ["console", "operator"]);
  assert.deepEqual(actorOf(trusted.of(old), "usr_1"), { actor: "usr_1" });
  for (const name of tokenHolders.keys())
    assert.equal(holderLines(name, old).length, name === "operators-console" ? 2 : 1, name);
});

test("our services pass on the actor; for anyone else the given actor is only a claim", () => {
  for (const name of ["gateway", "checkout", "payments"] as const) {
    assert.deepEqual(actorOf([name], "ak_1"), { actor: "ak_1" });
    assert.deepEqual(actorOf([name], ""), { actor: "" });
    assert.deepEqual(actorOf([name], "a b"), { actor: "" });
  }
  for (const name of ["operator", "reader"] as const) {
    assert.deepEqual(actorOf([name], "ak_1"), { actor: name, claimedActor: "ak_1" });
    assert.deepEqual(actorOf([name], ""), { actor: name });
    assert.deepEqual(actorOf([name], "x".repeat(65)), { actor: name });
    assert.deepEqual(actorOf([name], "a\tb"), { actor: name });
  }
  assert.deepEqual(actorOf([], "ak_1"), { actor: "", claimedActor: "ak_1" });
});

test("refuses an invalid file at the start without repeating its content", () => {
  for (const text of [
    "",
    "# empty\n",
    "gateway sha256:abc\n",
    `stranger sha256:${"a".repeat(64)}\n`,
    `gateway ${old}\n`,
  ]) {
    assert.throws(
      () => callersFile.parse(file("bad", text)),
      (error) => error instanceof Error && /^must /.test(error.message) && !error.message.includes(old),
    );
  }
  assert.throws(() => tokenFile.parse(file("short", "tooshort\n")), /must begin with a token/);
  assert.throws(() => tokenFile.parse(join(dir, "nowhere")), /must name a file/);
});

test("the proto decides each method's callers: reads for readers, money for the service that moves it", () => {
  assert.deepEqual([...allowedCallers(PaymentsService.method.createIntent)], ["checkout"]);
  assert.deepEqual([...allowedCallers(PaymentsService.method.refundPayment)], ["gateway", "console"]);
  assert.deepEqual(
    [...allowedCallers(PaymentsService.method.getPayment)],
    ["gateway", "checkout", "operator", "console", "reader"],
  );
  assert.deepEqual([...allowedCallers(MerchantService.method.createMerchant)], ["operator"]);
  assert.deepEqual([...allowedCallers(PaymentsService.method.confirmAnnouncements)], ["checkout", "webhook"]);
  const openToWebhook = [CheckoutService, PaymentsService, DisputeService, ReportService, MerchantService]
    .flatMap(({ methods }) => methods)
    .filter((method) => allowedCallers(method).has("webhook"));
  assert.deepEqual(openToWebhook, [
    CheckoutService.method.batchGetSessions,
    CheckoutService.method.confirmAnnouncements,
    PaymentsService.method.batchGetPayments,
    PaymentsService.method.confirmAnnouncements,
    DisputeService.method.getDispute,
    ReportService.method.getReport,
  ]);
});

test("docs/internal-api.md lists each right's methods, and the reader may call those of its four rights", async () => {
  const root = join(import.meta.dirname, "../../..");
  const [open, rights]: [string[], string[]] = [[], []];
  for (const path of globSync("proto/gen/*/v1/*_pb.ts", { cwd: root })) {
    const file: Readonly<Record<string, unknown>> = await import(join(root, path));
    for (const each of Object.values(file)) {
      if (!isService(each)) continue;
      const methods = each.methods.filter((method) => allowedCallers(method).has("reader"));
      open.push(...methods.map(({ name }) => `${each.typeName} ${name}`));
      for (const method of each.methods) {
        const needed = getOption(method, right);
        if (needed !== Right.UNSPECIFIED) rights.push(`${rightName(needed)} ${each.typeName} ${method.name}`);
      }
    }
  }
  const docs = readFileSync(join(root, "docs/internal-api.md"), "utf8");
  const listed = [...docs.matchAll(/^\| `(\w+\.\w+)` \| (.*) \|$/gm)].flatMap(([, name, methods = ""]) =>
    [...methods.matchAll(/`(\w+\.v1\.\w+)` ((?:`\w+`(?:,\s+)?)+)/g)].flatMap(([, service, names = ""]) =>
      [...names.matchAll(/\w+/g)].map(([method]) => `${name} ${service} ${method}`),
    ),
  );
  assert.deepEqual(rights.sort(), listed.sort());
  const ofReader = listed.filter((line) => /^(merchants|checkout|payments|events)\.read /.test(line));
  assert.deepEqual(open.sort(), ofReader.map((line) => line.replace(/^\S+ /, "")).sort());
});

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

test("a console may do what merchants' backends do, but not verify keys or act for buyers and processors", () => {
  const closed = [
    ApiKeyService.method.authenticateKey,
    ApiKeyService.method.recordKeyUse,
    AuditService.method.recordApiRequests,
    MerchantService.method.getLogo,
    CheckoutService.method.createPayment,
    CheckoutService.method.resolveSession,
    CheckoutService.method.describePage,
    CheckoutService.method.describeReturn,
    CheckoutService.method.describeReceipt,
    CheckoutService.method.mailReceipt,
    CheckoutService.method.confirmSession,
    CheckoutService.method.giveEmail,
    PaymentsService.method.verifyIntent,
    PaymentsService.method.findProcessorAccount,
    PaymentsService.method.receiveProcessorEvent,
  ];
  const services = [MerchantService, ApiKeyService, ConnectorService, AuditService, CheckoutService, PaymentsService];
  const gateways = [...services, DisputeService, ReportService, WebhookService]
    .flatMap(({ methods }) => methods)
    .filter((method) => allowedCallers(method).has("gateway"));
  assert.deepEqual(
    gateways
      .filter((method) => !allowedCallers(method).has("console"))
      .map(({ name }) => name)
      .sort(),
    closed.flatMap((method) => (allowedCallers(method).has("gateway") ? [method.name] : [])).sort(),
  );
  assert.equal(closed.filter((method) => allowedCallers(method).has("console")).length, 0);
});

test.run();
