// What counts as an e-mail address: HTML's practical rule with a dotted domain, and the lengths of RFC 5321. Only a
// message that arrives proves an address; this keeps out what cannot be one.
import { domainToASCII } from "node:url";

const name = "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]";
const label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const domain = `${label}(?:\\.${label})+`;
const format = new RegExp(`^${name}{1,64}@${domain}$`);
// RFC 6531 allows any text beyond ASCII; letters, digits and symbols are what people have.
const worldFormat = new RegExp(`^(?:${name}|(?![\\0-\\x7f])[\\p{L}\\p{M}\\p{N}\\p{S}])+@${domain}$`, "u");
const lengthMax = 254;
const nameMax = 64;

/** True when the text can be an e-mail address of ASCII. */
export function isEmail(text: string): boolean {
  return text.length <= lengthMax && format.test(text);
}

/**
 * A buyer's address as it is stored: without blanks around it, its domain in ASCII. The part before the @ may be of any
 * script: a server that cannot deliver to it costs a receipt, not a sale. Undefined: it cannot be an address.
 */
export function buyerEmail(text: string): string | undefined {
  if (text.length > 4 * lengthMax) return undefined;
  const stored = withAsciiDomain(text.trim().normalize("NFC"));
  const size = Buffer.byteLength(stored);
  const nameSize = Buffer.byteLength(stored.slice(0, Math.max(0, stored.lastIndexOf("@"))));
  return size <= lengthMax && nameSize <= nameMax && worldFormat.test(stored) ? stored : undefined;
}

/** Whether the text is a buyer's address in the form in which it is stored. */
export function isBuyerEmail(text: string): boolean {
  return buyerEmail(text) === text;
}

/** The text with the domain behind its last @ in ASCII (IDNA), also for a part of an address. */
export function withAsciiDomain(text: string): string {
  const own = domainOf(text);
  // A domain of ASCII keeps its letters' case.
  if (own === text || /^[\0-\x7f]*$/.test(own)) return text;
  const ascii = domainToASCII(own);
  return ascii === "" ? text : text.slice(0, text.length - own.length) + ascii;
}

function domainOf(text: string): string {
  return text.slice(text.lastIndexOf("@") + 1);
}
