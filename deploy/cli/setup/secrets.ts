// `tollbooth secrets …`: generates random secrets. In both PostgreSQL URLs {service} is the service's name and
// {password} is a generated password, one per user. A user with {service} in its name also gets the Secret from which
// CloudNativePG sets the role's password.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { ConfigError } from "#platform/process/config.ts";
import { sources } from "../../../services/services.ts";
import { type Answer, type CommandInput, type Commands, UsageError } from "../command.ts";
import { brokerSecrets } from "./broker-secrets.ts";
import { holderLines, tokenHolders } from "./identities.ts";
import { planRotation } from "./rotation.ts";
import { manifestsOf, newPassword, readSecrets, type Secrets, storeLinesOf } from "./secret-formats.ts";
import { makeCertificateSecret } from "./server-certificate.ts";

const words = ["databases", "[owners]"] as const;
const urls =
  "<databases>: the login of services, 'postgres://{service}_service:{password}@postgres-rw:5432/tollbooth_{service}?sslmode=verify-full'; [owners]: the login of migrate, 'postgres://{service}:{password}@…'; without it both use the same role, and services own their tables";

export const secrets: Commands = {
  manifests: {
    about: `prints random Kubernetes Secrets, for \`kubectl create\` or a secret store. ${urls}`,
    args: words,
    options: {
      only: {
        value: "name",
        multiple: true,
        about: "prints only this Secret and those that share its keys, for an update",
      },
      store: { about: "prints a line `<name> <JSON of its keys>` for each, for a secret store" },
    },
    isAlone: true,
    run: async (_peers, input) => {
      const made = await wantedSecrets(input);
      const chosen = onlyNamed(made, input.list("only"));
      const text = input.has("store") ? storeLinesOf(chosen) : manifestsOf(chosen);
      const remark = input.has("store") ? keepRemark : `${keepRemark} ${createRemark}`;
      return { rows: [{ manifests: text }], text, remark: [remark, ...callersToAdd(chosen)].join("\n") };
    },
  },
  files: {
    about: `writes them as files <folder>/<secret>/<key> and keeps existing ones. ${urls}`,
    args: ["folder", ...words],
    isAlone: true,
    run: async (_peers, input) => writeFiles(input.arg("folder"), await wantedSecrets(input)),
  },
  rotate: {
    about:
      "plans new database passwords (<name> tollbooth-payments, or tollbooth-migrate for the owners), a new broker identity (nats-nkey-payments) or a new certificate of the broker (nats-tls): reads the present Secrets from standard input (`kubectl -n tollbooth get secrets -o json`), writes the files of each step into a new folder, and prints the commands that apply them and restart what uses them",
    args: ["name", "folder"],
    options: { store: { about: "writes lines for a secret store in place of manifests" } },
    isAlone: true,
    run: async (_peers, input) => {
      const present = readSecrets(await readText(process.stdin));
      return await planRotation(input.arg("name"), present, {
        folder: input.arg("folder"),
        isStore: input.has("store"),
      });
    },
  },
};

const keepRemark =
  "Each run generates new keys. First store a copy of this output where only you can read it: without its ENCRYPTION_KEYS and HASH_KEY " +
  "the databases cannot be read.";
const createRemark =
  "Then use `kubectl create -f`, which refuses existing Secrets; `kubectl apply` could overwrite keys in use.";

/** Secrets of a group hold matching halves of the same keys, so they are printed together. */
const groups = [/^nats-(nkey-|logins$)/, /^event-keys-/];

/** @throws UsageError for an unknown name */
function onlyNamed(made: Secrets, names: readonly string[]): Secrets {
  const unknown = names.find((name) => !Object.hasOwn(made, name));
  if (unknown !== undefined) throw new UsageError(`--only ${unknown}: known names are ${Object.keys(made).join(", ")}`);
  if (names.length === 0) return made;
  const wanted = groups.filter((group) => names.some((name) => group.test(name)));
  const isChosen = (name: string) => names.includes(name) || wanted.some((group) => group.test(name));
  return Object.fromEntries(Object.entries(made).filter(([name]) => isChosen(name)));
}

/** Lines that the Secret `rpc-callers` needs for the chosen tokens. */
function callersToAdd(chosen: Secrets): string[] {
  if (chosen["rpc-callers"]) return [];
  return Object.entries(chosen).flatMap(([name, { token = "" }]) => {
    const holder = name.replace(/^rpc-token-/, "");
    if (name === holder || !tokenHolders.has(holder)) return [];
    return holderLines(holder, token).map((line) => `Add this line to the Secret rpc-callers: ${line}`);
  });
}

