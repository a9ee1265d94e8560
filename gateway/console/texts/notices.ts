// What was done, told once on the page that follows a form. The keys stand in addresses.
import { both } from "./both.ts";

export const noticeTexts = both(
  {
    "signed-out": "You are signed out.",
    "link-sent": "If this address belongs to somebody here, a link is on its way to it.",
    "passkey-added": "The passkey is added.",
    "authenticator-added": "The authenticator app is set up.",
    "way-removed": "It is removed.",
    "sessions-ended": "The sessions are ended.",
    "account-saved": "Your account is saved.",
    joined: "Welcome! You are in.",
  },
  {
    "signed-out": "Sie sind abgemeldet.",
    "link-sent": "Wenn diese Adresse hier jemandem gehört, ist ein Link dorthin unterwegs.",
    "passkey-added": "Der Passkey ist hinzugefügt.",
    "authenticator-added": "Die Authenticator-App ist eingerichtet.",
    "way-removed": "Entfernt.",
    "sessions-ended": "Die Sitzungen sind beendet.",
    "account-saved": "Ihr Konto ist gespeichert.",
    joined: "Willkommen! Sie sind dabei.",
  },
);
