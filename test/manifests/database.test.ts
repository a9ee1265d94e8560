// Logins of the manifests' and compose.yaml's PostgreSQL at a real server, with generated secrets; only paths differ.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { parse, parseAllDocuments } from "yaml";
import { freePort } from "../../deploy/local/free-port.ts";
import { type PostgresServer, startPostgres } from "../../deploy/local/postgres.ts";
import { generatedSecrets } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("database of the manifests", { timeoutMs: 120_000 });
let made: ReturnType<typeof generatedSecrets>;
const composed = parse(readFileSync(join(root, "deploy/image/compose.yaml"), "utf8"), { merge: true }).services;

test.before(() => {
  // As in compose.yaml.
  const [, , , services, owners] = composed.secrets.command;
  made = generatedSecrets(services, owners);
});

const secretOf = (name: string): Record<string, string> =>
  made.get(name)?.stringData ?? assert.fail(`the secrets command makes no ${name}`);
const password = () => secretOf("postgres").password ?? "";

/** A server's settings and its pg_hba.conf. */
interface ServerConfig {
  readonly settings: Readonly<Record<string, string>>;
  readonly access: string;
}

const accessFile = readFileSync(join(root, "deploy/kubernetes/components/postgres/pg_hba.conf"), "utf8");
/** `-cname=value` arguments. */
const settingsOf = (args: readonly string[]) =>
  Object.fromEntries(args.map((arg) => /^-c(\w+)=(.*)$/.exec(arg)?.slice(1) ?? assert.fail(`what is ${arg}?`)));

const configs: Readonly<Record<string, () => ServerConfig>> = {
  "components/postgres": () => {
    const server = documentsOf("postgres/postgres.yaml").find(({ kind }) => kind === "StatefulSet");
    return { settings: settingsOf(server.spec.template.spec.containers[0].args), access: accessFile };
  },
  "compose.yaml": () => ({ settings: settingsOf(composed.postgres.command), access: accessFile }),
  // The operator's file: its own lines, ours, and its last one.
  "components/cloudnative-pg": () => {
    const { postgresql } = documentsOf("cloudnative-pg/cluster.yaml").find(({ kind }) => kind === "Cluster").spec;
    const own = [
      "local all all peer map=local",
      "hostssl postgres streaming_replica all cert map=cnpg_streaming_replica",
      "hostssl replication streaming_replica all cert map=cnpg_streaming_replica",
      "hostssl all cnpg_pooler_pgbouncer all cert map=cnpg_pooler_pgbouncer",
    ];
    const folder = "/run/secrets/postgres-tls";
    return {
      settings: {
        // The server must accept them and start.
        ...postgresql.parameters,
        ssl: "on",
        ssl_cert_file: `${folder}/tls.crt`,
        ssl_key_file: `${folder}/tls.key`,
        ssl_ca_file: `${folder}/ca.crt`,
        hba_file: "/etc/postgresql/pg_hba.conf",
      },
      access: [...own, ...postgresql.pg_hba, "host all all all scram-sha-256"].join("\n"),
    };
  },
};

for (const [name, configOf] of Object.entries(configs)) {
  test(`${name}: refuses connections without TLS, and services accept only its own authority`, () =>
    atServer(configOf(), async ({ port, authority, foreign }) => {
      const plain = `postgres://postgres:${password()}@localhost:${port}/postgres`;
      // 28000: no line of pg_hba.conf matches.
      await assert.rejects(isEncrypted(plain), { code: "28000" });
      const url = new URL(secretOf("tollbooth-migrate").CHECKOUT_DATABASE_URL ?? "");
      assert.equal(url.searchParams.get("sslmode"), "verify-full");
      assert.equal(url.searchParams.get("sslrootcert"), "/run/secrets/postgres-ca/ca.crt");
      const toServer = (sslrootcert: string, as = url.password) =>
        `postgres://${url.username}:${as}@localhost:${port}/postgres?sslmode=verify-full&sslrootcert=${sslrootcert}`;
      assert.equal(await isEncrypted(toServer(authority)), true);
      await assert.rejects(isEncrypted(toServer(authority, "guessed")), { code: "28P01" });
      await assert.rejects(isEncrypted(toServer(foreign)), /certificate/);
    }));
}

test("compose.yaml: the server's key is a copy that only the server can read", () => {
  const { entrypoint, command } = composed.postgres;
  const { ssl_key_file } = settingsOf(command);
  assert.ok(
    entrypoint[2].startsWith(`install -o postgres -m 600 /run/secrets/postgres-tls/tls.key ${ssl_key_file} && `),
  );
});

test("the certificate names the server as its clients call it, in compose and in a cluster", () => {
  const { hostname } = new URL(secretOf("tollbooth-checkout").DATABASE_URL ?? "");
  const service = documentsOf("postgres/postgres.yaml").find(({ kind }) => kind === "Service");
  assert.deepEqual([hostname in composed, service.metadata.name], [true, hostname]);
  const certificate = new X509Certificate(secretOf("postgres-tls")["tls.crt"] ?? "");
  for (const name of [hostname, `${hostname}.tollbooth.svc`]) assert.equal(certificate.checkHost(name), name);
  assert.equal(certificate.checkHost("nats"), undefined);
});

// biome-ignore lint/suspicious/noExplicitAny: manifests are data.
function documentsOf(file: string): any[] {
  const text = readFileSync(join(root, "deploy/kubernetes/components", file), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** Starts a server, applies the configuration, and runs the test. */
async function atServer(
  { settings, access }: ServerConfig,
  work: (server: { port: number; authority: string; foreign: string }) => Promise<void>,
): Promise<void> {
  const home = await tempDir("database");
  const port = await freePort();
  const start = (own: Readonly<Record<string, string>> = {}): Promise<PostgresServer> =>
    startPostgres({ home, port, password: password(), isDurable: false, settings: own });
  let server = await start();
  try {
    const data = await withClient(server.url, async (client) => {
      const { rows } = await client.query("show data_directory");
      return String(rows[0].data_directory);
    });
    await server.stop();
    const folder = join(dirname(data), "doors");
    const { uid, gid } = statSync(data);
    mkdirSync(folder);
    const write = (file: string, text: string) => {
      writeFileSync(join(folder, file), text, { mode: 0o600 });
      chownSync(join(folder, file), uid, gid);
      return join(folder, file);
    };
    for (const [file, text] of Object.entries(secretOf("postgres-tls"))) write(file, text);
    const foreign = write("foreign.crt", secretOf("nats-tls")["ca.crt"] ?? "");
    write("pg_hba.conf", access);
    const moved = Object.entries(settings).map(([setting, value]) => [
      setting,
      value.replace(/^(\/run\/secrets\/postgres-tls|\/tmp|\/etc\/postgresql)(?=\/)/, folder),
    ]);
    server = await start(Object.fromEntries(moved));
    await work({ port, authority: join(folder, "ca.crt"), foreign });
  } finally {
    await server.stop();
    rmSync(home, { recursive: true });
  }
}

/** Logs in and runs a query. */
function isEncrypted(connectionString: string): Promise<boolean> {
  return withClient(connectionString, async (client) => {
    const { rows } = await client.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    return rows[0].ssl;
  });
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test.run();
