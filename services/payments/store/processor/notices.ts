// The processor_notices table: reports of processors that cannot be queried.
import { type Database, parseTime, type Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";

interface NoticeAccount {
  readonly connector: string;
  readonly environment: Environment;
  readonly externalAccountId: string;
}

interface Notice {
  readonly id: string;
  readonly kind: string;
  readonly ref: string;
  readonly originalRef: string;
  readonly reference: string;
  readonly at: Date;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

type NoticeRow = Omit<Notice, "at"> & { readonly at: string };

const columns = `id, kind, ref, original_ref as "originalRef", reference, happened_at as at, details`;
const ofAccount = "connector = $1 and environment = $2 and account = $3";
// More are not read: a payment has some ten.
const noticesMax = 1_000;

export class Notices {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async keep({ connector, environment, externalAccountId }: NoticeAccount, notice: Notice): Promise<void> {
    await this.#db.transaction(async (tx) => {
      // Positions under one reference are visible in their order: the first of two payments remains the first.
      await tx.rows("select pg_advisory_xact_lock(hashtextextended('notices/' || $1::text, 0))", [notice.reference]);
      await tx.rows(
        `insert into processor_notices
           (connector, environment, account, id, kind, ref, original_ref, reference, happened_at, details)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
        [
          connector,
          environment,
          externalAccountId,
          notice.id,
          notice.kind,
          notice.ref,
          notice.originalRef,
          notice.reference,
          notice.at.toISOString(),
          JSON.stringify(notice.details),
        ],
      );
    });
  }

  async find(account: NoticeAccount, id: string): Promise<Notice | undefined> {
    return (await this.#read(account, "id = $4", id))[0];
  }

  async ofRef(account: NoticeAccount, ref: string): Promise<readonly Notice[]> {
    return await this.#read(account, "ref = $4", ref);
  }

  async ofReference(account: NoticeAccount, reference: string): Promise<readonly Notice[]> {
    return await this.#read(
      account,
      `(reference = $4 or original_ref <> '' and original_ref in (
         select ref from processor_notices where ${ofAccount} and reference = $4))`,
      reference,
    );
  }

  async #read(account: NoticeAccount, condition: string, value: string): Promise<Notice[]> {
    const { connector, environment, externalAccountId } = account;
    const rows = await this.#db.rows<NoticeRow>(
      `select ${columns} from processor_notices where ${ofAccount} and ${condition} order by position limit ${noticesMax}`,
      [connector, environment, externalAccountId, value],
    );
    return rows.map((row) => ({ ...row, at: parseTime(row.at) }));
  }
}

/** Removes Adyen's fingerprint of the cards of payments after one up to another. */
export async function dropAliases(tx: Tx, after: string, last: string): Promise<void> {
  await tx.rows(
    `update processor_notices set details = details - 'alias'
     where left(reference, 30) > greatest($1, 'pay_') and left(reference, 30) <= $2 and reference <> '' and details ? 'alias'`,
    [after, last],
  );
}
