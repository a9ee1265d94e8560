// What can go wrong, as pages and the texts of each language name it.

/** What there is a file of words for. */
export const spoken = /^(ar|de|es|fr|it|ja|nl|pl|pt)(-|$)/i; // as texts/errors; a test compares them

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
