// The SDK's errors in Italian.
import type { ErrorTexts } from "./error-texts.ts";

export const it: ErrorTexts = {
  title: "Dati della carta",
  load_failed: "Non è stato possibile caricare il modulo di pagamento. Riprova.",
  secret_unavailable: "Non è stato possibile caricare il modulo di pagamento. Riprova.",
  csp_blocked: "Questo pagamento non può essere effettuato qui.",
  timeout: "Sta impiegando troppo tempo. Riprova.",
  offline: "Sembra che tu sia offline. Controlla la connessione e riprova.",
  invalid_secret: "Questo link di pagamento non è valido.",
  incomplete: "Controlla i dati della carta.",
  session_expired: "Questo link di pagamento è scaduto. Non è stato addebitato nulla.",
  session_canceled: "Questo pagamento è stato annullato. Non è stato addebitato nulla.",
  declined: "La carta è stata rifiutata. Prova con un'altra carta.",
  unconfirmed: "La banca non ha confermato il pagamento. Riprova o contatta la banca.",
  connector_error: "Il pagamento non è andato a buon fine e non è stato addebitato nulla. Riprova.",
  unsupported_surface: "Questo pagamento non può essere effettuato qui.",
  invalid_target: "Questo pagamento non può essere effettuato qui.",
  not_mounted: "Il modulo di pagamento non è visibile.",
  destroyed: "Il modulo di pagamento non è visibile.",
  api_key_in_browser: "Questo pagamento non può essere effettuato qui.",
  rate_limited: "Troppi tentativi. Attendi un momento.",
  server_error: "Si è verificato un problema da parte nostra. Riprova.",
};
