// Which connectors there are, and where each may take payments.
import assert from "node:assert/strict";
import { createLog } from "#platform/telemetry/log.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../../test/harness/suite.ts";
import { Circuits } from "./circuit.ts";
import { type Connectors, createConnectors, type ProcessorSettings } from "./registry.ts";

const test = suite("registry of connectors");
const nowhere = "http://127.0.0.1:9";
const made: Connectors[] = [];
test.after(async () => {
  for (const connectors of made) await connectors.close();
});

function connectors(simulator: ProcessorSettings["simulator"]): Connectors {
  const circuits = new Circuits({ windowCalls: 4, openMaxMs: 60, timeoutMs: 100 }, createLog("test", "fatal"));
  const notices = { keep: unused, find: unused, ofRef: unused, ofReference: unused };
  const urls = { simulator, stripeUrl: nowhere, adyenUrl: nowhere };
  const settings = { ...urls, notices, timeoutMs: 100, keyLifeSeconds: 60 };
  made.push(createConnectors(settings, circuits));
  return made.at(-1) ?? assert.fail();
}

async function unused(): Promise<never> {
  throw new Error("not used");
}

function served(of: Connectors, connector: string): Environment[] {
  const environments = [Environment.SANDBOX, Environment.LIVE];
  return environments.filter((environment) => of.serves({ connector, environment }));
}

test("the simulator serves the sandbox only, Stripe and Adyen both environments, an unknown name none", () => {
  const all = connectors({ url: nowhere, publicUrl: nowhere });
  assert.deepEqual(served(all, "simulator"), [Environment.SANDBOX]);
  assert.deepEqual(served(all, "stripe"), [Environment.SANDBOX, Environment.LIVE]);
  assert.deepEqual(served(all, "adyen"), [Environment.SANDBOX, Environment.LIVE]);
  assert.deepEqual(served(all, "acme"), []);
});

test("without its address the simulator is off", () => {
  const without = connectors(undefined);
  assert.deepEqual(
    [without.names, without.find("simulator"), served(without, "simulator")],
    [["stripe", "adyen"], undefined, []],
  );
  assert.throws(() => without.get("simulator"), { reason: "NOT_FOUND" });
});

test.run();
