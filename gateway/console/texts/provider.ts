// Texts of signing in, and proving oneself again, by the company's identity provider.
import { both } from "./both.ts";

export const providerTexts = both(
  {
    signIn: "Sign in with your company account",
    wayIn: "Use your company account",
    wayInText: "Then nothing is set up here: your company says who you are.",
    prove: "Confirm with your company account",
    otherTab: "It opens in a tab of its own, so that nothing you typed is lost.",
    goOn: "I have done that: continue",
    refusedTitle: "Not signed in",
    refused:
      "Your company account did not sign you in. Perhaps it has another address than your invitation, or too much time passed.",
    away: "Your company's sign-in does not answer at the moment. Try again, or sign in another way.",
    notProved: "Your company account did not confirm that it is you. Sign in there afresh, with the same account.",
    provedTitle: "Confirmed",
    proved: "Close this tab, and continue in the one that you came from.",
    again: "Try again",
    otherWay: "Sign in another way",
  },
  {
    signIn: "Mit dem Firmenkonto anmelden",
    wayIn: "Firmenkonto verwenden",
    wayInText: "Dann wird hier nichts eingerichtet: Ihre Firma sagt, wer Sie sind.",
    prove: "Mit dem Firmenkonto bestätigen",
    otherTab: "Es öffnet sich ein eigener Tab, damit von Ihren Eingaben nichts verloren geht.",
    goOn: "Erledigt: weiter",
    refusedTitle: "Nicht angemeldet",
    refused:
      "Ihr Firmenkonto hat Sie nicht angemeldet. Vielleicht hat es eine andere Adresse als Ihre Einladung, oder es ist zu viel Zeit vergangen.",
    away: "Die Anmeldung Ihrer Firma antwortet gerade nicht. Versuchen Sie es noch einmal, oder melden Sie sich anders an.",
    notProved:
      "Ihr Firmenkonto hat nicht bestätigt, dass Sie es sind. Melden Sie sich dort neu an, mit demselben Konto.",
    provedTitle: "Bestätigt",
    proved: "Schließen Sie diesen Tab und machen Sie in dem weiter, aus dem Sie kamen.",
    again: "Noch einmal versuchen",
    otherWay: "Anders anmelden",
  },
);
