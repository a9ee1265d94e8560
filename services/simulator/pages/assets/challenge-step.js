// The bank's 3-D Secure question, shown inside the card form and on the challenge page.
import { textOf } from "./language.js";
import { ask } from "./processor.js";

/**
 * @param {string} url of the challenge; its fragment is the token
 * @param {string | undefined} amount as text
 * @returns {Promise<any>} the processor's answer to the buyer's choice
 */
export function showChallenge(url, amount) {
  const { pathname, hash } = new URL(url, location.href);
  const isBank = pathname.startsWith("/bank/");
  const section = document.getElementById("challenge");
  section.replaceChildren(
    element("h2", {
      id: "challenge-title",
      tabIndex: -1,
      textContent: isBank ? "Test Bank" : textOf("challengeTitle"),
    }),
    element("p", { className: "challenge-text muted", textContent: textOf(isBank ? "bankQuestion" : "challengeText") }),
    element("div", { className: "bank" }, [
      element("strong", { textContent: "Test Bank" }),
      element("span", {
        className: "muted",
        textContent: amount ? textOf("challengeAmount", { amount }) : textOf("challengeCard"),
      }),
    ]),
    element("div", { className: "notice notice-error", role: "alert", hidden: true }),
    button(textOf(isBank ? "bankPay" : "authenticate"), "pass", "button"),
    button(textOf(isBank ? "bankRefuse" : "failAuthentication"), "fail", "button button-quiet"),
    // A buyer leaves a bank by closing its window.
    ...(isBank ? [] : [button(textOf("giveUp"), "cancel", "link-button")]),
  );
  section.hidden = false;
  document.getElementById("challenge-title").focus();

  return new Promise((resolve) => {
    section.addEventListener("click", async function choose(event) {
      const chosen = event.target.closest("[data-outcome]");
      if (!chosen || chosen.disabled) return;
      const buttons = section.querySelectorAll("button");
      for (const one of buttons) one.disabled = true;
      chosen.classList.add("is-working");
      const answer = await ask(pathname.replace("/bank/", "/challenge/"), {
        token: hash.slice(1),
        outcome: chosen.dataset.outcome,
      }).catch(() => undefined);
      chosen.classList.remove("is-working");
      for (const one of buttons) one.disabled = false;
      if (answer?.status === 200) {
        section.removeEventListener("click", choose);
        section.hidden = true;
        return resolve(answer.body);
      }
      const alert = section.querySelector("[role=alert]");
      alert.textContent = answer?.status === 404 ? textOf("challengeGone") : textOf("bankAway");
      alert.hidden = false;
    });
  });
}

function button(text, outcome, className) {
  const spinner = element("span", { className: "spinner" });
  spinner.setAttribute("aria-hidden", "true");
  const made = element("button", { type: "button", className }, [spinner, element("span", { textContent: text })]);
  made.dataset.outcome = outcome;
  return made;
}

function element(name, properties, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
