// Every column of the services' databases that holds encrypted secrets, with the context that each value is bound to:
// what a rotation of the encryption keys has to go through. A test compares it with the schemas.
import type { ServiceName } from "#platform/database/migrate.ts";
import type { SealedColumn } from "#platform/operate/reencrypt.ts";

const storedAnswers: SealedColumn = {
  table: "idempotency_keys",
  column: "answer",
  context: "'idempotency:' || merchant_id || ':' || environment || ':' || key",
};

export const sealedColumns: Readonly<Record<ServiceName, readonly SealedColumn[]>> = {
  checkout: [storedAnswers, { table: "sessions", column: "render", context: "'session:' || id" }],
  payments: [
    storedAnswers,
    { table: "payments", column: "render", context: "'payment:' || id" },
    { table: "operations", column: "sealed_order", context: "'operation:' || id" },
  ],
  merchant: [
    storedAnswers,
    { table: "connectors", column: "credentials", context: "'connector:' || id" },
    { table: "mails", column: "sealed", context: "'mail:' || id" },
    { table: "authenticators", column: "secret", context: "'authenticator:' || person_id" },
    { table: "authenticators", column: "pending", context: "'authenticator:' || person_id" },
  ],
  webhook: [
    storedAnswers,
    { table: "endpoints", column: "secret", context: "'endpoint:' || id" },
    { table: "endpoints", column: "previous_secret", context: "'endpoint:' || id" },
    { table: "earlier_secrets", column: "secret", context: "'endpoint:' || endpoint_id" },
  ],
};
