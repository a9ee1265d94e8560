// The SDK's errors in Spanish.
import type { ErrorTexts } from "./error-texts.ts";

export const es: ErrorTexts = {
  title: "Datos de la tarjeta",
  load_failed: "No se ha podido cargar el formulario de pago. Inténtelo de nuevo.",
  secret_unavailable: "No se ha podido cargar el formulario de pago. Inténtelo de nuevo.",
  csp_blocked: "Este pago no se puede hacer aquí.",
  timeout: "Está tardando demasiado. Inténtelo de nuevo.",
  offline: "Parece que no tiene conexión. Compruébela e inténtelo de nuevo.",
  invalid_secret: "Este enlace de pago no es válido.",
  incomplete: "Revise los datos de la tarjeta.",
  session_expired: "Este enlace de pago ha caducado. No se ha cobrado nada.",
  session_canceled: "Este pago se ha cancelado. No se ha cobrado nada.",
  declined: "Su tarjeta ha sido rechazada. Pruebe con otra.",
  unconfirmed: "Su banco no confirmó el pago. Inténtelo de nuevo o contacte con su banco.",
  connector_error: "El pago no se ha completado y no se ha cobrado nada. Inténtelo de nuevo.",
  unsupported_surface: "Este pago no se puede hacer aquí.",
  invalid_target: "Este pago no se puede hacer aquí.",
  not_mounted: "El formulario de pago no se muestra.",
  destroyed: "El formulario de pago no se muestra.",
  api_key_in_browser: "Este pago no se puede hacer aquí.",
  rate_limited: "Demasiados intentos. Espere un momento.",
  server_error: "Algo ha fallado por nuestra parte. Inténtelo de nuevo.",
};
