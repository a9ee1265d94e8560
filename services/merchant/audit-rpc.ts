// The door of merchant.v1.AuditService: the audit log, with its chains, and the log of API requests.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Database } from "#platform/database.ts";
import { Failure, invalid } from "#platform/failure.ts";
import { idTimeMs, isId, type Noun } from "#platform/id.ts";
import type { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { daysAround } from "./jobs/keep-request-days.ts";
import type { Link } from "./rules/audit-chain.ts";
import { type ApiRequest, findRequest, insertRequests, listRequests } from "./store/api-requests.ts";
import { listAudit } from "./store/audit-entries.ts";
import { chainsAfter, knownHeads } from "./store/audit-heads.ts";
import { linksAfter } from "./store/audit-links.ts";
import { dayMs } from "./store/request-days.ts";

const pageSizeDefault = 50;
const chainsPage = 1_000;
const linksPage = 200;

export function auditRpc(db: Database): ServiceImpl<typeof AuditService> {
  return {
    async listAuditEntries(request) {
      const limit = request.pageSize || pageSizeDefault;
      const beforeId = tokenOf("event", request.pageToken);
      const found = await listAudit(db, { ...request, ...rangeOf(request), beforeId, limit: limit + 1 });
      const page = found.slice(0, limit);
      return {
        entries: page.map((entry) => ({
          ...entry,
          details: { ...entry.details },
          occurredAt: timestampFromDate(entry.occurredAt),
        })),
        nextPageToken: found.length > limit ? (page.at(-1)?.id ?? "") : "",
      };
    },
    async listAuditChains({ afterMerchantId }) {
      return { merchantIds: await chainsAfter(db, afterMerchantId, chainsPage) };
    },
    async listAuditLinks({ merchantId, afterSequence }) {
      // Before the links: what is appended meanwhile is no tail that is missing.
      const heads = await knownHeads(db, merchantId);
      const links = await linksAfter(db, merchantId, afterSequence, linksPage + 1);
      return {
        links: links.slice(0, linksPage).map(linkToWire),
        hasMore: links.length > linksPage,
        heads: heads.map(({ seq: sequence, hash }) => ({ sequence, hash })),
      };
    },
    async recordApiRequests({ requests }) {
      const now = Date.now();
      const isNear = (id: string) => Math.abs(idTimeMs(id) - now) < daysAround * dayMs;
      const near = requests.flatMap(({ requestId: id, at, ...rest }) =>
        at && isId("request", id) && isNear(id) ? [{ ...rest, id, at: timestampDate(at) }] : [],
      );
      if (near.length > 0) await insertRequests(db, near);
      return {};
    },
    async listApiRequests(request) {
      const limit = request.pageSize || pageSizeDefault;
      const beforeId = tokenOf("request", request.pageToken);
      const found = await listRequests(db, { ...request, ...rangeOf(request), beforeId, limit: limit + 1 });
      const page = found.slice(0, limit);
      return { requests: page.map(requestToWire), nextPageToken: found.length > limit ? (page.at(-1)?.id ?? "") : "" };
    },
    async getApiRequest({ requestId }) {
      const found = isId("request", requestId) ? await findRequest(db, requestId) : undefined;
      if (!found) throw new Failure("NOT_FOUND");
      return { request: requestToWire(found) };
    },
  };
}

type Instant = Parameters<typeof timestampDate>[0];

function rangeOf({ since, until }: { since?: Instant | undefined; until?: Instant | undefined }) {
  return { since: since && timestampDate(since), until: until && timestampDate(until) };
}

/** Ids sort by time, so the last one of a page is where the next begins. */
function tokenOf(noun: Noun, token: string): string {
  if (token !== "" && !isId(noun, token)) throw invalid("page_token", "is not one of ours");
  return token;
}

function linkToWire({ seq: sequence, entryId, isLate, hash, entry, sealed }: Link) {
  return { sequence, entryId, isLate, hash, ...(entry && { entry }), ...(sealed && { sealedHash: sealed }) };
}

function requestToWire({ id: requestId, at, ...request }: ApiRequest) {
  return { ...request, requestId, at: timestampFromDate(at) };
}
