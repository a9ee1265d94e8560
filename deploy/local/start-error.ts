// A reason not to start that the user can act on: shown as it is, in one line, without a stack trace.

/** The message says what is wrong and what to do. */
export class StartError extends Error {
  override name = "StartError";
}

/** The message of anything thrown, first line only: for use inside a sentence. */
export function reasonOf(error: unknown): string {
  const text = error instanceof AggregateError ? error.errors.map(reasonOf).join("; ") : String(errorText(error));
  return text.split("\n")[0] ?? "";
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
