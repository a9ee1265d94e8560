// Proposing an adjustment: a few lines, each from one account to another, under a key made with the page, so that a
// form that is sent twice proposes once.
import { randomUUID } from "node:crypto";
import { asFailure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codesOf, translateCode } from "../../../texts/labels.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { hidden, selectField, textArea, textField } from "../../../view/fields.ts";
import {
  backTo,
  noProblems,
  type Problems,
  panel,
  postForm,
  problemBox,
  problemOf,
  showRefusal,
} from "../../../view/operator-forms.ts";
import { minorUnits } from "../../../view/values.ts";

const linesShown = 4;
const reasonLeast = 10;
const grave = { action: "journal.propose", proof: () => true };

interface TypedLine {
  readonly debit: string;
  readonly credit: string;
  readonly currency: string;
  readonly amount: string;
}

interface FormValues {
  readonly merchant: string;
  readonly environment: string;
  readonly about: string;
  readonly reason: string;
  readonly key: string;
  readonly lines: readonly TypedLine[];
}

export function proposeRoutes(context: ConsoleContext): void {
  operatorPage(context, "/journal/propose", "journal.propose", async (visit) => {
    const merchant = (queryOf(visit).get("merchant") ?? "").slice(0, 64);
    const typed = { merchant, environment: "live", about: "", reason: "", key: randomUUID(), lines: [] };
    return proposePage(visit, typed, noProblems);
  });
  operatorForm(context, "/journal/propose", grave, async (visit, form) => await propose(context, visit, form));
}

async function propose({ peers }: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const texts = textsOf(visit.language).journal;
  const typed = typedOf(form);
  const { problems, lines } = read(visit, typed);
  if (problems.length > 0) return { ...proposePage(visit, typed, problems), status: 422 };
  const send = async () => {
    const { adjustment } = await peers.journal
      .proposeAdjustment({
        merchantId: typed.merchant,
        environment: typed.environment === "live" ? Environment.LIVE : Environment.SANDBOX,
        aboutPaymentId: typed.about,
        reason: typed.reason,
        lines,
        idempotencyKey: typed.key,
      })
      .catch((error: unknown) => {
        if (asFailure(error).reason === "IDEMPOTENCY_KEY_REUSE") return { adjustment: undefined };
        throw error;
      });
    if (!adjustment)
      return { ...proposePage(visit, { ...typed, key: randomUUID() }, [["", texts.keyReused]]), status: 422 };
    return { go: `/journal/adjustments/${adjustment.id}`, done: "adjustment-proposed" };
  };
  return await showRefusal(visit, send, async (refused) => {
    const ownProblems = refused.map(([field, text]) =>
      field === "about_payment_id" ? (["about", texts.aboutWrong] as const) : ([field, text] as const),
    );
    return proposePage(visit, typed, ownProblems);
  });
}

function typedOf(form: Form): FormValues {
  const lines = Array.from({ length: linesShown }, (_, i) => ({
    debit: form.text(`debit_${i}`),
    credit: form.text(`credit_${i}`),
    currency: form.text(`currency_${i}`).toUpperCase(),
    amount: form.text(`amount_${i}`),
  }));
  return {
    merchant: form.text("merchant"),
    environment: form.text("environment"),
    about: form.text("about"),
    reason: form.text("reason"),
    key: form.text("key").slice(0, 100) || randomUUID(),
    lines,
  };
}

function read({ language }: OperatorVisit, typed: FormValues) {
  const texts = textsOf(language).journal;
  const problems: [string, string][] = [];
  if (!/^mer_[0-9a-hjkmnp-tv-z]{26}$/.test(typed.merchant)) {
    problems.push(["merchant", textsOf(language).operatorForms.merchantIdNeeded]);
  }
  if (typed.reason.length < reasonLeast) problems.push(["reason", texts.reasonNeeded]);
  const lines = typed.lines.flatMap((line, i) => {
    const { debit, credit, currency } = line;
    if (debit === "" && credit === "" && line.amount === "") return [];
    const amount = minorUnits(line.amount, currency);
    const isWhole =
      codesOf("journalAccounts").includes(debit) && codesOf("journalAccounts").includes(credit) && debit !== credit;
    if (isWhole && amount !== undefined && amount > 0n) return [{ debit, credit, currency, amount }];
    problems.push([`amount_${i}`, texts.lineWrong]);
    return [];
  });
  if (lines.length === 0 && problems.every(([field]) => !field.startsWith("amount_"))) {
    problems.push(["amount_0", texts.linesNeeded]);
  }
  return { problems, lines };
}

function proposePage(visit: OperatorVisit, typed: FormValues, problems: Problems): Page {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const problem = (field: string) => problemOf(problems, field);
  const form = postForm(visit, {
    action: "/journal/propose",
    fields: [
      hidden("key", typed.key),
      textField({
        name: "merchant",
        label: `${ownTexts.merchantId} (mer_…)`,
        value: typed.merchant,
        maxlength: 64,
        problem: problem("merchant"),
      }),
      selectField({
        name: "environment",
        label: ownTexts.environment,
        value: typed.environment,
        choices: [
          { value: "live", label: ownTexts.live },
          { value: "sandbox", label: ownTexts.sandbox },
        ],
      }),
      textField({
        name: "about",
        label: texts.about,
        hint: texts.aboutHint,
        value: typed.about,
        maxlength: 64,
        problem: problem("about"),
      }),
      textArea({
        name: "reason",
        label: texts.reason,
        hint: texts.reasonHint,
        value: typed.reason,
        maxlength: 2_000,
        problem: problem("reason"),
      }),
      html`<p class="hint">${texts.lineHint}</p>`,
      ...Array.from({ length: linesShown }, (_, i) => lineFields(visit, typed.lines[i], i, problem(`amount_${i}`))),
    ],
    button: texts.proposeButton,
  });
  return {
    title: texts.propose,
    body: html`${backTo("/journal/adjustments", texts.adjustments)}<h1>${texts.propose}</h1>${problemBox(visit, problems)}
<p>${texts.adjustmentsText} ${ownTexts.proofNext}</p>${panel(texts.propose, form)}`,
  };
}

function lineFields({ language }: OperatorVisit, line: TypedLine | undefined, i: number, problem: string): Html {
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const choices = [
    { value: "", label: texts.choose },
    ...codesOf("journalAccounts").map((account) => ({
      value: account,
      label: translateCode(language, "journalAccounts", account),
    })),
  ];
  return html`<fieldset class="field adjustment-line"><legend>${fill(texts.line, { n: i + 1 })}</legend>
${selectField({ name: `debit_${i}`, label: texts.from, value: line?.debit ?? "", choices })}
${selectField({ name: `credit_${i}`, label: texts.to, value: line?.credit ?? "", choices })}
${textField({ name: `currency_${i}`, label: ownTexts.currency, value: line?.currency ?? "EUR", maxlength: 3 })}
${textField({ name: `amount_${i}`, label: texts.amount, value: line?.amount ?? "", inputmode: "decimal", problem })}</fieldset>`;
}
