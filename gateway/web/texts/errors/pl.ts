// The SDK's errors in Polish.
import type { ErrorTexts } from "./error-texts.ts";

export const pl: ErrorTexts = {
  title: "Dane karty",
  load_failed: "Nie udało się wczytać formularza płatności. Spróbuj ponownie.",
  secret_unavailable: "Nie udało się wczytać formularza płatności. Spróbuj ponownie.",
  csp_blocked: "Tej płatności nie można tu wykonać.",
  timeout: "To trwa zbyt długo. Spróbuj ponownie.",
  offline: "Wygląda na to, że nie masz połączenia. Sprawdź je i spróbuj ponownie.",
  invalid_secret: "Ten link do płatności jest nieprawidłowy.",
  incomplete: "Sprawdź dane karty.",
  session_expired: "Ten link do płatności wygasł. Nic nie zostało pobrane.",
  session_canceled: "Ta płatność została anulowana. Nic nie zostało pobrane.",
  declined: "Karta została odrzucona. Użyj innej karty.",
  unconfirmed: "Bank nie potwierdził płatności. Spróbuj ponownie lub skontaktuj się z bankiem.",
  connector_error: "Płatność nie doszła do skutku i nic nie zostało pobrane. Spróbuj ponownie.",
  unsupported_surface: "Tej płatności nie można tu wykonać.",
  invalid_target: "Tej płatności nie można tu wykonać.",
  not_mounted: "Formularz płatności nie jest wyświetlony.",
  destroyed: "Formularz płatności nie jest wyświetlony.",
  api_key_in_browser: "Tej płatności nie można tu wykonać.",
  rate_limited: "Zbyt wiele prób. Odczekaj chwilę.",
  server_error: "Coś poszło nie tak po naszej stronie. Spróbuj ponownie.",
};
