// The fields of a rule, as it is shown, typed and given to checkout.
import { currencyExponent } from "#platform/values/money.ts";
import { RiskKind, type RiskRule } from "#proto/checkout/v1/risk_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Html } from "../../../../html.ts";
import type { Form } from "../../../http/form.ts";
import type { OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { choiceField, selectField, textArea, textField } from "../../../view/fields.ts";
import { noProblems, type Problems, postForm, problemOf } from "../../../view/operator-forms.ts";
import { majorUnits, minorUnits } from "../../../view/values.ts";
import { formatKind, riskKinds } from "./words.ts";

/** As it was typed. */
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
  kind: "velocity",
  subject: "",
  environment: "both",
  limit: "",
  window: "",
  entries: "",
  enabled: true,
  note: "",
};

export interface RuleFormParts {
  readonly action: string;
  readonly rule: TypedRule;
  /** Kind, subject and environment are chosen once. */
  readonly isNew: boolean;
  readonly problems?: Problems;
}

export function ruleForm(visit: OperatorVisit, { action, rule, isNew, problems = noProblems }: RuleFormParts): Html {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).rules, textsOf(language).operatorForms];
  const problem = (field: string) => problemOf(problems, field);
  const once = [
    selectField({
      name: "kind",
      label: texts.kind,
      value: rule.kind,
      choices: riskKinds.map(({ name, kind }) => ({ value: name, label: formatKind(language, kind) })),
    }),
    textField({
      name: "subject",
      label: texts.subject,
      hint: texts.subjectHint,
      value: rule.subject,
      maxlength: 32,
      problem: problem("subject"),
    }),
    selectField({
      name: "environment",
      label: ownTexts.environment,
      value: rule.environment,
      choices: [
        { value: "both", label: ownTexts.both },
        { value: "sandbox", label: ownTexts.sandbox },
        { value: "live", label: ownTexts.live },
      ],
    }),
  ];
  const isList = rule.kind === "block_list";
  const numbers = [
    textField({
      name: "limit",
      label: texts.limit,
      hint: texts.limitHint,
      value: rule.limit,
      inputmode: "decimal",
      problem: problem("limit"),
    }),
    textField({
      name: "window_seconds",
      label: texts.window,
      hint: texts.windowHint,
      value: rule.window,
      inputmode: "numeric",
      problem: problem("window_seconds"),
    }),
  ];
  const entries = textArea({
    name: "entries",
    label: texts.entries,
    hint: texts.entriesHint,
    value: rule.entries,
    rows: 6,
    problem: problem("entries"),
  });
  const fields = [
    ...(isNew ? once : []),
    ...(isNew || !isList ? numbers : []),
    ...(isNew || isList ? [entries] : []),
    enabledField(visit, rule.enabled),
    textField({
      name: "note",
      label: ownTexts.note,
      hint: ownTexts.noteHint,
      value: rule.note,
      maxlength: 500,
      problem: problem("note"),
    }),
  ];
  return postForm(visit, { action, fields, button: isNew ? texts.addRule : ownTexts.save });
}

function enabledField({ language }: OperatorVisit, isOn: boolean): Html {
  const texts = textsOf(language).rules;
  return choiceField({
    name: "enabled",
    label: texts.enabled,
    hint: texts.enabledHint,
    values: [isOn ? "on" : "off"],
    choices: [
      { value: "on", label: texts.on },
      { value: "off", label: texts.off },
    ],
    one: true,
  });
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

/** A rule that is there, as its form shows it. */
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

/** What of it is given to checkout; numbers that are none are problems. */
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
