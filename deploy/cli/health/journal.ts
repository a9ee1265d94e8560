// `tollbooth journal check`: audits the books directly in the payments database, so it also works while all services
// are down.
import { Database } from "#platform/database/database.ts";
import { checkSchema } from "#platform/database/schema-state.ts";
import { readConfig } from "#platform/process/config.ts";
import { serviceSettings } from "#platform/service/settings.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { auditAdjustments } from "../../../services/payments/audit/adjustments.ts";
import { auditAnnouncements } from "../../../services/payments/audit/announcements.ts";
import { auditLedger } from "../../../services/payments/audit/ledger.ts";
import { auditListCounts, type CountDifference } from "../../../services/payments/audit/list-counts.ts";
import { auditMoneyDays } from "../../../services/payments/audit/money-days.ts";
import { checkJournal } from "../../../services/payments/jobs/check-journal.ts";
import { programEnvironment } from "../../one/together.ts";
import type { Commands, Row } from "../command.ts";

// A sum over the journal of a merchant with ten million payments takes longer than a service waits.
const statementMsMax = 600_000;

export const journal: Commands = {
  check: {
    about:
      "recomputes every payment, adjustment, ledger, list total and announcement, in a pod of payments (DATABASE_URL); prints a row per difference; exit code 1 if there is one",
    isAlone: true,
    run: async () => {
      const rows: Row[] = [];
      const checked = await checkBooks(
        programEnvironment("payments", process.env),
        ({ paymentId, about, differences }) => {
          const subject = paymentId === "" ? { about } : { payment_id: paymentId };
          rows.push(...differences.map((difference) => ({ ...subject, difference })));
        },
      );
      return { rows, remark: `${checked} payments checked`, isBad: rows.length > 0 };
    },
  },
};

export interface AuditDifference {
  /** Empty for a difference of a list. */
  readonly paymentId: string;
  /** The payment's id, or the owner of the list. */
  readonly about: string;
  /** One sentence each. */
  readonly differences: readonly string[];
}

/**
 * One pass over all payments, counted lists, and the announcements of the retention time.
 * @returns the number of payments
 * @throws ConfigError without DATABASE_URL
 */
export async function checkBooks(
  env: Readonly<Record<string, string | undefined>>,
  onDifference: (found: AuditDifference) => void,
): Promise<number> {
  const { DATABASE_URL } = readConfig({ DATABASE_URL: serviceSettings.DATABASE_URL }, env);
  const log = createLog("journal-check", "error");
  const db = await Database.open({ url: DATABASE_URL, name: "journal-check", log, statementMsMax });
  const onPayment = (paymentId: string, differences: readonly string[]) =>
    onDifference({ paymentId, about: paymentId, differences });
  try {
    await checkSchema(db, "payments");
    const checked = await checkJournal(db, ({ paymentId, differences }) => onPayment(paymentId, differences));
    await auditAnnouncements(db, (paymentId, missing) =>
      onPayment(
        paymentId,
        missing.map((event) => `${event} was not announced`),
      ),
    );
    await auditAdjustments(db, ({ adjustmentId, differences }) =>
      onDifference({ paymentId: "", about: adjustmentId, differences }),
    );
    await auditLedger(db, ({ merchantId, differences }) =>
      onDifference({ paymentId: "", about: `ledger of ${merchantId}`, differences }),
    );
    await auditListCounts(db, (found) =>
      onDifference({ paymentId: "", about: `${found.list} of ${found.merchantId}`, differences: [countText(found)] }),
    );
    await auditMoneyDays(db, ({ merchantId, kind, environment, day, currency, added, there }) =>
      onDifference({
        paymentId: "",
        about: `${kind} money of ${merchantId}`,
        differences: [`environment ${environment}, day ${day}, ${currency}: ${added} added up, ${there} there`],
      }),
    );
    return checked;
  } finally {
    await db.close();
  }
}

function countText({ environment, when, status, bucket, counted, there }: CountDifference): string {
  const amounts = bucket === -1 ? "" : `, amounts of bucket ${bucket}`;
  return `environment ${environment}, ${when}, ${status}${amounts}: ${counted} counted, ${there} there`;
}
