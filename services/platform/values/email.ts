// E-mail address syntax: HTML's rule with a dotted domain, and the lengths of RFC 5321. Only a delivered message proves
// an address.
import { domainToASCII } from "node:url";

const name = "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]";
const label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const domain = `${label}(?:\\.${label})+`;
const format = new RegExp(`^${name}{1,64}@${domain}$`);
// RFC 6531 allows any text beyond ASCII; real addresses use letters, digits and symbols.
const worldFormat = new RegExp(`^(?:${name}|(?![\\0-\\x7f])[\\p{L}\\p{M}\\p{N}\\p{S}])+@${domain}$`, "u");
const lengthMax = 254;
const nameMax = 64;

export function isEmail(text: string): boolean {
  return text.length <= lengthMax && format.test(text);
}

/**
 * A buyer's address in stored form: trimmed, with an ASCII domain. The local part may use any script: a server that
 * cannot deliver costs a receipt, not a sale. Undefined for invalid addresses.
 */
export function buyerEmail(text: string): string | undefined {
  if (text.length > 4 * lengthMax) return undefined;
  const stored = withAsciiDomain(text.trim().normalize("NFC"));
  const size = Buffer.byteLength(stored);
  const nameSize = Buffer.byteLength(stored.slice(0, Math.max(0, stored.lastIndexOf("@"))));
  return size <= lengthMax && nameSize <= nameMax && worldFormat.test(stored) ? stored : undefined;
}

export function isBuyerEmail(text: string): boolean {
  return buyerEmail(text) === text;
}

/** Converts the domain after the last @ to ASCII (IDNA), also in partial addresses. */
export function withAsciiDomain(text: string): string {
  const own = domainOf(text);
  // An ASCII domain keeps its case.
  if (own === text || /^[\0-\x7f]*$/.test(own)) return text;
  const ascii = domainToASCII(own);
  return ascii === "" ? text : text.slice(0, text.length - own.length) + ascii;
}

function domainOf(text: string): string {
  return text.slice(text.lastIndexOf("@") + 1);
}
