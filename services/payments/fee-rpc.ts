// The door to the fees: every method of payments.v1.FeeService, in its order.
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Database, isDuplicate } from "#platform/database.ts";
import { Failure, invalid } from "#platform/failure.ts";
import { currencyExponent } from "#platform/money.ts";
import {
  type FeeSchedule,
  type FeeScheduleKey,
  FeeScheduleSchema,
  type FeeService,
} from "#proto/payments/v1/fee_pb.ts";
import { fee } from "./rules/fee.ts";
import { deleteSchedule, findSchedule, insertSchedule, listSchedules, type StoredFee } from "./store/fee-schedules.ts";

export function feeRpc({ db }: { readonly db: Database }): ServiceImpl<typeof FeeService> {
  return {
    listFeeSchedules: async ({ merchantId, limit, offset }) => {
      const { schedules, total } = await listSchedules(db, merchantId, { limit, offset });
      return { schedules: schedules.map(scheduleMessage), total };
    },
    setFeeSchedule: async ({ schedule }) => ({ schedule: scheduleMessage(await setSchedule(db, schedule)) }),
    removeFeeSchedule: async ({ key }) => {
      if (!key?.effectiveFrom) throw invalid("key.effective_from", "is required");
      const outcome = await deleteSchedule(db, { ...key, effectiveFrom: timestampDate(key.effectiveFrom) });
      if (outcome === "unknown") throw new Failure("NOT_FOUND");
      if (outcome === "begun")
        throw invalid("key.effective_from", "has passed: what has begun stays; add one that begins later");
      return {};
    },
    quoteFee: async (request) => {
      const found = await findSchedule(db, request, request.at && timestampDate(request.at));
      if (!found) throw new Failure("NOT_FOUND");
      const feeAmount = fee(request.amount, { basisPoints: BigInt(found.basisPoints), fixed: found.fixedAmount });
      return { feeAmount, schedule: scheduleMessage(found) };
    },
  };
}

async function setSchedule(db: Database, wanted: FeeSchedule | undefined): Promise<StoredFee> {
  const key = wanted?.key;
  if (!wanted || !key) throw invalid("schedule.key", "is required");
  assertSensible(wanted, key);
  const { merchantId, currency, connector } = key;
  const { basisPoints, fixedAmount, operator, note } = wanted;
  const effectiveFrom = key.effectiveFrom && timestampDate(key.effectiveFrom);
  const fee = { merchantId, currency, connector, effectiveFrom, basisPoints, fixedAmount, operator, note };
  try {
    const stored = await insertSchedule(db, fee);
    if (!stored) throw invalid("schedule.key.effective_from", "must not be in the past");
    return stored;
  } catch (error) {
    if (isDuplicate(error)) throw invalid("schedule.key.effective_from", "another schedule of this key begins then");
    throw error;
  }
}

function assertSensible(wanted: FeeSchedule, key: FeeScheduleKey): void {
  if (wanted.operator === "") throw invalid("schedule.operator", "is required");
  if (key.currency !== "*" && currencyExponent(key.currency) === undefined) {
    throw invalid("schedule.key.currency", "must be an ISO 4217 currency code or *");
  }
}

function scheduleMessage(stored: StoredFee): FeeSchedule {
  const { merchantId, currency, connector, basisPoints, fixedAmount, operator, note } = stored;
  const key = { merchantId, currency, connector, effectiveFrom: timestampFromDate(stored.effectiveFrom) };
  return create(FeeScheduleSchema, { key, basisPoints, fixedAmount, operator, note });
}
