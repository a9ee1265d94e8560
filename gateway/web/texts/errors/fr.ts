// The SDK's errors in French.
import type { ErrorTexts } from "./error-texts.ts";

export const fr: ErrorTexts = {
  title: "Données de la carte",
  load_failed: "Le formulaire de paiement n’a pas pu être chargé. Veuillez réessayer.",
  secret_unavailable: "Le formulaire de paiement n’a pas pu être chargé. Veuillez réessayer.",
  csp_blocked: "Ce paiement ne peut pas être effectué ici.",
  timeout: "Cela prend trop de temps. Veuillez réessayer.",
  offline: "Vous semblez être hors ligne. Vérifiez votre connexion et réessayez.",
  invalid_secret: "Ce lien de paiement n’est pas valable.",
  incomplete: "Vérifiez les données de la carte.",
  session_expired: "Ce lien de paiement a expiré. Rien n’a été débité.",
  session_canceled: "Ce paiement a été annulé. Rien n’a été débité.",
  declined: "Votre carte a été refusée. Essayez une autre carte.",
  unconfirmed: "Votre banque n'a pas confirmé le paiement. Réessayez ou contactez votre banque.",
  connector_error: "Le paiement n’a pas abouti et rien n’a été débité. Veuillez réessayer.",
  unsupported_surface: "Ce paiement ne peut pas être effectué ici.",
  invalid_target: "Ce paiement ne peut pas être effectué ici.",
  not_mounted: "Le formulaire de paiement n’est pas affiché.",
  destroyed: "Le formulaire de paiement n’est pas affiché.",
  api_key_in_browser: "Ce paiement ne peut pas être effectué ici.",
  rate_limited: "Trop de tentatives. Veuillez patienter un instant.",
  server_error: "Une erreur s’est produite de notre côté. Veuillez réessayer.",
};
