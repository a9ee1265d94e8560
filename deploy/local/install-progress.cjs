// Shows that packages are being installed: on a terminal one line that changes, elsewhere a line every few seconds.
// Plain old JavaScript, as bootstrap.cjs. The count is of packages whose folder is there: npm says nothing while it works.
const fs = require("node:fs");
const path = require("node:path");

const terminalEveryMs = 250;
const linesEveryMs = 5000; // a log wants to know that it moves, not how

/** How many of the folders have their package. */
function countInstalled(root, folders) {
  return folders.filter((folder) => fs.existsSync(path.join(root, folder, "package.json"))).length;
}

/** The words; npm puts the last files into place when all are there. */
function progressText(done, total, seconds) {
  const count = done < total ? `${done} of ${total}` : "finishing";
  return `installing packages with npm ci: ${count}, ${seconds} s`;
}

/**
 * @param out the stream, a terminal or not
 * @param count how many are there now
 * @param clock in milliseconds
 * @param every calls a function again and again, and answers what ends that
 */
function showProgress({ out, total, count, clock = Date.now, every = repeat }) {
  const began = clock();
  const text = () => progressText(count(), total, Math.round((clock() - began) / 1000));
  const show = out.isTTY ? () => out.write(`\r\u001b[2K${text()}`) : () => out.write(`${text()}\n`);
  show();
  const stop = every(show, out.isTTY ? terminalEveryMs : linesEveryMs);
  return () => {
    stop();
    if (out.isTTY) out.write("\r\u001b[2K");
  };
}

function repeat(work, ms) {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}

module.exports = { countInstalled, progressText, showProgress };
