// The choice between methods on the form, shown if there are several, and the parts that are not about cards.
import type { MethodType } from "../rules/intent.ts";
import { testAccounts, testBank } from "../rules/test-card.ts";
import type { FormTexts } from "../texts/languages.ts";

export const methodNames: Readonly<Record<Exclude<MethodType, "card">, string>> = {
  ideal: "iDEAL",
  sepa_debit: "SEPA Direct Debit",
};

/** @param textOf HTML of a text */
export function methodChoice(textOf: (name: keyof FormTexts) => string): string {
  const labels = { card: textOf("card"), ...methodNames };
  const choices = Object.entries(labels).map(
    ([type, label]) =>
      `<label data-method="${type}" hidden><input type="radio" name="method" value="${type}"${type === "card" ? " checked" : ""}> ${label}</label>`,
  );
  return `<fieldset id="methods" class="methods" hidden><legend>${textOf("payBy")}</legend>${choices.join("")}</fieldset>`;
}

/** @param ibanField HTML */
export function otherMethods(textOf: (name: keyof FormTexts) => string, ibanField: string): string {
  return `<div id="sepa_debit-fields" class="group" hidden>${ibanField}<p class="muted">${textOf("mandate")}</p></div>
<div id="ideal-fields" class="group" hidden><p class="muted">${textOf("bankText")}</p></div>`;
}

/** The step while the buyer is at the bank, in another window. */
export function bankStep(textOf: (name: keyof FormTexts) => string): string {
  return `<section id="bank" class="step" aria-labelledby="bank-title" hidden>
<h2 id="bank-title" tabindex="-1">${textOf("bankTitle")}</h2><p class="muted">${textOf("bankText")}</p>
<a id="bank-link" class="button" target="_blank" rel="noopener">${textOf("openBank")}</a>
<button id="bank-cancel" type="button" class="link-button">${textOf("otherMethod")}</button></section>`;
}

/** Test data of other methods, each shown if the payment offers its method. */
export const otherTestData: readonly {
  readonly method: MethodType;
  readonly number: string;
  readonly label: string;
}[] = [...testAccounts.map((each) => ({ ...each, method: "sepa_debit" as const })), { ...testBank, method: "ideal" }];
