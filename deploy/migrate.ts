// `npm run migrate`: databases, event streams and consumers of this release, by one command. What it refuses or cannot
// reach it says in one line.
import { ConfigError } from "#platform/config.ts";
import { RoleRefused } from "#platform/database-rights.ts";
import { StreamRefused } from "#platform/streams.ts";
import { migrateAll } from "./migrate-all.ts";

try {
  for (const line of await migrateAll(process.env)) console.log(line);
} catch (error) {
  if (!(error instanceof Error && isTold(error))) throw error;
  console.error(error.message);
  process.exit(1);
}

const refusals = [ConfigError, RoleRefused, StreamRefused];

/** What its message explains: refused, or a server does not answer; run the command again when it does. */
function isTold(error: Error): boolean {
  const away = ["ECONNREFUSED", "ECONNRESET", "EAI_AGAIN", "ENOTFOUND", "ETIMEDOUT"];
  const code = "code" in error ? String(error.code) : "";
  return refusals.some((refusal) => error instanceof refusal) || away.includes(code);
}
