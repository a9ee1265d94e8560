// Asks the buyer for an e-mail and gives it to the session before it is paid. What is typed is given when the buyer
// leaves the field, so that Pay need not wait; a payment whose e-mail may stay empty goes on also when it is lost.
import type { PageTexts } from "../languages.ts";
import { makeElement } from "./element.ts";

/** `wrong`: it is no address; `lost`: nobody knows whether it arrived. */
export type EmailOutcome = "taken" | "wrong" | "lost";
export type GiveEmail = (email: string) => Promise<EmailOutcome>;

export interface EmailField {
  readonly element: HTMLElement;
  /** False, and says why in the field: what is typed cannot be given. */
  isFit(): boolean;
  /** @returns true: the session may be paid */
  submit(): Promise<boolean>;
}

/** @param requirement of the session: `optional` or `required` */
export function emailField(requirement: string, texts: PageTexts, give: GiveEmail): EmailField {
  const isRequired = requirement === "required";
  const input = makeElement("input", {
    ...{ id: "email", type: "email", name: "email", autocomplete: "email", inputmode: "email", maxlength: "254" },
    ...{ required: isRequired, "aria-describedby": "email-problem", dir: "ltr" },
  });
  const problem = makeElement("p", { id: "email-problem", class: "field-problem", role: "alert", hidden: true });
  const label = makeElement("label", { for: "email" }, isRequired ? texts.email : texts.emailOptional);
  let savedEmail = "";
  let giving: { readonly email: string; readonly result: Promise<EmailOutcome> } | undefined;

  const showProblem = (text: string) => {
    problem.textContent = text;
    problem.hidden = text === "";
    if (text === "") input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
  };
  const isFit = () => {
    if (input.checkValidity()) return true;
    showProblem(texts.emailWrong);
    input.focus();
    return false;
  };
  const send = async (email: string): Promise<EmailOutcome> => {
    if (giving?.email !== email) giving = { email, result: give(email) };
    const result = await giving.result;
    if (result === "taken") savedEmail = email;
    giving = undefined;
    if (result === "wrong" && input.value.trim() === email) showProblem(texts.emailWrong);
    return result;
  };
  const typed = () => input.value.trim();
  input.addEventListener("input", () => showProblem(""));
  input.addEventListener("change", () => {
    if (typed() !== "" && typed() !== savedEmail && input.checkValidity()) void send(typed());
  });
  return {
    element: makeElement("div", { class: "email-field" }, label, input, problem),
    isFit,
    async submit() {
      if (!isFit()) return false;
      const email = typed();
      if (email === "" || email === savedEmail) return true;
      const result = await send(email);
      if (result === "wrong") input.focus();
      if (result === "lost" && isRequired) {
        showProblem(texts.offline);
        input.focus();
      }
      return result === "taken" || (result === "lost" && !isRequired);
    },
  };
}

const giveMs = 8_000;

/** Gives e-mails to the session. One that has ended says so itself, when it is paid. */
export function giverOf(sessionId: string, secret: string): GiveEmail {
  return async (email) => {
    // Not AbortSignal.timeout, which the oldest supported browsers lack.
    const limit = new AbortController();
    setTimeout(() => limit.abort(), giveMs);
    try {
      const response = await fetch(`/v1/checkout/${sessionId}/email?secret=${encodeURIComponent(secret)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ customer_email: email }),
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal: limit.signal,
      });
      if (response.ok || response.status === 410) return "taken";
      return response.status === 400 ? "wrong" : "lost";
    } catch {
      return "lost";
    }
  };
}
