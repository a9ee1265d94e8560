// Checks the form of a connector's credentials: each known name must match, and no other name is allowed.

/** A malformed credential. Never contains its value. */
export interface CredentialProblem {
  readonly name: string;
  readonly problem: string;
}

/** Pattern and error text by name. */
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
