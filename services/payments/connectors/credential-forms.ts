// Judges a connector's credentials by their form: each known name must fit, and no other name may be there.
import type { CredentialProblem } from "./connector.ts";

/** By name: what the value looks like, and what to say when it does not. */
export type CredentialForms = Readonly<Record<string, readonly [form: RegExp, problem: string]>>;

export function judgeForms(
  forms: CredentialForms,
  credentials: Readonly<Record<string, string>>,
): readonly CredentialProblem[] {
  const misfits = Object.entries(forms).flatMap(([name, [form, problem]]) =>
    form.test(credentials[name] ?? "") ? [] : [{ name, problem: credentials[name] ? problem : "is required" }],
  );
  const strangers = Object.keys(credentials).filter((name) => !Object.hasOwn(forms, name));
  const known = Object.keys(forms).join(", ");
  return [...misfits, ...strangers.map((name) => ({ name, problem: `is not one of ${known}` }))];
}
