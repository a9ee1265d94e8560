// The key of card fingerprints, generated once per database, so that fingerprints are stable.
import { randomBytes } from "node:crypto";
import type { Db } from "./pool.ts";

export async function fingerprintKey(db: Db): Promise<Buffer> {
  await db.query("insert into installation (fingerprint_key) values ($1) on conflict do nothing", [randomBytes(32)]);
  const { rows } = await db.query<{ fingerprint_key: Buffer }>("select fingerprint_key from installation");
  const key = rows[0]?.fingerprint_key;
  if (!key) throw new Error("the installation has no fingerprint key");
  return key;
}
