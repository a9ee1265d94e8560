// Database columns with a secret's hash, each with the column that names its hash key. A hash key must not be removed
// while rows use it. A test compares the list with the schemas.
import type { Source } from "../../../services/services.ts";

interface HashedColumn {
  readonly table: string;
  readonly column: string;
  readonly keyIdColumn: string;
  /** SQL condition for rows whose secret is still valid. */
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
