// The tables of each service that are written once: its role may add rows there and read them, and nothing else.
// Everywhere else it may change and delete rows too. migrate grants by this list (rights.ts).
export const appendOnlyTables = {
  checkout: ["recovery_acts"],
  payments: ["journal", "journal_adjustment_lines", "operation_history", "recovery_acts"],
  // A day of the request log goes as a whole, by a function of the owner's.
  merchant: ["audit_entries", "audit_links", "audit_seals", "api_requests", "recovery_acts"],
  webhook: ["attempts", "recovery_acts"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
