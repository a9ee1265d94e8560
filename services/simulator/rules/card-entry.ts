// Reads the buyer's input of the card form. A wrong field is reported with a code and a sentence, never with its value.

/** An entered, plausible card. The number and the CVC are never stored. */
export interface CardEntry {
  /** Digits only. */
  readonly number: string;
  readonly brand: string;
  readonly exp_month: number;
  readonly exp_year: number;
  readonly cvc: string;
  readonly postal_code: string | null;
}

interface EntryProblem {
  readonly field: "number" | "exp_month" | "exp_year" | "cvc" | "name" | "postal_code";
  readonly code: string;
  readonly message: string;
}

const yearsMax = 50; // catches typing errors
const postalCodeMax = 10; // the longest in use, with a space

/**
 * @param fields the body of a pay request
 * @param now a card is valid to the end of its month, UTC
 */
export function readCardEntry(fields: Readonly<Record<string, unknown>>, now: Date): CardEntry | EntryProblem {
  const number = typeof fields.number === "string" ? fields.number.replace(/[\s-]/g, "") : "";
  if (!/^\d{12,19}$/.test(number) || !passesLuhn(number))
    return problem("number", "invalid_number", "Your card number is not valid.");
  const month = wholeNumber(fields.exp_month);
  if (month === undefined || month < 1 || month > 12)
    return problem("exp_month", "invalid_expiry_month", "Your card's expiry month is not valid.");
  const year = fullYear(wholeNumber(fields.exp_year));
  if (year === undefined || year > now.getUTCFullYear() + yearsMax)
    return problem("exp_year", "invalid_expiry_year", "Your card's expiry year is not valid.");
  if (Date.UTC(year, month, 1) <= now.getTime())
    return problem("exp_year", "invalid_expiry_year", "Your card's expiry date is in the past.");
  const brand = brandOf(number);
  const cvc = typeof fields.cvc === "string" ? fields.cvc : "";
  if (!/^\d+$/.test(cvc) || cvc.length !== (brand === "amex" ? 4 : 3))
    return problem("cvc", "invalid_cvc", "Your card's security code is not valid.");
  const postal = fields.postal_code === undefined || fields.postal_code === "" ? null : fields.postal_code;
  if (postal !== null && (typeof postal !== "string" || !isPostalCode(postal)))
    return problem("postal_code", "invalid_postal_code", "Your postal code is not valid.");
  return { number, brand, exp_month: month, exp_year: year, cvc, postal_code: postal };
}

const nameMax = 100; // longer than any printed name

/** Checks the cardholder's name, which is not stored. */
export function lacksName({ name }: Readonly<Record<string, unknown>>): EntryProblem | undefined {
  const isThere = typeof name === "string" && name.trim() !== "" && name.length <= nameMax;
  return isThere ? undefined : problem("name", "invalid_name", "Enter the name on the card.");
}

/** Check digit of ISO/IEC 7812-1. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

interface Brand {
  readonly code: string;
  readonly name: string;
  readonly prefix: RegExp;
}

const brands: readonly Brand[] = [
  { code: "visa", name: "Visa", prefix: /^4/ },
  { code: "mastercard", name: "Mastercard", prefix: /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/ },
  { code: "amex", name: "American Express", prefix: /^3[47]/ },
  { code: "discover", name: "Discover", prefix: /^(6011|64[4-9]|65)/ },
  { code: "diners", name: "Diners Club", prefix: /^(30[0-5]|36|38|39)/ },
  { code: "jcb", name: "JCB", prefix: /^35/ },
  { code: "unionpay", name: "UnionPay", prefix: /^62/ },
];

export const brandNames: readonly Pick<Brand, "code" | "name">[] = brands;

export function brandOf(number: string): string {
  return brands.find(({ prefix }) => prefix.test(number))?.code ?? "unknown";
}

export function brandName(code: string): string {
  return brands.find((brand) => brand.code === code)?.name ?? "Card";
}

function wholeNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === "string" && /^\d{1,4}$/.test(value) ? Number(value) : undefined;
}

/** 31 is 2031. */
function fullYear(year: number | undefined): number | undefined {
  if (year === undefined || year < 0) return undefined;
  if (year < 100) return 2000 + year;
  return year >= 2000 ? year : undefined;
}

function isPostalCode(text: string): boolean {
  return text.length <= postalCodeMax && /^[A-Za-z0-9][A-Za-z0-9 -]*$/.test(text);
}

function problem(field: EntryProblem["field"], code: string, message: string): EntryProblem {
  return { field, code, message };
}
