// payments.v1.FeeService, in proto order.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import type { FeeSchedule, FeeScheduleKey, FeeService } from "#proto/payments/v1/fee_pb.ts";
import { type FeeDeps, removeSchedule, setSchedule } from "../flows/fee-schedules.ts";
import { computeFee } from "../rules/fee.ts";
import { findSchedule, listSchedules, type StoredFee } from "../store/fee-schedules.ts";

export function feeRpc(deps: FeeDeps): ServiceImpl<typeof FeeService> {
  const { db } = deps;
  return {
    listFeeSchedules: async ({ merchantId, limit, offset }) => {
      const { schedules, total } = await listSchedules(db, merchantId, { limit, offset });
      return { schedules: schedules.map(toFeeSchedule), total };
    },
    setFeeSchedule: async ({ schedule }) => ({
      schedule: toFeeSchedule(await setSchedule(deps, fromFeeSchedule(schedule))),
    }),
    removeFeeSchedule: async ({ key, operator }) => {
      if (!key?.effectiveFrom) throw invalidField("key.effective_from", "is required");
      await removeSchedule(deps, { ...key, effectiveFrom: timestampDate(key.effectiveFrom) }, operator);
      return {};
    },
    quoteFee: async (request) => {
      const found = requireFound(await findSchedule(db, request, request.at && timestampDate(request.at)));
      const feeAmount = computeFee(request.amount, {
        basisPoints: BigInt(found.basisPoints),
        fixed: found.fixedAmount,
      });
      return { feeAmount, schedule: toFeeSchedule(found) };
    },
  };
}

function fromFeeSchedule(input: FeeSchedule | undefined) {
  const key = input?.key;
  if (!input || !key) throw invalidField("schedule.key", "is required");
  assertValid(input, key);
  const { merchantId, currency, connector } = key;
  const { basisPoints, fixedAmount, operator, note } = input;
  const effectiveFrom = key.effectiveFrom && timestampDate(key.effectiveFrom);
  return { merchantId, currency, connector, effectiveFrom, basisPoints, fixedAmount, operator, note };
}

function assertValid(input: FeeSchedule, key: FeeScheduleKey): void {
  if (input.operator === "") throw invalidField("schedule.operator", "is required");
  if (key.currency !== "*" && currencyExponent(key.currency) === undefined) {
    throw invalidField("schedule.key.currency", "must be an ISO 4217 currency code or *");
  }
}

function toFeeSchedule(stored: StoredFee) {
  const { merchantId, currency, connector, effectiveFrom, ...schedule } = messageFields(stored);
  return { key: { merchantId, currency, connector, effectiveFrom }, ...schedule };
}
