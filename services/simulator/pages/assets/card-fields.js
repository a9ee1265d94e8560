// The fields of the card form: grouped digits, brand, and messages for wrong input. The server checks again.
import { textOf } from "./language.js";

const brands = [
  ["visa", "Visa", /^4/],
  ["mastercard", "Mastercard", /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  ["amex", "American Express", /^3[47]/],
  ["discover", "Discover", /^(6011|64[4-9]|65)/],
  ["diners", "Diners Club", /^(30[0-5]|36|38|39)/],
  ["jcb", "JCB", /^35/],
  ["unionpay", "UnionPay", /^62/],
];

export const fieldNames = ["name", "number", "expiry", "cvc", "postal_code"];

/** @param {(complete: boolean) => void} onChange called at every edit */
export function cardFields(onChange) {
  const inputs = Object.fromEntries(fieldNames.map((name) => [name, document.getElementById(name)]));
  const touched = new Set();

  for (const name of fieldNames) {
    inputs[name].addEventListener("input", () => {
      if (name === "number") formatNumber(inputs.number);
      if (name === "expiry") formatExpiry(inputs.expiry);
      if (name === "cvc") inputs.cvc.value = digitsOf(inputs.cvc.value);
      if (touched.has(name)) show(name, problemOf(name, inputs));
      onChange(firstProblem() === undefined);
    });
    inputs[name].addEventListener("blur", () => {
      if (inputs[name].value === "") return; // an empty field is no mistake before Pay is pressed
      touched.add(name);
      show(name, problemOf(name, inputs));
    });
  }

  function firstProblem() {
    return fieldNames.find((name) => problemOf(name, inputs) !== undefined);
  }

  function show(name, message) {
    const note = document.getElementById(`${name}-error`);
    note.textContent = message ?? "";
    note.hidden = message === undefined;
    if (message === undefined) inputs[name].removeAttribute("aria-invalid");
    else inputs[name].setAttribute("aria-invalid", "true");
  }

  return {
    /** Marks wrong fields and focuses the first. @returns {boolean} whether all fields are right */
    check() {
      for (const name of fieldNames) {
        touched.add(name);
        show(name, problemOf(name, inputs));
      }
      const first = firstProblem();
      if (first) inputs[first].focus();
      return first === undefined;
    },
    reject(field) {
      const name = field.startsWith("exp_") ? "expiry" : field;
      touched.add(name);
      show(name, problemOf(name, inputs) ?? textOf(rejections[name] ?? "numberWrong"));
      inputs[name]?.focus();
    },
    values() {
      const [month, year] = expiryOf(inputs.expiry.value);
      const postal = inputs.postal_code.value.trim().toUpperCase();
      return {
        number: digitsOf(inputs.number.value),
        exp_month: month,
        exp_year: year,
        cvc: inputs.cvc.value,
        ...(inputs.name.value && { name: inputs.name.value }),
        ...(postal && { postal_code: postal }),
      };
    },
    fill(values) {
      for (const [name, value] of Object.entries(values)) {
        inputs[name].value = value;
        inputs[name].dispatchEvent(new Event("input"));
        show(name, undefined);
      }
    },
    enable(isEnabled) {
      for (const name of fieldNames) inputs[name].disabled = !isEnabled;
    },
  };
}

const rejections = { name: "nameEmpty", expiry: "expiryWrong", cvc: "cvcRefused", postal_code: "postalWrong" };

function problemOf(name, inputs) {
  const value = inputs[name].value.trim();
  const number = digitsOf(inputs.number.value);
  switch (name) {
    case "name":
      return value === "" && !document.getElementById("name-field").hidden ? textOf("nameEmpty") : undefined;
    case "number":
      if (number === "") return textOf("numberEmpty");
      return number.length >= 12 && passesLuhn(number) ? undefined : textOf("numberWrong");
    case "expiry":
      return expiryProblem(value);
    case "cvc": {
      const length = brandOf(number)[0] === "amex" ? 4 : 3;
      if (value === "") return textOf("cvcEmpty");
      return value.length === length ? undefined : textOf("cvcWrong", { digits: length });
    }
    default:
      return value === "" || /^[A-Za-z0-9][A-Za-z0-9 -]{0,9}$/.test(value) ? undefined : textOf("postalWrong");
  }
}

function expiryProblem(value) {
  const [month, year] = expiryOf(value);
  if (value === "") return textOf("expiryEmpty");
  if (!(month >= 1 && month <= 12) || Number.isNaN(year)) return textOf("expiryWrong");
  return Date.UTC(year, month, 1) <= Date.now() ? textOf("expired") : undefined;
}

/** "12 / 31" is [12, 2031]. */
function expiryOf(value) {
  const digits = digitsOf(value);
  const year = digits.slice(2);
  if (year.length !== 2 && year.length !== 4) return [Number(digits.slice(0, 2)), Number.NaN];
  return [Number(digits.slice(0, 2)), year.length === 2 ? 2000 + Number(year) : Number(year)];
}

/** Rewrites the value and keeps the cursor after the same digit. */
function rewrite(input, text) {
  if (input.value === text) return;
  const digitsBefore = digitsOf(input.value.slice(0, input.selectionStart)).length;
  const isAtEnd = input.selectionStart === input.value.length;
  input.value = text;
  let place = 0;
  for (let digits = 0; place < text.length && digits < digitsBefore; place++) if (/\d/.test(text[place])) digits++;
  if (document.activeElement === input)
    input.setSelectionRange(isAtEnd ? text.length : place, isAtEnd ? text.length : place);
}

function formatNumber(input) {
  const digits = digitsOf(input.value).slice(0, 19);
  const [brand, name] = brandOf(digits);
  const groups = brand === "amex" ? /^(\d{1,4})(\d{1,6})?(\d{1,5})?/ : undefined;
  const parts = groups ? (groups.exec(digits)?.slice(1).filter(Boolean) ?? []) : (digits.match(/\d{1,4}/g) ?? []);
  rewrite(input, parts.join(" "));
  const shown = document.getElementById("brand");
  if (shown.getAttribute("href") === `#brand-${brand}`) return;
  shown.setAttribute("href", `#brand-${brand}`);
  document.getElementById("brand-name").textContent = name;
  document.getElementById("number-field").classList.toggle("has-brand", brand !== "unknown");
}

function formatExpiry(input) {
  let digits = digitsOf(input.value).slice(0, 6);
  if (/^[2-9]/.test(digits)) digits = `0${digits}`.slice(0, 6);
  const isDeleting = input.value.endsWith(" /") || input.value.endsWith("/");
  rewrite(
    input,
    digits.length > 2 || (digits.length === 2 && !isDeleting && !/\d\d$/.test(input.dataset.last ?? ""))
      ? `${digits.slice(0, 2)} / ${digits.slice(2)}`
      : digits,
  );
  input.dataset.last = input.value;
}

function brandOf(number) {
  return brands.find(([, , prefix]) => prefix.test(number)) ?? ["unknown", ""];
}

function digitsOf(text) {
  return text.replace(/\D/g, "");
}

function passesLuhn(digits) {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}
