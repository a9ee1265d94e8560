// The step of the form while the buyer confirms at the bank, which opens in another window. The status is polled, since
// that window may be closed, or never come back.
import { ask } from "./processor.js";

const pollMs = 1_000;
const slowPollMs = 5_000;
const quickPolls = 120; // two minutes; a buyer at the bank rarely takes longer

/**
 * @param {string} url of the bank's page; its fragment is the token
 * @param {() => Promise<any>} readStatus undefined without an answer
 * @returns {Promise<any>} the status after the bank's page or after the buyer gave up
 */
export function waitForBank(url, readStatus) {
  const { pathname, hash } = new URL(url, location.href);
  const section = document.getElementById("bank");
  document.getElementById("bank-link").href = url;
  section.hidden = false;
  document.getElementById("bank-title").focus();
  return new Promise((resolve) => {
    let polls = 0;
    let isOver = false;
    const end = (body) => {
      if (isOver) return;
      isOver = true;
      section.hidden = true;
      resolve(body);
    };
    document.getElementById("bank-cancel").onclick = async () => {
      const order = { token: hash.slice(1), outcome: "cancel" };
      const answer = await ask(pathname.replace("/bank/", "/challenge/"), order).catch(() => undefined);
      if (answer?.status === 200) end(answer.body);
    };
    const poll = async () => {
      if (isOver) return;
      const body = await readStatus();
      if (body && body.status !== "requires_action") return end(body);
      setTimeout(poll, ++polls < quickPolls ? pollMs : slowPollMs);
    };
    setTimeout(poll, pollMs);
  });
}
