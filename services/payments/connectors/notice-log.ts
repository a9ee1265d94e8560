// Reports of a processor that cannot be queried, as they were stored: its answers to commands, and verified webhooks.
import type { ProcessorAccount } from "./connector.ts";

/** Amounts are as the processor writes them. */
export type NoticeDetails = Readonly<Record<string, string | number | boolean>>;

export interface Notice {
  /** A repeat is stored once. */
  readonly id: string;
  readonly kind: string;
  /** The processor's id of the object. */
  readonly ref: string;
  /** Of the object that it changes; empty: none. */
  readonly originalRef: string;
  /** Our id in it; empty: none. */
  readonly reference: string;
  /** By the processor's clock. */
  readonly at: Date;
  readonly details: NoticeDetails;
}

type NoticeAccount = Pick<ProcessorAccount, "connector" | "environment" | "externalAccountId">;

export interface NoticeLog {
  /** Stores a notice; when it resolves, the notice is committed. Notices under one reference have a lasting order. */
  keep(account: NoticeAccount, notice: Notice): Promise<void>;
  find(account: NoticeAccount, id: string): Promise<Notice | undefined>;
  /** Of an object, oldest first. */
  ofRef(account: NoticeAccount, ref: string): Promise<readonly Notice[]>;
  /** Under our reference and about the objects that have it, oldest first. */
  ofReference(account: NoticeAccount, reference: string): Promise<readonly Notice[]>;
}