async function wantedSecrets(input: CommandInput): Promise<Secrets> {
  const databases = input.arg("databases");
  const owners = input.arg("[owners]") || databases;
  if (![databases, owners].every((template) => template.includes("{service}")))
    throw new UsageError("a PostgreSQL URL must contain {service}, the placeholder of the service's name");
  return await makeSecrets(databases, owners);
}

async function makeSecrets(databases: string, owners: string): Promise<Secrets> {
  const passwords = new Map<string, string>();
  const passwordOf = (user: string) => {
    const made = passwords.get(user) ?? newPassword();
    passwords.set(user, made);
    return made;
  };
  const urlOf = (template: string, service: string) => {
    const named = template.replaceAll("{service}", service);
    return named.replaceAll("{password}", passwordOf(madeUser(named) ?? ""));
  };
  const databaseUrl = (service: string) => urlOf(databases, service);
  const ownerUrl = (service: string) => urlOf(owners, service);
  const key = () => randomBytes(32).toString("base64");
  const simulator = { SIMULATOR_SECRET_KEY: `sim_sk_${token()}`, SIMULATOR_WEBHOOK_SECRET: `sim_wh_${token()}` };
  const service = (name: string) => ({
    DATABASE_URL: databaseUrl(name),
    // A key per service: a leaked one opens no other service's data.
    ENCRYPTION_KEYS: `k1:${key()}`,
    HASH_KEY: key(),
  });
  const tokens = [...tokenHolders.keys()].map((name) => ({ name, token: token() }));
  return {
    "tollbooth-checkout": service("checkout"),
    "tollbooth-payments": service("payments"),
    "tollbooth-merchant": { ...service("merchant"), ...simulator },
    "tollbooth-webhook": service("webhook"),
    "tollbooth-migrate": {
      CHECKOUT_DATABASE_URL: ownerUrl("checkout"),
      PAYMENTS_DATABASE_URL: ownerUrl("payments"),
      MERCHANT_DATABASE_URL: ownerUrl("merchant"),
      WEBHOOK_DATABASE_URL: ownerUrl("webhook"),
    },
    // The simulator creates its own tables.
    simulator: { DATABASE_URL: ownerUrl("simulator"), ...simulator },
    "rpc-callers": { callers: tokens.flatMap((each) => holderLines(each.name, each.token)).join("\n") },
    ...Object.fromEntries(tokens.map((each) => [`rpc-token-${each.name}`, { token: each.token }])),
    ...(await brokerSecrets()),
    ...(await logins(databases, passwordOf)),
    ...(await logins(owners, passwordOf)),
  };
}

/** The user whose password is generated here. */
function madeUser(template: string): string | undefined {
  return /^\w+:\/\/([^:@/]+):\{password\}@/.exec(template)?.[1];
}

/** Secrets from which the server sets the passwords. */
async function logins(template: string, passwordOf: (user: string) => string): Promise<Secrets> {
  const user = madeUser(template);
  if (user === undefined) return {};
  // One user for all is the superuser of the installation's own server, whose certificate is also created here.
  if (!user.includes("{service}")) {
    const [, host = ""] = /@([^:/?]+)/.exec(template) ?? [];
    const certificate = await makeCertificateSecret("Tollbooth database authority", host);
    return { postgres: { password: passwordOf(user) }, "postgres-tls": certificate };
  }
  const users = sources.map((role) => user.replaceAll("{service}", role));
  // Kubernetes names must not contain underscores.
  return Object.fromEntries(
    users.map((each) => [`postgres-${each.replaceAll("_", "-")}`, login(each, passwordOf(each))]),
  );
}

/** Kubernetes' format of a login Secret. */
function login(username: string, password: string): Record<string, string> {
  return { username, password };
}

function token(): string {
  return randomBytes(32).toString("base64url");
}

/** Writes all or none, since values belong together. Containers of other users read the files. */
function writeFiles(folder: string, made: Secrets): Answer {
  if (existsSync(join(folder, "complete"))) {
    const missing = Object.keys(made).filter((name) => !existsSync(join(folder, name)));
    if (missing.length === 0) return { rows: [], text: "the secrets exist" };
    throw new ConfigError(
      `an earlier release made these secrets, without ${missing.join(", ")}: remove them all and run this again`,
    );
  }
  for (const [name, values] of Object.entries(made)) {
    mkdirSync(join(folder, name), { recursive: true });
    for (const [key, value] of Object.entries(values)) writeFileSync(join(folder, name, key), value, { mode: 0o444 });
  }
  writeFileSync(join(folder, "complete"), "");
  return { rows: Object.keys(made).map((secret) => ({ secret })), text: "created the secrets" };
}
