// The short way in for the call that our own services make all day: a unary Connect call over HTTP/1.1 with a protobuf
// body. It speaks exactly that protocol, several times cheaper than the general stack; every other call takes the
// general way.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { CallGate } from "./call.ts";
import { sendSigns } from "./signs.ts";

type UnaryCallback = (
  message: MessageShape<DescMessage>,
) => Promise<MessageInitShape<DescMessage>> | MessageInitShape<DescMessage>;

interface Entry {
  readonly method: DescMethod & DescMethodUnary;
  readonly answer: UnaryCallback;
}

export class UnaryDoor {
  readonly #entries = new Map<string, Entry>();
  readonly #gate: CallGate;
  readonly #messageMaxBytes: number;

  constructor(gate: CallGate, messageMaxBytes: number) {
    this.#gate = gate;
    this.#messageMaxBytes = messageMaxBytes;
  }

  /** A router that notes the unary methods which need nothing but their message, and hands everything on. */
  noting(router: ConnectRouter): ConnectRouter {
    const noted: ConnectRouter = {
      handlers: router.handlers,
      rpc: router.rpc.bind(router),
      service: (service, implementation, options) => {
        const methods: Partial<ServiceImpl<typeof service>> = implementation;
        for (const method of service.methods) {
          const answer: unknown = Reflect.get(methods, method.localName);
          // A second parameter is the library's context: such a method takes the general way.
          if (!isUnary(method) || typeof answer !== "function" || answer.length > 1) continue;
          const bound = answer.bind(implementation) as UnaryCallback;
          this.#entries.set(`/${service.typeName}/${method.name}`, { method, answer: bound });
        }
        router.service(service, implementation, options);
        return noted;
      },
    };
    return noted;
  }

  /** Answers the request if it is one of its kind. @returns false: nothing was read, take the general way. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const entry = this.#entries.get(request.url ?? "");
    const { headers } = request;
    if (!entry || request.method !== "POST" || headers["content-type"] !== "application/proto") return false;
    if (headers["content-encoding"] !== undefined) return false;
    void this.#answer(entry, request, response);
    return true;
  }

  async #answer({ method, answer }: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const header = (name: string) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    const endSigns = sendSigns(request, response);
    try {
      const call = { method, header };
      const bytes = await this.#gate.run(call, async () => {
        const message = decode(method, await this.#body(request));
        this.#gate.assertValid(method.input, message);
        return toBinary(method.output, create(method.output, await answer(message)));
      });
      endSigns();
      sendBytes(response, 200, "application/proto", bytes);
    } catch (error) {
      endSigns();
      const failure = ConnectError.from(error);
      sendBytes(response, codeToHttpStatus(failure.code), "application/json", errorToJsonBytes(failure, undefined));
    }
  }

  async #body(request: IncomingMessage): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > this.#messageMaxBytes) throw new ConnectError("the message is too large", Code.ResourceExhausted);
      chunks.push(chunk);
    }
    return chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
  }
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

function sendBytes(response: ServerResponse, status: number, type: string, bytes: Uint8Array): void {
  response.writeHead(status, { "content-type": type, "content-length": bytes.length });
  response.end(bytes);
}
