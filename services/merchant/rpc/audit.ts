// merchant.v1.AuditService: the audit log, its chains, and the log of API requests.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import type { Database } from "#platform/database/database.ts";
import { keysetPage } from "#platform/lists/cursor.ts";
import { clockMs } from "#platform/values/clock.ts";
import { requireFound } from "#platform/values/failure.ts";
import { idTimeMs, isId } from "#platform/values/id.ts";
import type { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { daysAround } from "../jobs/keep-request-days.ts";
import type { ChainedEntry, Link } from "../rules/audit-chain.ts";
import { type ApiRequest, findRequest, insertRequests, listRequests } from "../store/api-requests.ts";
import { listAudit, unchainedEntries } from "../store/audit-entries.ts";
import { chainsAfter, readHead } from "../store/audit-heads.ts";
import { linksAfter } from "../store/audit-links.ts";
import { dayMs } from "../store/request-days.ts";

const chainsPage = 1_000;
const linksPage = 200;
const unchainedPage = 1_000;

export function auditRpc(db: Database): ServiceImpl<typeof AuditService> {
  return {
    async listAuditEntries(request) {
      const { page, nextPageToken } = await keysetPage("event", pageOf(request), (beforeId, limit) =>
        listAudit(db, { ...request, ...rangeOf(request), beforeId, limit }),
      );
      return {
        entries: page.map((entry) => ({ ...messageFields(entry), details: { ...entry.details } })),
        nextPageToken,
      };
    },
    async listAuditChains({ afterMerchantId }) {
      return { merchantIds: await chainsAfter(db, afterMerchantId, chainsPage) };
    },
    async listAuditLinks({ merchantId, afterSequence }) {
      // Read before the links: otherwise a link appended in between would look like a missing tail.
      const head = await readHead(db, merchantId);
      const links = await linksAfter(db, merchantId, afterSequence, linksPage + 1);
      return {
        links: links.slice(0, linksPage).map(toLink),
        hasMore: links.length > linksPage,
        heads: head ? [{ sequence: head.seq, hash: head.hash }] : [],
      };
    },
    async listUnchainedEntries({ afterEntryId }) {
      const { entries, astray, lookedTo = "" } = await unchainedEntries(db, afterEntryId, unchainedPage);
      const toUnchainedEntry =
        (isAstray: boolean) =>
        ({ id: entryId, merchantId }: ChainedEntry) => ({ entryId, merchantId, isAstray });
      return { entries: [...entries.map(toUnchainedEntry(false)), ...astray.map(toUnchainedEntry(true))], lookedTo };
    },
    async recordApiRequests({ requests }) {
      const now = clockMs();
      const isNear = (id: string) => Math.abs(idTimeMs(id) - now) < daysAround * dayMs;
      const near = requests.flatMap(({ requestId: id, at, ...rest }) =>
        at && isId("request", id) && isNear(id) ? [{ ...rest, id, at: timestampDate(at) }] : [],
      );
      if (near.length > 0) await insertRequests(db, near);
      return {};
    },
    async listApiRequests(request) {
      const { page, nextPageToken } = await keysetPage("request", pageOf(request), (beforeId, limit) =>
        listRequests(db, { ...request, ...rangeOf(request), beforeId, limit }),
      );
      return { requests: page.map(toRequest), nextPageToken };
    },
    async getApiRequest({ requestId }) {
      const found = requireFound(isId("request", requestId) ? await findRequest(db, requestId) : undefined);
      return { request: toRequest(found) };
    },
  };
}

type Instant = Parameters<typeof timestampDate>[0];

function rangeOf({ since, until }: { since?: Instant | undefined; until?: Instant | undefined }) {
  return { since: since && timestampDate(since), until: until && timestampDate(until) };
}

function pageOf({ pageToken, pageSize }: { pageToken: string; pageSize: number }) {
  return { pageToken, limit: pageSize };
}

function toLink({ seq: sequence, entryId, isLate, hash, entry }: Link) {
  return { sequence, entryId, isLate, hash, ...(entry && { entry }) };
}

function toRequest({ id: requestId, ...request }: ApiRequest) {
  return { ...messageFields(request), requestId };
}
