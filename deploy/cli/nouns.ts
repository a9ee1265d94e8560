// Every noun of `tollbooth`, in the order of its help.
import { bankStatements } from "./books/bank-statements.ts";
import { books } from "./books/books.ts";
import { journalExport } from "./books/journal-export.ts";
import type { Commands } from "./command.ts";
import { audit } from "./health/audit.ts";
import { journal } from "./health/journal.ts";
import { status } from "./health/status.ts";
import { applications } from "./objects/applications.ts";
import { archive } from "./objects/archive.ts";
import { connectors } from "./objects/connectors.ts";
import { consolePeople } from "./objects/console.ts";
import { deliveries, endpoints } from "./objects/deliveries.ts";
import { events } from "./objects/events.ts";
import { keys } from "./objects/keys.ts";
import { merchants } from "./objects/merchants.ts";
import { operations } from "./objects/operations.ts";
import { payments, refunds, sessions } from "./objects/payments.ts";
import { requests } from "./objects/requests.ts";
import { statements } from "./objects/statements.ts";
import { suspense } from "./objects/suspense.ts";
import { teams } from "./objects/teams.ts";
import { recovery } from "./recovery/recovery.ts";
import { encryptionKeys } from "./setup/encryption-keys.ts";
import { migrate } from "./setup/migrate.ts";
import { reencrypt } from "./setup/reencrypt.ts";
import { release } from "./setup/release.ts";
import { secrets } from "./setup/secrets.ts";
import { tokens } from "./setup/tokens.ts";

export const nouns: Readonly<Record<string, Commands>> = {
  merchants,
  keys,
  teams,
  connectors,
  applications,
  console: consolePeople,
  endpoints,
  deliveries,
  payments,
  sessions,
  refunds,
  operations,
  suspense,
  statements: { ...statements, ...bankStatements },
  journal: { ...journal, export: journalExport },
  books,
  archive,
  audit,
  requests,
  events,
  status,
  recovery,
  tokens,
  secrets,
  release,
  "encryption-keys": encryptionKeys,
  reencrypt,
  migrate,
};
