// The broker's configuration of the manifests and compose.yaml in a real nats-server, with generated secrets; only
// paths differ.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Broker, connectBroker } from "#platform/events/connection.ts";
import { ensureStreams } from "../../deploy/cli/setup/ensure-streams.ts";
import { authorizationFile, authorizationText } from "../../deploy/generate/broker-rights.ts";
import { natsConfig } from "../../deploy/local/nats.ts";
import { generatedSecrets } from "../harness/files/overlays.ts";
import { brokerConfig, startManifestBroker } from "../harness/servers/manifest-broker.ts";
import { suite } from "../harness/suite.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("broker of the manifests", { timeoutMs: 60_000 });
let made: ReturnType<typeof generatedSecrets>;

test.before(() => {
  made = generatedSecrets("postgres://{service}:{password}@postgres:5432/tollbooth_{service}");
});

const secretOf = (name: string): Record<string, string> =>
  made.get(name)?.stringData ?? assert.fail(`the secrets command makes no ${name}`);

const setups = [
  ["components/nats", () => brokerConfig("nats/nats.yaml")],
  ["components/nats-r3", () => brokerConfig("nats-r3/nats-conf.yaml")],
  ["compose.yaml", () => readFileSync(join(root, "deploy/image/compose-nats.conf"), "utf8")],
] as const;

for (const [name, config] of setups) {
  test(`${name}: accepts processes over TLS with their identities and refuses others`, async () => {
    const broker = await startManifestBroker(config(), secretOf);
    const as = (identity: string): Broker => broker.identity(identity, secretOf);
    try {
      for (const identity of ["checkout", "payments", "merchant", "webhook", "gateway", "migrate"]) {
        await (await connectBroker(as(identity), { name: identity, reconnect: false })).close();
      }
      const { caFile } = as("payments");
      const stranger = connectBroker({ url: broker.url, caFile }, { name: "stranger", reconnect: false });
      await assert.rejects(stranger, { code: "AUTHORIZATION_VIOLATION" });
      const unvouched = { ...as("payments"), caFile: undefined };
      await assert.rejects(connectBroker(unvouched, { name: "payments", reconnect: false }), /certificate|TLS/i);
      // A cluster of one has no leader; only migrate may create a stream.
      if (!name.endsWith("r3"))
        await ensureStreams({ broker: as("migrate"), namespace: "tollbooth", only: ["payments"] });
    } finally {
      await broker.stop();
    }
  });
}

test("an acknowledged event survives the loss of a machine, on its disk or on another machine", () => {
  for (const [name, config] of setups) {
    const isSynced = /^\s*jetstream \{.*\bsync_interval: always\b/m.test(config());
    assert.equal(isSynced, !name.endsWith("r3"), name);
  }
  const cluster = readFileSync(join(root, "deploy/kubernetes/components/nats-r3/kustomization.yaml"), "utf8");
  assert.equal(cluster.match(/NATS_REPLICAS=3/g)?.length, 2);
  assert.match(natsConfig("/store", "2.10.27"), /sync_interval: always/);
  assert.doesNotMatch(natsConfig("/store", "2.9.10"), /sync_interval/);
});

test("the manifests contain the permissions of the code", () => {
  const text = readFileSync(join(root, authorizationFile), "utf8");
  assert.equal(text, authorizationText(), "run npm run generate -- broker-rights");
});

test.run();
