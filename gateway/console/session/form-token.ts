// What proves that a form is one of ours: a token that only who has the session's secret can make. It differs from page
// to page, so that compressed pages tell nothing about it (BREACH).
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const saltBytes = 9; // twelve characters

/** A token for the forms of one page. */
export function formToken(sessionSecret: string): string {
  const salt = randomBytes(saltBytes).toString("base64url");
  return `${salt}.${mark(sessionSecret, salt)}`;
}

/** True for a token of this session. */
export function isFormToken(sessionSecret: string, token: string): boolean {
  const [salt = "", given = ""] = token.split(".");
  const [wanted, shown] = [Buffer.from(mark(sessionSecret, salt)), Buffer.from(given)];
  return wanted.length === shown.length && timingSafeEqual(wanted, shown);
}

function mark(sessionSecret: string, salt: string): string {
  return createHmac("sha256", sessionSecret).update(`form.${salt}`).digest("base64url");
}
