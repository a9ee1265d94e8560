// Errors in the OpenAPI document: the codes of each operation, and their shared responses from the error table.
import { detailsMax, type ErrorCode, errorTable, type Messages } from "../failures.ts";
import { typesMessage } from "../http/body/raw-body.ts";
import type { ListedOperation } from "../operation.ts";
import type { JsonObject } from "./schema.ts";

/** All codes of an operation, including those of its kind. */
function errorCodes(operation: ListedOperation): ErrorCode[] {
  const codes = new Set<ErrorCode>(operation.errors ?? []);
  if (operation.access.kind === "merchant") {
    codes.add("unauthorized").add("forbidden");
  }
  if (operation.body || operation.raw) codes.add("payload_too_large").add("unsupported_media_type");
  if (operation.idempotent) codes.add("idempotency_conflict").add("idempotency_key_reuse");
  // An unknown query parameter, at least.
  codes.add("invalid_body");
  codes.add("rate_limited").add("internal_error").add("service_unavailable");
  const order = Object.keys(errorTable);
  return [...codes].sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** One response per status. Operations with the same codes share it. */
export function failureResponses(operation: ListedOperation): JsonObject {
  return Object.fromEntries(
    groupsOf(operation).map(({ name, codes: [code] }) => [
      String(code && errorTable[code].status),
      { $ref: `#/components/responses/${name}` },
    ]),
  );
}

export function sharedFailures(operations: readonly ListedOperation[]): JsonObject {
  const responses: JsonObject = {};
  for (const group of operations.flatMap(groupsOf)) responses[group.name] ??= failure(group);
  return responses;
}

interface Group {
  readonly name: string;
  readonly codes: readonly ErrorCode[];
  /** True if a stored response may be replayed for the caller's key. */
  readonly isReplayable: boolean;
  /** The operation's own messages. */
  readonly messages?: Messages;
}

// The services decide these after the work began and store them with the key.
const storedRefusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(["payment_blocked", "no_connector", "not_refundable", "amount_too_large"] as const),
  ...(["not_found", "feature_disabled", "not_capturable", "not_cancelable", "dispute_not_answerable"] as const),
]);

function groupsOf(operation: ListedOperation): Group[] {
  const groups = Map.groupBy(errorCodes(operation), (code) => errorTable[code].status);
  return [...groups.values()].map((codes) => {
    const isReplayable = operation.idempotent === true && codes.some((code) => storedRefusals.has(code));
    const name = [...codes, ...(isReplayable ? ["replayable"] : [])].join(".");
    const messages = messagesOf(operation);
    if (!codes.some((code) => messages[code] !== undefined)) return { name, codes, isReplayable };
    return { name: `${name}.${operation.id}`, codes, isReplayable, messages };
  });
}

function messagesOf({ messages, raw }: ListedOperation): Messages {
  return { ...messages, ...(raw && { unsupported_media_type: typesMessage(raw) }) };
}

function failure({ codes, isReplayable, messages = {} }: Group): JsonObject {
  const examples = codes.map((code) => {
    const message = messages[code] ?? errorTable[code].message;
    return [code, { summary: message, value: { error: { code, message } } }];
  });
  const waits = codes.some((code) => errorTable[code].retryAfterSeconds !== undefined);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].cause} ${errorTable[code].fix}`).join("\n\n"),
    headers: {
      "Request-Id": { $ref: "#/components/headers/RequestId" },
      Link: { $ref: "#/components/headers/HelpLink" },
      ...(isReplayable && { "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" } }),
      ...(waits && { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }),
      ...(codes.includes("unauthorized") && { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } }),
      ...(codes.includes("rate_limited") && {
        "RateLimit-Limit": { $ref: "#/components/headers/RateLimitLimit" },
        "RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" },
        "RateLimit-Reset": { $ref: "#/components/headers/RateLimitReset" },
      }),
    },
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/ApiError" }, examples: Object.fromEntries(examples) },
    },
  };
}

export const errorSchema: JsonObject = {
  type: "object",
  description: "Body of every error response.",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", description: "Error code, for programs.", enum: Object.keys(errorTable) },
        message: { type: "string", description: "Error message, for people." },
        details: {
          type: "array",
          maxItems: detailsMax,
          description: "With `invalid_body` only: the first invalid fields.",
          items: {
            type: "object",
            required: ["field", "problem"],
            properties: {
              field: {
                type: "string",
                description: "Path of the field; empty for the body as a whole.",
                examples: ["metadata.order"],
              },
              problem: {
                type: "string",
                description: "The rule that the field breaks.",
                examples: ["must be a string"],
              },
            },
          },
        },
      },
    },
  },
};
