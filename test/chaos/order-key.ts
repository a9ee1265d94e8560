// Idempotency keys over time: an order's number as the key of everything that becomes of the order, requests that are
// repeated when all is over, and keys that are older than the services keep them. One request is answered once.
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { tryOnce, untilAnswered } from "./persistent-client.ts";
import type { KeyedAnswer, Story } from "./story.ts";

const orderKeyShare = 0.2;
const repeatShare = 0.15;
/** Longer than keys are kept (docs/contract.md §6). */
const oldHours = 73;

/** Whether this story's merchant takes the order's number as every key. */
export function drawOrderKey({ run, random }: Pick<Story, "run" | "random">): boolean {
  const { drawn } = run;
  const share = drawn.awaits("one key for an order") ? 1 : orderKeyShare;
  const isDrawn = drawn.may("one key for an order") && random.chance(share);
  if (isDrawn) drawn.count("one key for an order");
  return isDrawn;
}

/** @param index of the requests of this kind: one of them can have the order's number */
export function keyOf({ name, hasOrderKey }: Story, what: string, index = 0): string {
  return hasOrderKey && index === 0 ? `order-${name}` : `${what}-${name}-${index}`;
}

/** Asks again for what was answered, when the key of one of the operations was swept. */
export async function repeatAnswered(story: Story): Promise<void> {
  const { random, answered, hasOrderKey } = story;
  const repeated = answered.filter(() => hasOrderKey || random.chance(repeatShare));
  const old = hasOrderKey && answered.length > 1 ? random.pick(answered.map((one) => [one, 1] as const)) : undefined;
  if (old) await tryOnce(() => sweep(story, old));
  for (const one of repeated) if (one !== old) await repeat(story, one);
}

async function repeat({ seen, name, patience }: Story, { operation, ask, first }: KeyedAnswer): Promise<void> {
  seen.count();
  const again = await untilAnswered(ask, patience, `repeating ${operation}`);
  if (!again) return;
  const isSame = again.raw === first.raw && again.status === first.status;
  if (!isSame) seen.offence(name, `${operation} was repeated under its key: ${again} instead of ${first}`);
  else if (again.headers.get("idempotent-replayed") !== "true")
    seen.offence(name, `the answer to a repeated ${operation} is not marked as a replay`);
}

/**
 * Makes the key of one operation as old as the services sweep them, and sweeps. That operation is not repeated
 * afterwards.
 */
async function sweep({ run, shop }: Story, { operation, key }: KeyedAnswer): Promise<void> {
  const { books } = run.rig;
  const database = operation.startsWith("create_") ? books.checkout : books.payments;
  await database.rows(
    `update idempotency_keys set created_at = now() - make_interval(hours => $5)
     where merchant_id = $1 and environment = $2 and operation = $3 and right(key, length($4)) = $4`,
    [shop.merchantId, shop.environment, operation, key, oldHours],
  );
  // Sweeping opens no answer, so that any key will do.
  const vault = new Vault(new Map([["none", Buffer.alloc(32)]]));
  await new IdempotencyKeys(database, vault, 1).sweep();
}
