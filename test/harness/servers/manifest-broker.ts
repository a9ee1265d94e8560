// The broker as a manifest configures it, with its Secrets; only paths and ports differ.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Broker } from "#platform/events/connection.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { authorizationFile } from "../../../deploy/generate/broker-rights.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { knowsSyncInterval } from "../../../deploy/local/nats.ts";
import { findNatsServer } from "../../../deploy/local/nats-binary.ts";
import { runServer } from "../../../deploy/local/process/server-process.ts";
import { tempDir } from "../temp-dir.ts";

const root = join(import.meta.dirname, "../../..");

/** Values of a Secret. */
export type SecretSource = (name: string) => Readonly<Record<string, string>>;

export interface ManifestBroker {
  readonly url: string;
  /** As a process logs in, by its Secrets. */
  identity(name: string, secretOf: SecretSource): Broker;
  /** Restarts the server with the Secrets. */
  restart(secretOf: SecretSource): Promise<void>;
  stop(): Promise<void>;
}

/** nats.conf of a component's ConfigMap, in a file of deploy/kubernetes/components. */
export function brokerConfig(path: string): string {
  const documents = parseAllDocuments(readFileSync(join(root, "deploy/kubernetes/components", path), "utf8"));
  const found = documents.map((document) => document.toJS()).find(({ kind }) => kind === "ConfigMap");
  return found.data["nats.conf"];
}

export async function startManifestBroker(config: string, secretOf: SecretSource): Promise<ManifestBroker> {
  const home = await tempDir("broker");
  const [port, cluster] = [await freePort(), await freePort()];
  for (const folder of ["etc/nats", "etc/nats-rights", "secrets", "data"])
    mkdirSync(join(home, folder), { recursive: true });
  for (const folder of ["etc/nats", "etc/nats-rights"]) {
    writeFileSync(join(home, folder, "authorization.conf"), readFileSync(join(root, authorizationFile)));
  }
  const { path: program, version } = await findNatsServer();
  // Debian 12's server does not know it; those of the manifests do.
  const known = knowsSyncInterval(version) ? config : config.replace(", sync_interval: always", "");
  const moved = known
    .replaceAll("/run/secrets/nats-tls", join(home, "secrets"))
    .replace("store_dir: /data", `store_dir: ${join(home, "data")}`)
    .replace("0.0.0.0:4222", `127.0.0.1:${port}`)
    .replace("http: 0.0.0.0:8222", "")
    .replace("0.0.0.0:6222", `127.0.0.1:${cluster}`)
    .replace(/routes: \[[^\]]*\]/, `routes: [nats://127.0.0.1:${cluster}]`);
  writeFileSync(join(home, "etc/nats/nats.conf"), moved);
  const start = (source: SecretSource) => {
    for (const [file, text] of Object.entries(source("nats-tls"))) writeFileSync(join(home, "secrets", file), text);
    return runServer({
      name: "nats-server",
      program,
      args: ["-c", join(home, "etc/nats/nats.conf")],
      env: { PATH: process.env.PATH ?? "", POD_NAME: "nats-0", ...source("nats-logins") },
      readyText: /^\s*cluster \{/m.test(config) ? "Listening for route connections" : "Server is ready",
      stopSignal: "SIGTERM",
      keepsParentAlive: false,
    });
  };
  let server = await start(secretOf);
  let files = 0;
  const url = `tls://localhost:${port}`;
  return {
    url,
    identity(name, source) {
      const [seed, caFile] = ["seed", "crt"].map((end) => join(home, "secrets", `${name}-${files++}.${end}`));
      writeFileSync(seed ?? "", source(`nats-nkey-${name}`).seed ?? "");
      writeFileSync(caFile ?? "", source("nats-tls")["ca.crt"] ?? "");
      return { url, nkey: nkeyFile.parse(seed ?? ""), caFile };
    },
    async restart(source) {
      await server.stop();
      server = await start(source);
    },
    async stop() {
      await server.stop();
      rmSync(home, { recursive: true });
    },
  };
}
