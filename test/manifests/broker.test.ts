// The broker's configuration of the manifests and compose.yaml in a real nats-server, with generated secrets; only
// paths differ.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { type Broker, connectBroker } from "#platform/events/connection.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { ensureStreams } from "../../deploy/cli/setup/ensure-streams.ts";
import { authorizationFile, authorizationText } from "../../deploy/generate/broker-rights.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { knowsSyncInterval, natsConfig } from "../../deploy/local/nats.ts";
import { findNatsServer } from "../../deploy/local/nats-binary.ts";
import { runServer } from "../../deploy/local/process/server-process.ts";
import { generatedSecrets } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("broker of the manifests", { timeoutMs: 60_000 });
let made: ReturnType<typeof generatedSecrets>;

test.before(() => {
  made = generatedSecrets("postgres://{service}:{password}@postgres:5432/tollbooth_{service}");
});

const secretOf = (name: string): Record<string, string> =>
  made.get(name)?.stringData ?? assert.fail(`the secrets command makes no ${name}`);

/** nats.conf of a component's ConfigMap, in a file of deploy/kubernetes/components. */
function configOf(path: string): string {
  const documents = parseAllDocuments(readFileSync(join(root, "deploy/kubernetes/components", path), "utf8"));
  const found = documents.map((document) => document.toJS()).find(({ kind }) => kind === "ConfigMap");
  return found.data["nats.conf"];
}

const setups = [
  ["components/nats", () => configOf("nats/nats.yaml")],
  ["components/nats-r3", () => configOf("nats-r3/nats-conf.yaml")],
  ["compose.yaml", () => readFileSync(join(root, "deploy/image/compose-nats.conf"), "utf8")],
] as const;

for (const [name, config] of setups) {
  test(`${name}: accepts processes over TLS with their identities and refuses others`, async () => {
    const home = await tempDir("broker");
    const [port, cluster] = [await freePort(), await freePort()];
    for (const folder of ["etc/nats", "etc/nats-rights", "secrets", "data"])
      mkdirSync(join(home, folder), { recursive: true });
    for (const [file, text] of Object.entries(secretOf("nats-tls"))) writeFileSync(join(home, "secrets", file), text);
    for (const folder of ["etc/nats", "etc/nats-rights"]) {
      writeFileSync(join(home, folder, "authorization.conf"), readFileSync(join(root, authorizationFile)));
    }
    const { path: program, version } = await findNatsServer();
    // Debian 12's server does not know it; those of the manifests do.
    const known = knowsSyncInterval(version) ? config() : config().replace(", sync_interval: always", "");
    const moved = known
      .replaceAll("/run/secrets/nats-tls", join(home, "secrets"))
      .replace("store_dir: /data", `store_dir: ${join(home, "data")}`)
      .replace("0.0.0.0:4222", `127.0.0.1:${port}`)
      .replace("http: 0.0.0.0:8222", "")
      .replace("0.0.0.0:6222", `127.0.0.1:${cluster}`)
      .replace(/routes: \[[^\]]*\]/, `routes: [nats://127.0.0.1:${cluster}]`);
    writeFileSync(join(home, "etc/nats/nats.conf"), moved);
    const server = await runServer({
      name: "nats-server",
      program,
      args: ["-c", join(home, "etc/nats/nats.conf")],
      env: { PATH: process.env.PATH ?? "", POD_NAME: "nats-0", ...secretOf("nats-logins") },
      readyText: name.endsWith("r3") ? "Listening for route connections" : "Server is ready",
      stopSignal: "SIGTERM",
      keepsParentAlive: false,
    });
    try {
      const caFile = join(home, "secrets/ca.crt");
      const as = (identity: string): Broker => {
        const path = join(home, "secrets", `${identity}.seed`);
        writeFileSync(path, secretOf(`nats-nkey-${identity}`).seed ?? "");
        return { url: `tls://localhost:${port}`, nkey: nkeyFile.parse(path), caFile };
      };
      for (const identity of ["checkout", "payments", "merchant", "webhook", "gateway", "migrate"]) {
        await (await connectBroker(as(identity), { name: identity, reconnect: false })).close();
      }
      const stranger = connectBroker(
        { url: `tls://localhost:${port}`, caFile },
        { name: "stranger", reconnect: false },
      );
      await assert.rejects(stranger, { code: "AUTHORIZATION_VIOLATION" });
      const unvouched = { ...as("payments"), caFile: undefined };
      await assert.rejects(connectBroker(unvouched, { name: "payments", reconnect: false }), /certificate|TLS/i);
      // A cluster of one has no leader; only migrate may create a stream.
      if (!name.endsWith("r3"))
        await ensureStreams({ broker: as("migrate"), namespace: "tollbooth", only: ["payments"] });
    } finally {
      await server.stop();
      rmSync(home, { recursive: true });
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
