// Proposes an adjustment of up to four lines. The page's idempotency key makes a form that is sent twice propose once.
import { randomUUID } from "node:crypto";
import { isId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { type Form, unlessRefused } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codeChoices, codesOf } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import {
  hiddenField,
  type Problems,
  problemOf,
  selectField,
  textArea,
  textField,
  textFields,
} from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { backTo, formPanel, noProblems, problemBox, showRefusal } from "../../../view/operator-forms.ts";
import { minorUnits } from "../../../view/values.ts";

const linesShown = 4;
const reasonMin = 10;
const needs = { action: "journal.propose", proof: () => true };

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
    const typed = { merchant, environment: "", about: "", reason: "", key: randomUUID(), lines: [] };
    return proposePage(visit, typed, noProblems);
  });
  operatorForm(context, "/journal/propose", needs, (visit, form) => propose(context, visit, form));
}

async function propose({ peers }: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const texts = textsOf(visit.language).journal;
  const typed = typedOf(form);
  const { problems, lines } = read(visit, typed);
  if (problems.length > 0) return { ...proposePage(visit, typed, problems), status: 422 };
  const send = async () => {
    const proposed = peers.journal.proposeAdjustment({
      merchantId: typed.merchant,
      environment: typed.environment === "live" ? Environment.LIVE : Environment.SANDBOX,
      aboutPaymentId: typed.about,
      reason: typed.reason,
      lines,
      idempotencyKey: typed.key,
    });
    const adjustment = (await unlessRefused(proposed, "IDEMPOTENCY_KEY_REUSE"))?.adjustment;
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
    ...{ merchant: form.text("merchant"), environment: form.text("environment"), about: form.text("about") },
    ...{ reason: form.text("reason"), key: form.text("key").slice(0, 100) || randomUUID(), lines },
  };
}

function read({ language }: OperatorVisit, typed: FormValues) {
  const texts = textsOf(language).journal;
  const problems: [string, string][] = [];
  if (!isId("merchant", typed.merchant)) {
    problems.push(["merchant", textsOf(language).operatorForms.merchantIdNeeded]);
  }
  if (typed.environment !== "live" && typed.environment !== "sandbox") {
    problems.push(["environment", texts.environmentNeeded]);
  }
  if (typed.reason.length < reasonMin) problems.push(["reason", texts.reasonNeeded]);
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

function proposePage(visit: OperatorVisit, { lines, ...typed }: FormValues, problems: Problems): Page {
  const { language } = visit;
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const field = textFields(typed, problems);
  const environments = (["live", "sandbox"] as const).map((value) => ({ value, label: ownTexts[value] }));
  const environment = selectField({
    ...{ name: "environment", label: ownTexts.environment, value: typed.environment },
    ...{ choices: [{ value: "", label: texts.choose }, ...environments] },
    problem: problemOf(problems, "environment"),
  });
  const form = postForm(visit, {
    action: "/journal/propose",
    fields: [
      hiddenField("key", typed.key),
      field("merchant", `${ownTexts.merchantId} (mer_…)`, { maxlength: 64 }),
      environment,
      field("about", texts.about, { hint: texts.aboutHint, maxlength: 64 }),
      textArea({
        ...{ name: "reason", label: texts.reason, hint: texts.reasonHint, value: typed.reason },
        ...{ maxlength: 2_000, problem: problemOf(problems, "reason") },
      }),
      html`<p class="hint">${texts.lineHint}</p>`,
      ...Array.from({ length: linesShown }, (_, i) =>
        lineFields(visit, lines[i], i, problemOf(problems, `amount_${i}`)),
      ),
    ],
    button: texts.proposeButton,
  });
  return {
    title: texts.propose,
    body: html`${backTo("/journal/adjustments", texts.adjustments)}<h1>${texts.propose}</h1>${problemBox(visit, problems)}
<p>${texts.adjustmentsText} ${ownTexts.proofNext}</p>${formPanel(texts.propose, form)}`,
  };
}

function lineFields({ language }: OperatorVisit, line: TypedLine | undefined, i: number, problem: string): Html {
  const [texts, ownTexts] = [textsOf(language).journal, textsOf(language).operatorForms];
  const choices = codeChoices(language, "journalAccounts", codesOf("journalAccounts"), texts.choose);
  return html`<fieldset class="field adjustment-line"><legend>${fillText(texts.line, { n: i + 1 })}</legend>
${selectField({ name: `debit_${i}`, label: texts.from, value: line?.debit ?? "", choices })}
${selectField({ name: `credit_${i}`, label: texts.to, value: line?.credit ?? "", choices })}
${textField({ name: `currency_${i}`, label: ownTexts.currency, value: line?.currency ?? "EUR", maxlength: 3 })}
${textField({ name: `amount_${i}`, label: texts.amount, value: line?.amount ?? "", inputmode: "decimal", problem })}</fieldset>`;
}
