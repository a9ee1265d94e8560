// `npm run migrate`: databases, event streams and consumers of this release, by one command. What it refuses it says in one line.
import { ConfigError } from "#platform/config.ts";
import { StreamRefused } from "#platform/streams.ts";
import { migrateAll } from "./migrate-all.ts";

try {
  for (const line of await migrateAll(process.env)) console.log(line);
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof StreamRefused)) throw error;
  console.error(error.message);
  process.exit(1);
}
