// Makes the secrets of a first installation at random. `secrets manifests <databases>` prints Kubernetes Secrets, to be piped to kubectl
// or into the store that External Secrets reads; `secrets files <folder> <databases>` writes them as files and keeps those that exist.
// <databases> is a PostgreSQL URL in which {service} stands for the service and {password} for a password that is made here: one for
// all, or, where {service} is the user as well, one for each, also as the Secret that CloudNativePG gives the role its password from.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerLine, callerNames } from "#platform/rpc-trust.ts";

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Who has a database in production. */
const roles = ["checkout", "payments", "merchant", "webhook"];

const usage = `usage: secrets manifests <databases>
       secrets files <folder> <databases>
  <databases>, for example: 'postgres://postgres:{password}@postgres:5432/tollbooth_{service}'
  or, a role for each:      'postgres://{service}:{password}@postgres-rw:5432/tollbooth_{service}?sslmode=verify-full'`;

const [form, ...rest] = process.argv.slice(2);
const databases = form === "files" ? rest[1] : rest[0];
if (databases?.includes("{service}") && form === "manifests") console.log(manifests(makeSecrets(databases)));
else if (databases?.includes("{service}") && form === "files") writeFiles(rest[0] ?? "", makeSecrets(databases));
else {
  console.error(usage);
  process.exit(2);
}

function makeSecrets(template: string): Secrets {
  const makesPasswords = template.includes("{password}");
  const hasRoles = makesPasswords && template.includes("//{service}:");
  const shared = password();
  const passwords = new Map([...roles, "simulator"].map((role) => [role, hasRoles ? password() : shared]));
  const databaseUrl = (service: string) =>
    template.replaceAll("{service}", service).replaceAll("{password}", passwords.get(service) ?? "");
  const key = () => randomBytes(32).toString("base64");
  const simulator = { SIMULATOR_SECRET_KEY: `sim_sk_${token()}`, SIMULATOR_WEBHOOK_SECRET: `sim_wh_${token()}` };
  const service = (name: string) => ({
    DATABASE_URL: databaseUrl(name),
    // Each service's own: what one of them leaks opens nothing of the others.
    ENCRYPTION_KEYS: `k1:${key()}`,
    HASH_KEY: key(),
  });
  const tokens = callerNames.map((name) => ({ name, token: token() }));
  return {
    "tollbooth-checkout": service("checkout"),
    "tollbooth-payments": service("payments"),
    "tollbooth-merchant": { ...service("merchant"), ...simulator },
    "tollbooth-webhook": service("webhook"),
    "tollbooth-migrate": {
      CHECKOUT_DATABASE_URL: databaseUrl("checkout"),
      PAYMENTS_DATABASE_URL: databaseUrl("payments"),
      MERCHANT_DATABASE_URL: databaseUrl("merchant"),
      WEBHOOK_DATABASE_URL: databaseUrl("webhook"),
    },
    simulator: { DATABASE_URL: databaseUrl("simulator"), ...simulator },
    "rpc-callers": { callers: tokens.map((each) => callerLine(each.name, each.token)).join("\n") },
    ...Object.fromEntries(tokens.map((each) => [`rpc-token-${each.name}`, { token: each.token }])),
    ...(hasRoles
      ? Object.fromEntries(roles.map((role) => [`postgres-${role}`, login(role, passwords.get(role))]))
      : {}),
    ...(makesPasswords && !hasRoles ? { postgres: { password: shared } } : {}),
  };
}

/** What a Secret of Kubernetes' type for logins has. */
function login(username: string, password = ""): Record<string, string> {
  return { username, password };
}

function password(): string {
  return randomBytes(24).toString("base64url");
}

function token(): string {
  return randomBytes(32).toString("base64url");
}

/** JSON is YAML; `kubectl apply -f -` takes a list. */
function manifests(secrets: Secrets): string {
  const items = Object.entries(secrets).map(([name, stringData]) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "tollbooth", labels: { "app.kubernetes.io/part-of": "tollbooth" } },
    type: "username" in stringData ? "kubernetes.io/basic-auth" : "Opaque",
    stringData,
  }));
  return JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2);
}

/** All or nothing: values belong together. Containers of other users read the folder, which nothing else mounts. */
function writeFiles(folder: string, secrets: Secrets): void {
  if (existsSync(join(folder, "complete"))) {
    console.log("the secrets are there");
    return;
  }
  for (const [name, values] of Object.entries(secrets)) {
    mkdirSync(join(folder, name), { recursive: true });
    for (const [key, value] of Object.entries(values)) writeFileSync(join(folder, name, key), value, { mode: 0o444 });
  }
  writeFileSync(join(folder, "complete"), "");
  console.log("made the secrets");
}
