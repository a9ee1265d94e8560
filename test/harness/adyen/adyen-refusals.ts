// Errors in the words of Adyen's API, as its stand-in answers or throws them.

export interface Reply {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}
const errorTypes: Readonly<Record<number, string>> = {
  401: "security",
  403: "security",
  500: "internal",
  503: "internal",
};

/** @param code "000" where Adyen's document has none */
export function refusalReply(status: number, code: string, message: string, isTransient?: boolean): Reply {
  const headers = isTransient === undefined ? {} : { "transient-error": String(isTransient) };
  const body = { status, errorCode: code, message, errorType: errorTypes[status] ?? "validation" };
  return { status, headers, body };
}

/** Ends a request that Adyen would refuse. */
export function refuseRequest(...refusal: Parameters<typeof refusalReply>): never {
  throw new Error("refused", { cause: refusalReply(...refusal) });
}

/** The reply of a refused request; any other error goes on. */
export function replyOf(error: unknown): Reply {
  if (error instanceof Error && error.message === "refused") return error.cause as Reply;
  throw error;
}
