// `npm run generate -- broker-rights`: writes what each identity may do at the broker into the manifests, as the part
// of nats-server's configuration that they mount. Which key is whose, the server finds in its environment (Secret
// nats-logins), so that the same file serves every installation; each identity has two, the second for the time while
// its key is changed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brokerAccounts } from "#platform/events/broker-rights.ts";
import { commonSettings } from "#platform/service/settings.ts";
import { keyVariables } from "../cli/setup/broker-secrets.ts";

/** A kustomization reads no file outside its folder, so each has its own. */
export const authorizationFiles = [
  "deploy/kubernetes/components/nats/authorization.conf",
  "deploy/kubernetes/components/nats-r3/authorization.conf",
] as const;

export function authorizationText(): string {
  const namespace = commonSettings.NATS_NAMESPACE.fallback ?? "";
  const block = brokerAccounts(namespace, (identity) => keyVariables(identity).map((name) => `$${name}`));
  return `# Written by npm run generate -- broker-rights from services/platform/events/broker-rights.ts; not to be changed here.\n${block}`;
}

if (import.meta.main) {
  for (const file of authorizationFiles) {
    writeFileSync(join(import.meta.dirname, "../..", file), authorizationText());
    console.log(`wrote ${file}`);
  }
}
