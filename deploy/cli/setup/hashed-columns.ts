// Every column of the services' databases that holds a secret's hash under a hash key, with the column that names the
// key: what a hash key must not be removed under. A test compares it with the schemas.
import type { Source } from "../../../services/services.ts";

interface HashedColumn {
  readonly table: string;
  readonly column: string;
  readonly keyIdColumn: string;
  /** SQL that tells a row whose secret opens something from one that is over. */
  readonly inUse: string;
}

export const hashedColumns: Readonly<Record<Source, readonly HashedColumn[]>> = {
  checkout: [
    {
      table: "sessions",
      column: "secret_hash",
      keyIdColumn: "secret_hash_key_id",
      inUse: "status in ('open', 'processing')",
    },
  ],
  payments: [],
  merchant: [
    {
      table: "api_keys",
      column: "hash",
      keyIdColumn: "hash_key_id",
      inUse: "revoked_at is null and (expires_at is null or expires_at > now())",
    },
    { table: "invitations", column: "token_hash", keyIdColumn: "token_hash_key_id", inUse: "expires_at > now()" },
    {
      table: "console_sessions",
      column: "secret_hash",
      keyIdColumn: "secret_hash_key_id",
      inUse: "expires_at > now() and last_used_at > now() - interval '30 minutes'",
    },
    {
      table: "sign_in_links",
      column: "token_hash",
      keyIdColumn: "token_hash_key_id",
      inUse: "used_at is null and expires_at > now()",
    },
  ],
  webhook: [],
};
