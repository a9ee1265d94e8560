// What the SDK says to buyers, by error code; each language but English, which the SDK brings itself, has a file.
import type { ErrorCode } from "../../sdk/error-code.ts";

/** `title` is the accessible name of the fields. */
export type ErrorTexts = Readonly<Record<ErrorCode | "unconfirmed" | "title", string>>;
