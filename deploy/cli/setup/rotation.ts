// Plans a rotation of a secret as steps. Old and new are both accepted while pods restart, and the last step ends the
// old one. Each step has its files and the commands that apply them, so no secret is printed.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sources } from "../../../services/services.ts";
import { type Answer, UsageError } from "../command.ts";
import { type BrokerIdentity, brokerIdentities } from "./broker-rights.ts";
import { brokerCertificate, keyVariables } from "./broker-secrets.ts";
import { newNkey, publicNkeyOf } from "./identities.ts";
import { bridgedLogin, newOwnerPasswords } from "./rotation-database.ts";
import { oneProcess, type RotationStep, secretIn } from "./rotation-step.ts";
import { isMutable, manifestsOf, type Secrets, storeLinesOf } from "./secret-formats.ts";

interface RotationForm {
  /** New folder of the files. */
  readonly folder: string;
  readonly isStore: boolean;
}

/** @throws UsageError for a name without rotation, or a Secret that is missing in `present` */
export async function planRotation(name: string, present: Secrets, form: RotationForm): Promise<Answer> {
  const steps = await stepsOf(name, present);
  try {
    mkdirSync(form.folder, { mode: 0o700 });
  } catch {
    throw new UsageError(`the folder ${form.folder} must be a new one, in a folder that exists`);
  }
  const isOwnServer = "postgres" in present;
  const rows = steps.flatMap((step, i) =>
    commandsOf(step, `${i + 1}`, form, isOwnServer).map((command) => ({ step: i + 1, about: step.about, command })),
  );
  const text = steps.map(({ about }, i) => {
    const commands = rows.filter(({ step }) => step === i + 1).map(({ command }) => command);
    return `# ${i + 1}. ${about}\n${commands.join("\n")}\n`;
  });
  const remark = `${form.folder} has secrets: keep it until the last step is done, then replace your copies and delete it.`;
  return { rows, text: text.join("\n"), remark };
}

async function stepsOf(name: string, present: Secrets): Promise<readonly RotationStep[]> {
  const identity = brokerIdentities.find((each) => name === `nats-nkey-${each}`);
  if (identity) return nkeySteps(identity, present);
  if (name === "nats-tls") return await certificateSteps(present);
  if (name === "tollbooth-migrate") return newOwnerPasswords(present);
  if (sources.some((service) => name === `tollbooth-${service}`)) return bridgedLogin(name, present);
  const names = ["nats-tls", ...brokerIdentities.map((each) => `nats-nkey-${each}`)];
  throw new UsageError(
    `the name must be tollbooth-migrate, tollbooth-<service> (a database password) or one of ${names.join(", ")}`,
  );
}

/** The servers know two keys of each identity. */
function nkeySteps(identity: BrokerIdentity, present: Secrets): readonly RotationStep[] {
  const logins = secretIn(present, "nats-logins");
  const former = publicNkeyOf(secretIn(present, `nats-nkey-${identity}`).seed ?? "");
  const { seed, publicKey } = newNkey();
  const [now, previous] = keyVariables(identity);
  const loginsWith = (key: string) => ({ "nats-logins": { ...logins, [now]: publicKey, [previous]: key } });
  return [
    { about: "The servers accept the new key too.", secrets: loginsWith(former), servers: ["nats"] },
    {
      about: `${identity} logs in with the new key.`,
      secrets: { [`nats-nkey-${identity}`]: { seed } },
      deployments: identity === "migrate" ? [] : [identity, oneProcess],
    },
    // The second key again belongs to no process.
    { about: "The servers refuse the old key.", secrets: loginsWith(newNkey().publicKey), servers: ["nats"] },
  ];
}

async function certificateSteps(present: Secrets): Promise<readonly RotationStep[]> {
  const { "ca.crt": authority = "", ...old } = secretIn(present, "nats-tls");
  const { "ca.crt": newAuthority = "", ...renewed } = await brokerCertificate();
  const both = `${authority.trimEnd()}\n${newAuthority}`;
  const deployments = [...brokerIdentities.filter((each) => each !== "migrate"), oneProcess];
  return [
    {
      about: "Servers and processes accept certificates of the old and the new authority.",
      secrets: { "nats-tls": { ...old, "ca.crt": both } },
      servers: ["nats"],
      deployments,
    },
    {
      about: "The servers use the new certificate.",
      secrets: { "nats-tls": { ...renewed, "ca.crt": both } },
      servers: ["nats"],
    },
    {
      about: "The old authority is not accepted any more.",
      secrets: { "nats-tls": { ...renewed, "ca.crt": newAuthority } },
      servers: ["nats"],
      deployments,
    },
  ];
}

/** Writes the step's files. @returns the commands, which name them */
function commandsOf(step: RotationStep, number: string, form: RotationForm, isOwnServer: boolean): string[] {
  const write = (name: string, text: string) => {
    const path = join(form.folder, `${number}${name}`);
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
    return path;
  };
  return [
    ...(step.sql ? [psqlCommand(write(".sql", step.sql), isOwnServer)] : []),
    ...(step.secrets ? secretCommands(step.secrets, write, form.isStore) : []),
    ...(step.sqlAfter ? [psqlCommand(write("-after.sql", step.sqlAfter), isOwnServer)] : []),
    ...(step.servers ?? []).flatMap((server) => restartOf(`statefulset ${server}`)),
    ...(step.deployments?.length
      ? restartOf(`deployment -l 'app.kubernetes.io/name in (${step.deployments.join(",")})'`)
      : []),
  ];
}

/** PostgreSQL of components/postgres asks for its password on each connection; CloudNativePG's accepts its own user. */
function psqlCommand(path: string, isOwnServer: boolean): string {
  const psql = "psql -v ON_ERROR_STOP=1 -U postgres";
  if (isOwnServer)
    return `kubectl -n tollbooth exec -i postgres-0 -- sh -c 'PGPASSWORD=$(cat /run/secrets/postgres/password) ${psql}' < ${path}`;
  const primary = "kubectl -n tollbooth get pod -l cnpg.io/cluster=postgres,cnpg.io/instanceRole=primary -o name";
  return `kubectl -n tollbooth exec -i "$(${primary})" -c postgres -- ${psql} < ${path}`;
}

/** Immutable Secrets are removed and created, the others changed. */
function secretCommands(secrets: Secrets, write: (name: string, text: string) => string, isStore: boolean): string[] {
  const names = Object.keys(secrets);
  if (isStore) {
    return [
      `# Put the lines of ${write(".txt", storeLinesOf(secrets))} into the store (docs/production.md, Secrets). Then:`,
      `kubectl -n tollbooth annotate externalsecret ${names.join(" ")} force-sync="$(date +%s)" --overwrite`,
      `kubectl -n tollbooth get externalsecret ${names.join(" ")} -o custom-columns=NAME:.metadata.name,SYNCED:.status.refreshTime  # until it is now`,
    ];
  }
  const force = names.every(isMutable) ? "" : " --force";
  return [`kubectl replace${force} -f ${write(".json", manifestsOf(secrets))}`];
}

function restartOf(what: string): string[] {
  return [`kubectl -n tollbooth rollout restart ${what}`, `kubectl -n tollbooth rollout status ${what} --timeout=10m`];
}
