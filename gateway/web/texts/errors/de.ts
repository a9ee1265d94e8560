// The SDK's errors in German.
import type { ErrorTexts } from "./error-texts.ts";

export const de: ErrorTexts = {
  title: "Kartendaten",
  load_failed: "Das Zahlungsformular konnte nicht geladen werden. Bitte versuchen Sie es erneut.",
  secret_unavailable: "Das Zahlungsformular konnte nicht geladen werden. Bitte versuchen Sie es erneut.",
  csp_blocked: "Diese Zahlung ist hier nicht möglich.",
  timeout: "Das dauert zu lange. Bitte versuchen Sie es erneut.",
  offline: "Sie sind offenbar offline. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.",
  invalid_secret: "Dieser Zahlungslink ist nicht gültig.",
  incomplete: "Bitte prüfen Sie die Kartendaten.",
  session_expired: "Dieser Zahlungslink ist abgelaufen. Nichts wurde abgebucht.",
  session_canceled: "Diese Zahlung wurde abgebrochen. Nichts wurde abgebucht.",
  declined: "Ihre Karte wurde abgelehnt. Versuchen Sie eine andere Karte.",
  unconfirmed: "Ihre Bank hat die Zahlung nicht bestätigt. Versuchen Sie es erneut oder wenden Sie sich an Ihre Bank.",
  connector_error: "Die Zahlung kam nicht zustande und nichts wurde abgebucht. Bitte versuchen Sie es erneut.",
  unsupported_surface: "Diese Zahlung ist hier nicht möglich.",
  invalid_target: "Diese Zahlung ist hier nicht möglich.",
  not_mounted: "Das Zahlungsformular wird nicht angezeigt.",
  destroyed: "Das Zahlungsformular wird nicht angezeigt.",
  api_key_in_browser: "Diese Zahlung ist hier nicht möglich.",
  rate_limited: "Zu viele Versuche. Bitte warten Sie einen Moment.",
  server_error: "Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es erneut.",
};
