// payments.v1.OperatorService, in proto order.
import { hostname } from "node:os";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { keysetPage } from "#platform/lists/cursor.ts";
import type { Wake } from "#platform/process/job.ts";
import type { Recovery } from "#platform/service/recovery.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import { type OperatorService, Resolution, SuspenseAction as WireAction } from "#proto/payments/v1/operator_pb.ts";
import { resolveOperation, retryOperation } from "../flows/resolve-operation.ts";
import { findDocument } from "../flows/restore-archived.ts";
import { resolveFunds } from "../flows/unexpected-funds/resolve-funds.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { readInstallationOverview } from "../lists/installation.ts";
import { actionsOf, type FundsAction } from "../rules/unexpected-funds.ts";
import { countParked, findOperationRecord, historyOf, parkedOperations } from "../store/operator-queue.ts";
import { findStoryEntry, storyOf } from "../store/payment-story.ts";
import { countOpenFunds, findFunds, listFunds, type StoredFunds } from "../store/suspense.ts";

interface OperatorDeps extends VerifyDeps {
  readonly recovery: Pick<Recovery, "assertOff">;
  /** Runs the job that drives operations. */
  readonly driveNow: Wake;
}

export function operatorRpc(deps: OperatorDeps): ServiceImpl<typeof OperatorService> {
  const { db } = deps;
  const read = async (id: string) => {
    const operation = requireFound(await findOperationRecord(db, id));
    return messageFields(operation);
  };
  return {
    listParkedOperations: async (request) => {
      const { page, nextPageToken } = await keysetPage("operation", request, (afterId, limit) =>
        parkedOperations(db, afterId, limit),
      );
      return { operations: page.map(messageFields), nextPageToken, total: await countParked(db) };
    },
    getOperation: async ({ operationId }) => {
      const operation = await read(operationId);
      return { operation, history: (await historyOf(db, operationId)).map(messageFields) };
    },
    retryOperation: async ({ operationId, operator, note }) => {
      await retryOperation(deps, { operationId, operator, note });
      deps.driveNow.now();
      return { operation: await read(operationId) };
    },
    resolveOperation: async ({ operationId, operator, proof, resolution, connectorRef }) => {
      const happened = resolution === Resolution.HAPPENED;
      if (happened && connectorRef === "") throw invalidField("connector_ref", "is required when it happened");
      if (!happened && connectorRef !== "") throw invalidField("connector_ref", "must be empty when it never happened");
      await resolveOperation(deps, { operationId, operator, proof, connectorRef: happened ? connectorRef : undefined });
      return { operation: await read(operationId) };
    },
    listSuspense: async ({ withClosed, ...request }) => {
      const { page, nextPageToken } = await keysetPage("suspense", request, (afterId, limit) =>
        listFunds(db, { afterId, withClosed, limit }),
      );
      return { items: page.map(suspenseMessage), nextPageToken, open: await countOpenFunds(db) };
    },
    getSuspense: async ({ suspenseId }) => {
      const item = requireFound(await findFunds(db, suspenseId));
      return { item: suspenseMessage(item) };
    },
    resolveSuspense: async ({ suspenseId, action, operator, note }) => {
      const name = actionNames[action];
      if (!name) throw invalidField("action", "is required");
      // A restored database may lack an earlier refund of the row.
      if (name === "refund") deps.recovery.assertOff();
      const item = await resolveFunds(deps, { suspenseId, action: name, operator, note });
      return { item: suspenseMessage(item) };
    },
    listCircuits: async ({ limit }) => {
      const all = deps.connectors.circuits();
      return { replica: hostname(), circuits: all.slice(0, limit).map(messageFields), total: all.length };
    },
    getInstallationOverview: async (request) => await readInstallationOverview(db, request),
    tellPayment: async ({ objectId }) => {
      const stored = await findStoryEntry(db, objectId);
      const document = stored ? undefined : requireFound(await findDocument(deps, objectId));
      const found = requireFound(stored ?? (await findStoryEntry(db, objectId, document)));
      return { ...found, lines: (await storyOf(db, found.paymentId, document)).map(messageFields) };
    },
  };
}

const actionNames: { readonly [A in WireAction]: FundsAction | undefined } = {
  [WireAction.UNSPECIFIED]: undefined,
  [WireAction.GIVE_BACK]: "refund",
  [WireAction.TAKE]: "accept",
  [WireAction.CLOSE]: "close",
};
const wireActions: { readonly [A in FundsAction]: WireAction } = {
  refund: WireAction.GIVE_BACK,
  accept: WireAction.TAKE,
  close: WireAction.CLOSE,
};

function suspenseMessage({ payment, ...row }: StoredFunds) {
  return {
    ...messageFields(row),
    returnedAmount: row.returned,
    closedAmount: row.closed,
    actions: actionsOf(row, payment).map((action) => wireActions[action]),
  };
}
