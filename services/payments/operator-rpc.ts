// The operators' door of the payments service: every method of payments.v1.OperatorService, in its order.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Sql } from "#platform/database.ts";
import { Failure, invalid } from "#platform/failure.ts";
import { isId } from "#platform/id.ts";
import {
  OperationSchema,
  type OperatorService,
  Resolution,
  SuspenseSchema,
  SuspenseAction as WireAction,
} from "#proto/payments/v1/operator_pb.ts";
import { resolveOperation, retryOperation } from "./flows/resolve-operation.ts";
import { resolveSuspense } from "./flows/resolve-suspense.ts";
import type { VerifyDeps } from "./flows/verify-intent.ts";
import { actionsOf, type SuspenseAction } from "./rules/suspense.ts";
import {
  countParked,
  findOperationRecord,
  historyOf,
  type OperationRecord,
  parkedOperations,
} from "./store/operator-queue.ts";
import { findPayment } from "./store/payments.ts";
import { countOpenSuspense, listSuspense, type StoredSuspense } from "./store/suspense.ts";

export interface OperatorDeps extends VerifyDeps {
  /** Makes the reconcile job ask about the operations that are due. */
  readonly askNow: () => void;
}

export function operatorRpc(deps: OperatorDeps): ServiceImpl<typeof OperatorService> {
  const { db } = deps;
  const read = async (id: string) => {
    const operation = await findOperationRecord(db, id);
    if (!operation) throw new Failure("NOT_FOUND");
    return operationMessage(operation);
  };
  return {
    listParkedOperations: async ({ limit, pageToken }) => {
      if (pageToken !== "" && !isId("operation", pageToken)) throw invalid("page_token", "is not one of ours");
      const found = await parkedOperations(db, pageToken, limit + 1);
      const page = found.slice(0, limit);
      const nextPageToken = found.length > limit ? (page.at(-1)?.id ?? "") : "";
      return { operations: page.map(operationMessage), nextPageToken, total: await countParked(db) };
    },
    getOperation: async ({ operationId }) => {
      const operation = await read(operationId);
      const history = await historyOf(db, operationId);
      return { operation, history: history.map((fact) => ({ ...fact, at: timestampFromDate(fact.at) })) };
    },
    retryOperation: async ({ operationId, operator, note }) => {
      await retryOperation(deps, { operationId, operator, note });
      deps.askNow();
      return { operation: await read(operationId) };
    },
    resolveOperation: async ({ operationId, operator, proof, resolution, connectorRef }) => {
      const happened = resolution === Resolution.HAPPENED;
      if (happened && connectorRef === "") throw invalid("connector_ref", "is required when it happened");
      if (!happened && connectorRef !== "") throw invalid("connector_ref", "must be empty when it never happened");
      await resolveOperation(deps, { operationId, operator, proof, connectorRef: happened ? connectorRef : undefined });
      return { operation: await read(operationId) };
    },
    listSuspense: async ({ limit, pageToken, withClosed }) => {
      if (pageToken !== "" && !isId("suspense", pageToken)) throw invalid("page_token", "is not one of ours");
      const found = await listSuspense(db, { afterId: pageToken, withClosed, limit: limit + 1 });
      const page = found.slice(0, limit);
      const nextPageToken = found.length > limit ? (page.at(-1)?.id ?? "") : "";
      const items = await Promise.all(page.map((item) => suspenseMessage(db, item)));
      return { items, nextPageToken, open: await countOpenSuspense(db) };
    },
    resolveSuspense: async ({ suspenseId, action, operator, note }) => {
      const name = actionNames[action];
      if (!name) throw invalid("action", "is required");
      const item = await resolveSuspense(deps, { suspenseId, action: name, operator, note });
      return { item: await suspenseMessage(db, item) };
    },
  };
}

const actionNames: { readonly [A in WireAction]: SuspenseAction | undefined } = {
  [WireAction.UNSPECIFIED]: undefined,
  [WireAction.GIVE_BACK]: "give_back",
  [WireAction.TAKE]: "take",
  [WireAction.CLOSE]: "close",
};
const wireActions: { readonly [A in SuspenseAction]: WireAction } = {
  give_back: WireAction.GIVE_BACK,
  take: WireAction.TAKE,
  close: WireAction.CLOSE,
};

async function suspenseMessage(sql: Sql, { returned, foundAt, closedAt, ...item }: StoredSuspense) {
  const payment = await findPayment(sql, item.paymentId);
  const actions = payment ? actionsOf({ ...item, returned }, payment) : [];
  return create(SuspenseSchema, {
    ...item,
    returnedAmount: returned,
    actions: actions.map((action) => wireActions[action]),
    foundAt: timestampFromDate(foundAt),
    ...(closedAt && { closedAt: timestampFromDate(closedAt) }),
  });
}

function operationMessage(operation: OperationRecord) {
  return create(OperationSchema, {
    ...operation,
    nextTryAt: timestampFromDate(operation.nextTryAt),
    createdAt: timestampFromDate(operation.createdAt),
  });
}
