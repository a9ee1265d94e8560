// `npm run generate -- broker-rights`: writes each identity's broker permissions into the manifests as a part of the
// nats-server configuration. The server reads the public keys from its environment (Secret nats-logins), so all
// installations use the same file. Each identity has two keys, the second one for a rotation.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commonSettings } from "#platform/service/settings.ts";
import { brokerAccounts } from "../cli/setup/broker-rights.ts";
import { keyVariables } from "../cli/setup/broker-secrets.ts";

export const authorizationFile = "deploy/kubernetes/components/nats/authorization.conf";

export function authorizationText(): string {
  const namespace = commonSettings.NATS_NAMESPACE.fallback ?? "";
  const block = brokerAccounts(namespace, (identity) => keyVariables(identity).map((name) => `$${name}`));
  return `# Written by npm run generate -- broker-rights from deploy/cli/setup/broker-rights.ts; do not edit.\n${block}`;
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, "../..", authorizationFile), authorizationText());
  console.log(`wrote ${authorizationFile}`);
}
