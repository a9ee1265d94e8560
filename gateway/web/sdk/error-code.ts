// Error codes of the SDK, and the languages of their texts.

/** Languages with a file in texts/errors; a test compares them. */
export const translated = /^(ar|de|es|fr|it|ja|nl|pl|pt)(-|$)/i;

export type ErrorCode =
  | "load_failed"
  | "secret_unavailable"
  | "csp_blocked"
  | "timeout"
  | "offline"
  | "invalid_secret"
  | "incomplete"
  | "session_expired"
  | "session_canceled"
  | "declined"
  | "connector_error"
  | "unsupported_surface"
  | "invalid_target"
  | "not_mounted"
  | "destroyed"
  | "api_key_in_browser"
  | "rate_limited"
  | "server_error";
