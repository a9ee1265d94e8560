// Errors in the words of Adyen's API, as its stand-in answers or throws them.

export interface Reply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}
type ErrorType = "validation" | "security" | "configuration" | "internal";

/** The body of an error, as Adyen's document has it. */
export function refusalReply(status: number, errorCode: string, message: string, transient?: boolean): Reply {
  const types: Readonly<Record<number, ErrorType>> = {
    401: "security",
    403: "security",
    500: "internal",
    503: "internal",
  };
  const headers = transient === undefined ? {} : { "transient-error": String(transient) };
  return { status, headers, body: { status, errorCode, message, errorType: types[status] ?? "validation" } };
}

class Refusal extends Error {
  readonly reply: Reply;
  constructor(reply: Reply) {
    super("refused");
    this.reply = reply;
  }
}

/** Ends a request that Adyen would refuse. */
export function refuseRequest(status: number, errorCode: string, message: string): never {
  throw new Refusal(refusalReply(status, errorCode, message));
}

/** The reply of a refused request; any other error goes on. */
export function replyOf(error: unknown): Reply {
  if (error instanceof Refusal) return error.reply;
  throw error;
}
