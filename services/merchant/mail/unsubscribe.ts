// Tokens of one-click unsubscribe links (RFC 8058): person, merchant and kind under a MAC, so they cannot be forged.
import { type HashKeys, sameSecret } from "#platform/secrets/vault.ts";
import { isKind, type NotificationKind } from "../rules/people/notifications.ts";

interface Subscription {
  readonly personId: string;
  readonly merchantId: string;
  readonly kind: NotificationKind;
}

const signed = (text: string) => `console-unsubscribe:${text}`;

export function unsubscribeToken(hashKeys: HashKeys, { personId, merchantId, kind }: Subscription): string {
  const text = `${personId}.${merchantId}.${kind}`;
  return `${text}.${hashKeys.hash(signed(text)).hash.toString("base64url")}`;
}

/** @returns undefined if the token is invalid */
export function readUnsubscribeToken(hashKeys: HashKeys, token: string): Subscription | undefined {
  const [personId = "", merchantId = "", kind = "", mac = "", ...rest] = token.split(".");
  const received = Buffer.from(mac, "base64url");
  const isOurs = hashKeys
    .hashes(signed(`${personId}.${merchantId}.${kind}`))
    .some((hash) => sameSecret(hash, received));
  return isOurs && rest.length === 0 && isKind(kind) ? { personId, merchantId, kind } : undefined;
}
