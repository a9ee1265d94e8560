// New passwords of database roles. PostgreSQL has one password per role, so while a service's password changes, its
// pods log in with a temporary role that has the same rights.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import pg from "pg";
import { UsageError } from "../command.ts";
import { oneProcess, type RotationStep, secretIn } from "./rotation-step.ts";
import { newPassword, type Secrets } from "./secret-formats.ts";

const name = pg.escapeIdentifier;
const bridgeEnd = "_rotation";

/** @param secret `tollbooth-<service>`, whose URL has the login */
export function bridgedLogin(secret: string, present: Secrets): readonly RotationStep[] {
  const values = secretIn(present, secret);
  const url = urlIn(values.DATABASE_URL);
  const role = decodeURIComponent(url.username);
  if (role.endsWith(bridgeEnd))
    throw new UsageError(`${secret} is in a rotation: finish the steps of its folder first`);
  const bridge = `${role}${bridgeEnd}`;
  const [temporary, renewed] = [newPassword(), newPassword()];
  const withLogin = (user: string, password: string) => ({
    [secret]: { ...values, DATABASE_URL: withCredentials(url, user, password) },
  });
  const deployments = [secret.replace("tollbooth-", ""), oneProcess];
  const drop = `drop role if exists ${name(bridge)};`;
  return [
    {
      about: `The service logs in as ${bridge}, which has the rights of ${role}.`,
      sql: `${drop}\ncreate role ${name(bridge)} login password '${verifierOf(temporary)}' in role ${name(role)};`,
      secrets: withLogin(bridge, temporary),
      deployments,
    },
    {
      about: `${role} gets its new password, and the service logs in with it.`,
      // CloudNativePG sets a role's password to its Secret's; the statement does it at once, on any server.
      secrets: { ...loginSecrets(present, role, renewed), ...withLogin(role, renewed) },
      sqlAfter: passwordStatement(role, renewed),
      deployments,
    },
    { about: `${bridge} is removed.`, sql: drop },
  ];
}

/** Only migrate logs in as an owner, so no pod needs the old password. */
export function newOwnerPasswords(present: Secrets): readonly RotationStep[] {
  const owned = Object.entries(secretIn(present, "tollbooth-migrate")).filter(([key]) => key.endsWith("DATABASE_URL"));
  const passwords = new Map(owned.map(([, url]) => [decodeURIComponent(urlIn(url).username), newPassword()]));
  const renewed = (text: string | undefined) => {
    const url = urlIn(text);
    const user = decodeURIComponent(url.username);
    return withCredentials(url, user, passwords.get(user) ?? decodeURIComponent(url.password));
  };
  const { simulator } = present;
  return [
    {
      about: "The owners of the databases get new passwords. Do this while no migrate runs.",
      secrets: {
        ...Object.assign({}, ...[...passwords].map(([user, password]) => loginSecrets(present, user, password))),
        "tollbooth-migrate": Object.fromEntries(owned.map(([key, url]) => [key, renewed(url)])),
        ...(simulator && { simulator: { ...simulator, DATABASE_URL: renewed(simulator.DATABASE_URL) } }),
      },
      sqlAfter: [...passwords].map(([user, password]) => passwordStatement(user, password)).join("\n"),
      ...(simulator && { deployments: ["simulator"] }),
      // Its own files have the superuser's password.
      ...("postgres" in present && { servers: ["postgres"] }),
    },
  ];
}

/** The Secret from which the server sets this role's password, if there is one. */
function loginSecrets(present: Secrets, role: string, password: string): Secrets {
  const secret = role === "postgres" ? role : `postgres-${role.replaceAll("_", "-")}`;
  const values = present[secret];
  return values ? { [secret]: { ...values, password } } : {};
}

/** @throws UsageError for anything but the URL of a login */
function urlIn(text: string | undefined): URL {
  const url = URL.canParse(text ?? "") ? new URL(text ?? "") : undefined;
  if (!url?.username) throw new UsageError("a DATABASE_URL of standard input has no user");
  return url;
}

function withCredentials(url: URL, user: string, password: string): string {
  const other = new URL(url);
  other.username = encodeURIComponent(user);
  other.password = encodeURIComponent(password);
  return other.href;
}

function passwordStatement(role: string, password: string): string {
  return `alter role ${name(role)} password '${verifierOf(password)}';`;
}

const iterations = 4_096; // PostgreSQL's own; the password is random, so more would add nothing

/** PostgreSQL stores this in place of the password, which appears in no statement and no server log. */
function verifierOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const mac = (text: string) => createHmac("sha256", salted).update(text).digest();
  const storedKey = createHash("sha256").update(mac("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${mac("Server Key").toString("base64")}`;
}
