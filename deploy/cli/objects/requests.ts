// `tollbooth requests …`: the log of a merchant's requests to the public API, which is kept for 30 days.
import type { ApiRequest } from "#proto/merchant/v1/audit_pb.ts";
import { type Commands, type Row, UsageError } from "../command.ts";
import {
  environmentName,
  environmentOf,
  limitOption,
  liveOption,
  periodOf,
  periodOptions,
  readPages,
  timeText,
} from "../wire.ts";

const statusMax = 599;

export const requests: Commands = {
  list: {
    about: "lists a merchant's API requests, newest first",
    args: ["merchant"],
    options: {
      key: { value: "ak_…", about: "of one API key" },
      "min-status": { value: "status", about: "statuses from this one: 400 for all errors, 500 for our own" },
      ...periodOptions,
      ...limitOption,
      ...liveOption,
    },
    run: async (peers, input) => {
      const minStatus = Number(input.text("min-status") || 0);
      if (!Number.isInteger(minStatus) || minStatus < 0 || minStatus > statusMax)
        throw new UsageError(`--min-status must be a whole number up to ${statusMax}`);
      const owner = { merchantId: input.arg("merchant"), environment: environmentOf(input) };
      const filter = { ...owner, apiKeyId: input.text("key"), minStatus, ...periodOf(input) };
      const found = await readPages(input, async (page) => {
        const { requests: items, nextPageToken } = await peers.audit.listApiRequests({ ...filter, ...page });
        return { items, nextPageToken };
      });
      return { rows: found.map(rowOf) };
    },
  },
  show: {
    about: "shows one request by its Request-Id, of any merchant and environment",
    args: ["request"],
    run: async (peers, input) => {
      const { request } = await peers.audit.getApiRequest({ requestId: input.arg("request") });
      return { rows: request ? [rowOf(request)] : [] };
    },
  },
};

function rowOf(request: ApiRequest): Row {
  const { requestId, method, path, status, errorCode, durationMs, apiKeyId, merchantId, environment } = request;
  const owner = { merchant_id: merchantId, environment: environment === 0 ? "" : environmentName(environment) };
  const answer = { status, code: errorCode, ms: Math.round(durationMs) };
  return { at: timeText(request.at), method, path, ...answer, key: apiKeyId, ...owner, id: requestId };
}
