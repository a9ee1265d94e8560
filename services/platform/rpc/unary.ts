// A fast handler for calls between our services: unary Connect with a protobuf body, over HTTP/1.1 or in-process
// (in-process.ts). It is several times cheaper than the general handler, which serves all other calls.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { CallGate } from "./call.ts";

type UnaryCallback = (
  message: MessageShape<DescMessage>,
) => Promise<MessageInitShape<DescMessage>> | MessageInitShape<DescMessage>;

interface UnaryAnswer {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
}

interface Entry {
  readonly method: DescMethod & DescMethodUnary;
  readonly answer: UnaryCallback;
}

export class UnaryHandler {
  readonly #entries = new Map<string, Entry>();
  readonly #gate: CallGate;
  readonly #messageMaxBytes: number;

  constructor(gate: CallGate, messageMaxBytes: number) {
    this.#gate = gate;
    this.#messageMaxBytes = messageMaxBytes;
  }

  /** Adds the unary methods that need only their message. */
  add(service: DescService, implementation: object): void {
    for (const method of service.methods) {
      const answer: unknown = Reflect.get(implementation, method.localName);
      // A second parameter is the library's context, so the method needs the general handler.
      if (!isUnary(method) || (typeof answer === "function" && answer.length > 1)) continue;
      const bound = typeof answer === "function" ? (answer.bind(implementation) as UnaryCallback) : refuseAll;
      this.#entries.set(`/${service.typeName}/${method.name}`, { method, answer: bound });
    }
  }

  /** Answers a matching request. @returns false when the general handler must; nothing was read then */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const entry = this.#entries.get(request.url ?? "");
    const { headers } = request;
    if (!entry || request.method !== "POST" || headers["content-type"] !== "application/proto") return false;
    if (headers["content-encoding"] ?? headers["accept-encoding"]?.includes("gzip")) return false;
    void this.#answerOverHttp(entry, request, response);
    return true;
  }

  /** Answers a call from the same process. @returns undefined for an unknown method. Never throws. */
  async answerInProcess(path: string, headers: RequestHeaders, body: Uint8Array): Promise<UnaryAnswer | undefined> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return undefined;
    return await this.#answer(entry, headers, async () => {
      this.#assertSize(body.length);
      return body;
    });
  }

  async #answerOverHttp(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, bytes } = await this.#answer(entry, request.headers, () => this.#body(request));
    response.writeHead(status, { "content-type": type, "content-length": bytes.length });
    response.end(bytes);
  }

  /** @param body read after authentication */
  async #answer(
    { method, answer }: Entry,
    headers: RequestHeaders,
    body: () => Promise<Uint8Array>,
  ): Promise<UnaryAnswer> {
    const header = (name: string) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    try {
      const bytes = await this.#gate.run({ method, header }, async () => {
        const message = decode(method, await body());
        this.#gate.assertValid(method.input, message);
        const full = create(method.output, await answer(message));
        return toBinary(method.output, this.#gate.answerFor(method.output, full));
      });
      return { status: 200, type: "application/proto", bytes };
    } catch (error) {
      const failure = ConnectError.from(error);
      const bytes = errorToJsonBytes(failure, undefined);
      return { status: codeToHttpStatus(failure.code), type: "application/json", bytes };
    }
  }

  async #body(request: IncomingMessage): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      this.#assertSize(size);
      chunks.push(chunk);
    }
    return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
  }

  #assertSize(bytes: number): void {
    if (bytes > this.#messageMaxBytes) throw new ConnectError("the message is too large", Code.ResourceExhausted);
  }
}

type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The method is declared and not implemented. */
function refuseAll(): never {
  throw new ConnectError("the method is not implemented", Code.Unimplemented);
}

function isUnary(method: DescMethod): method is DescMethod & DescMethodUnary {
  return method.methodKind === "unary";
}

function decode(method: DescMethodUnary, bytes: Uint8Array): MessageShape<DescMessage> {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw new ConnectError("the message cannot be parsed", Code.InvalidArgument);
  }
}
