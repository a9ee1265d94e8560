// The form of a risk rule, with the names of rule kinds and decision stages. It shows a rule and reads it for the
// checkout service.

import { isId } from "#platform/values/id.ts";
import { currencyExponent } from "#platform/values/money.ts";
import { RiskKind, type RiskRule } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { majorUnits } from "../../../../../services/public-json/csv.ts";
import type { Html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { type Language, textsOf } from "../../../texts/texts.ts";
import {
  hiddenField,
  onOffField,
  type Problems,
  problemOf,
  selectField,
  textArea,
  textFields,
} from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { noProblems } from "../../../view/operator-forms.ts";
import { countText, minorUnits, moneyText } from "../../../view/values.ts";

export interface TypedRule {
  readonly kind: string;
  readonly subject: string;
  readonly environment: string;
  readonly limit: string;
  readonly window: string;
  readonly entries: string;
  readonly enabled: boolean;
  readonly note: string;
}
export const emptyRule: TypedRule = {
  ...{ kind: "velocity", subject: "", environment: "both", limit: "", window: "", entries: "" },
  ...{ enabled: true, note: "" },
};

interface RuleFormParts {
  readonly action: string;
  readonly rule: TypedRule;
  /** Kind, subject and environment of a rule never change. */
  readonly isNew: boolean;
  readonly problems?: Problems;
}

/** The form of one kind: it has only the fields that the kind uses. */
export function ruleForm(visit: OperatorVisit, { action, rule, isNew, problems = noProblems }: RuleFormParts): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const field = textFields({ note: rule.note }, problems);
  const environments = (["both", "sandbox", "live"] as const).map((value) => ({ value, label: ownTexts[value] }));
  const environment = selectField({
    ...{ name: "environment", label: ownTexts.environment, value: rule.environment, choices: environments },
  });
  const fields = [
    ...(isNew ? [hiddenField("kind", rule.kind), subjectField(language, rule, problems), environment] : []),
    ...measureFields(language, rule, problems),
    onOffField({ name: "enabled", label: texts.enabled, hint: texts.enabledHint, isOn: rule.enabled }, texts),
    field("note", ownTexts.note, { hint: ownTexts.noteHint, maxlength: 500 }),
  ];
  return postForm(visit, { action, fields, button: isNew ? texts.addRule : ownTexts.save });
}

const subjects: Readonly<Record<string, readonly string[]>> = {
  velocity: ["email", "address", "card_fingerprint"],
  block_list: ["email", "domain", "address", "card_fingerprint"],
  card_testing: ["address"],
};

function subjectField(language: Language, { kind, subject }: TypedRule, problems: Problems): Html {
  const texts = textsOf(language).rules;
  const problem = problemOf(problems, "subject");
  if (kind === "amount_cap") {
    const parts = { hint: texts.currencyHint, maxlength: 3, required: true };
    return textFields({ subject }, problems)("subject", texts.currency, parts);
  }
  const choices = (subjects[kind] ?? []).map((value) => ({
    value,
    label: translateCode(language, "riskSubjects", value),
  }));
  const [only, ...others] = choices;
  if (only && others.length === 0) return hiddenField("subject", only.value);
  const label = kind === "block_list" ? texts.blockedWhat : texts.countedBy;
  return selectField({ name: "subject", label, value: subject, choices, problem });
}

function measureFields(language: Language, rule: TypedRule, problems: Problems): readonly Html[] {
  const texts = textsOf(language).rules;
  if (rule.kind === "block_list") {
    const parts = { name: "entries", label: texts.entries, hint: texts.entriesHint, value: rule.entries, rows: 6 };
    return [textArea({ ...parts, problem: problemOf(problems, "entries") })];
  }
  const field = textFields({ limit: rule.limit, window_seconds: rule.window }, problems);
  if (rule.kind === "amount_cap") {
    return [field("limit", texts.cap, { hint: texts.capHint, inputmode: "decimal", required: true })];
  }
  const limit = rule.kind === "card_testing" ? texts.declines : texts.sessions;
  return [
    field("limit", limit, { inputmode: "numeric", required: true }),
    field("window_seconds", texts.window, { hint: texts.windowHint, inputmode: "numeric", required: true }),
  ];
}

