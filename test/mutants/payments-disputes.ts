// Mutants of answers to disputes: which evidence is taken, what a file is, what is sent once, and what ends it.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsDisputes: readonly Mutant[] = [
  ...mutantsOf("services/payments/rules/evidence.ts", [
    [
      "Array.from(text).length > max",
      "Array.from(text).length >= max",
      "a text may have as many characters as its limit",
    ],
    [
      'else if (!known.has(id)) problems.push({ field, problem: "must be the id of a file of this dispute" });',
      "",
      "only files of the dispute are its evidence",
    ],
    [
      'return status === "needs_response" || status === "warning_needs_response";',
      'return status === "needs_response" || status === "under_review";',
      "a dispute is answered while it waits for an answer",
    ],
    [
      'return state === undefined || state === "failed" ? "not_submitted" : state;',
      'return state === undefined ? "not_submitted" : state === "failed" ? "submitted" : state;',
      "what never came to the processor was not submitted",
    ],
  ]),
  ...mutantsOf("services/payments/rules/file-content.ts", [
    ["if (this.#size > fileMaxBytes)", "if (this.#size > fileMaxBytes + 1)", "a file has at most 5 MiB"],
    ["    this.#size += at;", "    this.#size += piece.length;", "nothing behind the end of a picture is kept"],
    ['if (this.#wish !== undefined) throw new NotThat("must be whole");', "", "a picture is whole"],
    ["width * height <= pixelsMax", "width > 0", "a picture unpacks to no bomb"],
    ["if (length > 0 || !hasData)", "if (length > 0)", "a PNG has a picture"],
    ["if (!hasFrame || !hasScan)", "if (!hasFrame)", "a JPEG has a picture"],
    ["!this.#hasObject || !isWhole", "!this.#hasObject", "a PDF has its end"],
    ["if (Number(previous) === this.#toContinue)", "if (Number(previous) > 0)", "a PDF is one document"],
  ]),
  ...mutantsOf("services/payments/flows/disputes/reserve-evidence.ts", [
    [
      "isAnswerable(dispute.status) && !(await hasPendingEvidence(tx, disputeId))",
      "isAnswerable(dispute.status)",
      "a dispute is answered once at a time",
    ],
    ["operation: { ...operation, tried: false }", "operation", "what was just reserved was never tried"],
    ["  if (!neverSent(known)) {", "  if (neverSent(known)) {", "what surely was not sent is sent by a repeat"],
  ]),
  ...mutantsOf("services/payments/flows/disputes/drive-evidence.ts", [
    [
      'answer.kind === "not_sent" && !(await lockUntouched(tx, operation.id))',
      'answer.kind === "never_made" && !(await lockUntouched(tx, operation.id))',
      "while somebody else tries, nothing is known",
    ],
    [
      "    await settleDispute(tx, deps, payment.id, answer.value);\n",
      "",
      "what the processor says of the dispute is taken in",
    ],
    ['file.connectorRef !== "") continue;', 'file.connectorRef === "never") continue;', "a file goes there once"],
    ["    if (refusal) return refusal;\n", "", "nothing is sent before all files are there"],
    ["operation.tries", "operation.generation", "no fault that is stored under a key comes again with the next try"],
    [
      'if (code === "not_answerable") return new Failure("DISPUTE_NOT_ANSWERABLE", { cause });\n',
      "",
      "a dispute that is over is told from content that is refused",
    ],
  ]),
  ...mutantsOf("services/payments/flows/disputes/accept-dispute.ts", [
    [
      '    if (dispute.acceptance === "accepted") return await deps.db.transaction(record);\n',
      "",
      "conceded is conceded",
    ],
    [
      'if (isNew && !isAnswerable(dispute.status)) throw new Failure("DISPUTE_NOT_ANSWERABLE");',
      "",
      "what is decided is not conceded",
    ],
    [
      'answer.kind === "not_sent" && !(await lockUntouched(tx, operation.id))',
      'answer.kind === "declined" && !(await lockUntouched(tx, operation.id))',
      "while somebody else tries, nothing is known",
    ],
    [
      "    await settleDispute(tx, deps, payment.id, answer.value);\n",
      "",
      "what the processor says of the dispute is taken in",
    ],
    ['      await saveAcceptance(tx, dispute.id, "");\n', "", "what was not conceded is not"],
  ]),
  ...mutantsOf("services/payments/flows/disputes/add-file.ts", [
    ["if (file?.size !== undefined || !file)", "if (!file)", "a whole file takes no more"],
    ['content.end() ?? (arrived === sent ? undefined : "must arrive whole")', "content.end()", "a file arrives whole"],
    ["    await dropFile(db, fileId);\n", "", "of a file that is refused nothing is kept"],
  ]),
  ...mutantsOf("services/payments/store/disputes/dispute-files.ts", [
    ["and e.state is distinct from 'pending'", "", "what is being sent keeps its bytes"],
    ["old.keeps_line),", "not old.keeps_line),", "what was sent keeps its line, not its bytes"],
  ]),
  ...mutantsOf("services/payments/store/disputes/disputes.ts", [
    [
      '"id = $1 and merchant_id = $2 and environment = $3", [id, merchantId, environment]',
      '"id = $1 and $2::text <> $3::text", [id, merchantId, String(environment)]',
      "a dispute is its merchant's alone",
    ],
  ]),
  ...mutantsOf("services/payments/flows/make-at-processor.ts", [
    [
      "if (found.value.evidenceReference === reference) return found;",
      'if (found.value.evidenceReference !== "") return found;',
      "another submission proves nothing of ours",
    ],
  ]),
  ...mutantsOf("services/payments/lists/disputes.ts", [
    ["e.state <> 'failed'", "true", "what never came to the processor was not sent"],
  ]),
];
