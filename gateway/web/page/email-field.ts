// Asks the buyer for an e-mail and saves it to the session. It is saved when the buyer leaves the field, so Pay need
// not wait. If the e-mail is optional, a failed save does not stop the payment.
import type { PageTexts } from "../languages.ts";
import { makeElement } from "./element.ts";

/** `invalid`: not an e-mail address; `unknown`: it may not have arrived. */
export type EmailOutcome = "saved" | "invalid" | "unknown";
export type SaveEmail = (email: string) => Promise<EmailOutcome>;

export interface EmailField {
  readonly element: HTMLElement;
  /** If invalid, shows the problem in the field and returns false. */
  isValid(): boolean;
  /** @returns true if the session may be paid */
  submit(): Promise<boolean>;
}

/** @param requirement of the session: `optional` or `required` */
export function emailField(requirement: string, texts: PageTexts, save: SaveEmail): EmailField {
  const isRequired = requirement === "required";
  const input = makeElement("input", {
    ...{ id: "email", type: "email", name: "email", autocomplete: "email", inputmode: "email", maxlength: "254" },
    ...{ required: isRequired, "aria-describedby": "email-problem", dir: "ltr" },
  });
  const problem = makeElement("p", { id: "email-problem", class: "field-problem", role: "alert", hidden: true });
  const label = makeElement("label", { for: "email" }, isRequired ? texts.email : texts.emailOptional);
  let savedEmail = "";
  let saving: { readonly email: string; readonly result: Promise<EmailOutcome> } | undefined;

  const showProblem = (text: string) => {
    problem.textContent = text;
    problem.hidden = text === "";
    if (text === "") input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
  };
  const isValid = () => {
    if (input.checkValidity()) return true;
    showProblem(texts.emailWrong);
    input.focus();
    return false;
  };
  const send = async (email: string): Promise<EmailOutcome> => {
    if (saving?.email !== email) saving = { email, result: save(email) };
    const result = await saving.result;
    if (result === "saved") savedEmail = email;
    saving = undefined;
    if (result === "invalid" && input.value.trim() === email) showProblem(texts.emailWrong);
    return result;
  };
  const typed = () => input.value.trim();
  input.addEventListener("input", () => showProblem(""));
  input.addEventListener("change", () => {
    if (typed() !== "" && typed() !== savedEmail && input.checkValidity()) void send(typed());
  });
  return {
    element: makeElement("div", { class: "email-field" }, label, input, problem),
    isValid,
    async submit() {
      if (!isValid()) return false;
      const email = typed();
      if (email === "" || email === savedEmail) return true;
      const result = await send(email);
      if (result === "invalid") input.focus();
      if (result === "unknown" && isRequired) {
        showProblem(texts.offline);
        input.focus();
      }
      return result === "saved" || (result === "unknown" && !isRequired);
    },
  };
}

const saveMs = 8_000;

/** Saves e-mails to the session. An ended session counts as saved: confirm reports its end. */
export function emailSaver(sessionId: string, secret: string): SaveEmail {
  return async (email) => {
    // Not AbortSignal.timeout, which the oldest supported browsers lack.
    const limit = new AbortController();
    setTimeout(() => limit.abort(), saveMs);
    try {
      const response = await fetch(`/v1/checkout/${sessionId}/email?secret=${encodeURIComponent(secret)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ customer_email: email }),
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal: limit.signal,
      });
      if (response.ok || response.status === 410) return "saved";
      return response.status === 400 ? "invalid" : "unknown";
    } catch {
      return "unknown";
    }
  };
}
