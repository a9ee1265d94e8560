// `tollbooth keys …`: a merchant's API keys.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type ApiKey, Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Commands, type Row, UsageError } from "../command.ts";
import { environmentName, environmentOf, limitOption, liveOption, readPages, timeText } from "../wire.ts";

const everyScope = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
const dayMs = 86_400_000;

export const keys: Commands = {
  list: {
    about: "lists a merchant's keys, active ones first, then the newest first",
    args: ["merchant"],
    options: { ...liveOption, ...limitOption },
    run: async (peers, input) => {
      const owner = { merchantId: input.arg("merchant"), environment: environmentOf(input) };
      const found = await readPages(input, async ({ pageSize, pageToken }) => {
        const answer = await peers.apiKeys.listApiKeys({ ...owner, limit: pageSize, afterId: pageToken });
        const { apiKeys, offset, total } = answer;
        const isLast = offset + BigInt(apiKeys.length) >= total;
        return { items: apiKeys, nextPageToken: isLast ? "" : (apiKeys.at(-1)?.id ?? "") };
      });
      return { rows: found.map(rowOf) };
    },
  },
  create: {
    about: "creates a key and shows it once",
    args: ["merchant"],
    options: {
      name: { value: "text", about: "the key's purpose", needed: true },
      scope: {
        value: "scope",
        about: `one of ${everyScope.join(", ")}; repeatable; default: all`,
        multiple: true,
      },
      days: { value: "n", about: "lifetime; default: unlimited" },
      ...liveOption,
    },
    run: async (peers, input) => {
      const scopes = input.list("scope");
      const answer = await peers.apiKeys.createApiKey({
        merchantId: input.arg("merchant"),
        environment: environmentOf(input),
        name: input.text("name"),
        scopes: scopes.length > 0 ? scopes : everyScope,
        ...(input.text("days") && { expiresAt: timestampFromDate(inDays(input.text("days"))) }),
      });
      const row = answer.apiKey ? rowOf(answer.apiKey) : {};
      return {
        rows: [{ ...row, api_key: answer.secret }],
        remark: "Send the key over a secure channel; it cannot be shown again.",
      };
    },
  },
  limit: {
    about: "replaces the networks that a live key may be used from",
    args: ["merchant", "key"],
    options: {
      ip: { value: "network", about: "an address or network such as 203.0.113.0/24; repeatable", multiple: true },
      everywhere: { about: "allows every address, for a merchant that locked itself out" },
    },
    run: async (peers, input) => {
      const ranges = input.list("ip");
      if (ranges.length > 0 === input.has("everywhere")) throw new UsageError("give either --ip or --everywhere");
      const owner = { merchantId: input.arg("merchant"), environment: Environment.LIVE };
      const change = { apiKeyId: input.arg("key"), allowedIps: { ranges } };
      const { apiKey } = await peers.apiKeys.limitApiKey({ ...owner, ...change });
      return { rows: apiKey ? [rowOf(apiKey)] : [] };
    },
  },
  revoke: {
    about: "revokes a key immediately",
    args: ["merchant", "key"],
    options: liveOption,
    run: async (peers, input) => {
      const owner = { merchantId: input.arg("merchant"), environment: environmentOf(input) };
      const { apiKey } = await peers.apiKeys.revokeApiKey({ ...owner, apiKeyId: input.arg("key") });
      return { rows: apiKey ? [rowOf(apiKey)] : [] };
    },
  },
};

function rowOf({ id, name, suffix, environment, scopes, allowedIps, status, ...at }: ApiKey): Row {
  const times = {
    created_at: timeText(at.createdAt),
    last_used_at: timeText(at.lastUsedAt),
    expires_at: timeText(at.expiresAt),
  };
  return {
    id,
    name,
    suffix,
    environment: environmentName(environment),
    status,
    scopes,
    allowed_ips: allowedIps,
    ...times,
  };
}

function inDays(text: string): Date {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > 3_650) throw new UsageError("--days must be from 1 to 3650");
  return new Date(Date.now() + days * dayMs);
}
