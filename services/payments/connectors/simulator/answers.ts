// Maps the simulator's HTTP answers and codes to the port's.
import { errorCode, membersOf } from "#platform/values/unchecked.ts";
import type { FailureNames } from "../../rules/failure-code.ts";
import { understoodAnswer } from "../answer.ts";
import type { DeclineCode, ProcessorAnswer, RefundReport } from "../connector.ts";
import { dateOf, type HttpAnswer, undecidedStatuses } from "../http.ts";
import { SimulatorList } from "./objects.ts";

/** The simulator's failure codes that differ from docs/contract.md §5. */
export const simulatorFailureNames: FailureNames = {
  blocked_high_risk: "blocked",
  canceled: "canceled_by_buyer",
  debit_failed: "insufficient_funds",
  debit_returned: "returned",
};

/** The answer to a command. */
export function commandAnswer<T>(answer: HttpAnswer, value: (body: unknown) => T): ProcessorAnswer<T> {
  if (answer.kind === "unsent") return { kind: "not_sent", cause: answer.cause };
  if (answer.kind === "silent") return { kind: "unknown", cause: answer.cause };
  const { status } = answer;
  if (status >= 200 && status < 300) return understoodAnswer(answer.body, value);
  const code = codeIn(answer.body);
  const cause = new Error(`the processor answered ${status} ${code}`);
  if (status < 400 || status >= 500 || undecidedStatuses.has(status)) return { kind: "unknown", cause };
  // Not the processor's own error: an edge may answer while its origin continues.
  if (code === "" || undecidedCodes.has(code)) return { kind: "unknown", cause };
  // Our own credentials, before any work.
  if (status === 401 || status === 403) return { kind: "not_sent", cause };
  return { kind: "declined", code: declineCodes[code] ?? "refused", message: cause.message };
}

/** A key that was used with other parameters: an earlier call with it did arrive. */
const undecidedCodes: ReadonlySet<string> = new Set(["idempotency_key_reused"]);

/** The answer to a query for one object. */
export function queryAnswer<T>(answer: HttpAnswer, value: (body: unknown) => T): ProcessorAnswer<T> {
  if (answer.kind !== "answered") return { kind: "unknown", cause: answer.cause };
  if (answer.status === 200) return understoodAnswer(answer.body, value);
  const cause = new Error(`the processor answered ${answer.status} ${codeIn(answer.body)}`);
  const isMissing = answer.status === 404 && codeIn(answer.body) === "resource_missing";
  return isMissing ? { kind: "not_found", at: dateOf(answer.headers), cause } : { kind: "unknown", cause };
}

/** The answer to a search by our reference: its oldest object, or proof of absence. */
export function searchAnswer<T>(
  answer: HttpAnswer,
  value: (body: unknown) => T,
  isWanted: (body: unknown) => boolean = () => true,
): ProcessorAnswer<T> {
  const list = queryAnswer(answer, (body) => SimulatorList.parse(body).data.filter(isWanted));
  if (list.kind !== "succeeded") return { kind: "unknown", cause: "cause" in list ? list.cause : list };
  const [first] = list.value;
  if (first !== undefined) return understoodAnswer(first, value);
  const at = answer.kind === "answered" ? dateOf(answer.headers) : undefined;
  return { kind: "not_found", at, cause: new Error("the processor has nothing under this reference") };
}

export function refundAnswer(answer: ProcessorAnswer<RefundReport>): ProcessorAnswer<RefundReport> {
  return answer.kind === "succeeded" && answer.value.status === "pending" ? { ...answer, kind: "pending" } : answer;
}

const declineCodes: Readonly<Record<string, DeclineCode>> = {
  charge_already_refunded: "not_refundable",
  charge_disputed: "not_refundable",
  intent_not_refundable: "not_refundable",
  intent_not_capturable: "not_capturable",
  amount_too_large: "amount_too_large",
  intent_not_cancelable: "not_cancelable",
  dispute_not_answerable: "not_answerable",
  evidence_not_accepted: "evidence_not_accepted",
  payment_method_unknown: "unknown_payment_method",
};

function codeIn(body: unknown): string {
  return errorCode(membersOf(body).error);
}
