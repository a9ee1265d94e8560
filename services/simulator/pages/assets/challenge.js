// The challenge page: the question and its result.
import { showChallenge } from "./challenge-step.js";
import { textOf } from "./language.js";
import { showResult } from "./result-step.js";

const url = location.href; // a page of the bank, or of 3-D Secure
history.replaceState(null, "", location.pathname); // the token stays in memory
const answer = await showChallenge(url);
if (answer.status === "failed") {
  showResult("canceled");
  document.getElementById("result-title").textContent = textOf("notConfirmed");
} else showResult(answer.status === "requires_action" ? "unknown" : answer.status);
