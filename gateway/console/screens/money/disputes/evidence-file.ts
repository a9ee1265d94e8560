// Files of a dispute, stored and served piece by piece, with one piece in memory. An upload that breaks off or has a
// wrong type is dropped. A browser gets a file as what its bytes were checked to be, and can execute nothing in it.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { callContext, renewTime } from "#platform/values/call-context.ts";
import { asFailure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { DisputeFile, DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { dropDisputeFile, pieceBytes, piecesOf } from "../../../../http/body/pieces.ts";
import { idParam } from "../../../http/address.ts";
import { unlessRefused } from "../../../http/form.ts";
import { pageHeaders } from "../../../http/send-page.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { countText } from "../../../view/values.ts";

/** An upload; `truncated` if it exceeded the limit. */
type Incoming = Readable & { readonly truncated: boolean };

/** Longer names are cut off by the service. */
const nameMax = 255;

type StoredFile = { readonly id: string } | { readonly problem: "tooBig" | "wrongFile" | "tooMany" | "over" };

/** The type by the first bytes; the service checks the whole file. */
function typeOf(piece: Buffer): string | undefined {
  if (piece.subarray(0, 4).toString("latin1") === "\x89PNG") return "image/png";
  if (piece.subarray(0, 3).toString("latin1") === "\xff\xd8\xff") return "image/jpeg";
  // Some programs write a line break or a byte order mark first.
  return piece.subarray(0, 1_024).includes("%PDF-") ? "application/pdf" : undefined;
}

const problems = { INVALID_BODY: "wrongFile", TOO_MANY_FILES: "tooMany", DISPUTE_NOT_ANSWERABLE: "over" } as const;

export async function storeFile(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  disputeId: string,
  { file, filename }: { readonly file: Incoming; readonly filename: string },
): Promise<StoredFile> {
  const id = newId("file", Date.now());
  const of = { merchantId, environment, fileId: id };
  let [size, number] = [0, 0];
  try {
    for await (const piece of piecesOf(file, pieceBytes)) {
      if (number === 0) {
        const type = typeOf(piece);
        if (type === undefined) return { problem: "wrongFile" };
        const name = [...filename].slice(-nameMax).join("");
        await peers.disputes.beginDisputeFile({ merchantId, environment, disputeId, fileId: id, type, name });
      }
      await peers.disputes.appendDisputeFile({ ...of, number, bytes: piece });
      size += piece.length;
      number += 1;
    }
    if (file.truncated) {
      await dropDisputeFile(peers.disputes, of, number);
      return { problem: "tooBig" };
    }
    if (size === 0) return { problem: "wrongFile" };
    await peers.disputes.finishDisputeFile({ ...of, size });
    return { id };
  } catch (error) {
    await dropDisputeFile(peers.disputes, of, number);
    // The upload broke off.
    if (file.errored) return { problem: "wrongFile" };
    const problem = new Map(Object.entries(problems)).get(asFailure(error).reason);
    if (problem === undefined) throw error;
    return { problem };
  }
}

/** Files of a dispute by id. */
export type KnownFiles = ReadonlyMap<string, DisputeFile>;

export async function knownFiles(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  { dispute }: DisputeRecord,
): Promise<KnownFiles> {
  const disputeId = dispute?.id ?? "";
  const { files } = await peers.disputes.listDisputeFiles({ merchantId, environment, disputeId });
  return new Map(files.map((file) => [file.id, file]));
}

/** The file by its name, as a link for people who may respond. */
export function fileLink(
  { language, base, may }: MerchantVisit,
  disputeId: string,
  id: string,
  known: KnownFiles,
): Html {
  const file = known.get(id);
  if (!file) return html`<code>${id}</code>`;
  const kind = file.type.split("/").at(-1)?.toUpperCase() ?? "";
  const name = file.name === "" ? kind : file.name;
  const size = html`<span class="muted">${kind}, ${countText(language, Math.ceil(file.size / 1_000))} kB</span>`;
  if (!may("disputes.answer")) return html`${name} ${size}`;
  return html`<a href="${base}/disputes/${disputeId}/files/${id}" target="_blank" rel="noopener">${name}</a> ${size}`;
}

export function fileRoute(context: ConsoleContext): void {
  const path = "/disputes/:disputeId/files/:fileId";
  merchantPage(context, path, "disputes.answer", (visit) => sendFile(context, visit));
}

async function sendFile({ peers }: ConsoleContext, visit: MerchantVisit): Promise<FastifyReply | Page> {
  const { merchantId, environment, request, reply } = visit;
  const fileId = idParam(visit, "fileId", "file");
  const read = (number: number) => peers.disputes.readDisputeFile({ merchantId, environment, fileId, number });
  const first = await unlessRefused(read(0), "NOT_FOUND");
  if (first?.file?.disputeId !== idParam(visit, "disputeId", "dispute")) return missingFile(visit);
  const { file, bytes } = first;
  const pieces = Math.ceil(file.size / bytes.length);
  async function* rest() {
    yield bytes;
    for (let number = 1; number < pieces; number++) {
      // Runs after the request's own context has ended.
      renewTime(request.call);
      yield (await callContext.run(request.call, () => read(number))).bytes;
    }
  }
  return await reply
    .headers(pageHeaders)
    .header("content-security-policy", "sandbox; default-src 'none'")
    .header("x-content-type-options", "nosniff")
    .header("content-length", file.size)
    .header("content-disposition", dispositionOf(file))
    .type(file.type)
    .send(Readable.from(rest(), { objectMode: false }));
}

/** Browsers show pictures in a sandbox; they show no PDF there. */
function dispositionOf({ id, name, type }: DisputeFile): string {
  const kind = type === "application/pdf" ? "attachment" : "inline";
  const shown = encodeURIComponent(name === "" ? id : name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `${kind}; filename*=UTF-8''${shown}`;
}

function missingFile({ language }: MerchantVisit): Page {
  const texts = textsOf(language).disputes;
  return { title: texts.fileGone, status: 404, body: html`<h1>${texts.fileGone}</h1><p>${texts.fileGoneText}</p>` };
}