export function typedRule(form: Form): TypedRule {
  return {
    kind: form.text("kind"),
    subject: form.text("subject"),
    environment: form.text("environment"),
    limit: form.text("limit"),
    window: form.text("window_seconds"),
    entries: form.raw("entries"),
    enabled: form.text("enabled") !== "off",
    note: form.text("note"),
  };
}

export function shownRule(rule: RiskRule): TypedRule {
  return {
    kind: riskKinds.find(({ kind }) => kind === rule.kind)?.name ?? "",
    subject: rule.subject,
    environment: "both",
    limit: rule.kind === RiskKind.AMOUNT_CAP ? majorUnits(rule.limit, rule.subject) : String(rule.limit),
    window: String(rule.windowSeconds),
    entries: rule.entries.join("\n"),
    enabled: rule.enabled,
    note: rule.note,
  };
}

/** Values for the checkout service, and the problems of invalid numbers. */
export function readRule({ language }: Pick<OperatorVisit, "language">, typed: TypedRule) {
  const texts = textsOf(language).rules;
  const kind = riskKinds.find(({ name }) => name === typed.kind)?.kind;
  const isNumber = (text: string) => /^\d{0,8}$/.test(text);
  const problems: [string, string][] = [];
  const isCap = kind === RiskKind.AMOUNT_CAP;
  const subject = isCap ? typed.subject.toUpperCase() : typed.subject;
  const whole = isNumber(typed.limit) ? BigInt(typed.limit) : undefined;
  const limit = isCap ? minorUnits(typed.limit, subject) : whole;
  if (isCap && currencyExponent(subject) === undefined) problems.push(["subject", texts.capCurrencyWrong]);
  else if (limit === undefined) problems.push(["limit", isCap ? texts.capWrong : texts.numberWrong]);
  if (!isNumber(typed.window)) problems.push(["window_seconds", texts.numberWrong]);
  if (problems.length > 0) return { problems };
  const lines = typed.entries.split("\n").map((line) => line.trim());
  const environments: Readonly<Record<string, Environment>> = { sandbox: Environment.SANDBOX, live: Environment.LIVE };
  return {
    problems,
    subject,
    limit,
    windowSeconds: Number(typed.window || "0"),
    entries: lines.filter((line) => line !== ""),
    environment: environments[typed.environment] ?? Environment.UNSPECIFIED,
    kind,
  };
}

export const riskKinds = [
  { name: "amount_cap", kind: RiskKind.AMOUNT_CAP },
  { name: "velocity", kind: RiskKind.VELOCITY },
  { name: "block_list", kind: RiskKind.BLOCK_LIST },
  { name: "card_testing", kind: RiskKind.CARD_TESTING },
] as const;

export function formatKind(language: Language, kind: RiskKind): string {
  const name = riskKinds.find((each) => each.kind === kind)?.name;
  return name === undefined ? "" : textsOf(language).riskKinds[name];
}

/** A limit or a measurement: money for an amount cap, else a number of events. */
export function formatQuantity(language: Language, kind: RiskKind, subject: string, value: bigint): string {
  return kind === RiskKind.AMOUNT_CAP ? moneyText(language, value, subject) : countText(language, value);
}

/** A stage that this release does not know is shown unchanged. */
export function formatStage(language: Language, stage: string): string {
  const name = (["create", "open", "attempt"] as const).find((each) => each === stage);
  return name === undefined ? stage : textsOf(language).riskKinds[name];
}

/** `mer_…` or `*` for the RPCs; any other text becomes `*`. */
export function ownerOf(text: string): string {
  return isId("merchant", text) ? text : "*";
}
