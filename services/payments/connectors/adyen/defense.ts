// Answers of Adyen's Disputes API, and the choice of a defense reason. Adyen's own choice of reasons depends on the
// dispute; each takes certain documents.
import Type from "typebox";
import { Compile } from "typebox/compile";
import { membersOf } from "#platform/values/unchecked.ts";
import { isKnown, type ProcessorAnswer } from "../connector.ts";
import type { HttpAnswer } from "../http.ts";
import { commandAnswer } from "./client.ts";

const Reasons = Compile(
  Type.Array(
    Type.Object({
      defenseReasonCode: Type.String(),
      defenseDocumentTypes: Type.Optional(
        Type.Array(
          Type.Object({
            defenseDocumentTypeCode: Type.String(),
            requirementLevel: Type.String(),
            available: Type.Boolean(),
          }),
        ),
      ),
    }),
  ),
);

export interface DefenseReason {
  readonly code: string;
  /** Types of documents, the required ones first. */
  readonly types: readonly string[];
  readonly requiredCount: number;
}

/** The answer of the Disputes API: a refusal is a field of a success. */
export function disputeAnswer<T>(answer: HttpAnswer, value: (body: unknown) => T): ProcessorAnswer<T> {
  const read = commandAnswer(answer, (body) => {
    const { success, errorMessage } = membersOf(membersOf(body).disputeServiceResult);
    if (typeof success !== "boolean") throw new Error("not an answer of the Disputes API");
    const message = typeof errorMessage === "string" ? errorMessage : "refused by Adyen";
    return success ? { value: value(body) } : { message };
  });
  if (!isKnown(read)) return read.kind === "declined" ? { ...read, code: "not_answerable" } : read;
  if ("value" in read.value) return { kind: "succeeded", value: read.value.value };
  return { kind: "declined", code: "not_answerable", message: read.value.message };
}

export function reasonsIn(body: unknown): readonly DefenseReason[] {
  const listed: unknown = membersOf(body).defenseReasons ?? [];
  if (!Reasons.Check(listed)) throw new Error("not defense reasons of Adyen");
  return listed.map(({ defenseReasonCode: code, defenseDocumentTypes: types = [] }) => {
    const ofLevel = (...levels: string[]) =>
      types
        .filter(({ requirementLevel }) => levels.includes(requirementLevel))
        .map(({ defenseDocumentTypeCode }) => defenseDocumentTypeCode);
    const required = ofLevel("Required", "AlternativeRequired");
    const oneOrMore = ofLevel("OneOrMore");
    const requiredCount = required.length + (oneOrMore.length > 0 ? 1 : 0);
    return { code, types: [...required, ...oneOrMore, ...ofLevel("Optional")], requiredCount };
  });
}

/** The first reason that takes this number of documents. */
export function defenseFor(reasons: readonly DefenseReason[], count: number): DefenseReason | undefined {
  return reasons.find(({ types, requiredCount }) => requiredCount <= count && count <= types.length);
}

/** Why no reason fits. */
export function describeNeed(reasons: readonly DefenseReason[]): string {
  const [first] = reasons;
  if (!first) return "Adyen has no defense for this dispute";
  const [least, most] = [first.requiredCount, first.types.length];
  return `Adyen takes ${least} to ${most} documents for this dispute; all texts together are one`;
}
