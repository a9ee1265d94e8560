// What counts as an e-mail address: HTML's practical rule with a dotted domain, and the lengths of RFC 5321. Only a
// message that arrives proves an address; this keeps out what cannot be one.

const format =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/;
const lengthMax = 254;

/** True when the text can be an e-mail address. */
export function isEmail(text: string): boolean {
  return text.length <= lengthMax && format.test(text);
}
