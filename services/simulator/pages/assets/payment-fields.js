// The fields of the chosen method: a card, an account for a debit, or a bank. With one method there is no choice.
import { cardFields } from "./card-fields.js";
import { textOf } from "./language.js";

const form = document.getElementById("form");
const iban = document.getElementById("iban");
const bankNumber = "TESTBANK";

/** @param {(complete: boolean) => void} onChange called at every edit */
export function paymentFields(onChange) {
  let isCardComplete = false;
  const report = () => onChange(isComplete());
  const card = cardFields((complete) => {
    isCardComplete = complete;
    report();
  });
  const chosen = () => form.elements.method.value;
  const isComplete = () => chosen() === "ideal" || (chosen() === "card" ? isCardComplete : isIban(iban.value));

  function showChosen() {
    for (const name of ["card", "sepa_debit", "ideal"])
      document.getElementById(`${name}-fields`).hidden = name !== chosen();
    report();
  }

  function showIban(isWrong) {
    const note = document.getElementById("iban-error");
    note.textContent = isWrong ? textOf("ibanWrong") : "";
    note.hidden = !isWrong;
    iban.toggleAttribute("aria-invalid", isWrong);
  }

  document.getElementById("methods").addEventListener("change", showChosen);
  iban.addEventListener("input", () => {
    showIban(false);
    report();
  });

  return {
    /** @param {string[]} methods of the payment */
    offer(methods) {
      for (const label of document.querySelectorAll("[data-method]"))
        label.hidden = !methods.includes(label.dataset.method);
      document.getElementById("methods").hidden = methods.length < 2;
      form.elements.method.value = methods[0];
      showChosen();
    },
    check() {
      if (chosen() === "card") return card.check();
      const isRight = isComplete();
      showIban(!isRight);
      if (!isRight) iban.focus();
      return isRight;
    },
    reject(field) {
      if (field === "iban") showIban(true);
      else card.reject(field);
    },
    values() {
      if (chosen() === "card") return card.values();
      return { method: chosen(), ...(chosen() === "sepa_debit" && { iban: iban.value }) };
    },
    fill: (values) => card.fill(values),
    /** Enters test data of a method that is not a card. @returns {boolean} whether it is one */
    fillOther(number) {
      const isIbanNumber = isIban(number);
      if (!isIbanNumber && number !== bankNumber) return false;
      form.elements.method.value = isIbanNumber ? "sepa_debit" : "ideal";
      if (isIbanNumber) iban.value = number.replace(/(.{4})(?=.)/g, "$1 ");
      showIban(false);
      showChosen();
      return true;
    },
    useCard() {
      form.elements.method.value = "card";
      showChosen();
    },
    focus() {
      if (chosen() === "card") document.getElementById("number").focus();
      else if (chosen() === "sepa_debit") iban.focus();
    },
    enable(isEnabled) {
      card.enable(isEnabled);
      iban.disabled = !isEnabled;
      document.getElementById("methods").disabled = !isEnabled;
    },
  };
}

function isIban(text) {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text.replace(/\s/g, "").toUpperCase());
}
