// The SDK's errors in Dutch.
import type { ErrorTexts } from "./error-texts.ts";

export const nl: ErrorTexts = {
  title: "Kaartgegevens",
  load_failed: "Het betaalformulier kon niet worden geladen. Probeer het opnieuw.",
  secret_unavailable: "Het betaalformulier kon niet worden geladen. Probeer het opnieuw.",
  csp_blocked: "Deze betaling kan hier niet worden gedaan.",
  timeout: "Dit duurt te lang. Probeer het opnieuw.",
  offline: "U lijkt offline te zijn. Controleer uw verbinding en probeer het opnieuw.",
  invalid_secret: "Deze betaallink is niet geldig.",
  incomplete: "Controleer de kaartgegevens.",
  session_expired: "Deze betaallink is verlopen. Er is niets afgeschreven.",
  session_canceled: "Deze betaling is geannuleerd. Er is niets afgeschreven.",
  declined: "Uw kaart is geweigerd. Probeer een andere kaart.",
  unconfirmed: "Uw bank heeft de betaling niet bevestigd. Probeer het opnieuw of neem contact op met uw bank.",
  connector_error: "De betaling is niet gelukt en er is niets afgeschreven. Probeer het opnieuw.",
  unsupported_surface: "Deze betaling kan hier niet worden gedaan.",
  invalid_target: "Deze betaling kan hier niet worden gedaan.",
  not_mounted: "Het betaalformulier wordt niet getoond.",
  destroyed: "Het betaalformulier wordt niet getoond.",
  api_key_in_browser: "Deze betaling kan hier niet worden gedaan.",
  rate_limited: "Te veel pogingen. Wacht even.",
  server_error: "Er ging iets mis bij ons. Probeer het opnieuw.",
};
