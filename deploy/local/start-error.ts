// An error that the user can act on, printed in one line without a stack trace.

export class StartError extends Error {
  override name = "StartError";
}

/** First line of an error's message, for use inside a sentence. */
export function reasonOf(error: unknown): string {
  const text = error instanceof AggregateError ? error.errors.map(reasonOf).join("; ") : String(errorText(error));
  return text.split("\n")[0] ?? "";
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
